package slackapp_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/slackapp"
	"reeve/slackapp/simulator"
)

// post office: an inbox that tells of each message that it got.
type postOffice struct {
	got  chan chat.Message
	gate chan struct{} // when set, Deliver waits for it
}

func (p *postOffice) Deliver(_ context.Context, in []chat.Message) []runtime.Outcome {
	out := make([]runtime.Outcome, len(in))
	for i, m := range in {
		out[i] = runtime.Outcome{Message: m, Disposition: chat.Start}
		p.got <- m
	}
	if p.gate != nil {
		<-p.gate
	}
	return out
}

// Known implements Keys: this process alone has seen what there is.
func (*postOffice) Known(context.Context, chat.MessageID) (bool, error) { return false, nil }

// line is the inbound half of the bot on a simulated Slack.
type line struct {
	*postOffice
	t       *testing.T
	ctx     context.Context
	slack   *simulator.Server
	sockets *slackapp.Sockets
	stop    context.CancelFunc
	end     chan error
}

func newLine(t *testing.T, o simulator.Options, so slackapp.SocketOptions) *line {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	l := &line{postOffice: &postOffice{got: make(chan chat.Message, 64)}, t: t, ctx: ctx, slack: simulator.ForTest(t, o), end: make(chan error, 1)}
	self, err := slackapp.WhoAmI(ctx, slack.New(l.slack.BotToken(), slack.OptionAPIURL(l.slack.APIURL())))
	if err != nil {
		t.Fatal(err)
	}
	so.APIURL = l.slack.APIURL()
	if so.AppToken == "" {
		so.AppToken = l.slack.AppToken()
	}
	l.sockets = slackapp.NewSockets(so)
	edge := slackapp.NewEdge(slackapp.EdgeOptions{
		Self: self, Inbox: l, Keys: l, Fetcher: slackapp.NewReader(l.slack.APIURL(), l.slack.BotToken()), Hold: 50 * time.Millisecond,
	})
	run, stop := context.WithCancel(ctx)
	l.stop = stop
	go func() { l.end <- slackapp.Serve(run, l.sockets, edge) }()
	return l
}

// connected waits for n open sockets, all of which have been greeted.
func (l *line) connected(n int) {
	l.t.Helper()
	l.must(l.slack.WaitConnected(l.ctx, n))
}

func (l *line) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// next is the next message that the inbox gets.
func (l *line) next() chat.Message {
	l.t.Helper()
	select {
	case m := <-l.got:
		return m
	case <-l.ctx.Done():
		l.t.Fatal("no message came")
		return chat.Message{}
	}
}

// noMore fails when the inbox got anything beside what was taken from it.
func (l *line) noMore() {
	l.t.Helper()
	l.must(l.slack.WaitSettled(l.ctx))
	select {
	case m := <-l.got:
		l.t.Fatalf("came too: %+v", m)
	default:
	}
}

func TestMessageOverASocket(t *testing.T) {
	l := newLine(t, simulator.Options{}, slackapp.SocketOptions{})
	l.connected(2)
	for _, twin := range []simulator.Twin{simulator.MessageFirst, simulator.MentionFirst, simulator.MessageOnly, simulator.MentionOnly} {
		ts := l.slack.Say(simulator.Alice, simulator.General, "<@UBOT> !! hello", simulator.SayOptions{Twin: twin})
		m := l.next()
		if m.Author != chat.Person("T1", simulator.Alice) || !m.Addressed || !m.Forced || m.Text != "hello" || string(m.ID.TS) != ts {
			t.Errorf("twin %d: %+v", twin, m)
		}
		l.noMore()
	}
	root := l.slack.Say(simulator.Bob, simulator.BobDM, "in private")
	if m := l.next(); !m.Addressed || m.Visibility != chat.DM || string(m.Conversation.Root) != root {
		t.Errorf("DM: %+v", m)
	}
	if !l.sockets.Ready() {
		t.Error("not ready")
	}
}

