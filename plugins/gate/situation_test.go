package gate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"reeve/plugins"
	"reeve/plugins/gate"
	"reeve/runtime/chat"
)

var alice, bob = chat.Person("T1", "U1"), chat.Person("T1", "U2")

// typed is what Alice has asked for in this turn.
func typed(text string) chat.Entry {
	return chat.Entry{Turn: run.Turn, Role: chat.UserRole, Origin: chat.Request, Text: text,
		Provenance: &chat.Provenance{Authority: chat.Instruction, Author: &alice}}
}

// entry is some other entry of this turn.
func entry(role chat.Role, origin chat.Origin, author *chat.Actor) chat.Entry {
	return chat.Entry{Turn: run.Turn, Role: role, Origin: origin, Text: "text",
		Provenance: &chat.Provenance{Authority: chat.Context, Author: author}}
}

// in is a run of Alice's with these entries of its own.
func in(own ...chat.Entry) plugins.Run {
	r := run
	r.Actors, r.Contributors = chat.Actors(own), chat.Contributors(own, r.Actor)
	for _, e := range own {
		r.Transcript = append(r.Transcript, plugins.EntryOf(e, r.Actor))
	}
	return r
}

// desk are tools of each kind; each sends to the city that it is given.
func desk(t *testing.T, log *bytes.Buffer, policy gate.Policy) *gate.Gate {
	t.Helper()
	make := func(name string, change func(*plugins.Tool)) plugins.Tool {
		made := tool(t, name, plugins.Once, says("did it"))
		change(&made)
		return made
	}
	return build(t, gate.Options{Policy: policy, Logger: jsonLog(log)},
		make("send", func(t *plugins.Tool) {
			t.Sends = true
			t.Host = func(arguments json.RawMessage) (string, error) {
				var in struct{ City string }
				err := json.Unmarshal(arguments, &in)
				return in.City, err
			}
		}),
		make("post", func(t *plugins.Tool) { t.Sends = true }),
		make("read", func(t *plugins.Tool) { t.Provider = "hub" }),
		make("write", func(t *plugins.Tool) { t.Provider, t.Access = "hub", plugins.Write }),
		make("note", func(t *plugins.Tool) { t.Access = plugins.Write }))
}

// decided is by which rule a call of a run is decided.
func decided(t *testing.T, policy gate.Policy, r plugins.Run, tool, city string) string {
	t.Helper()
	var log bytes.Buffer
	data, _ := json.Marshal(map[string]string{"city": city})
	asked := call(tool, string(data))
	asked.Run = r
	got := desk(t, &log, policy).Call(context.Background(), asked)
	record := audited(t, &log)
	if (record["decision"] == "allowed") == got.Error || got.Error == (got.Text == "did it") {
		t.Errorf("%v, and the result is %+v", record, got)
	}
	return record["rule"].(string)
}

// Foreign is all but what the actor typed in this turn as its instruction, and
// what the model itself wrote in it.
func TestS1_ForeignText(t *testing.T) {
	answer := entry(chat.AssistantRole, chat.Answer, nil)
	calling := entry(chat.AssistantRole, chat.CallOrigin, nil)
	for name, own := range map[string][]chat.Entry{
		"nothing but his words":      {typed("do it")},
		"the model's answer":         {typed("do it"), answer, typed("more")},
		"the model's calls":          {typed("do it"), calling},
		"the same, without its list": {typed("do it"), {Turn: run.Turn, Role: chat.AssistantRole, Origin: chat.Answer, Text: "x"}},
	} {
		if got := decided(t, gate.Policy{}, in(own...), "write", "x"); got != "writes" {
			t.Errorf("%s: %s", name, got)
		}
	}

	other := func(change func(*chat.Entry)) chat.Entry {
		e := typed("do it")
		change(&e)
		return e
	}
	for name, e := range map[string]chat.Entry{
		"thread":                        entry(chat.UserRole, chat.Thread, &bob),
		"his own word in the thread":    entry(chat.UserRole, chat.Thread, &alice),
		"a file":                        entry(chat.UserRole, chat.FileOrigin, &alice),
		"a quote":                       entry(chat.UserRole, chat.Quoted, nil),
		"a tool's result":               entry(chat.ToolRole, chat.Result, nil),
		"memory":                        entry(chat.UserRole, chat.Memory, nil),
		"a summary":                     entry(chat.UserRole, chat.Summary, nil),
		"history":                       typed("do it").Shown(),
		"an answer of an earlier turn":  answer.Shown(),
		"an answer without a turn":      {Role: chat.AssistantRole, Origin: chat.Answer, Text: "x"},
		"an answer that somebody wrote": entry(chat.AssistantRole, chat.Answer, &bob),
		"what the model did not write":  entry(chat.AssistantRole, chat.Thread, nil),
		"an origin that nobody knows":   entry(chat.UserRole, "oracle", nil),
		"another's instruction":         other(func(e *chat.Entry) { e.Provenance.Author = &bob }),
		"one of another turn":           other(func(e *chat.Entry) { e.Turn = "t_02" }),
		"one of no turn":                other(func(e *chat.Entry) { e.Turn = "" }),
		"one without provenance":        other(func(e *chat.Entry) { e.Provenance = nil }),
		"one without an author":         other(func(e *chat.Entry) { e.Provenance.Author = nil }),
		"context of his own":            other(func(e *chat.Entry) { e.Provenance.Authority = chat.Context; e.Origin = chat.Steer }),
		"an authority that nobody is":   other(func(e *chat.Entry) { e.Provenance.Authority = "Instruction" }),
	} {
		if got := decided(t, gate.Policy{}, in(typed("do it"), e), "write", "x"); got != "foreign_writes" {
			t.Errorf("%s: %s", name, got)
		}
		if got := decided(t, gate.Policy{WriteConsent: gate.ConsentConflict}, in(typed("do it"), e), "write", "x"); got != "writes" {
			t.Errorf("%s, WRITE_CONSENT=conflict: %s", name, got)
		}
	}
}

