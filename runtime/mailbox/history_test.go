package mailbox_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/runtime/mailbox/redistest"
)

const (
	historyConversations = 100
	historyClients       = 4
	historyCalls         = 25 // of each client
)

// TestP4_ConcurrentHistories lets clients on three replicas work on the same
// conversations of a real server at once, and wants each conversation's history
// to be one that a mailbox with a single client could have had.
func TestP4_ConcurrentHistories(t *testing.T) {
	t.Parallel()
	order, seed := seeded()
	boxes := historyBoxes(t)
	operations, room := 0, make(chan struct{}, 4)
	var mu sync.Mutex
	var group sync.WaitGroup
	for n := range historyConversations {
		h := newHistory(boxes, n, order.Uint64())
		room <- struct{}{}
		group.Go(func() {
			defer func() { <-room }()
			list, err := h.record()
			if err != nil {
				t.Errorf("seed %d: %v", seed, err)
				return
			}
			mu.Lock()
			operations += len(list)
			mu.Unlock()
			if got := porcupine.CheckOperationsTimeout(historyModel, list, time.Minute); got != porcupine.Ok {
				t.Errorf("seed %d: the history of %s is %s:\n%s", seed, h.conv.Key(), got, historyText(list))
			}
		})
	}
	group.Wait()
	t.Logf("%d operations, seed %d", operations, seed)
	if operations < historyConversations*historyClients*historyCalls && !t.Failed() {
		t.Errorf("only %d operations were recorded", operations)
	}
}

// TestHistoriesAreChecked forges a history: what was read is said to have been
// read twice.
func TestHistoriesAreChecked(t *testing.T) {
	t.Parallel()
	h := newHistory(historyBoxes(t), 1, 7)
	// To be sure that there is no way, each is tried: clients that overlap in all
	// their calls have too many for any patience.
	h.clients, h.calls = 2, 8
	list, err := h.record()
	if err != nil {
		t.Fatal(err)
	}
	if porcupine.CheckOperationsTimeout(historyModel, list, time.Minute) != porcupine.Ok {
		t.Fatalf("the history is not one of a mailbox:\n%s", historyText(list))
	}
	last := len(list) - 1 // what stands in the end
	forged := list[last].Output.(historyOut)
	forged.log += " again"
	list[last].Output = forged
	if got := porcupine.CheckOperationsTimeout(historyModel, list, time.Minute); got != porcupine.Illegal {
		t.Errorf("a forged history is %s", got)
	}
}

func historyBoxes(t *testing.T) []*mailbox.Box {
	space := redistest.Shared(t)
	var boxes []*mailbox.Box
	for range 3 {
		box, err := mailbox.Open(mailbox.Options{URL: space.URL(), Prefix: space.Prefix(),
			LeaseTTL: time.Hour, CallTimeout: time.Minute, MaxWaiting: 1000, MaxWaitingAuthor: 1000, MaxUnread: 1000})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = box.Shutdown() })
		boxes = append(boxes, box)
	}
	return boxes
}

// history is what some clients do to one conversation.
type history struct {
	boxes          []*mailbox.Box
	conv           chat.Conversation
	seed           uint64
	begin          time.Time
	clients, calls int // calls of each client

	mu   sync.Mutex
	list []porcupine.Operation
	said []chat.Message
	held []*holding // turns that were claimed; the clients share them, old ones too
	ids  int
	err  error
}

// holding is a claimed turn. Its calls are made one after the other.
type holding struct {
	mailbox.Ref
	sync.Mutex
	calls int64
}

func newHistory(boxes []*mailbox.Box, n int, seed uint64) *history {
	return &history{boxes: boxes, seed: seed, begin: time.Now(), clients: historyClients, calls: historyCalls,
		conv: chat.Conversation{Team: "T1", Channel: "C1", Root: at(1000 * (n + 1))}}
}

// record lets the clients work, ends what is open, and reads what stands then.
func (h *history) record() ([]porcupine.Operation, error) {
	var group sync.WaitGroup
	for id := range h.clients {
		group.Go(func() {
			random := rand.New(rand.NewPCG(h.seed, uint64(id)))
			for range h.calls {
				h.do(id, h.choose(random), random)
			}
		})
	}
	group.Wait()
	random := rand.New(rand.NewPCG(h.seed, 99))
	h.do(0, historyIn{what: "read"}, random)
	return h.list, h.err
}

// historyIn is a call, and historyOut what was answered, in words.
type historyIn struct {
	what    string // put, claim, commit, done, failed, hand over, read
	message chat.Message
	held    *holding
	turn    chat.TurnID
	room    bool
}

func (in historyIn) token() mailbox.Token {
	if in.held == nil {
		return ""
	}
	return in.held.Token
}

type historyOut struct {
	answer string
	taken  string // what was read
	next   chat.TurnID
	token  mailbox.Token
	actor  chat.UserID
	log    string // of the turn that was given out, or of all
}

