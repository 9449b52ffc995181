package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"sync"
	"time"
)

// readiness says what this replica still waits for. It is ready when nothing
// is left. Reasons are read by anybody who reaches HTTP_ADDR: they are fixed
// sentences, never an error's text.
type readiness struct {
	mu      sync.Mutex
	waiting map[string]string
	probes  map[string]func(context.Context) string
}

// newReadiness waits for each of the named things.
func newReadiness(names ...string) *readiness {
	r := &readiness{waiting: map[string]string{}, probes: map[string]func(context.Context) string{}}
	for _, name := range names {
		r.waiting[name] = "not tried yet"
	}
	return r
}

// Set records why the named thing is not ready; an empty reason: it is.
func (r *readiness) Set(name, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if reason == "" {
		delete(r.waiting, name)
		return
	}
	r.waiting[name] = reason
}

// probe has the named thing asked each time that somebody wants to know; an
// empty answer: it is ready.
func (r *readiness) probe(name string, ask func(context.Context) string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.probes[name] = ask
	delete(r.waiting, name)
}

func (r *readiness) reasons(ctx context.Context) map[string]string {
	r.mu.Lock()
	reasons, probes := maps.Clone(r.waiting), maps.Clone(r.probes)
	r.mu.Unlock()
	for name, ask := range probes {
		if _, waits := reasons[name]; waits {
			continue
		}
		if reason := ask(ctx); reason != "" {
			reasons[name] = reason
		}
	}
	return reasons
}

// handler serves /healthz, 200 while the process lives, and /readyz, 200 or
// 503 with the reasons.
func (r *readiness) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"alive": true})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, req *http.Request) {
		reasons := r.reasons(req.Context())
		status := http.StatusOK
		if len(reasons) > 0 {
			status = http.StatusServiceUnavailable
		}
		answer(w, status, map[string]any{"ready": len(reasons) == 0, "reasons": reasons})
	})
	return mux
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// serveHTTP serves handler at addr until ctx ends. An empty addr serves
// nothing. It returns once the listener stands; wait blocks until the server
// has ended.
func serveHTTP(ctx context.Context, addr string, handler http.Handler, log *slog.Logger) (wait func() error, err error) {
	if addr == "" {
		return func() error { return nil }, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen at HTTP_ADDR: %w", err)
	}
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	log.Info("serving health", "addr", listener.Addr().String())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	return func() error {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(grace)
		_ = server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve HTTP_ADDR: %w", err)
		}
		return nil
	}, nil
}
