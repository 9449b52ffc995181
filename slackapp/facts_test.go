package slackapp_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/slackapp"
	"reeve/slackapp/simulator"
)

// factStore is what replicas share.
type factStore struct {
	mu   sync.Mutex
	kept map[chat.Actor][]byte
	ttl  map[chat.Actor]time.Duration
}

func newFactStore() *factStore {
	return &factStore{kept: map[chat.Actor][]byte{}, ttl: map[chat.Actor]time.Duration{}}
}

func (s *factStore) Fact(_ context.Context, who chat.Actor) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept[who], nil
}

func (s *factStore) KeepFact(_ context.Context, who chat.Actor, fact []byte, ttl time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[who], s.ttl[who] = fact, ttl
	return nil
}

func (b *bench) people(store *factStore, change func(*slackapp.FactsOptions)) *slackapp.PeopleFacts {
	b.Helper()
	self, err := slackapp.WhoAmI(b.ctx, b.api)
	if err != nil {
		b.Fatal(err)
	}
	o := slackapp.FactsOptions{Client: b.api, Self: self}
	if store != nil {
		o.Store = store
	}
	if change != nil {
		change(&o)
	}
	return slackapp.NewPeopleFacts(o)
}

func TestFacts(t *testing.T) {
	b := newBench(t, nil)
	strict := b.people(nil, nil)
	open := b.people(nil, func(o *slackapp.FactsOptions) { o.AllowGuests, o.AllowExternal = true, true })
	home := func(user chat.UserID) chat.Actor { return chat.Person(simulator.HomeTeam, user) }
	tests := []struct {
		who          chat.Actor
		strict, open string // why not; empty: he may
	}{
		{home(simulator.Alice), "", ""},
		{home(simulator.Guest), "a guest account", ""},
		{chat.Person(simulator.ForeignTeam, simulator.Eve), "another organisation's account", ""},
		{home(simulator.Deploybot), "an app's account", "an app's account"},
		{home("UNOBODY"), "an account that Slack does not know", "an account that Slack does not know"},
		{chat.SystemActor("scheduler"), "an account that is no person's", "an account that is no person's"},
	}
	for _, tt := range tests {
		for people, why := range map[*slackapp.PeopleFacts]string{strict: tt.strict, open: tt.open} {
			f, err := people.Facts(b.ctx, tt.who)
			want := chat.ContextOnly
			if why == "" {
				want = chat.MayInstruct
			}
			if err != nil || f.Why != why || f.Standing != want {
				t.Errorf("%s: %+v, %v; want %q", tt.who.Key(), f, err, why)
			}
		}
	}
	f, _ := strict.Known(home(simulator.Alice))
	if f.Name == "" || f.Zone == "" {
		t.Errorf("of Alice is known %+v, want a name and a zone", f)
	}
	if _, ok := strict.Known(home(simulator.Carol)); ok {
		t.Error("Carol is known, whom nobody asked for")
	}
	b.sim.SetUser(simulator.User{ID: "UGONE", TeamID: simulator.HomeTeam, Deleted: true})
	if f, err := strict.Facts(b.ctx, home("UGONE")); err != nil || f.Why != "a deactivated account" {
		t.Errorf("a deactivated account: %+v, %v", f, err)
	}
}

