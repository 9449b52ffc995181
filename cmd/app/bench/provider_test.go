package bench

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"testing"
	"time"
)

// provider is a model server that answers at once, with the same words. It is
// no scripted.Server, which keeps and decodes what it is asked. A request that
// holds HOLD-... is not answered until release, or until its client goes away.
type provider struct {
	url     string
	arrived chan heldCall // a held request has come
	cut     chan heldCall // a held request's client has gone

	mu   sync.Mutex
	gate chan struct{}
}

// heldCall is a held request by the word that asked for it.
type heldCall struct {
	word string
	at   time.Time
}

var holdWord = regexp.MustCompile(`HOLD-[a-z0-9]+`)

var answerOfModel = []byte(`data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Here is what "},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"you asked for."},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

`)

func newProvider(b *testing.B) *provider {
	p := &provider{arrived: make(chan heldCall, 4096), cut: make(chan heldCall, 4096), gate: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(p.answer))
	p.url = server.URL + "/v1"
	b.Cleanup(func() {
		p.release()
		server.Close()
	})
	return p
}

func (p *provider) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if bytes.Contains(body, []byte("HOLD-")) {
		word := string(holdWord.Find(body))
		p.mu.Lock()
		gate := p.gate
		p.mu.Unlock()
		p.arrived <- heldCall{word, time.Now()}
		select {
		case <-gate:
		case <-r.Context().Done():
			p.cut <- heldCall{word, time.Now()}
			return
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = w.Write(answerOfModel)
}

// release answers what is held.
func (p *provider) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.gate)
	p.gate = make(chan struct{})
}
