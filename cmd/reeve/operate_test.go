package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/runtime/mailbox/redistest"
)

// The commands of an operator, against a store in which there is one of
// everything.
func TestOperate(t *testing.T) {
	server := redistest.Start(t)
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/operate",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "holds": holds},
		Setup: func(env *testscript.Env) error {
			// Each script has a store of its own.
			prefix := redistest.Prefix()
			env.Setenv("URL", server.URL())
			env.Setenv("REDIS_PREFIX", prefix)
			if err := seed(server.URL(), prefix); err != nil {
				return err
			}
			if err := seedAccounts(server.URL(), prefix); err != nil {
				return err
			}
			env.Setenv("SEEDED", prefix)
			env.Setenv("KEY1", keySetting("1", 'a'))
			env.Setenv("WRONG1", keySetting("1", 'z'))
			env.Setenv("KEY2", keySetting("2", 'b'))
			return seedMemories(server.URL(), prefix)
		},
	})
}

// scene puts messages of people into one thread.
type scene struct {
	box    *mailbox.Box
	policy runtime.Policy
	conv   chat.Conversation
	clock  int
}

func (s *scene) says(user chat.UserID, turn chat.TurnID, claim bool, text string) (*mailbox.Claimed, error) {
	s.clock++
	m := chat.Message{
		ID:           chat.MessageID{Team: "T1", Channel: s.conv.Channel, TS: chat.TS(fmt.Sprintf("1700000000.%06d", s.clock))},
		Conversation: s.conv, Author: chat.Person("T1", user), Addressed: true, Standing: chat.MayInstruct, Text: text,
	}
	got, errs := s.box.PutAll(context.Background(), []mailbox.Put{{Message: m, Row: runtime.DecideRow(m, s.policy), Turn: turn, Claim: claim}})
	return got[0].Claimed, errs[0]
}

// seed: Carol's turn is parked, Erin's has ended and its answer is not posted,
// Alice's runs, Bob's message waits, and nobody has touched Dave's.
func seed(url, prefix string) error {
	ctx := context.Background()
	// A year of lease: nobody renews it here.
	box, err := mailbox.Open(mailbox.Options{URL: url, Prefix: prefix, LeaseTTL: 365 * 24 * time.Hour, Untouched: time.Millisecond})
	if err != nil {
		return err
	}
	defer box.Shutdown()
	s := &scene{box: box, policy: runtime.Policy{SameActor: runtime.ModeSteer, CrossActor: runtime.ModeFollowUp, Stop: runtime.StopByAnyone}}
	s.conv = chat.Conversation{Team: "T1", Channel: "C1", Root: "1700000000.000001"}
	turn := func(name string) chat.TurnID { return chat.TurnID("t_00000000000000000000" + name) }
	ref := func(c *mailbox.Claimed) mailbox.Ref {
		return mailbox.Ref{Conversation: c.Conversation, Turn: c.Turn, Token: c.Token}
	}

	c, err := s.says("UCAROL", turn("carol1"), true, "a question")
	if err != nil {
		return err
	}
	if _, err := box.Park(ctx, mailbox.Park{Ref: ref(c), Number: 1, For: []byte("consent")}); err != nil {
		return err
	}
	if c, err = s.says("UERIN", turn("erin01"), true, "a thing that ends"); err != nil {
		return err
	}
	entry := `{"role":"assistant","origin":"answer","text":"it has ended\u001b[2J","tokens":42}`
	if _, err := box.Close(ctx, mailbox.Close{
		Ref: ref(c), Number: 1, Outcome: mailbox.Done, Entries: [][]byte{[]byte(entry)},
		Parts: []chat.Part{{ID: string(c.Turn) + "/1", Turn: c.Turn, To: chat.Destination{Channel: "C1", Thread: s.conv.Root}, Markdown: "it has ended"}},
	}); err != nil {
		return err
	}
	if c, err = s.says("UALICE", turn("alice1"), true, "a secret wish"); err != nil {
		return err
	}
	call := `{"role":"assistant","origin":"tool_call","calls":[{"id":"1","tool":"current_time","arguments":"{}"}],"tokens":17}`
	if _, err := box.Commit(ctx, mailbox.Commit{Ref: ref(c), Number: 1, Entries: [][]byte{[]byte(call)}, Answer: true}); err != nil {
		return err
	}
	if err := box.SetAside(ctx, s.conv, c.Turn, 0, c.Log[0], "it is a test", chat.Actor{}); err != nil {
		return err
	}
	if _, err := s.says("UBOB", turn("bob001"), true, "a wish that waits"); err != nil {
		return err
	}

	s.conv.Channel = "C2"
	if _, err := s.says("UDAVE", turn("none01"), false, "an old wish"); err != nil {
		return err
	}
	<-time.After(10 * time.Millisecond)
	r, err := box.Claim(ctx, s.conv, mailbox.Next{Claim: true, Turn: turn("dave01")}, 5)
	if err == nil && !r.Untouched {
		err = fmt.Errorf("what nobody touched was claimed: %+v", r)
	}
	return err
}
