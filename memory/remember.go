package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"reeve/plugins"
	"reeve/runtime/chat"
)

type rememberIn struct {
	For   string   `json:"for" jsonschema:"me: the person you act for; channel: everybody in this public channel"`
	Spans []string `json:"spans" jsonschema:"the words to be kept, copied letter for letter: for me from what the person typed in this turn, for channel from messages of this channel that you have read in it; each at most 400 bytes"`
}

// remember keeps what its caller points at. He has read other people's words, so
// that he has no say in how it is put: that is left to a call which reads what
// the same extraction after the turn would read, and nothing else.
func (p *Plugin) remember(ctx context.Context, call plugins.Call, in rememberIn) (plugins.Result, error) {
	x, problem := askedFor(in, call.Run)
	if problem != "" {
		return refused(problem), nil
	}
	x.by = call.Key
	written, err := p.options.Store.WrittenBy(ctx, x.owner, x.by)
	if err != nil {
		return plugins.Result{}, err
	}
	if len(written) > 0 { // it is made again, after a crash
		return kept(x.owner, written, added), nil
	}
	found, err := x.propose(ctx, p.options.Model, call.Turn, p.services)
	switch {
	case errors.Is(err, ErrSpent):
		return refused("This was not kept: what the person may use of the model today is used up."), nil
	case errors.Is(err, errAnswer):
		return refused("This was not kept: it could not be put into words. Try again later."), nil
	case err != nil:
		return plugins.Result{}, err
	case len(found.memories) == 0:
		return refused(found.sentence()), nil
	}
	outcomes, err := p.options.Store.Add(ctx, x.owner, p.services.Now(), found.memories...)
	if err != nil {
		return plugins.Result{}, err
	}
	for _, o := range outcomes {
		p.options.Count(CountMemories, string(o), 1)
	}
	return told(x.owner, found.memories, outcomes), nil
}

// askedFor is whose memory it would be, what may prove it, and which words of
// that are asked for.
func askedFor(in rememberIn, run plugins.Run) (x extraction, problem string) {
	switch in.For {
	case "me":
		if x, _ = personal(run); !x.owner.IsPersonal() {
			return x, "This was not kept: this turn acts for no person. " + ownMessage
		}
		if run.Conflict() {
			return x, "This was not kept: somebody else has written into this turn, and personal memories wait for a turn of one's own. " + ownMessage
		}
	case "channel":
		if x, _ = shared(run); run.Visibility != chat.Public || x.owner.Channel == "" {
			return x, "This was not kept: only a public channel has memories of its own."
		}
	default:
		return x, `This was not kept: "for" is "me" or "channel".`
	}
	switch {
	case len(in.Spans) == 0 || len(in.Spans) > maxSpans:
		return x, fmt.Sprintf("This was not kept: cite the words to be kept, in 1 to %d places.", maxSpans)
	case hasSecret(in.Spans...):
		return x, saySecret
	}
	for _, words := range in.Spans {
		span, err := cited(words, x.given)
		if err != nil {
			return x, "This was not kept: " + err.Error() + ". Cite words of this turn, letter for letter: for a person only what they have typed themselves."
		}
		x.asked = append(x.asked, span)
	}
	return x, ""
}

// cited finds the entry in which words stand.
func cited(words string, given []plugins.Entry) (span Span, err error) {
	err = errors.New("there is nothing that could be cited")
	for n := range given {
		if span, err = found(citation{Entry: n + 1, Span: words}, given); err == nil {
			return span, nil
		}
	}
	return Span{}, err
}

const (
	saySecret    = "This was not kept: it looks like a password, a key or a token, and those are never remembered, also not when asked to. Do not repeat it."
	saySensitive = "This was not kept: it says something personal about somebody else, or something of a kind that is never remembered (such as health, belief, politics, money, conflicts), also not when asked to. Say so politely, without repeating it."
)

// sentence says why nothing is kept, without what it would have been.
func (f proposed) sentence() string {
	for _, err := range f.dropped {
		switch {
		case errors.Is(err, errSecret):
			return saySecret
		case errors.Is(err, errReview):
			return saySensitive
		}
	}
	return "This was not kept: those words by themselves say nothing that could be. Tell the person to say it in one sentence."
}

// told says what became of what was asked for.
func told(owner Owner, memories []Memory, outcomes []outcome) plugins.Result {
	var held []Memory
	how := known
	for i, o := range outcomes {
		switch {
		case o == full:
			continue
		case o != known && how == known, o == replaced:
			how = o
		}
		held = append(held, memories[i])
	}
	if len(held) == 0 {
		return refused(fmt.Sprintf("This was not kept: there are %d memories already, which is as many as there may be. Something has to be forgotten first.", most))
	}
	return kept(owner, held, how)
}

func kept(owner Owner, memories []Memory, how outcome) plugins.Result {
	where := "for the person you act for"
	if !owner.IsPersonal() {
		where = "for this channel"
	}
	text := map[outcome]string{
		added:    "It is kept " + where,
		known:    "It was known already " + where,
		replaced: "It is kept " + where + ", in place of what was known before",
	}[how]
	var lines []string
	for _, m := range memories {
		lines = append(lines, said(m))
	}
	return plugins.Result{Text: text + ":\n" + strings.Join(lines, "\n"), Private: owner.IsPersonal()}
}
