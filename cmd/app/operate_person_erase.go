package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"reeve/credentials"
	"reeve/memory"
	"reeve/plugins"
	"reeve/runtime/mailbox"
)

// passes is how often it is looked again for what came in meanwhile.
const passes = 4

// erase takes it out, and looks again until nothing is found.
func (e eraser) erase(all personal, abandon bool) error {
	ran := all.Working()
	if len(all.Open) > 0 {
		if !abandon {
			return e.inTheWay(all.Open)
		}
		for _, w := range all.Open {
			ran = ran || w.State == "running"
			if err := e.box.Abandon(e.p.ctx, w.Conversation, w.Turn); err != nil && !errors.Is(err, mailbox.ErrNotOpen) {
				return err
			}
		}
		var err error
		if all, err = e.find(); err != nil {
			return err
		}
	}
	totals := map[string]personCount{}
	var order []string
	for range passes {
		counts := all.counts()
		if len(counts) == 0 {
			break
		}
		for _, c := range counts {
			if _, known := totals[c.Kind]; !known {
				order = append(order, c.Kind)
			}
			c.Count += totals[c.Kind].Count
			totals[c.Kind] = c
		}
		if err := e.takeOut(all, ran); err != nil {
			return err
		}
		var err error
		if all, err = e.find(); err != nil {
			return err
		}
		ran = all.Working()
	}
	var done []personCount
	for _, kind := range order {
		done = append(done, totals[kind])
	}
	if err := e.told("took out", done, all); err != nil {
		return err
	}
	if len(all.counts()) > 0 {
		return fmt.Errorf("something of %s still comes in: run this again", e.who.Key())
	}
	return nil
}

// takeOut is one pass. Conversations come first: what stands in them can become
// a memory, and no memory can become a message. A worker whose work was taken
// from it learns so within one lease, and until then it may still write for it.
func (e eraser) takeOut(all personal, ran bool) error {
	if err := e.box.EraseConversations(e.p.ctx, e.who, all.Holding); err != nil {
		return err
	}
	if ran {
		if !e.json {
			_, _ = fmt.Fprintf(e.out, "waiting %s for workers to learn that their work was taken from them\n", e.box.LeaseTTL())
		}
		if err := lapse(e.p.ctx, e.box.LeaseTTL()); err != nil {
			return err
		}
	}
	if err := e.box.ErasePlain(e.p.ctx, all.Holding); err != nil {
		return err
	}
	if err := e.store.Erase(e.p.ctx, e.owner); err != nil {
		return err
	}
	if err := e.vault.EndFlows(e.p.ctx, e.who); err != nil {
		return err
	}
	for _, a := range all.accounts {
		if err := e.disconnect(a.Owner); err != nil {
			return err
		}
	}
	for _, o := range slices.SortedFunc(maps.Keys(all.cited), func(a, b memory.Owner) int { return strings.Compare(a.Key(), b.Key()) }) {
		if _, err := e.store.EraseCited(e.p.ctx, o, time.Now(), e.who); err != nil {
			return err
		}
	}
	return nil
}

// disconnect takes an account out, and keeps a record that it was.
func (e eraser) disconnect(o credentials.Owner) error {
	gone, err := e.vault.Delete(e.p.ctx, o)
	if errors.Is(err, credentials.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	return e.log.Append(e.p.ctx, plugins.AuditRecord{
		Key: fmt.Sprintf("disconnect/%s/%d/erased", o.Key(), gone.Revision), Kind: plugins.AuditDisconnect, Time: time.Now().UTC(),
		Principal: o.Actor, Provider: o.Provider, Decision: plugins.AuditAllowed, Rule: "erased",
	})
}

func lapse(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// inTheWay refuses to erase beside open turns.
func (e eraser) inTheWay(open []mailbox.Work) error {
	var names []string
	for _, w := range open {
		names = append(names, w.Turn.Short()+" ("+w.State+")")
	}
	return fmt.Errorf("%s has open turns, and nothing was taken out: %s. Let them end, have them stopped in their thread, end each with reeve turn ID abandon, or all with --abandon",
		e.who.Key(), strings.Join(names, ", "))
}
