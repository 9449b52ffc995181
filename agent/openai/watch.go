package openai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	errIdle           = errors.New("no byte came in time")
	errAttemptTooLong = errors.New("the attempt took too long")
	errTooMuch        = errors.New("the answer is too large")
)

// maxBody bounds what one answer may send, in bytes: a stream spends some
// hundred bytes on a token.
const maxBody = 64 << 20

// watcher cuts one attempt when no byte comes, and remembers when the server
// wants to be asked again, which go-openai does not tell.
type watcher struct {
	idle   time.Duration
	cancel context.CancelCauseFunc
	timer  *time.Timer

	mu     sync.Mutex
	header http.Header
	whole  bool
}

const (
	// settle is how long the end of a stream is waited for once the answer is
	// whole: the token count comes there.
	settle = 2 * time.Second
	// drain is how long the end of the body is waited for after that, so that
	// the connection can be used again.
	drain    = 50 * time.Millisecond
	maxDrain = 64 << 10 // bytes
)

type watcherKey struct{}

func watch(ctx context.Context, idle time.Duration) (context.Context, *watcher) {
	w := &watcher{idle: idle}
	ctx, w.cancel = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(idle, func() { w.cancel(errIdle) })
	return context.WithValue(ctx, watcherKey{}, w), w
}

func (w *watcher) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// finished says that the answer is whole.
func (w *watcher) finished() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.whole = true
	w.timer.Reset(min(settle, w.idle))
}

// touch says that a byte came.
func (w *watcher) touch() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.whole {
		w.timer.Reset(w.idle)
	}
}

// watched hands each answer to the watcher of its request.
type watched struct{ http.RoundTripper }

func (t watched) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(req)
	w, ok := req.Context().Value(watcherKey{}).(*watcher)
	if err != nil || !ok {
		return resp, err
	}
	w.touch()
	w.mu.Lock()
	w.header = resp.Header
	w.mu.Unlock()
	resp.Body = &body{ReadCloser: resp.Body, watcher: w, left: maxBody}
	return resp, nil
}

// body restarts the idle timer with each byte, and ends too large an answer.
type body struct {
	io.ReadCloser
	watcher *watcher
	left    int
	ended   bool
}

func (b *body) Read(p []byte) (int, error) {
	if b.ended {
		return 0, io.EOF
	}
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.watcher.touch()
	}
	if b.left -= n; b.left < 0 {
		return n, errTooMuch
	}
	if err == io.EOF && n < len(p) {
		// go-openai drops a last line that has no line end.
		p[n], err, b.ended = '\n', nil, true
		n++
	}
	return n, err
}

// Close reads the little that may follow a whole answer: a connection whose
// answer was not read to its end is thrown away.
func (b *body) Close() error {
	b.watcher.mu.Lock()
	whole := b.watcher.whole
	b.watcher.mu.Unlock()
	if whole && !b.ended {
		b.watcher.timer.Reset(drain)
		_, _ = io.CopyN(io.Discard, b.ReadCloser, maxDrain)
	}
	return b.ReadCloser.Close()
}

// retryAfter is how long the server wants to be left alone; 0 when it does
// not say.
func (w *watcher) retryAfter() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ms, err := strconv.ParseFloat(w.header.Get("Retry-After-Ms"), 64); err == nil {
		return seconds(ms / 1000)
	}
	value := strings.TrimSpace(w.header.Get("Retry-After"))
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		return seconds(s)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

func seconds(s float64) time.Duration {
	const day = 24 * 60 * 60 // more is not waited for anyway, and must not overflow
	if !(s > 0) {
		return 0
	}
	return time.Duration(min(s, day) * float64(time.Second))
}
