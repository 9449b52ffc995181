package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"reeve/plugins"
	"reeve/runtime/chat"
)

func (p *Plugin) tools() []plugins.Tool {
	return []plugins.Tool{
		plugins.MustTool(plugins.Tool{
			Name: "remember",
			Description: "Keeps something for later conversations, when the person you act for asks for it: for that person, or for everybody in this public channel. " +
				"Cite their words: each span is copied letter for letter from what they typed in this turn.",
			Effect: plugins.Idempotent, Access: plugins.Write, Timeout: modelTime,
		}, p.remember),
		plugins.MustTool(plugins.Tool{
			Name: "recall",
			Description: "Looks up what is remembered of the person you act for and, in a public channel, for the channel. " +
				"With a question you read what fits it, with the ids that forget takes. When the person asks what you know about them, leave the question out: the whole list is sent to them as a direct message.",
			Effect: plugins.Pure, Access: plugins.Read, Provider: Provider,
		}, p.recall),
		plugins.MustTool(plugins.Tool{
			Name:        "forget",
			Description: "Forgets memories by their ids, or the one that is about something. Forgotten ones can be brought back within 24 hours.",
			Effect:      plugins.Idempotent, Access: plugins.Write, Provider: Provider,
		}, p.forget),
	}
}

// modelTime is for tools that ask a model.
const modelTime = time.Minute

type rememberIn struct {
	For   string   `json:"for" jsonschema:"me: the person you act for; channel: everybody in this public channel"`
	Kind  Kind     `json:"kind" jsonschema:"preference, fact, procedure, task or event for a person; knowledge, procedure, task or event for a channel"`
	Topic string   `json:"topic" jsonschema:"what it is about, in two to five words"`
	Text  string   `json:"text" jsonschema:"one sentence in the third person"`
	Spans []string `json:"spans" jsonschema:"the words that say so, copied letter for letter from the person's messages of this turn"`
}

func (p *Plugin) remember(ctx context.Context, call plugins.Call, in rememberIn) (plugins.Result, error) {
	owner, given, problem := evidenceFor(in.For, call.Run)
	if problem != "" {
		return refused(problem), nil
	}
	if plugins.HasSecret(in.Text + " " + in.Topic + " " + strings.Join(in.Spans, " ")) {
		return refused(saySecret), nil
	}
	m, err := accept(proposal{Kind: in.Kind, Topic: in.Topic, Text: in.Text, Evidence: citations(in.Spans, given)}, owner, call.Turn, given, p.services.Now())
	if err != nil {
		return refused("This was not kept: " + err.Error() + ". Cite words that the person typed in this turn, letter for letter."), nil
	}
	if word := newWord(m, call.Run, given); !owner.IsPersonal() && word != "" {
		return refused(fmt.Sprintf(sayNewWord, word)), nil
	}
	m.Asked = true
	kept, err := review(ctx, p.options.Model, owner, []Memory{m})
	if err != nil {
		return plugins.Result{}, fmt.Errorf("review it: %w", err)
	}
	if len(kept) == 0 {
		return refused(saySensitive), nil
	}
	outcomes, err := p.options.Store.Add(ctx, owner, m.Created, m)
	if errors.Is(err, ErrFull) {
		return refused(fmt.Sprintf("This was not kept: there are %d memories already, which is as many as there may be. Something has to be forgotten first.", most)), nil
	}
	if err != nil {
		return plugins.Result{}, err
	}
	p.options.Count(CountMemories, string(outcomes[0]), 1)
	where := "for the person you act for"
	if !owner.IsPersonal() {
		where = "for this channel"
	}
	return plugins.Result{Text: map[outcome]string{
		added:    "It is kept " + where + ".",
		known:    "It was known already " + where + ".",
		replaced: "It is kept " + where + ", in place of what was known before.",
	}[outcomes[0]], Private: owner.IsPersonal()}, nil
}

const sayNewWord = "This was not kept: there is something in this turn that only the person you act for may know, and what a channel remembers everybody reads. " +
	"Use no other words than those of the channel's own messages; %q is in none of them."