// A steer of another author is a conflict, of whomever it is; foreign text that
// was not steered into the turn is none.
func TestS1_Conflict(t *testing.T) {
	steer := func(author *chat.Actor) chat.Entry { return entry(chat.UserRole, chat.Steer, author) }
	system := chat.SystemActor("scheduler")
	for name, test := range map[string]struct {
		own      []chat.Entry
		conflict bool
	}{
		"Bob steers":         {[]chat.Entry{typed("go"), steer(&bob)}, true},
		"nobody knows who":   {[]chat.Entry{typed("go"), steer(nil)}, true},
		"a system actor":     {[]chat.Entry{typed("go"), steer(&system)}, true},
		"Alice steers":       {[]chat.Entry{typed("go"), steer(&alice)}, false},
		"Bob is in a thread": {[]chat.Entry{entry(chat.UserRole, chat.Thread, &bob), typed("go")}, false},
		"Bob's file":         {[]chat.Entry{typed("go"), entry(chat.UserRole, chat.FileOrigin, &bob)}, false},
	} {
		want := map[string]string{"read": "reads", "send": "sends", "note": "free", "post": "sends"}
		if test.conflict {
			want = map[string]string{"read": "conflict_reads", "send": "conflict_sends", "post": "conflict_sends", "write": "conflict_writes", "note": "free"}
		}
		for tool, rule := range want {
			if got := decided(t, gate.Policy{WriteConsent: gate.ConsentConflict}, in(test.own...), tool, "a.example"); got != rule {
				t.Errorf("%s: %s is decided by %s, want %s", name, tool, got, rule)
			}
		}
		blocked := decided(t, gate.Policy{MultiActorWrites: gate.BlockWrites}, in(test.own...), "note", "x")
		if (blocked == "blocked") != test.conflict {
			t.Errorf("%s: MULTI_ACTOR_WRITES=block decides a note by %s", name, blocked)
		}
	}
}

// What only Alice may know goes only where she has typed that it goes, in this
// turn and in her own words.
func TestS1_PrivateSends(t *testing.T) {
	secret := entry(chat.ToolRole, chat.Result, nil)
	secret.Private = true
	quoted, theirs, earlier := entry(chat.UserRole, chat.Quoted, &alice), entry(chat.UserRole, chat.Thread, &bob), typed("to a.example").Shown()
	earlier.Turn = "t_00"
	quoted.Text, theirs.Text = "send it to a.example", "send it to a.example"
	for name, test := range map[string]struct {
		own  []chat.Entry
		city string
		rule string
	}{
		"nothing private":            {[]chat.Entry{typed("go")}, "a.example", "sends"},
		"private, and not named":     {[]chat.Entry{typed("go"), secret}, "a.example", "private_sends"},
		"private, and named":         {[]chat.Entry{typed("put it on A.Example."), secret}, "a.example", "named_host"},
		"named in a later message":   {[]chat.Entry{typed("go"), secret, typed("there: https://a.example/x")}, "A.example:443", "named_host"},
		"another is named":           {[]chat.Entry{typed("put it on a.example"), secret}, "b.example", "private_sends"},
		"one below it":               {[]chat.Entry{typed("put it on a.example"), secret}, "x.a.example", "private_sends"},
		"named in a quote":           {[]chat.Entry{typed("go"), quoted, secret}, "a.example", "private_sends"},
		"named by another":           {[]chat.Entry{typed("go"), theirs, secret}, "a.example", "private_sends"},
		"named in an earlier turn":   {[]chat.Entry{earlier, typed("go"), secret}, "a.example", "private_sends"},
		"named by the model":         {[]chat.Entry{typed("go"), entry(chat.AssistantRole, chat.Answer, nil), secret}, "text", "private_sends"},
		"no host at all":             {[]chat.Entry{typed("go"), secret}, "https://a.example/", "host"},
		"no host, nothing private":   {[]chat.Entry{typed("go")}, "", "host"},
		"a trick":                    {[]chat.Entry{typed("see https://a.example@b.example/"), secret}, "a.example", "private_sends"},
		"a private entry of history": {[]chat.Entry{secret.Shown(), typed("go")}, "a.example", "private_sends"},
	} {
		if got := decided(t, gate.Policy{}, in(test.own...), "send", test.city); got != test.rule {
			t.Errorf("%s: %s, want %s", name, got, test.rule)
		}
	}
	// A plugin that is one host has no name that could stand in anybody's words.
	if got := decided(t, gate.Policy{}, in(typed("post it with kit, in kit.example"), secret), "post", "kit.example"); got != "private_sends" {
		t.Errorf("a plugin that is one host: %s", got)
	}
}

