package slackapp

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// errLate: the request's deadline passed before it was complete.
var errLate = errors.New("too late to send the request")

// punctual completes no request after its deadline. A process that was frozen goes
// on where it stood, and only then do timers end its contexts: what it was about
// to send would be carried out beside its successor's. The body is looked at last,
// when nothing but writing it is left, and a request without the rest of its body
// is none.
type punctual struct{ http.RoundTripper }

func (p punctual) RoundTrip(r *http.Request) (*http.Response, error) {
	deadline, ok := r.Context().Deadline()
	if !ok || r.Body == nil || r.Body == http.NoBody {
		return p.RoundTripper.RoundTrip(r)
	}
	timed := r.WithContext(r.Context())
	timed.Body = timedBody{r.Body, deadline}
	if r.GetBody != nil {
		timed.GetBody = func() (io.ReadCloser, error) {
			b, err := r.GetBody()
			return timedBody{b, deadline}, err
		}
	}
	return p.RoundTripper.RoundTrip(timed)
}

// timedBody cannot be read after its deadline, by whichever clock says more.
type timedBody struct {
	io.ReadCloser
	deadline time.Time
}

func (b timedBody) Read(p []byte) (int, error) {
	if since(b.deadline) >= 0 {
		return 0, errLate
	}
	return b.ReadCloser.Read(p)
}