func TestFactsAreShared(t *testing.T) {
	b := newBench(t, nil)
	store := newFactStore()
	alice, guest := chat.Person(simulator.HomeTeam, simulator.Alice), chat.Person(simulator.HomeTeam, simulator.Guest)
	for range 3 { // each a replica
		people := b.people(store, nil)
		for range 3 {
			for _, who := range []chat.Actor{alice, guest} {
				if _, err := people.Facts(b.ctx, who); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if n := len(b.sim.Calls("users.info")); n != 2 {
		t.Errorf("slack was asked %d times for two people", n)
	}
	if store.ttl[alice] != time.Hour || store.ttl[guest] != 5*time.Minute {
		t.Errorf("kept for %v, want an hour, and five minutes for who may not", store.ttl)
	}
	// Another policy judges the same account anew.
	people := b.people(store, func(o *slackapp.FactsOptions) { o.AllowGuests = true })
	if f, err := people.Facts(b.ctx, guest); err != nil || f.Standing != chat.MayInstruct {
		t.Errorf("a guest who is allowed: %+v, %v", f, err)
	}
}

func TestFactsAskOnce(t *testing.T) {
	b := newBench(t, nil)
	people := b.people(nil, nil)
	release := b.sim.Hold("users.info")
	defer release()
	alice := chat.Person(simulator.HomeTeam, simulator.Alice)
	// One gives up while all wait, which costs the others nothing.
	impatient, giveUp := context.WithCancel(b.ctx)
	results := make(chan error, 10)
	ask := func(ctx context.Context) {
		_, err := people.Facts(ctx, alice)
		results <- err
	}
	go ask(impatient)
	if err := b.sim.WaitHeld(b.ctx, "users.info", 1); err != nil {
		t.Fatal(err)
	}
	for range 9 {
		go ask(b.ctx)
	}
	giveUp()
	if err := <-results; err == nil {
		t.Error("who gave up got an answer")
	}
	release()
	for range 9 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if n := len(b.sim.Calls("users.info")); n > 2 {
		t.Errorf("slack was asked %d times", n)
	}
}

// TestFactsUnknown: that Slack cannot be asked says nothing about a person.
func TestFactsUnknown(t *testing.T) {
	b := newBench(t, nil)
	people := b.people(nil, nil)
	alice := chat.Person(simulator.HomeTeam, simulator.Alice)
	for _, fault := range []simulator.Fault{
		{Method: "users.info", Status: 500}, {Method: "users.info", Error: "internal_error"}, {Method: "users.info", Error: "invalid_auth"},
		{Method: "users.info", LoseAnswer: true},
	} {
		b.sim.Fail(fault)
		if f, err := people.Facts(b.ctx, alice); err == nil {
			t.Errorf("%+v: %+v, want an error", fault, f)
		}
	}
	b.sim.Fail(simulator.Fault{Method: "users.info", Status: 429, RetryAfter: 1})
	if f, err := people.Facts(b.ctx, alice); err != nil || f.Standing != chat.MayInstruct {
		t.Errorf("after a short limit: %+v, %v", f, err)
	}
}

func TestChannelVisibility(t *testing.T) {
	b := newBench(t, nil)
	channels := slackapp.NewChannelFacts(b.api)
	for channel, want := range map[chat.ChannelID]chat.Visibility{
		simulator.General: chat.Public, simulator.Planning: chat.Private, simulator.Trio: chat.Private,
		simulator.Partners: chat.Shared, simulator.AliceDM: chat.DM,
	} {
		for range 2 {
			if got, err := channels.Visibility(b.ctx, channel); err != nil || got != want {
				t.Errorf("%s is %q, %v; want %q", channel, got, err, want)
			}
		}
	}
	if n := len(b.sim.Calls("conversations.info")); n != 5 {
		t.Errorf("slack was asked %d times for 5 channels", n)
	}
}

// clock is the simulator's, set by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Millisecond)
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

type threadBench struct {
	*bench
	clock *clock
	slack *slackapp.Slack
}

func newThreadBench(t *testing.T) *threadBench {
	b := newBench(t, nil)
	c := &clock{now: time.Now().Add(-60 * 24 * time.Hour)}
	b.sim = simulator.ForTest(t, simulator.Options{Now: c.Now})
	api := slackapp.NewClient(slackapp.ClientOptions{BotToken: b.sim.BotToken(), APIURL: b.sim.APIURL()})
	self, err := slackapp.WhoAmI(b.ctx, api)
	if err != nil {
		t.Fatal(err)
	}
	b.api = api
	store := struct {
		*bench
		*factStore
		*memory
	}{b, newFactStore(), &memory{said: map[string]time.Duration{}}}
	return &threadBench{b, c, slackapp.New(slackapp.Options{
		Client: api, Reader: slackapp.NewReader(b.sim.APIURL(), b.sim.BotToken()), Self: self, Store: store,
	})}
}

func (b *threadBench) thread(channel chat.ChannelID, root, before string) (texts []string, missing bool) {
	b.Helper()
	messages, missing, err := b.slack.Thread(b.ctx, chat.Conversation{Team: simulator.HomeTeam, Channel: channel, Root: chat.TS(root)}, chat.TS(before))
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range messages {
		if m.Standing != chat.ContextOnly || m.Addressed || m.Forced || m.Stop {
			b.Errorf("%q may be more than context: %+v", m.Text, m)
		}
		texts = append(texts, string(m.Author.User)+": "+m.Text)
	}
	return texts, missing
}

func TestThread(t *testing.T) {
	b := newThreadBench(t)
	quiet := simulator.SayOptions{Quiet: true}
	root := b.sim.Say(simulator.Alice, simulator.General, "the question", quiet)
	quiet.Thread = root
	b.clock.pass(20 * 24 * time.Hour)
	b.sim.Say(simulator.Bob, simulator.General, "a thought &amp; <@UCAROL>", quiet)
	b.clock.pass(4 * 24 * time.Hour)
	if _, _, err := b.api.PostMessageContext(b.ctx, simulator.General, mrkdwn(root, "my answer")...); err != nil {
		t.Fatal(err)
	}
	b.sim.Say(simulator.Carol, simulator.General, "!! stop", quiet)
	b.clock.pass(time.Hour)
	mention := b.sim.Say(simulator.Bob, simulator.General, "<@UBOT> what now?", quiet)
	b.sim.Say(simulator.Carol, simulator.General, "later", quiet)

	got, missing := b.thread(simulator.General, root, mention)
	b.expect(got, "UALICE: the question", "UBOB: a thought & <@UCAROL>", b.sim.Bot().UserID+": my answer", "UCAROL: stop")
	if missing {
		t.Error("something is said to be missing")
	}
	if got, missing := b.thread(simulator.General, root, root); len(got) != 0 || missing {
		t.Errorf("before the thread's first message stand %q", got)
	}
}

func TestThreadLong(t *testing.T) {
	b := newThreadBench(t)
	quiet := simulator.SayOptions{Quiet: true}
	root := b.sim.Say(simulator.Alice, simulator.General, "root", quiet)
	quiet.Thread = root
	say := func(n int, what string) {
		for i := range n {
			b.sim.Say(simulator.Bob, simulator.General, fmt.Sprint(what, i), quiet)
		}
	}
	say(500, "old")
	b.clock.pass(30 * 24 * time.Hour)
	say(150, "week")
	b.clock.pass(2 * 24 * time.Hour)
	say(100, "day")
	mention := b.sim.Say(simulator.Bob, simulator.General, "<@UBOT> hi", quiet)
	got, missing := b.thread(simulator.General, root, mention)
	if len(got) != 200 || got[199] != "UBOB: day99" || got[100] != "UBOB: day0" || got[99] != "UBOB: week149" {
		t.Errorf("%d messages, from %q to %q", len(got), got[0], got[len(got)-1])
	}
	if !missing {
		t.Error("nothing is said to be missing")
	}
	for _, c := range b.sim.Calls("conversations.replies") {
		if c.Args["oldest"] == "" {
			t.Error("the whole thread was read, though the last week has enough")
		}
	}
}

// TestThreadSlow: what two seconds bring is what is known.
func TestThreadSlow(t *testing.T) {
	b := newThreadBench(t)
	quiet := simulator.SayOptions{Quiet: true}
	root := b.sim.Say(simulator.Alice, simulator.General, "root", quiet)
	quiet.Thread = root
	b.clock.pass(48 * time.Hour)
	b.sim.Say(simulator.Bob, simulator.General, "today", quiet)
	mention := b.sim.Say(simulator.Bob, simulator.General, "<@UBOT> hi", quiet)
	b.sim.Fail(simulator.Fault{Method: "conversations.replies"})
	b.sim.Fail(simulator.Fault{Method: "conversations.replies", Delay: 10 * time.Second, Times: -1})
	start := time.Now()
	got, missing := b.thread(simulator.General, root, mention)
	if len(got) == 0 || got[len(got)-1] != "UBOB: today" || !missing {
		t.Errorf("read %q, missing %v", got, missing)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	b.sim.Heal()
	b.sim.Fail(simulator.Fault{Method: "conversations.replies", Error: "internal_error", Times: -1})
	if _, _, err := b.slack.Thread(b.ctx, chat.Conversation{Team: simulator.HomeTeam, Channel: simulator.General, Root: chat.TS(root)}, chat.TS(mention)); err == nil {
		t.Error("a thread that could not be read is no error")
	}
}

// TestSlack: the parts work together, and end together.
func TestSlack(t *testing.T) {
	b := newThreadBench(t)
	ctx, stop := context.WithCancel(b.ctx)
	ended := make(chan error)
	go func() { ended <- b.slack.Run(ctx) }()
	b.root = b.sim.Say(simulator.Alice, simulator.General, "q", simulator.SayOptions{Quiet: true})
	m := b.message(b.root, b.said("me too"), simulator.Bob)
	alice := chat.Person(simulator.HomeTeam, simulator.Alice)
	b.slack.Told(b.ctx, []runtime.Outcome{{Message: m, Disposition: chat.Wait, Runs: alice}})
	b.waitReceipts(string(m.ID.TS), "hourglass_flowing_sand")
	if err := b.sim.WaitUntil(b.ctx, func() bool { return len(b.sim.Ephemerals(simulator.Bob)) == 1 }); err != nil {
		t.Fatal(err)
	}
	if _, err := b.slack.Facts(b.ctx, m.Author); err != nil {
		t.Fatal(err)
	}
	if _, ok := b.slack.Known(m.Author); !ok {
		t.Error("Bob is not known")
	}
	// Of whom it knows the name, it says it.
	p := b.part(1, "<@UBOB> asked, <@UALICE> too")
	p.Mentions = []chat.UserID{simulator.Alice}
	b.box.add(p)
	b.slack.Post(mailbox.SendLease{Conversation: m.Conversation, Start: time.Now()}, []chat.Part{p})
	b.wait(b.box.released)
	b.expect(b.posted(simulator.General, b.root), "@Bob asked, <@UALICE> too")
	b.slack.Show(change(runtime.ShownDone, m))
	b.waitReceipts(string(m.ID.TS), "white_check_mark")
	stop()
	if err := <-ended; err == nil {
		t.Error("Run gave no reason")
	}
}