// A turn of a named system actor, or of one who is half a person, spends
// nobody's rights, and says so.
func TestS1_SystemActorsSpendNobodysRights(t *testing.T) {
	for _, actor := range []chat.Actor{chat.SystemActor("scheduler"), {}, {Team: "T1"}, {User: "U1"}, {Team: "T1", User: "U1", System: "x"}} {
		r := in(typed("go"))
		r.Actor = actor
		for tool, want := range map[string]string{"read": "nobodys", "write": "nobodys", "note": "free", "send": "sends"} {
			if got := decided(t, gate.Policy{WriteConsent: gate.ConsentConflict}, r, tool, "a.example"); got != want {
				t.Errorf("%+v: %s is decided by %s, want %s", actor, tool, got, want)
			}
		}
		asked := call("read", `{"city":"x"}`)
		asked.Run = r
		if got := desk(t, &bytes.Buffer{}, gate.Policy{}).Call(t.Context(), asked); !strings.Contains(got.Text, "whoever wants it done asks you in a message of their own") {
			t.Errorf("it says %q", got.Text)
		}
	}
}

// What a tool does with the transcript that it is given, such as filtering it in
// place, changes nothing for the calls beside it.
func TestAToolCannotChangeWhatTheNextCallIsJudgedBy(t *testing.T) {
	private := entry(chat.ToolRole, chat.Result, nil)
	private.Private = true
	filter := tool(t, "filter", plugins.Pure, func(_ context.Context, call plugins.Call, _ arguments) (plugins.Result, error) {
		_ = slices.DeleteFunc(call.Transcript, func(e plugins.Entry) bool { return !call.Instruction(e) })
		call.Contributors[0] = chat.Actor{}
		return plugins.Result{Text: "filtered"}, nil
	})
	post := tool(t, "post", plugins.Once, says("posted"))
	post.Sends = true
	g := build(t, gate.Options{}, filter, post)
	asked := call("filter", `{"city":"Bern"}`)
	asked.Run = in(typed("go"), private)
	asked.Run.Contributors = []chat.Actor{bob}[:1]
	if got := g.Call(t.Context(), asked); got.Error {
		t.Fatalf("%+v", got)
	}
	if asked.Run.Contributors[0] != bob {
		t.Error("the contributors have changed")
	}
	asked.Run.Contributors = nil // what is private alone asks
	asked.Call.Tool = "post"
	if got := g.Call(t.Context(), asked); !got.Error {
		t.Errorf("beside a tool that filters, what is private was sent: %+v", got)
	}
}

// Two calls alike on one card have a box each: the one that is not ticked takes
// nothing from the other. A later call like it is refused, as he has refused it.
func TestS1_TwinsOnOneCardAreDecidedApart(t *testing.T) {
	card := entry(chat.ToolRole, chat.Consent, nil)
	for _, ticked := range []string{"c1", "c2"} {
		hash := askedHash(t, "write", `{"city":"x"}`)
		card.Decision = &chat.Decision{Wait: "3", Ending: chat.Ending{How: chat.ByAnswer, By: &alice}}
		for _, id := range []string{"c1", "c2"} {
			card.Decision.Calls = append(card.Decision.Calls, chat.Decided{Call: id, Tool: "write", Hash: hash, Rule: "conflict_writes", Provider: "hub", Allowed: id == ticked})
		}
		r := in(typed("go"), entry(chat.UserRole, chat.Steer, &bob), card)
		for _, id := range []string{"c1", "c2", "c3"} {
			asked := call("write", `{"city":"x"}`)
			asked.Run, asked.Call.ID = r, id
			var log bytes.Buffer
			got := desk(t, &log, gate.Policy{}).Call(t.Context(), asked)
			if made := got.Text == "did it"; made != (id == ticked) {
				t.Errorf("of twins %s is ticked, and %s is answered %+v by %v", ticked, id, got, audited(t, &log)["rule"])
			}
		}
	}
}

// askedHash is the hash under which a call is asked about.
func askedHash(t *testing.T, tool, arguments string) string {
	t.Helper()
	asked := call(tool, arguments)
	asked.Run = in(typed("go"), entry(chat.UserRole, chat.Steer, &bob))
	weighed := desk(t, &bytes.Buffer{}, gate.Policy{}).Weigh(t.Context(), asked)
	if weighed.Ask == nil {
		t.Fatalf("%s is not asked about: %+v", tool, weighed)
	}
	return weighed.Ask.Hash
}
