package remembering

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"reeve/agent/scripted"
	"reeve/slackapp/simulator"
)

// direct reports whether somebody has a direct message with all of these words.
func (p place) direct(channel string, words ...string) bool {
	for _, m := range p.Slack.Messages(channel, "") {
		all := true
		for _, w := range words {
			all = all && strings.Contains(m.Text, w)
		}
		if all {
			return true
		}
	}
	return false
}

// What Alice has forgotten through the bot, which asks her since the memory itself
// stands in the prompt, is in no prompt any more, she is told what it was, and
// she has it brought back.
func TestAliceHasItForgotten(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "MEMORY_EXTRACTION=off")
	p.proposes("preference", "code review style", "Prefers terse code reviews.", terse)
	p.Start(t)
	bot := "<@" + p.Slack.Bot().UserID + "> "
	p.asks(simulator.Alice, simulator.General, bot+"remember that "+terse, "I will", scripted.Call("call_1", "remember", map[string]any{"for": "me", "spans": []string{terse}}))
	p.Model.Then(scripted.Call("call_2", "forget", map[string]any{"about": "code review style"}), scripted.Answer("done"))
	root := p.Slack.Say(simulator.Alice, simulator.General, bot+"forget how I like my reviews", simulator.SayOptions{})
	p.Clicks(t, simulator.Alice, p.Card(t, simulator.AliceDM, `"card:consent:allow"`), "card:consent:allow", "call_2")
	p.Said(t, simulator.General, root, "done")
	p.Until(t, "she is told what was forgotten", func() bool { return p.direct(simulator.AliceDM, "Forgotten", "Prefers terse code reviews.") })
	if tab := p.home(simulator.Alice); !strings.Contains(tab, "Forgotten: code review style") {
		t.Errorf("Alice sees %s", tab)
	}
	p.asks(simulator.Alice, simulator.General, bot+"a review please", "as you like it")
	if last := p.LastAsked(); last.Count("Prefers terse code reviews") > 0 {
		t.Error("what she has forgotten is in her prompt")
	}
	p.asks(simulator.Alice, simulator.General, bot+"bring that back", "it is back", scripted.Call("call_3", "forget", map[string]any{"about": "code review style", "bring_back": true}))
	if tab := p.home(simulator.Alice); strings.Contains(tab, "Forgotten: ") || !strings.Contains(tab, "Prefers terse code reviews.") {
		t.Errorf("Alice sees %s", tab)
	}
}

// Who has used up what he may use of the model in a day is answered what was
// begun, and not learnt about any more.
func TestWhoHasSpentHisDayIsNotLearntAbout(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "DAILY_TOKENS_PER_PERSON=100000")
	p.proposes("preference", "code review style", "Prefers terse code reviews.", terse)
	p.Start(t)
	spending := scripted.Answer("looks fine")
	spending.Tokens = 100000
	p.Model.Then(spending)
	root := p.Slack.Say(simulator.Alice, simulator.AliceDM, terse+", and this one?", simulator.SayOptions{})
	p.Said(t, simulator.AliceDM, root, "looks fine")
	p.Until(t, "the task is done", func() bool { return len(p.Journal.With("task done")) > 0 })
	if n := len(p.Model.Forms()); n > 0 {
		t.Errorf("the model was asked %d times for somebody who may use no more of it", n)
	}
	p.asks(simulator.Bob, simulator.BobDM, terse+", and this one?", "for you too")
	p.asked(2)
	p.Until(t, "Bob's memory", func() bool { return strings.Contains(p.home(simulator.Bob), "Prefers terse") })
}

// With EMBEDDING_MODEL a memory is found that has no word in common with the
// question; while that model is out of order the turn is answered without.
func TestEmbeddingsFindByMeaning(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "MEMORY_EXTRACTION=off", "EMBEDDING_MODEL=vectors")
	var broken atomic.Bool
	var chat *httputil.ReverseProxy
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/embeddings") {
			chat.ServeHTTP(w, r)
			return
		}
		var asked struct {
			Input []string
			Model string
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.Model != "vectors" || broken.Load() {
			http.Error(w, `{"error":{"message":"out of order"}}`, http.StatusInternalServerError)
			return
		}
		answer := map[string][]map[string]any{}
		for i, text := range asked.Input {
			vector := []float32{0, 1}
			if strings.Contains(text, "boss") || strings.Contains(text, "Reports to") {
				vector = []float32{1, 0}
			}
			answer["data"] = append(answer["data"], map[string]any{"index": i, "embedding": vector})
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	target, err := url.Parse(p.Model.URL())
	if err != nil {
		t.Fatal(err)
	}
	target.Path = ""
	chat = httputil.NewSingleHostReverseProxy(target)
	p.proposes("fact", "line of command", "Reports to Dana Ruiz.", "I report to Dana Ruiz")
	p.Start(t, "OPENAI_BASE_URL="+server.URL+"/v1")
	p.asks(simulator.Alice, simulator.AliceDM, "remember: I report to Dana Ruiz", "I will", scripted.Call("call_1", "remember", map[string]any{"for": "me", "spans": []string{"I report to Dana Ruiz"}}))
	for _, out := range []bool{false, true} {
		broken.Store(out)
		question := map[bool]string{false: "who is my boss?", true: "and who is my boss now?"}[out]
		p.asks(simulator.Alice, simulator.AliceDM, question, "I see")
		if found := p.LastAsked().Count("Reports to Dana Ruiz") > 0; found == out {
			t.Errorf("with the model out of order (%v) it was found: %v", out, found)
		}
	}
}
