package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"reeve/plugins"
)

// effects is a plugin whose tools change something outside: one may not be
// repeated, the other may under its key.
type effects struct{ address string }

func (effects) Name() string { return "effects" }

type effectIn struct {
	Word string `json:"word"`
}

func (e effects) Open(context.Context, plugins.Services) (plugins.Extension, error) {
	tool := func(name string, effect plugins.Effect) plugins.Tool {
		t := plugins.Tool{Name: name, Description: "Takes effect.", Effect: effect, Access: plugins.Write}
		return plugins.MustTool(t, func(ctx context.Context, call plugins.Call, in effectIn) (plugins.Result, error) {
			return e.take(ctx, call.Key, in.Word)
		})
	}
	return plugins.Extension{Tools: []plugins.Tool{tool(onceTool, plugins.Once), tool(sameTool, plugins.Idempotent)}}, nil
}

const (
	onceTool = "once"
	sameTool = "same"
)

func (e effects) take(ctx context.Context, key, word string) (plugins.Result, error) {
	query := url.Values{"word": {word}, "key": {key}, "process": {strconv.Itoa(os.Getpid())}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.address+"?"+query.Encode(), nil)
	if err != nil {
		return plugins.Result{}, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return plugins.Result{}, fmt.Errorf("take effect: %w", err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return plugins.Result{Text: "did " + word}, nil
}

// outside is where effects are taken. It counts them, and answers late when it
// is told to.
type outside struct {
	url   string
	taken func() // called after each effect

	mu    sync.Mutex
	words map[string][]string // word -> the key of each effect
	holds map[string]*held    // word -> whose answer waits
}

// held is an effect that was taken and whose answer waits.
type held struct {
	process int // who waits for it; 0 while nobody does
	open    chan struct{}
	release func()
}

func newHeld() *held {
	open := make(chan struct{})
	return &held{open: open, release: sync.OnceFunc(func() { close(open) })}
}

func newOutside(t *testing.T) *outside {
	o := &outside{words: map[string][]string{}, holds: map[string]*held{}, taken: func() {}}
	server := httptest.NewServer(o)
	t.Cleanup(server.Close)
	t.Cleanup(o.releaseAll)
	o.url = server.URL
	return o
}

func (o *outside) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	o.mu.Lock()
	word := query.Get("word")
	o.words[word] = append(o.words[word], query.Get("key"))
	h := o.holds[word]
	if h != nil && h.process == 0 {
		h.process, _ = strconv.Atoi(query.Get("process"))
	}
	o.mu.Unlock()
	o.taken()
	open := make(chan struct{})
	if h != nil {
		open = h.open
	} else {
		defer time.AfterFunc(30*time.Millisecond, func() { close(open) }).Stop()
	}
	select {
	case <-open:
	case <-r.Context().Done():
	}
	_ = json.NewEncoder(w).Encode("done")
}

// hold lets the effect of a word be taken and its answer wait.
func (o *outside) hold(word string) (release func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	h := newHeld()
	o.holds[word] = h
	return h.release
}

func (o *outside) releaseAll() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, h := range o.holds {
		h.release()
	}
}

// waiter is the process that waits for the held answer; 0: none does.
func (o *outside) waiter(word string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if h := o.holds[word]; h != nil {
		return h.process
	}
	return 0
}

// of are the keys of the effects that a word had.
func (o *outside) of(word string) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.words[word]
}
