package slackapp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
	"reeve/slackapp"
	"reeve/slackapp/simulator"
)

// library is a workspace in which people read through the bot.
type library struct {
	*testing.T
	sim      *simulator.Server
	clock    *clock
	ctx      context.Context
	readings *slackapp.Readings
}

var quietly = simulator.SayOptions{Quiet: true}

func newLibrary(t *testing.T, change ...func(*slackapp.Admission)) *library {
	t.Helper()
	c := &clock{now: time.Now().Add(-200 * 24 * time.Hour)}
	l := &library{T: t, clock: c, sim: simulator.ForTest(t, simulator.Options{Now: c.Now})}
	var cancel context.CancelFunc
	l.ctx, cancel = context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	api := slackapp.NewClient(slackapp.ClientOptions{BotToken: l.sim.BotToken(), APIURL: l.sim.APIURL()})
	self, err := slackapp.WhoAmI(l.ctx, api)
	if err != nil {
		t.Fatal(err)
	}
	var policy slackapp.Admission
	for _, f := range change {
		f(&policy)
	}
	people := slackapp.NewPeopleFacts(slackapp.FactsOptions{Client: api, Self: self, AllowExternal: policy.AllowExternal})
	policy.Known = people.Known
	l.readings = slackapp.NewReadings(slackapp.ReadingOptions{
		Client: api, Reader: slackapp.NewReader(l.sim.APIURL(), l.sim.BotToken()), Self: self, Admission: policy,
		People: people, Channels: slackapp.NewChannelFacts(api), Rate: 1000, Burst: 100,
	})
	return l
}

// as is Slack as a person may read it.
func (l *library) as(user string) plugins.Slack {
	return l.readings.For(plugins.Run{Actor: chat.Person(simulator.HomeTeam, chat.UserID(user))})
}

// says is what stands in a list, in a line each.
func says(messages []plugins.SlackMessage) string {
	var lines []string
	for _, m := range messages {
		lines = append(lines, m.Name+": "+m.Text)
	}
	return strings.Join(lines, "\n")
}

// refused wants a sentence, and answers it.
func (l *library) refused(err error) string {
	l.Helper()
	refusal, ok := errors.AsType[plugins.Refusal](err)
	if !ok {
		l.Errorf("not refused: %v", err)
	}
	return string(refusal)
}

// Whoever is no member reads nothing and learns nothing: not in a private
// channel, not in a public one, not in the direct message of somebody else. He
// is told the same of what does not exist.
func TestS1OnlyMembersRead(t *testing.T) {
	l := newLibrary(t)
	for _, channel := range []string{simulator.Planning, simulator.BobDM, simulator.Trio} {
		user := simulator.Bob
		l.sim.Say(user, channel, "secret", quietly)
	}
	inRandom := l.sim.Say(simulator.Alice, simulator.Random, "no bot here", quietly)
	secret := l.sim.Say(simulator.Bob, simulator.Planning, "secret", quietly)

	unknown := l.refused(func() error {
		_, _, err := l.as(simulator.Carol).Messages(l.ctx, plugins.SlackPlace{Channel: "CNOWHERE"})
		return err
	}())
	tests := []struct{ who, channel string }{
		{simulator.Carol, simulator.Planning}, {simulator.Carol, "planning"}, {simulator.Carol, "#planning"}, {simulator.Carol, "no-such-name"},
		{simulator.Carol, simulator.BobDM}, {simulator.Alice, simulator.BobDM}, {simulator.Carol, simulator.Trio},
		{simulator.Eve, simulator.General}, {"UNOBODY", simulator.General}, {simulator.Carol, "../users.list"}, {simulator.Carol, ""},
		{simulator.Alice, simulator.Random}, // she is a member, the bot is none
		{l.sim.Bot().UserID + "X", simulator.Planning},
	}
	for _, test := range tests {
		_, _, err := l.as(test.who).Messages(l.ctx, plugins.SlackPlace{Channel: test.channel})
		if got := l.refused(err); got != unknown {
			t.Errorf("%s in %s: %q", test.who, test.channel, got)
		}
		_, _, err = l.as(test.who).Messages(l.ctx, plugins.SlackPlace{Channel: test.channel, Thread: chat.TS(secret)})
		if got := l.refused(err); got != unknown {
			t.Errorf("%s in a thread of %s: %q", test.who, test.channel, got)
		}
		for _, ts := range []string{secret, inRandom} {
			_, err = l.as(test.who).Message(l.ctx, test.channel, "", chat.TS(ts))
			if got := l.refused(err); got != unknown {
				t.Errorf("%s asks %s for a message: %q", test.who, test.channel, got)
			}
		}
	}
	for _, method := range []string{"conversations.history", "conversations.replies"} {
		if n := len(l.sim.Calls(method)); n > 0 {
			t.Errorf("%s was called %d times", method, n)
		}
	}
}

