package app

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"reeve/memory"
	"reeve/runtime/chat"
)

type memoriesCommand struct {
	Owner string `arg:"" optional:"" help:"A person (T1:U123) or a channel (T1:C123). Without one: who has how many."`
	Texts bool   `help:"Also what is remembered, and on which words it rests."`
	JSON  bool   `name:"json" help:"Print JSON."`
}

var (
	personID  = regexp.MustCompile(`^[TE][A-Z0-9]+:[UW][A-Z0-9]+$`)
	channelID = regexp.MustCompile(`^[TE][A-Z0-9]+:[CDG][A-Z0-9]+$`)
)

// ownerOf reads an owner as an operator writes him, or as the store does.
func ownerOf(name string) (memory.Owner, error) {
	bare := strings.TrimPrefix(strings.TrimPrefix(name, "person:"), "channel:")
	switch {
	case personID.MatchString(bare) && !strings.HasPrefix(name, "channel:"):
		name = "person:" + bare
	case channelID.MatchString(bare) && !strings.HasPrefix(name, "person:"):
		name = "channel:" + bare
	default:
		return memory.Owner{}, usageError(fmt.Sprintf("%s is no owner of memories: want a person's team and user id, as T1:U123, or a channel's, as T1:C123", printable(name)))
	}
	owner, _ := memory.ParseOwner(name)
	return owner, nil
}

// owned is how many memories an owner has.
type owned struct {
	Owner     string `json:"owner"`
	Held      int    `json:"held"`
	Replaced  int    `json:"replaced"`
	Forgotten int    `json:"forgotten"`
}

// remembered is a memory as an operator sees it. Words are in it only when they
// are asked for.
type remembered struct {
	ID         string        `json:"id"`
	Kind       memory.Kind   `json:"kind"`
	Topic      string        `json:"topic,omitempty"`
	Text       string        `json:"text,omitempty"`
	Asked      bool          `json:"asked"`
	Turn       chat.TurnID   `json:"turn,omitempty"`
	Spans      []memory.Span `json:"spans,omitempty"`
	Authors    []chat.Actor  `json:"authors"`
	Created    time.Time     `json:"created"`
	Expires    time.Time     `json:"expires"`
	State      string        `json:"state"`
	ReplacedBy string        `json:"replaced_by,omitempty"`
}

func (c memoriesCommand) Run(p *process) error {
	owner, err := memory.Owner{}, error(nil)
	if c.Owner != "" {
		if owner, err = ownerOf(c.Owner); err != nil {
			return err
		}
	}
	return operate(p, c.JSON, func(r report) error {
		store := memoryStore(r.box, r.settings)
		if c.Owner == "" {
			return r.owners(store)
		}
		all, err := store.All(p.ctx, owner)
		if err != nil {
			return err
		}
		return r.memories(all, c.Texts)
	})
}

// owners prints who has how many memories.
func (r report) owners(store *memory.Store) error {
	owners, err := store.Owners(r.p.ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(owners, func(a, b memory.Owner) int { return cmp.Compare(a.Key(), b.Key()) })
	now, list, rows := time.Now(), []owned{}, [][]string{}
	for _, o := range owners {
		all, err := store.All(r.p.ctx, o)
		if err != nil {
			return err
		}
		one := owned{Owner: o.Key()}
		for _, m := range all {
			switch m.State(now) {
			case "held":
				one.Held++
			case "replaced":
				one.Replaced++
			case "forgotten":
				one.Forgotten++
			}
		}
		list = append(list, one)
		rows = append(rows, []string{one.Owner, fmt.Sprint(one.Held), fmt.Sprint(one.Replaced), fmt.Sprint(one.Forgotten)})
	}
	if r.json {
		return r.asJSON(list)
	}
	r.table("nothing is remembered", []string{"OWNER", "HELD", "REPLACED", "FORGOTTEN"}, rows)
	return nil
}

// memories prints one owner's memories.
func (r report) memories(all []memory.Memory, texts bool) error {
	now, list, rows := time.Now(), []remembered{}, [][]string{}
	for _, m := range all {
		one := remembered{
			ID: m.ID, Kind: m.Kind, Asked: m.Asked, Turn: m.Evidence.Turn, Authors: items(m.Authors()),
			Created: m.Created, Expires: m.Expires, State: m.State(now), ReplacedBy: m.ReplacedBy,
		}
		topic := fmt.Sprintf("(%d characters)", len([]rune(m.Topic)))
		if texts {
			one.Topic, one.Text, one.Spans = m.Topic, m.Text, m.Evidence.Spans
			topic = strings.Join(strings.Fields(printable(m.Topic)), " ")
		}
		list = append(list, one)
		rows = append(rows, []string{m.ID, string(m.Kind), topic, at(m.Created), at(m.Expires), one.State + or(m.ReplacedBy != "", " by "+m.ReplacedBy)})
	}
	if r.json {
		return r.asJSON(list)
	}
	r.table("nothing is remembered", []string{"ID", "KIND", "TOPIC", "CREATED", "EXPIRES", "STATE"}, rows)
	for _, m := range list {
		if m.Text != "" {
			_, _ = fmt.Fprintf(r.out, "\n%s:\n%s\n", m.ID, printable(m.Text))
		}
	}
	return nil
}