// newWord is a word of a memory that stands in nothing of what it may be proven
// by, if the model has read something private: whatever the memory cites, its
// text is the model's, and everybody in the channel will read it.
func newWord(m Memory, run plugins.Run, given []plugins.Entry) string {
	if !slices.ContainsFunc(run.Transcript, func(e plugins.Entry) bool { return e.Private }) {
		return ""
	}
	var known strings.Builder
	for _, e := range given {
		known.WriteString(strings.ToLower(e.Text) + "\n")
	}
	for _, word := range strings.FieldsFunc(m.Topic+" "+m.Text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		telling := utf8.RuneCountInString(word) > 3 || strings.ContainsFunc(word, unicode.IsDigit)
		if telling && !strings.Contains(known.String(), strings.TrimSuffix(strings.ToLower(word), "s")) {
			return word
		}
	}
	return ""
}

// evidenceFor is whose memory it would be and what may prove it.
func evidenceFor(whose string, run plugins.Run) (Owner, []plugins.Entry, string) {
	switch whose {
	case "me":
		owner, ok := Personal(run.Actor)
		switch {
		case !ok:
			return owner, nil, "This was not kept: this turn acts for no person. " + ownMessage
		case run.Conflict():
			return owner, nil, "This was not kept: somebody else has written into this turn, and personal memories wait for a turn of one's own. " + ownMessage
		}
		return owner, personalEvidence(run), ""
	case "channel":
		owner, ok := Shared(run.Conversation)
		if !ok || run.Visibility != chat.Public {
			return owner, nil, "This was not kept: only a public channel has memories of its own."
		}
		return owner, sharedEvidence(run), ""
	}
	return Owner{}, nil, `This was not kept: "for" is "me" or "channel".`
}

// citations finds the entry of each span; one that stands nowhere cites no
// entry, and fails the check.
func citations(spans []string, given []plugins.Entry) []citation {
	list := make([]citation, len(spans))
	for i, span := range spans {
		list[i].Span = span
		for n := range given {
			if _, err := found(citation{Entry: n + 1, Span: span}, given); err == nil {
				list[i].Entry = n + 1
				break
			}
		}
	}
	return list
}

type recallIn struct {
	Question string `json:"question,omitempty" jsonschema:"what you want to know; leave it out to send the person everything"`
}

const (
	// recalled is how many memories a question brings at most.
	recalled = 10
	ofPerson = "of the person"
)

func (p *Plugin) recall(ctx context.Context, call plugins.Call, in recallIn) (plugins.Result, error) {
	owner, ok := Personal(call.Actor)
	if !ok {
		return refused("This turn acts for no person, and nothing is remembered of anybody else here. " + ownMessage), nil
	}
	mine, err := p.options.Store.Held(ctx, owner, p.services.Now())
	if err != nil {
		return plugins.Result{}, err
	}
	if strings.TrimSpace(in.Question) == "" {
		return plugins.Result{Text: counted(len(mine)), DM: list(mine)}, nil
	}
	var ours []Memory
	if place, ok := Shared(call.Conversation); ok && call.Visibility == chat.Public {
		if ours, err = p.options.Store.Held(ctx, place, p.services.Now()); err != nil {
			return plugins.Result{}, err
		}
	}
	lines := append(told(ofPerson, p.ranker.rank(ctx, in.Question, mine)), told("for this channel", p.ranker.rank(ctx, in.Question, ours))...)
	if len(lines) == 0 {
		return plugins.Result{Text: "Nothing of that is remembered."}, nil
	}
	return plugins.Result{Text: strings.Join(lines, "\n")}, nil
}

// counted says to the model what the person was sent.
func counted(n int) string {
	switch n {
	case 0:
		return "Nothing is remembered of the person you act for. A direct message that says so was sent to them."
	case 1:
		return "There is 1 memory. It was sent to the person as a direct message; it is not shown here."
	}
	return fmt.Sprintf("There are %d memories. The list was sent to the person as a direct message; it is not shown here.", n)
}

