package simulator_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"

	"reeve/slackapp/simulator"
)

// slackGo is a slack-go client with its socket, as a bot would have it.
type slackGo struct {
	*slack.Client
	socket *socketmode.Client
	events chan socketmode.Event
}

func newSlackGo(t *testing.T, s *simulator.Server) *slackGo {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	api := slack.New(s.BotToken(), slack.OptionAPIURL(s.APIURL()), slack.OptionAppLevelToken(s.AppToken()),
		slack.OptionHTTPClient(&http.Client{Transport: transport, Timeout: 10 * time.Second}))
	return &slackGo{Client: api}
}

// connect runs the socket until the test ends.
func (c *slackGo) connect(t *testing.T) {
	t.Helper()
	c.socket = socketmode.New(c.Client)
	c.events = c.socket.Events
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = c.socket.RunContext(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
}

// next is the next event of a type; others are skipped.
func (c *slackGo) next(t *testing.T, kind socketmode.EventType) socketmode.Event {
	t.Helper()
	ctx := within(t)
	for {
		select {
		case e := <-c.events:
			if e.Type == kind {
				return e
			}
		case <-ctx.Done():
			t.Fatalf("no %s event came", kind)
		}
	}
}

// nextInner acknowledges the next Events API event and returns what is in it.
func (c *slackGo) nextInner(t *testing.T) (slackevents.EventsAPIEvent, socketmode.Request) {
	t.Helper()
	e := c.next(t, socketmode.EventTypeEventsAPI)
	check(t, c.socket.AckCtx(within(t), e.Request.EnvelopeID, nil))
	return e.Data.(slackevents.EventsAPIEvent), *e.Request
}

func startConnected(t *testing.T, o simulator.Options) (*simulator.Server, *slackGo) {
	t.Helper()
	s := simulator.ForTest(t, o)
	c := newSlackGo(t, s)
	c.connect(t)
	check(t, s.WaitConnected(within(t), 1))
	return s, c
}

func TestConformanceSlackGo_AuthTest(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	who, err := newSlackGo(t, s).AuthTest()
	check(t, err)
	if who.UserID != s.Bot().UserID || who.TeamID != simulator.HomeTeam || who.BotID != s.Bot().BotID {
		t.Errorf("auth.test answered %+v", who)
	}
	if who.Header.Get("X-OAuth-Scopes") == "" {
		t.Error("no scopes in the header")
	}
	_, err = slack.New("xoxb-wrong", slack.OptionAPIURL(s.APIURL())).AuthTest()
	if err == nil || err.Error() != "invalid_auth" {
		t.Errorf("a wrong token got %v", err)
	}
}

func TestConformanceSlackGo_HelloEventAck(t *testing.T) {
	s, c := startConnected(t, simulator.Options{})
	hello := c.next(t, socketmode.EventTypeHello)
	if hello.Request.NumConnections != 1 || hello.Request.ConnectionInfo.AppID != s.Bot().AppID {
		t.Errorf("hello was %+v", hello.Request)
	}
	ts := s.Say(simulator.Alice, simulator.AliceDM, "hello")
	e, request := c.nextInner(t)
	m, ok := e.InnerEvent.Data.(*slackevents.MessageEvent)
	if !ok || m.TimeStamp != ts || m.User != simulator.Alice || m.ChannelType != "im" || m.Text != "hello" || m.BotID != "" {
		t.Errorf("message event was %+v", e.InnerEvent.Data)
	}
	if request.RetryAttempt != 0 {
		t.Errorf("first delivery says retry %d", request.RetryAttempt)
	}
	check(t, s.WaitSettled(within(t)))
	if acks := s.Acks(); len(acks) != 1 || acks[0].ID != request.EnvelopeID {
		t.Errorf("acknowledged: %+v", acks)
	}
}

func TestConformanceSlackGo_Redelivery(t *testing.T) {
	s, c := startConnected(t, simulator.Options{AckTimeout: 50 * time.Millisecond, RetryScale: 1e-6})
	s.Say(simulator.Alice, simulator.AliceDM, "hello")
	first := c.next(t, socketmode.EventTypeEventsAPI) // not acknowledged
	second := c.next(t, socketmode.EventTypeEventsAPI)
	if second.Request.RetryAttempt != 1 || second.Request.RetryReason != "timeout" {
		t.Errorf("second delivery was %+v", second.Request)
	}
	a, b := first.Data.(slackevents.EventsAPIEvent), second.Data.(slackevents.EventsAPIEvent)
	if id(a) != id(b) || id(a) == "" {
		t.Errorf("event ids %q and %q differ", id(a), id(b))
	}
	check(t, c.socket.AckCtx(within(t), second.Request.EnvelopeID, nil))
	check(t, s.WaitSettled(within(t)))
}

func id(e slackevents.EventsAPIEvent) string {
	return e.Data.(*slackevents.EventsAPICallbackEvent).EventID
}

func TestConformanceSlackGo_MentionTwins(t *testing.T) {
	s, c := startConnected(t, simulator.Options{})
	for _, twin := range []simulator.Twin{simulator.MessageFirst, simulator.MentionFirst} {
		ts := s.Say(simulator.Bob, simulator.General, "<@UBOT> hi", simulator.SayOptions{Twin: twin, TwinDelay: time.Millisecond})
		one, _ := c.nextInner(t)
		two, _ := c.nextInner(t)
		if twin == simulator.MentionFirst {
			one, two = two, one
		}
		m, ok := one.InnerEvent.Data.(*slackevents.MessageEvent)
		mention, ok2 := two.InnerEvent.Data.(*slackevents.AppMentionEvent)
		if !ok || !ok2 || m.TimeStamp != ts || mention.TimeStamp != ts || mention.User != simulator.Bob || id(one) == id(two) {
			t.Errorf("twins were %+v and %+v", one.InnerEvent.Data, two.InnerEvent.Data)
		}
	}
}

func TestConformanceSlackGo_PostsAndReplies(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	c := newSlackGo(t, s)
	root := s.Say(simulator.Alice, simulator.General, "a question")
	var posted []string
	for range 5 {
		_, ts, err := c.PostMessage(simulator.General, slack.MsgOptionText("an answer", false), slack.MsgOptionTS(root),
			slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionMetadata(slack.SlackMetadata{
				EventType: "part", EventPayload: map[string]any{"id": "p1"},
			}))
		check(t, err)
		posted = append(posted, ts)
	}
	var read []string
	cursor, pages := "", 0
	for {
		messages, more, next, err := c.GetConversationReplies(&slack.GetConversationRepliesParameters{
			ChannelID: simulator.General, Timestamp: root, Limit: 3, Cursor: cursor, IncludeAllMetadata: true,
		})
		check(t, err)
		if pages++; messages[0].Timestamp != root || messages[0].ReplyCount != 5 {
			t.Fatalf("page %d begins with %+v", pages, messages[0])
		}
		for _, m := range messages[1:] {
			read = append(read, m.Timestamp)
			if m.Metadata.EventPayload["id"] != "p1" || m.ThreadTimestamp != root || m.BotID != s.Bot().BotID {
				t.Errorf("reply was %+v", m)
			}
		}
		if cursor = next; !more {
			break
		}
	}
	if len(read) != len(posted) || read[0] != posted[0] || read[4] != posted[4] || pages != 3 {
		t.Errorf("posted %v, read %v in %d pages", posted, read, pages)
	}
	history, err := c.GetConversationHistory(&slack.GetConversationHistoryParameters{ChannelID: simulator.General})
	check(t, err)
	if len(history.Messages) != 1 || history.Messages[0].LatestReply != posted[4] {
		t.Errorf("history was %+v", history.Messages)
	}
}

func TestConformanceSlackGo_UpdateReactEphemeral(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	c := newSlackGo(t, s)
	_, ts, err := c.PostMessage(simulator.General, slack.MsgOptionText("draft", false))
	check(t, err)
	_, _, _, err = c.UpdateMessage(simulator.General, ts, slack.MsgOptionText("final", false))
	check(t, err)
	item := slack.NewRefToMessage(simulator.General, ts)
	check(t, c.AddReaction("eyes", item))
	if err := c.AddReaction("eyes", item); err == nil || err.Error() != "already_reacted" {
		t.Errorf("second reaction got %v", err)
	}
	check(t, c.RemoveReaction("eyes", item))
	_, err = c.PostEphemeral(simulator.General, simulator.Bob, slack.MsgOptionText("only you", false))
	check(t, err)
	if m := s.Messages(simulator.General, ""); len(m) != 1 || m[0].Text != "final" || len(m[0].Reactions) != 0 || m[0].Edited == nil {
		t.Errorf("messages are %+v", m)
	}
	if e := s.Ephemerals(simulator.Bob); len(e) != 1 || e[0].Text != "only you" {
		t.Errorf("ephemerals are %+v", e)
	}
}

func TestConformanceSlackGo_RateLimit(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	c := newSlackGo(t, s)
	s.Fail(simulator.Fault{Method: "chat.postMessage", Status: 429, RetryAfter: 7})
	_, _, err := c.PostMessage(simulator.General, slack.MsgOptionText("x", false))
	var limited *slack.RateLimitedError
	if !errors.As(err, &limited) || limited.RetryAfter != 7*time.Second {
		t.Errorf("got %v", err)
	}
	_, _, err = c.PostMessage(simulator.General, slack.MsgOptionText("x", false))
	check(t, err)
}

func TestConformanceSlackGo_Reconnect(t *testing.T) {
	s, c := startConnected(t, simulator.Options{DisconnectGrace: time.Millisecond})
	mark := s.Mark()
	s.Disconnect("refresh_requested")
	_, err := s.WaitAfter(within(t), mark, simulator.OfKind(simulator.Connected))
	check(t, err)
	ts := s.Say(simulator.Alice, simulator.AliceDM, "still there?")
	e, _ := c.nextInner(t)
	if m := e.InnerEvent.Data.(*slackevents.MessageEvent); m.TimeStamp != ts {
		t.Errorf("event was %+v", m)
	}
	check(t, s.WaitSettled(within(t)))
}

func TestConformanceSlackGo_Interactive(t *testing.T) {
	s, c := startConnected(t, simulator.Options{})
	button := slack.NewButtonBlockElement("approve", "42", slack.NewTextBlockObject("plain_text", "Approve", false, false))
	_, ts, err := c.PostMessage(simulator.General, slack.MsgOptionText("well?", false), slack.MsgOptionBlocks(slack.NewActionBlock("b1", button)))
	check(t, err)
	envelope, err := s.Click(simulator.Alice, simulator.General, ts, "approve")
	check(t, err)
	e := c.next(t, socketmode.EventTypeInteractive)
	click := e.Data.(slack.InteractionCallback)
	if click.Type != slack.InteractionTypeBlockActions || click.User.ID != simulator.Alice || click.User.TeamID != simulator.HomeTeam ||
		click.ActionCallback.BlockActions[0].Value != "42" || click.Container.MessageTs != ts || click.TriggerID == "" {
		t.Errorf("click was %+v", click)
	}
	check(t, c.socket.AckCtx(within(t), e.Request.EnvelopeID, nil))
	_, err = s.WaitFor(within(t), func(e simulator.Event) bool { return e.Kind == simulator.Acked && e.Envelope.ID == envelope })
	check(t, err)
	view, err := c.OpenView(click.TriggerID, slack.ModalViewRequest{
		Type: slack.VTModal, Title: slack.NewTextBlockObject("plain_text", "Sure?", false, false),
	})
	check(t, err)
	go func() {
		request := c.next(t, socketmode.EventTypeInteractive).Request
		_ = c.socket.AckCtx(context.Background(), request.EnvelopeID, map[string]any{"response_action": "clear"})
	}()
	submitted, err := s.SubmitView(within(t), simulator.Alice, view.ID, nil)
	check(t, err)
	if string(submitted.Response) != `{"response_action":"clear"}` {
		t.Errorf("response was %s", submitted.Response)
	}
}

func TestConformanceSlackGo_Files(t *testing.T) {
	s, c := startConnected(t, simulator.Options{})
	s.Say(simulator.Alice, simulator.AliceDM, "", simulator.SayOptions{Files: []simulator.NewFile{{Name: "notes.txt", Content: []byte("the notes")}}})
	e, _ := c.nextInner(t)
	m := e.InnerEvent.Data.(*slackevents.MessageEvent)
	if m.SubType != "file_share" || len(m.Message.Files) != 1 {
		t.Fatalf("event was %+v", m)
	}
	info, _, _, err := c.GetFileInfo(m.Message.Files[0].ID, 0, 0)
	check(t, err)
	var content bytes.Buffer
	check(t, c.GetFile(info.URLPrivateDownload, &content))
	if content.String() != "the notes" || info.Name != "notes.txt" || info.Size != 9 {
		t.Errorf("file %+v holds %q", info, content.String())
	}
	stranger := slack.New("xoxb-wrong", slack.OptionAPIURL(s.APIURL()))
	if err := stranger.GetFile(info.URLPrivateDownload, &content); err == nil {
		t.Error("a wrong token got the file")
	}
	_, err = c.UploadFile(slack.UploadFileParameters{
		Channel: simulator.AliceDM, ThreadTimestamp: m.TimeStamp, Filename: "answer.txt", FileSize: 4, Content: "four",
	})
	check(t, err)
	if below := s.Messages(simulator.AliceDM, m.TimeStamp); len(below) != 2 || below[1].Files[0].Name != "answer.txt" {
		t.Errorf("thread is %+v", below)
	}
}

func TestConformanceSlackGo_Stream(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	c := newSlackGo(t, s)
	root := s.Say(simulator.Alice, simulator.General, "tell me")
	_, ts, err := c.StartStream(simulator.General, slack.MsgOptionTS(root), slack.MsgOptionRecipientTeamID(simulator.HomeTeam),
		slack.MsgOptionRecipientUserID(simulator.Alice), slack.MsgOptionChunks(slack.NewMarkdownTextChunk("one ")))
	check(t, err)
	_, _, err = c.AppendStream(simulator.General, ts, slack.MsgOptionChunks(slack.NewMarkdownTextChunk("two")))
	check(t, err)
	_, _, err = c.StopStream(simulator.General, ts)
	check(t, err)
	_, _, err = c.AppendStream(simulator.General, ts, slack.MsgOptionChunks(slack.NewMarkdownTextChunk("three")))
	if err == nil || err.Error() != "message_not_in_streaming_state" {
		t.Errorf("append after the end got %v", err)
	}
	if m := s.Messages(simulator.General, root)[1]; m.Text != "one two" || m.Stream != "stopped" {
		t.Errorf("message is %+v", m)
	}
}

func TestConformanceSlackGo_People(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	c := newSlackGo(t, s)
	alice, err := c.GetUserInfo(simulator.Alice)
	check(t, err)
	guest, err := c.GetUserInfo(simulator.Guest)
	check(t, err)
	if alice.TZ != "Europe/Berlin" || alice.IsRestricted || !guest.IsUltraRestricted || alice.Profile.DisplayName != "Alice" {
		t.Errorf("users are %+v and %+v", alice, guest)
	}
	shared, err := c.GetConversationInfo(&slack.GetConversationInfoInput{ChannelID: simulator.Partners})
	check(t, err)
	members, _, err := c.GetUsersInConversation(&slack.GetUsersInConversationParameters{ChannelID: simulator.Partners})
	check(t, err)
	if !shared.IsExtShared || !shared.IsMember || len(members) != 3 {
		t.Errorf("channel is %+v with %v", shared, members)
	}
	dm, _, _, err := c.OpenConversation(&slack.OpenConversationParameters{Users: []string{simulator.Carol}})
	check(t, err)
	if dm.ID != simulator.CarolDM {
		t.Errorf("DM is %s", dm.ID)
	}
}
