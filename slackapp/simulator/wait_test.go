package simulator_test

import (
	"context"
	"errors"
	"testing"

	"reeve/slackapp/simulator"
)

func TestWaitSeesPastAndComing(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	past := s.Say(simulator.Alice, simulator.General, "past")
	m, err := s.WaitMessage(within(t), func(m simulator.Message) bool { return m.Text == "past" })
	check(t, err)
	if m.TS != past {
		t.Errorf("found %+v", m)
	}
	found := make(chan error, 1)
	ctx, mark := within(t), s.Mark()
	go func() {
		_, err := s.WaitAfter(ctx, mark, simulator.OfKind(simulator.MessagePosted))
		found <- err
	}()
	s.Say(simulator.Alice, simulator.General, "coming")
	check(t, <-found)
}

func TestWaitEnds(t *testing.T) {
	s := simulator.New(simulator.Options{})
	check(t, s.Start(context.Background()))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	never := func(simulator.Event) bool { return false }
	if _, err := s.WaitFor(ctx, never); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	ended := make(chan error, 1)
	go func() { _, err := s.WaitFor(context.Background(), never); ended <- err }()
	s.Close()
	s.Close()
	if err := <-ended; !errors.Is(err, simulator.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestContextCloses(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := simulator.New(simulator.Options{})
	check(t, s.Start(ctx))
	cancel()
	err := s.WaitUntil(context.Background(), func() bool { return false })
	if !errors.Is(err, simulator.ErrClosed) {
		t.Errorf("got %v", err)
	}
	s.Close()
}

func TestLoopbackOnly(t *testing.T) {
	s := simulator.New(simulator.Options{Addr: "0.0.0.0:0"})
	if err := s.Start(t.Context()); err == nil {
		t.Error("it listens for everybody")
	}
	s.Close()
}