// TestMentionAloneIsFetched: a reply's mention without its message brings
// what only the message has.
func TestMentionAloneIsFetched(t *testing.T) {
	l := newLine(t, simulator.Options{}, slackapp.SocketOptions{Sockets: 1})
	l.connected(1)
	root := l.slack.Say(simulator.Alice, simulator.General, "root", simulator.SayOptions{Quiet: true})
	l.slack.Say(simulator.Bob, simulator.General, "<@UBOT> by an app", simulator.SayOptions{
		Thread: root, Twin: simulator.MentionOnly, Author: simulator.AsAppFor(simulator.App{AppID: "AZAP", BotID: "BZAP"}),
	})
	if m := l.next(); m.Standing != chat.ContextOnly || string(m.Conversation.Root) != root {
		t.Errorf("an app's: %+v", m)
	}
	if n := len(l.slack.Calls("conversations.replies")); n != 1 {
		t.Errorf("%d fetches", n)
	}
}

func TestEverythingIsAcknowledged(t *testing.T) {
	l := newLine(t, simulator.Options{}, slackapp.SocketOptions{Sockets: 1})
	l.connected(1)
	for name, inner := range map[string]map[string]any{
		"an event that nobody knows": {"type": "hologram_projected"},
		"a block of the wrong form":  {"type": "message", "channel": "CGENERAL", "ts": ts1, "user": "UALICE", "text": "odd", "blocks": []any{map[string]any{"type": "section", "text": 7}}},
	} {
		if _, err := l.slack.DeliverEvent(l.ctx, simulator.General, inner); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if m := l.next(); m.Text != "odd" {
		t.Errorf("got %+v", m)
	}
	if _, err := l.slack.DeliverPayload(l.ctx, "interactive", map[string]any{"type": "block_actions"}); err != nil {
		t.Errorf("a click: %v", err)
	}
}

func TestSocketsComeBack(t *testing.T) {
	l := newLine(t, simulator.Options{DisconnectGrace: 50 * time.Millisecond}, slackapp.SocketOptions{Sockets: 1})
	l.connected(1)
	for name, cut := range map[string]func(){
		"cut": l.slack.DropSockets, "closed": l.slack.CloseSockets,
		"refreshed": func() { l.slack.Disconnect("refresh_requested") },
	} {
		mark := l.slack.Mark()
		cut()
		_, err := l.slack.WaitAfter(l.ctx, mark, simulator.OfKind(simulator.Connected))
		l.must(err)
		l.slack.Say(simulator.Alice, simulator.AliceDM, name)
		if m := l.next(); m.Text != name {
			t.Errorf("after it was %s: %+v", name, m)
		}
		l.must(l.slack.WaitSettled(l.ctx))
	}
}

func TestSilentSocketIsReplaced(t *testing.T) {
	for name, silence := range map[string]func(*simulator.Server){
		"half open": (*simulator.Server).HalfOpen,
		"no pings":  func(s *simulator.Server) { s.StopPings(true) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t, simulator.Options{PingInterval: 100 * time.Millisecond},
				slackapp.SocketOptions{Sockets: 1, Silence: 600 * time.Millisecond, HelloTimeout: 600 * time.Millisecond})
			l.connected(1)
			mark := l.slack.Mark()
			silence(l.slack)
			_, err := l.slack.WaitAfter(l.ctx, mark, simulator.OfKind(simulator.Connected))
			l.must(err)
			l.slack.StopPings(false)
		})
	}
}

// TestThrownOutSocketsAreNotRedialledAtOnce: the client below dials again
// within a millisecond when it is left alone.
func TestThrownOutSocketsAreNotRedialledAtOnce(t *testing.T) {
	l := newLine(t, simulator.Options{}, slackapp.SocketOptions{})
	l.connected(2)
	l.slack.TooManySockets(-1)
	start, mark := time.Now(), l.slack.Mark()
	before := len(l.slack.Calls("apps.connections.open"))
	l.slack.DropSockets()
	for range 2 {
		e, err := l.slack.WaitAfter(l.ctx, mark, func(e simulator.Event) bool {
			return e.Kind == simulator.Called && e.Call.Method == "apps.connections.open"
		})
		l.must(err)
		mark = e.Seq
	}
	calls, took := len(l.slack.Calls("apps.connections.open"))-before, time.Since(start)
	// A quarter of a second is the least wait after a failure.
	if took < 250*time.Millisecond || calls > 3 {
		t.Errorf("%d dials in %s", calls, took)
	}
	if l.sockets.Ready() && l.slack.Sockets() == 0 {
		t.Error("ready without a socket")
	}
}