// A system actor has no membership to spend.
func TestNobodyReadsForASystemActor(t *testing.T) {
	l := newLibrary(t)
	for _, actor := range []chat.Actor{{}, chat.SystemActor("scheduler"), {User: simulator.Alice}} {
		s := l.readings.For(plugins.Run{Actor: actor})
		_, _, err := s.Messages(l.ctx, plugins.SlackPlace{Channel: simulator.General})
		l.refused(err)
		_, err = s.Message(l.ctx, simulator.General, "", "1700000000.000100")
		l.refused(err)
		_, err = s.Person(l.ctx, simulator.Bob)
		l.refused(err)
	}
	if n := len(l.sim.Calls("")); n > 1 {
		t.Errorf("slack was asked %d times", n)
	}
}

// Membership is of this moment: who has just been taken out reads nothing more.
func TestMembershipIsAskedEachTime(t *testing.T) {
	l := newLibrary(t)
	l.sim.Say(simulator.Bob, simulator.Planning, "plan", quietly)
	read := func() error {
		_, _, err := l.as(simulator.Alice).Messages(l.ctx, plugins.SlackPlace{Channel: "planning"})
		return err
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	l.sim.SetChannel(simulator.Channel{ID: simulator.Planning, Name: "planning", Kind: simulator.PrivateChannel, Members: []string{simulator.Bob, "UBOT"}})
	l.refused(read())
}

// A member is found on whichever page he stands.
func TestAMemberOfALargeChannel(t *testing.T) {
	l := newLibrary(t)
	members := []string{"UBOT"}
	for i := range 2500 {
		members = append(members, fmt.Sprintf("UMANY%d", i))
	}
	l.sim.SetChannel(simulator.Channel{ID: "CLARGE", Name: "large", Members: append(members, simulator.Alice)})
	l.sim.Say(simulator.Alice, "CLARGE", "hello", quietly)
	if got, _, err := l.as(simulator.Alice).Messages(l.ctx, plugins.SlackPlace{Channel: "large"}); err != nil || says(got) != "Alice: hello" {
		t.Errorf("%q, %v", says(got), err)
	}
	_, _, err := l.as(simulator.Bob).Messages(l.ctx, plugins.SlackPlace{Channel: "large"})
	l.refused(err)
}

func TestAChannelIsRead(t *testing.T) {
	l := newLibrary(t)
	first := l.sim.Say(simulator.Alice, simulator.Planning, "one &amp; <@UBOB>", quietly)
	l.sim.Say(simulator.Bob, simulator.Planning, "a reply", simulator.SayOptions{Quiet: true, Thread: first})
	l.sim.Say(simulator.Bob, simulator.Planning, "two", simulator.SayOptions{Quiet: true, Files: []simulator.NewFile{{Name: "plan.txt", Content: []byte("x")}}})
	l.sim.Say("", simulator.Planning, "built", simulator.SayOptions{Quiet: true, Author: simulator.AsWorkflow("CI")})
	last := l.sim.Say(simulator.Alice, simulator.Planning, "<@UBOT> !! stop", quietly)
	alice := l.as(simulator.Alice)

	got, more, err := alice.Messages(l.ctx, plugins.SlackPlace{Channel: "planning"})
	if err != nil || more || says(got) != "Alice: one & <@UBOB>\nBob: two\n: built\nAlice: stop" {
		t.Fatalf("%q, more %v, %v", says(got), more, err)
	}
	if got[0].Replies != 1 || got[0].Visibility != chat.Private || string(got[0].Conversation.Root) != first || got[0].Author != chat.Person(simulator.HomeTeam, simulator.Alice) {
		t.Errorf("%+v", got[0])
	}
	if len(got[1].Attached) != 1 || got[1].Attached[0].File.Name != "plan.txt" {
		t.Errorf("%+v", got[1].Attached)
	}
	for _, m := range got {
		if m.Standing != chat.ContextOnly || m.Addressed || m.Forced || m.Stop {
			t.Errorf("more than context: %+v", m)
		}
	}
	got, more, err = alice.Messages(l.ctx, plugins.SlackPlace{Channel: simulator.Planning, Limit: 2})
	if err != nil || !more || says(got) != ": built\nAlice: stop" {
		t.Errorf("%q, more %v, %v", says(got), more, err)
	}
	got, more, err = alice.Messages(l.ctx, plugins.SlackPlace{Channel: simulator.Planning, Limit: 2, Before: chat.TS(last)})
	if err != nil || !more || says(got) != "Bob: two\n: built" {
		t.Errorf("%q, more %v, %v", says(got), more, err)
	}
}

func TestAThreadIsReadFromItsEnd(t *testing.T) {
	l := newLibrary(t)
	root := l.sim.Say(simulator.Alice, simulator.General, "root", quietly)
	say := func(n int, what string) {
		for i := range n {
			l.sim.Say(simulator.Bob, simulator.General, fmt.Sprint(what, i), simulator.SayOptions{Quiet: true, Thread: root})
		}
	}
	in := plugins.SlackPlace{Channel: simulator.General, Thread: chat.TS(root), Limit: 3}
	say(3, "a")
	got, more, err := l.as(simulator.Carol).Messages(l.ctx, in)
	if err != nil || !more || says(got) != "Bob: a0\nBob: a1\nBob: a2" {
		t.Errorf("short: %q, more %v, %v", says(got), more, err)
	}
	in.Limit = 100
	got, more, err = l.as(simulator.Carol).Messages(l.ctx, in)
	if err != nil || more || says(got) != "Alice: root\nBob: a0\nBob: a1\nBob: a2" {
		t.Errorf("whole: %q, more %v, %v", says(got), more, err)
	}

	say(400, "b")
	l.clock.pass(30 * 24 * time.Hour)
	say(50, "c")
	l.clock.pass(100 * 24 * time.Hour) // and nobody has said anything since
	got, more, err = l.as(simulator.Carol).Messages(l.ctx, in)
	if err != nil || !more || len(got) != 100 || got[99].Text != "c49" || got[49].Text != "b399" {
		t.Fatalf("long: %d messages, more %v, %v", len(got), more, err)
	}
	in.Before = got[0].ID.TS
	got, more, err = l.as(simulator.Carol).Messages(l.ctx, in)
	if err != nil || !more || len(got) != 100 || got[99].Text != "b349" || got[0].Text != "b250" {
		t.Errorf("further back: %d messages, more %v, %v", len(got), more, err)
	}
	in.Before = chat.TS(root)
	if got, more, err = l.as(simulator.Carol).Messages(l.ctx, in); err != nil || more || len(got) != 0 {
		t.Errorf("before its beginning: %q, more %v, %v", says(got), more, err)
	}
	in.Thread, in.Before = "1600000000.000100", ""
	_, _, err = l.as(simulator.Carol).Messages(l.ctx, in)
	l.refused(err)
}

func TestOneMessage(t *testing.T) {
	l := newLibrary(t)
	root := l.sim.Say(simulator.Alice, simulator.Planning, "root", quietly)
	reply := l.sim.Say(simulator.Bob, simulator.Planning, "reply", simulator.SayOptions{Quiet: true, Thread: root})
	for _, test := range []struct{ thread, ts, want string }{
		{"", root, "Alice: root"}, {root, root, "Alice: root"}, {root, reply, "Bob: reply"}, {"", reply, "Bob: reply"},
		{"", "1600000000.000100", ""}, {root, "1600000000.000100", ""}, {"", "nonsense", ""}, {"1600000000.000100", root, ""},
	} {
		got, err := l.as(simulator.Alice).Message(l.ctx, simulator.Planning, chat.TS(test.thread), chat.TS(test.ts))
		if test.want == "" {
			l.refused(err)
			continue
		}
		if err != nil || says([]plugins.SlackMessage{got}) != test.want || string(got.Conversation.Root) != root {
			t.Errorf("%s below %s: %+v, %v", test.ts, test.thread, got, err)
		}
	}
}

// A person reads his own direct messages with the bot, and the bot's words are
// told from his.
func TestOnesOwnDirectMessages(t *testing.T) {
	l := newLibrary(t)
	api := slackapp.NewClient(slackapp.ClientOptions{BotToken: l.sim.BotToken(), APIURL: l.sim.APIURL()})
	root := l.sim.Say(simulator.Alice, simulator.AliceDM, "hi", quietly)
	if _, _, err := api.PostMessageContext(l.ctx, simulator.AliceDM, mrkdwn("", "hello Alice")...); err != nil {
		t.Fatal(err)
	}
	got, _, err := l.as(simulator.Alice).Messages(l.ctx, plugins.SlackPlace{Channel: simulator.AliceDM})
	if err != nil || says(got) != "Alice: hi\nthis bot: hello Alice" || got[0].Visibility != chat.DM || string(got[0].ID.TS) != root {
		t.Errorf("%q, %v", says(got), err)
	}
}

// What the operator has closed to the bot is closed here too.
func TestTheOperatorsLists(t *testing.T) {
	l := newLibrary(t)
	l.sim.Say(simulator.Eve, simulator.Partners, "offer", quietly)
	_, _, err := l.as(simulator.Alice).Messages(l.ctx, plugins.SlackPlace{Channel: "partners"})
	if got := l.refused(err); !strings.Contains(got, "another organisation") {
		t.Errorf("%q", got)
	}
	_, _, err = l.as(simulator.Bob).Messages(l.ctx, plugins.SlackPlace{Channel: "partners"})
	if got := l.refused(err); strings.Contains(got, "another organisation") {
		t.Errorf("who is no member is told of the channel: %q", got)
	}

	l = newLibrary(t, func(a *slackapp.Admission) { a.AllowExternal = true })
	l.sim.Say(simulator.Eve, simulator.Partners, "offer", quietly)
	if got, _, err := l.as(simulator.Alice).Messages(l.ctx, plugins.SlackPlace{Channel: "partners"}); err != nil || len(got) != 1 || got[0].Author.Team != simulator.ForeignTeam {
		t.Errorf("%+v, %v", got, err)
	}

	l = newLibrary(t, func(a *slackapp.Admission) { a.Channels = map[chat.ChannelID]bool{simulator.General: true} })
	l.sim.Say(simulator.Alice, simulator.Planning, "plan", quietly)
	l.sim.Say(simulator.Alice, simulator.AliceDM, "hi", quietly)
	_, _, err = l.as(simulator.Alice).Messages(l.ctx, plugins.SlackPlace{Channel: simulator.Planning})
	l.refused(err)
	if got, _, err := l.as(simulator.Alice).Messages(l.ctx, plugins.SlackPlace{Channel: simulator.AliceDM}); err != nil || len(got) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestPeople(t *testing.T) {
	l := newLibrary(t)
	l.sim.SetUser(simulator.User{ID: simulator.Bob, Name: "bob", RealName: "Bob Brown", DisplayName: "Bob", Title: "Baker", TZ: "America/New_York"})
	l.sim.SetUser(simulator.User{ID: "UGONE", Name: "gone", RealName: "Gone", Deleted: true})
	alice := l.as(simulator.Alice)
	want := plugins.SlackPerson{ID: simulator.Bob, Name: "Bob", RealName: "Bob Brown", Title: "Baker", Zone: "America/New_York"}
	if got, err := alice.Person(l.ctx, simulator.Bob); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := alice.Person(l.ctx, simulator.Guest); err != nil || !got.Guest {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := alice.Person(l.ctx, simulator.Deploybot); err != nil || !got.Bot {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := alice.Person(l.ctx, "UGONE"); err != nil || !got.Deactivated {
		t.Errorf("%+v, %v", got, err)
	}
	_, err := alice.Person(l.ctx, "UNOBODY")
	unknown := l.refused(err)
	for _, who := range []chat.UserID{simulator.Eve, "bob", ""} {
		_, err := alice.Person(l.ctx, who)
		if got := l.refused(err); got != unknown {
			t.Errorf("%s: %q", who, got)
		}
	}
	// A guest sees himself alone, and who is of another organisation nobody.
	if got, err := l.as(simulator.Guest).Person(l.ctx, simulator.Guest); err != nil || got.Name != "Gwen" {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = l.as(simulator.Guest).Person(l.ctx, simulator.Bob)
	l.refused(err)
	_, err = l.readings.For(plugins.Run{Actor: chat.Person(simulator.ForeignTeam, simulator.Eve)}).Person(l.ctx, simulator.Bob)
	l.refused(err)
}

// When Slack does not answer properly nobody reads, and nothing of the answer
// is told.
func TestWhenSlackFails(t *testing.T) {
	faults := []simulator.Fault{
		{Error: "internal_error"}, {Error: "fetch_members_failed"}, {Error: "missing_scope"}, {Status: 500}, {LoseAnswer: true},
		{Status: 429, RetryAfter: 3600},
	}
	for _, method := range []string{"conversations.members", "conversations.info", "conversations.history"} {
		for _, fault := range faults {
			l := newLibrary(t)
			l.sim.Say(simulator.Bob, simulator.Planning, "secret", quietly)
			fault.Method, fault.Times = method, -1
			l.sim.Fail(fault)
			got, _, err := l.as(simulator.Alice).Messages(l.ctx, plugins.SlackPlace{Channel: simulator.Planning})
			if text := l.refused(err); got != nil || strings.Contains(text, "_") || strings.Contains(text, "127.0.0.1") {
				t.Errorf("%s %+v: %v, %q", method, fault, got, text)
			}
		}
	}
}

// A short wait that Slack asks for is waited.
func TestAShortLimitIsWaitedFor(t *testing.T) {
	l := newLibrary(t)
	l.sim.Say(simulator.Bob, simulator.Planning, "plan", quietly)
	l.sim.Fail(simulator.Fault{Method: "conversations.members", Status: 429, RetryAfter: 1})
	if got, _, err := l.as(simulator.Alice).Messages(l.ctx, plugins.SlackPlace{Channel: simulator.Planning}); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}
