package mailbox

import (
	"context"
	"fmt"
	"slices"

	"reeve/runtime/chat"
)

// What one step of an erasure takes out at most, so that it delays nobody.
const (
	eraseSteps = 50
	eraseBytes = 256 << 10
)

// EraseConversations takes out, for good, what the conversations hold of a
// person, as Person has found it. It can be ended in between and begun again,
// beside replicas that work: what has changed since it was found is left, and
// found the next time. What an open turn of his holds stays.
func (b *Box) EraseConversations(ctx context.Context, who chat.Actor, h Holding) error {
	pending := h.ofKinds(false, HeldFact, HeldTokens, HeldNotice, HeldStore)
	for len(pending) > 0 {
		n, bytes := 0, 0
		for n < len(pending) && n < eraseSteps && (n == 0 || bytes < eraseBytes) && together(pending[0], pending[n]) {
			for _, field := range pending[n].step {
				bytes += len(field)
			}
			n++
		}
		if err := b.eraseStep(ctx, who, h, pending[:n]); err != nil {
			return err
		}
		pending = pending[n:]
	}
	return nil
}

// together reports whether two things are of one place.
func together(a, b Held) bool { return a.Conversation == b.Conversation && a.key == b.key }

func (b *Box) eraseStep(ctx context.Context, who chat.Actor, of Holding, page []Held) error {
	ctx, cancel := context.WithTimeout(ctx, 5*b.opts.CallTimeout)
	defer cancel()
	c := page[0].Conversation
	shard, name, keys := b.keys.of(c), c.Key(), []string{b.keys.conv(c), b.keys.index(c)}
	if list := page[0].key; list != "" { // of what was set aside
		shard, name, keys = list[:len(list)-len("dead")], "", []string{list}
	}
	args := []any{shard, name, who.Key()}
	if name != "" && of.marked[c] {
		args = append(args, "e", "", "", "", "")
	}
	for _, h := range page {
		for i := range 5 {
			if i < len(h.step) {
				args = append(args, h.step[i])
			} else {
				args = append(args, "")
			}
		}
	}
	if _, err := b.one(ctx, &b.scripts.erase, keys, args...); err != nil {
		return fmt.Errorf("erase what %s holds of %s: %w", name, who.Key(), err)
	}
	return nil
}

// ErasePlain takes out what stands outside of conversations: the facts of the
// person's account, his counts of tokens, what he was told once, and what
// plugins keep for him.
func (b *Box) ErasePlain(ctx context.Context, h Holding) error {
	for page := range slices.Chunk(h.ofKinds(true, HeldFact, HeldTokens, HeldNotice, HeldStore), eraseSteps) {
		ctx, cancel := context.WithTimeout(ctx, 5*b.opts.CallTimeout)
		defer cancel()
		pipe := b.rdb.Pipeline()
		for _, held := range page {
			pipe.Del(ctx, held.key)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return fmt.Errorf("erase what is kept for a person: %w", err)
		}
	}
	return nil
}