func TestSecondSocketNeedsRoom(t *testing.T) {
	crowd := simulator.ForTest(t, simulator.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	open := func(sockets int) (stop func()) {
		ctx, cancel := context.WithCancel(ctx)
		s := slackapp.NewSockets(slackapp.SocketOptions{AppToken: crowd.AppToken(), APIURL: crowd.APIURL(), Sockets: sockets})
		end := make(chan error, 1)
		go func() {
			end <- s.Run(ctx, func(d slackapp.Delivery) bool { d.Ack(); return true })
		}()
		return func() { cancel(); <-end }
	}
	var stops []func()
	for range 7 {
		stops = append(stops, open(1))
	}
	if err := crowd.WaitConnected(ctx, 7); err != nil {
		t.Fatal(err)
	}
	defer open(2)()
	if err := crowd.WaitConnected(ctx, 8); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		crowd.Say(simulator.Alice, simulator.General, "something to read for everybody")
	}
	if err := crowd.WaitSettled(ctx); err != nil {
		t.Fatal(err)
	}
	if n := len(crowd.Calls("apps.connections.open")); n != 8 {
		t.Errorf("%d sockets were asked for", n)
	}
	for _, stop := range stops {
		stop()
	}
	// The next hello counts few.
	crowd.DropSockets()
	if err := crowd.WaitConnected(ctx, 2); err != nil {
		t.Error(err)
	}
}

func TestRefusedTokens(t *testing.T) {
	l := newLine(t, simulator.Options{}, slackapp.SocketOptions{AppToken: "xapp-" + "wrong"})
	auth, ok := errors.AsType[*slackapp.AuthError](<-l.end)
	if !ok || auth.Token != "SLACK_APP_TOKEN" || auth.Reason != "invalid_auth" {
		t.Errorf("app token: %v", auth)
	}
	_, err := slackapp.WhoAmI(l.ctx, slack.New("xoxb-"+"wrong", slack.OptionAPIURL(l.slack.APIURL())))
	if auth, ok := errors.AsType[*slackapp.AuthError](err); !ok || auth.Token != "SLACK_BOT_TOKEN" {
		t.Errorf("bot token: %v", err)
	}
	nowhere := slackapp.NewSockets(slackapp.SocketOptions{AppToken: l.slack.AppToken(), APIURL: l.slack.URL() + "/nowhere/"})
	err = nowhere.Run(l.ctx, func(slackapp.Delivery) bool { return true })
	if auth, ok := errors.AsType[*slackapp.AuthError](err); !ok || auth.Reason != "HTTP 404" {
		t.Errorf("no such address: %v", err)
	}
}

func TestStopWritesAcknowledgements(t *testing.T) {
	l := newLine(t, simulator.Options{}, slackapp.SocketOptions{Sockets: 1})
	l.gate = make(chan struct{})
	l.connected(1)
	l.slack.Say(simulator.Alice, simulator.AliceDM, "at the last moment")
	l.next()
	l.stop()
	close(l.gate)
	if err := <-l.end; !errors.Is(err, context.Canceled) {
		t.Errorf("Serve: %v", err)
	}
	if envelopes := l.slack.Envelopes(); len(envelopes) != 1 || len(envelopes[0].Attempts) != 1 {
		t.Errorf("envelopes: %+v", envelopes)
	}
	l.must(l.slack.WaitSettled(l.ctx))
	if acks := l.slack.Acks(); len(acks) != 1 {
		t.Errorf("acknowledged: %+v", acks)
	}
}

func TestReaderTellsRefusalFromFault(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	ts := s.Say(simulator.Alice, simulator.General, "hello")
	r := slackapp.NewReader(s.APIURL(), s.BotToken())
	read := func(channel chat.ChannelID, ts string) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		m, err := r.Fetch(ctx, channel, chat.TS(ts), chat.TS(ts))
		return string(m), err
	}
	if m, err := read(simulator.General, ts); err != nil || m == "" {
		t.Errorf("there: %q %v", m, err)
	}
	if m, err := read(simulator.General, "1600000000.000001"); err != nil || m != "" {
		t.Errorf("not there: %q %v", m, err)
	}
	if m, err := read("CNOWHERE", ts); err != nil || m != "" {
		t.Errorf("no such channel: %q %v", m, err)
	}
	for _, f := range []simulator.Fault{{Status: 500}, {Status: 429, RetryAfter: 1}, {Error: "internal_error"}, {Error: "invalid_auth"}} {
		f.Method = "conversations.history"
		f.Times = 1
		s.Fail(f)
		if m, err := read(simulator.General, ts); err == nil {
			t.Errorf("%+v: %q without an error", f, m)
		}
	}
}
