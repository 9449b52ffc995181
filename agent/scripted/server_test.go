package scripted_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"reeve/agent"
	"reeve/agent/openai"
	"reeve/agent/scripted"
	"reeve/runtime/chat"
)

func server(t *testing.T) (*scripted.Server, *openai.Client) {
	t.Helper()
	s, err := scripted.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	client, err := openai.New(openai.Options{BaseURL: s.URL(), Model: "m", Waits: []time.Duration{}})
	if err != nil {
		t.Fatal(err)
	}
	return s, client
}

func asks(text string) agent.Request {
	return agent.Request{Messages: []agent.Message{{Role: chat.UserRole, Content: text}}}
}

func TestHeldAnswerIsSeenBeforeItsRelease(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	s, client := server(t)
	held, release := scripted.Answer("later").Held()
	s.Then(held)
	answered := make(chan string)
	go func() {
		reply, err := client.Complete(ctx, asks("first"))
		if err != nil {
			reply.Text = err.Error()
		}
		answered <- reply.Text
	}()
	request, err := s.WaitRequest(ctx, 1)
	if err != nil || request.Count("first") != 1 || len(request.With("user", "first")) != 1 {
		t.Fatalf("got %+v, %v", request, err)
	}
	select {
	case text := <-answered:
		t.Fatalf("answered %q before the release", text)
	default:
	}
	release()
	release() // twice does no harm
	if text := <-answered; text != "later" {
		t.Errorf("got %q", text)
	}
}

func TestStepsWaitForTheRequestThatTheyFit(t *testing.T) {
	s, client := server(t)
	s.Then(scripted.Answer("to bob").If(func(r scripted.Request) bool { return r.Count("bob") > 0 }), scripted.Answer("to anybody"))
	for _, want := range []struct{ ask, get string }{{"alice", "to anybody"}, {"bob", "to bob"}} {
		if reply, err := client.Complete(t.Context(), asks(want.ask)); err != nil || reply.Text != want.get {
			t.Errorf("%s got %q, %v", want.ask, reply.Text, err)
		}
	}
	if s.Left() != 0 {
		t.Errorf("%d steps are left", s.Left())
	}
}

func TestUnscriptedRequestFailsAtOnce(t *testing.T) {
	s, client := server(t)
	_, err := client.Complete(t.Context(), asks("hello"))
	var failure *agent.Failure
	if !errors.As(err, &failure) || failure.Kind != agent.ModelRefused || !strings.Contains(err.Error(), "status 400") || len(s.Requests()) != 1 {
		t.Errorf("got %v after %d requests", err, len(s.Requests()))
	}
}

func TestWaitEndsWithItsContextAndWithTheServer(t *testing.T) {
	s, _ := server(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.WaitRequest(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	s.Close()
	if _, err := s.WaitRequest(t.Context(), 1); err == nil {
		t.Error("waited for a closed server")
	}
}