// choose picks a call: a new message, an old one again, or something with a turn
// that somebody holds or has held.
func (h *history) choose(random *rand.Rand) historyIn {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ids++
	in := historyIn{turn: chat.TurnID(fmt.Sprintf("h_%s_%d", h.conv.Root, h.ids)), room: random.IntN(4) > 0}
	switch n := random.IntN(10); {
	case n < 3 || len(h.held) == 0:
		in.what, in.message = "put", h.message(random)
	case n == 3:
		in.what, in.message = "put", h.said[random.IntN(len(h.said))]
	case n == 4:
		in.what = "claim"
	default:
		in.what = []string{"commit", "commit", "done", "done", "done", "failed", "hand over"}[random.IntN(7)]
		in.held = h.held[max(0, len(h.held)-1-random.IntN(2))]
	}
	return in
}

func (h *history) message(random *rand.Rand) chat.Message {
	m := chat.Message{
		ID:           chat.MessageID{Team: "T1", Channel: "C1", TS: chat.TS(fmt.Sprintf("%s%03d", h.conv.Root[:14], 100+len(h.said)))},
		Conversation: h.conv, Standing: chat.MayInstruct, Addressed: true,
		Author: []chat.Actor{alice, bob, carol}[random.IntN(3)], Forced: random.IntN(4) == 0,
	}
	h.said = append(h.said, m)
	return m
}

// do makes a call and writes it down.
func (h *history) do(client int, in historyIn, random *rand.Rand) {
	box := h.boxes[random.IntN(len(h.boxes))]
	if in.held != nil {
		in.held.Lock()
		defer in.held.Unlock()
		in.held.calls++
	}
	call := time.Since(h.begin).Nanoseconds()
	out, err := h.call(box, in)
	back := time.Since(h.begin).Nanoseconds()
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		h.err = fmt.Errorf("%s: %w", in.what, err)
		return
	}
	if out.next != "" {
		h.held = append(h.held, &holding{Ref: mailbox.Ref{Conversation: h.conv, Turn: out.next, Token: out.token}, calls: 1 << 20 * int64(len(h.held))})
	}
	h.list = append(h.list, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: back})
}

var historyPolicy = runtime.Policy{SameActor: runtime.ModeSteer, CrossActor: runtime.ModeFollowUp, Stop: runtime.StopByAnyone}

func (h *history) call(box *mailbox.Box, in historyIn) (out historyOut, err error) {
	ctx, next := context.Background(), mailbox.Next{Claim: in.room, Turn: in.turn}
	var ref mailbox.Ref
	var number int64
	if in.held != nil {
		ref, number = in.held.Ref, in.held.calls
	}
	var got *mailbox.Claimed
	switch in.what {
	case "put":
		results, errs := box.PutAll(ctx, []mailbox.Put{{Message: in.message, Claim: in.room, Turn: in.turn,
			Row: runtime.DecideRow(in.message, historyPolicy)}})
		out.answer, got, err = string(results[0].Disposition), results[0].Claimed, errs[0]
	case "claim":
		next.Claim = true
		var r mailbox.ClaimResult
		r, err = box.Claim(ctx, h.conv, next, 1000)
		got = r.Claimed
	case "commit":
		var r mailbox.Committed
		r, err = box.Commit(ctx, mailbox.Commit{Ref: ref, Number: number, Take: true})
		out.taken = historyLog(r.Taken)
	case "done", "failed":
		var r mailbox.Closing
		r, err = box.Close(ctx, mailbox.Close{Ref: ref, Number: number, Outcome: mailbox.Outcome(in.what), Next: next})
		out.taken, got = historyLog(r.Taken), r.Next
		if r.Closed {
			out.answer = "closed"
		}
	case "hand over":
		err = box.HandOver(ctx, ref)
	case "read":
		_, err = box.History(ctx, h.conv, 1<<40, func(c mailbox.ClosedTurn) bool {
			out.log = historyLog(c.Log) + "\n" + out.log
			return true
		})
	}
	if errors.Is(err, mailbox.ErrStale) {
		return historyOut{answer: "stale"}, nil
	}
	if got != nil {
		out.next, out.token, out.actor, out.log = got.Turn, got.Token, got.Actor.User, historyLog(got.Log)
	}
	return out, err
}

func historyLog(items []mailbox.Item) string {
	var words []string
	for _, i := range items {
		words = append(words, string(i.Taken)+" "+string(i.TS))
	}
	return strings.Join(words, ", ")
}

func historyText(list []porcupine.Operation) string {
	slices.SortFunc(list, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var lines []string
	for _, o := range list {
		in := o.Input.(historyIn)
		lines = append(lines, fmt.Sprintf("%d-%d client %d: %s %s %s %s forced=%t room=%t token=%s: %+v", o.Call, o.Return, o.ClientId,
			in.what, in.message.ID.TS, in.message.Author.User, in.turn, in.message.Forced, in.room, in.token(), o.Output))
	}
	return strings.Join(lines, "\n")
}
