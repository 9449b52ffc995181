package simulator

import (
	"crypto/subtle"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
)

// control adds the endpoints under /sim, by which a page or a program in
// another language drives the server.
func (s *Server) control(mux *http.ServeMux) {
	guard := s.keyed
	mux.Handle("POST /sim/say", guard(s.controlSay))
	mux.Handle("POST /sim/edit", guard(s.controlEdit))
	mux.Handle("POST /sim/delete", guard(s.controlDelete))
	mux.Handle("POST /sim/react", guard(s.controlReact))
	mux.Handle("POST /sim/click", guard(s.controlClick))
	mux.Handle("POST /sim/submit", guard(s.controlSubmit))
	mux.Handle("POST /sim/close", guard(s.controlClose))
	mux.Handle("POST /sim/stop", guard(s.controlStop))
	mux.Handle("POST /sim/home", guard(s.controlHome))
	mux.Handle("POST /sim/fault", guard(s.controlFault))
	mux.Handle("GET /sim/events", guard(s.controlEvents))
	mux.Handle("GET /sim/state", guard(s.controlState))
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// loopbackHost refuses requests that some other name for this machine brought
// here, as in DNS rebinding.
func loopbackHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if !isLoopback(host) {
			http.Error(w, "loopback only", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ownOrigin refuses what a browser sends on behalf of another site's page.
// Clients that are no browsers send neither header.
func ownOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("Sec-Fetch-Site") {
		case "", "same-origin", "none":
		default:
			http.Error(w, "foreign site", http.StatusForbidden)
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" {
			u, err := url.Parse(origin)
			if err != nil || u.Scheme != "http" || u.Host != r.Host {
				http.Error(w, "foreign origin", http.StatusForbidden)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// keyed asks for the server's key, in the address or as X-Sim-Key.
func (s *Server) keyed(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("X-Sim-Key")
		if key == "" {
			key = r.URL.Query().Get("key")
		}
		if subtle.ConstantTimeCompare([]byte(key), []byte(s.key)) != 1 {
			http.Error(w, "wrong key", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// controlAnswer writes JSON, or the error as 400.
func controlAnswer(w http.ResponseWriter, value any, err error) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		value = map[string]string{"error": err.Error()}
	}
	_ = json.NewEncoder(w).Encode(value)
}

func readControl(w http.ResponseWriter, r *http.Request, into any) bool {
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		controlAnswer(w, nil, err)
		return false
	}
	return true
}
