package plugintest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"reeve/plugins"
	"reeve/plugins/plugintest"
	"reeve/runtime/chat"
)

// notebook shows the kit's own sides: what a call is told, and what it keeps.
type notebook struct {
	shared bool
	seen   plugins.Call
	ended  plugins.Ended
	client *http.Client
	now    func() time.Time
}

func (*notebook) Name() string { return "notebook" }

func (n *notebook) Open(_ context.Context, services plugins.Services) (plugins.Extension, error) {
	n.client, n.now = services.HTTP("api.example.com"), services.Now
	services.Log.Info("opened")
	return plugins.Extension{
		SharedStore: n.shared,
		Tools: []plugins.Tool{plugins.MustTool(plugins.Tool{
			Name: "note", Description: "Notes it.", Effect: plugins.Once, Access: plugins.Write, Provider: "paper",
		}, func(ctx context.Context, call plugins.Call, in struct {
			Text string `json:"text"`
		}) (plugins.Result, error) {
			n.seen = call
			return plugins.Result{Text: "noted"}, call.Store.Set(ctx, in.Text, []byte(in.Text))
		})},
		Tasks: []plugins.Task{{Name: "close", Run: func(_ context.Context, ended plugins.Ended) error {
			n.ended = ended
			return nil
		}}},
	}, nil
}

func TestATurnIsWhatThePluginSees(t *testing.T) {
	n := &notebook{}
	turn := plugintest.New(t, n).As(plugintest.Alice, "Note milk.")
	turn.Sees(chat.Thread, plugintest.Carol, "note bread").Sees(chat.History, plugintest.Alice, "note eggs")
	turn.Says("and butter").Steers(plugintest.Bob, "and beer").Steers(plugintest.AwayAlice, "and tea").Steers(plugintest.Bob, "now")
	if got := turn.Calls("note", `{"text":"milk"}`); got.Error || !got.Private {
		t.Errorf("the call gave %+v", got)
	}
	if n.seen.Actor != plugintest.Alice || !n.seen.Conflict() || len(n.seen.Contributors) != 2 || n.seen.Contributors[0] != plugintest.Bob || len(n.seen.Actors) != 1 {
		t.Errorf("the run is %+v", n.seen.Run)
	}
	var instructions []string
	for _, e := range n.seen.Transcript {
		if n.seen.Instruction(e) {
			instructions = append(instructions, e.Text)
		}
	}
	if got := strings.Join(instructions, "|"); got != "Note milk.|and butter" {
		t.Errorf("instructions are %q", got)
	}
	first := n.seen.Key
	turn.Calls("note", map[string]string{"text": "butter"})
	if n.seen.Key == first || !strings.HasPrefix(first, string(n.seen.Turn)+"/") {
		t.Errorf("keys %q and %q", first, n.seen.Key)
	}
	last := n.seen.Transcript[len(n.seen.Transcript)-1]
	if last.Origin != chat.CallOrigin && last.Origin != chat.Result {
		t.Errorf("the last entry is %+v", last)
	}
	if wanted, err := turn.Ends(plugins.Failed); err != nil || len(wanted) != 0 {
		t.Errorf("a turn that failed wants %v, %v", wanted, err)
	}
	if wanted, err := turn.Ends(plugins.Done); err != nil || len(wanted) != 1 || n.ended.Try != 1 || n.ended.Key == "" {
		t.Errorf("%v, %v, %+v", wanted, err, n.ended)
	}
}

func TestStoresAreOnesOwn(t *testing.T) {
	for _, shared := range []bool{false, true} {
		host := plugintest.New(t, &notebook{shared: shared})
		host.As(plugintest.Alice, "").Calls("note", `{"text":"milk"}`)
		if got := host.Store(plugintest.Bob).Values()["milk"] != ""; got != shared {
			t.Errorf("shared is %v, and Bob's store has it: %v", shared, got)
		}
	}
}

func TestAStoreHasTheContractsLimits(t *testing.T) {
	host, ctx := plugintest.New(t, &notebook{}), t.Context()
	store := host.Store(plugintest.Alice)
	if err := store.Set(ctx, strings.Repeat("k", 257), nil); err == nil || !strings.Contains(err.Error(), "256") {
		t.Errorf("a long key: %v", err)
	}
	if err := store.Set(ctx, "k", make([]byte, 64<<10+1)); err == nil || !strings.Contains(err.Error(), "65536") {
		t.Errorf("a long value: %v", err)
	}
	for i := range 1000 {
		if err := store.Set(ctx, strings.Repeat("k", i%250+1)+string(rune('a'+i/250)), []byte("v")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Add(ctx, "one more", nil); err == nil || !strings.Contains(err.Error(), "1000 keys") {
		t.Errorf("a key too many: %v", err)
	}
	if added, err := store.Add(ctx, "ka", []byte("other")); added || err != nil {
		t.Errorf("a key that is there: %v, %v", added, err)
	}
	if value, found, _ := store.Get(ctx, "ka"); !found || string(value) != "v" {
		t.Errorf("it became %q", value)
	}
	host.StoreAway(errors.New("gone"))
	if _, err := store.Keys(ctx); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("away: %v", err)
	}
}

func TestOnlyNamedHostsAnswer(t *testing.T) {
	n := &notebook{}
	plugintest.New(t, n, plugintest.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "https://evil.example.org/", http.StatusFound)
		default:
			_, _ = io.WriteString(w, r.Host+r.URL.Path)
		}
	})))
	answer, err := n.client.Get("https://api.example.com/a")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if string(body) != "api.example.com/a" {
		t.Errorf("the answer is %q", body)
	}
	for _, url := range []string{"https://example.com/", "https://api.example.com.evil.org/", "http://127.0.0.1/", "https://api.example.com/away"} {
		if answer, err := n.client.Get(url); err == nil {
			_ = answer.Body.Close()
			t.Errorf("%s answered", url)
		}
	}
}

func TestClockAndLogBelongToTheTest(t *testing.T) {
	n := &notebook{}
	host := plugintest.New(t, n)
	host.Advance(time.Hour)
	if got := n.now(); !got.Equal(plugintest.Start.Add(time.Hour)) {
		t.Errorf("it is %v", got)
	}
	elsewhen := time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC)
	if got := plugintest.New(t, n, plugintest.At(elsewhen)).Now(); !got.Equal(elsewhen) {
		t.Errorf("it is %v", got)
	}
	if !strings.Contains(host.Log(), "opened") || !strings.Contains(host.Log(), "plugin=notebook") {
		t.Errorf("the log is %q", host.Log())
	}
}
