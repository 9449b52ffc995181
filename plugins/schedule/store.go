package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// ref names a job among those of all people.
type ref struct {
	by chat.Actor
	id string
}

func (r ref) key() string { return r.by.Key() + "/" + r.id }

func parseRef(key string) (ref, bool) {
	person, id, _ := strings.Cut(key, "/")
	by, ok := chat.ParseActor(person)
	return ref{by, id}, ok && by.IsPerson() && idForm.MatchString(id)
}

// idsOf are the ids of all jobs in a person's store.
func idsOf(ctx context.Context, store plugins.Store) ([]string, error) {
	keys, err := store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, key := range keys {
		if id, ok := strings.CutPrefix(key, "job/"); ok {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// load reads a job. What cannot be read is not there, and the log says so.
func (p *Plugin) load(ctx context.Context, store plugins.Store, id string) (j job, found bool, err error) {
	raw, found, err := store.Get(ctx, jobKey(id))
	if err != nil || !found {
		return job{}, false, err
	}
	if j, err = readJob(raw); err != nil {
		p.log.Error("reminder not read", "id", id, "err", err)
		return job{}, false, nil
	}
	return j, true, nil
}

// handled is until when a job's times are over; a job that is new has none that
// are.
func handled(ctx context.Context, store plugins.Store, j job) (time.Time, error) {
	if j.Every == "" {
		return j.At.Add(-time.Second), nil
	}
	raw, found, err := store.Get(ctx, doneKey(j.ID))
	if err != nil || !found {
		return j.At.Add(-time.Second), err
	}
	at, err := time.Parse(time.RFC3339, string(raw))
	if err != nil {
		return j.At.Add(-time.Second), nil
	}
	return at, nil
}

// handle notes that a job's times until then are over.
func handle(ctx context.Context, store plugins.Store, j job, until time.Time) error {
	return store.Set(ctx, doneKey(j.ID), []byte(until.UTC().Format(time.RFC3339)))
}

// mine are a person's jobs, the next first.
func (p *Plugin) mine(ctx context.Context, by chat.Actor) ([]listed, error) {
	store := p.services.Store(by)
	ids, err := idsOf(ctx, store)
	if err != nil {
		return nil, fmt.Errorf("list reminders: %w", err)
	}
	var list []listed
	for _, id := range ids {
		j, found, err := p.load(ctx, store, id)
		if err != nil {
			return nil, fmt.Errorf("list reminders: %w", err)
		}
		if !found || j.By != by {
			continue
		}
		over, err := handled(ctx, store, j)
		if err != nil {
			return nil, fmt.Errorf("list reminders: %w", err)
		}
		if next := j.next(over); !next.IsZero() {
			list = append(list, listed{j, next})
		}
	}
	sortListed(list)
	return list, nil
}

// add keeps a new job. added=false: the same call has added it before.
func (p *Plugin) add(ctx context.Context, j job) (kept job, err error) {
	raw, err := json.Marshal(j)
	if err != nil {
		return job{}, fmt.Errorf("keep reminder: %w", err)
	}
	p.creating.Lock()
	defer p.creating.Unlock()
	store := p.services.Store(j.By)
	before, found, err := p.load(ctx, store, j.ID)
	if err != nil {
		return job{}, fmt.Errorf("keep reminder: %w", err)
	}
	if found {
		j = before
	} else if err := p.room(ctx, store); err != nil {
		return job{}, err
	} else if _, err := store.Add(ctx, jobKey(j.ID), raw); err != nil {
		return job{}, fmt.Errorf("keep reminder: %w", err)
	}
	// Only what stands in the index comes due. Who dies before this line makes
	// the call again.
	if _, err := p.index().Add(ctx, ref{j.By, j.ID}.key(), []byte("1")); err != nil {
		return job{}, fmt.Errorf("keep reminder: %w", err)
	}
	return j, nil
}

// room says whether there is room for one more.
func (p *Plugin) room(ctx context.Context, store plugins.Store) error {
	ids, err := idsOf(ctx, store)
	if err != nil {
		return fmt.Errorf("count reminders: %w", err)
	}
	if len(ids) >= perPerson {
		return problem(fmt.Sprintf("They have %d reminders already, which is as many as a person may have. One has to be cancelled first.", len(ids)))
	}
	all, err := p.index().Keys(ctx)
	if err != nil {
		return fmt.Errorf("count reminders: %w", err)
	}
	if len(all) >= inAll {
		return problem(fmt.Sprintf("There are %d reminders of all people together, which is as many as can be kept here. One has to be cancelled first.", len(all)))
	}
	return nil
}

// remove takes a job away; what is not there is no error.
func (p *Plugin) remove(ctx context.Context, r ref) error {
	store := p.services.Store(r.by)
	for _, key := range []string{jobKey(r.id), doneKey(r.id)} {
		if err := store.Delete(ctx, key); err != nil {
			return fmt.Errorf("remove reminder %s: %w", r.id, err)
		}
	}
	if err := p.index().Delete(ctx, r.key()); err != nil {
		return fmt.Errorf("remove reminder %s: %w", r.id, err)
	}
	return nil
}