func told(of string, memories []Memory) []string {
	var lines []string
	for _, m := range memories[:min(len(memories), recalled)] {
		line := fmt.Sprintf("%s %s (%s, %s, since %s): %s", m.ID, m.Topic, of, m.Kind, m.Created.Format("2006-01-02"), m.Text)
		if of != ofPerson {
			line += by("from", m.Authors())
		}
		lines = append(lines, line)
	}
	return lines
}

type forgetIn struct {
	IDs   []string `json:"ids,omitempty" jsonschema:"ids that recall gave"`
	About string   `json:"about,omitempty" jsonschema:"instead of ids: what the one memory is about"`
	// BringBack undoes it.
	BringBack bool `json:"bring_back,omitempty" jsonschema:"true: bring back what was forgotten less than 24 hours ago"`
}

func (p *Plugin) forget(ctx context.Context, call plugins.Call, in forgetIn) (plugins.Result, error) {
	owners := []Owner{}
	if o, ok := Personal(call.Actor); ok {
		owners = append(owners, o)
	} else {
		return refused("This turn acts for no person. " + ownMessage), nil
	}
	if o, ok := Shared(call.Conversation); ok && call.Visibility == chat.Public {
		owners = append(owners, o) // any member may
	}
	ids := in.IDs
	if len(ids) == 0 {
		var problem string
		var err error
		if ids, problem, err = p.about(ctx, owners, in); err != nil || problem != "" {
			return refused(problem), err
		}
	}
	var changed []Memory
	for _, o := range owners {
		act := p.options.Store.Forget
		if in.BringBack {
			act = p.options.Store.Restore
		}
		some, err := act(ctx, o, p.services.Now(), ids...)
		if err != nil {
			return plugins.Result{}, err
		}
		changed = append(changed, some...)
	}
	switch {
	case len(changed) == 0:
		return refused("There is no such memory of the person you act for, nor of this channel."), nil
	case in.BringBack:
		return plugins.Result{Text: fmt.Sprintf("%d brought back.", len(changed)), DM: "Brought back:\n\n" + list(changed)}, nil
	}
	return plugins.Result{
		Text: fmt.Sprintf("%d forgotten. The person was told which by direct message; for 24 hours it can be undone.", len(changed)),
		DM:   "Forgotten; ask me within 24 hours to bring it back:\n\n" + list(changed),
	}, nil
}

// about finds the one memory that is meant, among those that can be forgotten
// or, to be brought back, among those that were.
func (p *Plugin) about(ctx context.Context, owners []Owner, in forgetIn) (ids []string, problem string, err error) {
	var all []Memory
	for _, o := range owners {
		some, err := p.options.Store.All(ctx, o)
		if err != nil {
			return nil, "", err
		}
		for _, m := range some {
			if in.BringBack && !m.Forgotten.IsZero() || m.holds(p.services.Now()) {
				all = append(all, m)
			}
		}
	}
	fitting := rank(in.About, all)
	switch {
	case len(fitting) == 0:
		return nil, "Nothing of that is remembered.", nil
	case len(fitting) > 1 && alike(in.About, fitting[0].Topic) < sameTopic:
		return nil, "Several memories fit. Say which by their ids:\n" + strings.Join(told("remembered", fitting), "\n"), nil
	}
	return []string{fitting[0].ID}, "", nil
}

// list shows memories to their owner.
func list(memories []Memory) string {
	if len(memories) == 0 {
		return "Nothing is remembered of you."
	}
	var b strings.Builder
	for _, m := range memories {
		fmt.Fprintf(&b, "- **%s**: %s (%s, since %s, until %s)\n", m.Topic, m.Text, m.Kind, m.Created.Format("2006-01-02"), m.Expires.Format("2006-01-02"))
	}
	return b.String()
}

const (
	ownMessage   = "Tell them to ask in a message of their own."
	saySecret    = "This was not kept: it looks like a password, a key or a token, and those are never remembered, also not when asked to. Do not repeat it."
	saySensitive = "This was not kept: it says something personal about somebody else, or something of a kind that is never remembered (such as health, belief, politics, money, conflicts), also not when asked to. Say so politely, without repeating it."
)

func refused(why string) plugins.Result { return plugins.Result{Error: true, Text: why} }
