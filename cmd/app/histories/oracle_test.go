package histories

import (
	"slices"
	"strings"

	"reeve/plugins"
	"reeve/plugins/gate"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// oracle says what was wrong with a history that is over. It knows who wrote what
// and who clicked where, what the model was given, and the turns' logs. It asks
// nothing of the gate.
type oracle struct {
	*house
	turns map[chat.TurnID]*story
	seen  map[string]int
}

func newOracle(h *house, seen map[string]int) *oracle {
	o := &oracle{house: h, seen: seen}
	o.turns = o.stories()
	return o
}

// check looks at everything.
func (o *oracle) check() {
	o.seen["worker lost"] += o.deaths
	for turn := range o.actors {
		if o.turns[turn] == nil {
			o.wrong("turn %s has not ended", turn)
		}
	}
	for _, s := range o.turns {
		o.seen["turn "+string(s.outcome)]++
		if s.conflict(len(s.log)) {
			o.seen["conflict"]++
		}
		o.told(s)
	}
	for _, c := range o.clicked {
		o.counts(c)
	}
	for _, p := range o.posts {
		if p.Card != nil && p.Edits == "" && p.Card.Wait != "" {
			o.card(p)
		}
		if !o.dice.dm && p.To.DM == "" && (p.Card != nil || strings.Contains(p.Markdown, `"host"`)) {
			o.wrong("all can read what a call is about: %+v", p)
		}
	}
	for i, m := range o.made {
		o.call(m)
		if kinds[m.tool].Effect == plugins.Once && slices.ContainsFunc(o.made[:i], func(n made) bool { return n.turn == m.turn && n.call == m.call }) {
			o.wrong("%s (%s) of turn %s ran twice", m.call, m.tool, m.turn)
		}
	}
	for _, a := range o.asks {
		o.prompt(a)
	}
	o.arrived()
}

// call is about one call that was made.
func (o *oracle) call(m made) {
	s := o.turns[m.turn]
	if s == nil {
		o.wrong("%s was called in turn %s, which nobody knows", m.tool, m.turn)
		return
	}
	c, journalled := s.calls[m.call]
	switch {
	case m.wrong != "":
		o.wrong("turn %s: %s", m.turn, m.wrong)
	case m.actor != s.actor || !m.spent.IsZero() && m.spent != s.actor:
		o.wrong("%s was called for %s (account of %s) in turn %s of %s", m.tool, m.actor.Key(), m.spent.Key(), m.turn, s.actor.Key())
	case !journalled || c.Tool != m.tool:
		o.wrong("%s (%s) was made and stands in no answer of turn %s", m.call, m.tool, m.turn)
	case c.held && !s.begun(m.call):
		o.wrong("%s (%s) of turn %s was made before the log said so", m.call, m.tool, m.turn)
	case kinds[m.tool].Account && m.spent.IsZero():
		o.wrong("%s (%s) of turn %s was made without an account", m.call, m.tool, m.turn)
	}
	o.lets(s, m, c.at, "was made")
	for _, p := range o.posts {
		if p.Turn != m.turn || p.Card == nil || p.Edits != "" || p.Card.Asking == nil {
			continue
		}
		if slices.ContainsFunc(p.Card.Asking.Questions, func(q chat.Question) bool { return q.Call == m.call }) && !o.clickedFor(s, m) {
			o.wrong("%s (%s) of turn %s was made, and its actor was asked and did not allow it", m.call, m.tool, m.turn)
		}
		if slices.Contains(p.Card.Asking.Calls, m.call) && !o.connected(m.turn, p.Card.Wait) {
			o.wrong("%s (%s) of turn %s was made, and the account that it waited for was not connected", m.call, m.tool, m.turn)
		}
	}
	if o.deniedBefore(s, m.tool, m.args, m.at, o.waitOf(m)) {
		o.wrong("%s (%s) of turn %s was made after it had been denied", m.call, m.tool, m.turn)
	}
	o.seen["call of "+m.tool]++
	if kinds[m.tool].Account {
		o.seen["call of an account"]++
	}
	if o.clickedFor(s, m) {
		o.seen["call made by a click"]++
	} else {
		o.seen["call made by a rule"]++
	}
}

// lets wants the table to let a call pass, as it was asked for at a place of its
// turn's log, by rule or by click.
func (o *oracle) lets(s *story, m made, at int, what string) {
	kind, prompt := kinds[m.tool], o.promptAt(s, at)
	conflict := s.conflict(at)
	foreign, private := o.foreign(s, prompt, at), strings.Contains(prompt.text(), "[p")
	spends, writes := kind.Provider != "", kind.Access == plugins.Write
	why := ""
	switch {
	case conflict && writes && o.dice.consent.MultiActorWrites == gate.BlockWrites:
		o.wrong("%s (%s) of turn %s %s in a conflict, where no writes are allowed", m.call, m.tool, s.id, what)
	case kind.Asks != nil:
		why = "it is asked about always"
	case kind.Sends && conflict:
		why = "it sends in a conflict"
	case kind.Sends && private && !o.named(s, m.host, at):
		if why = "it sends what is private"; o.remembered(s, at, func(q chat.Question) bool { return q.Sends && q.Host == m.host }) {
			why = ""
			o.seen["host remembered"]++
		}
	}
	switch {
	case !spends || why != "":
	case !writes && conflict:
		if why = "it reads in a conflict"; o.remembered(s, at, func(q chat.Question) bool { return !q.Write && q.Provider == kind.Provider }) {
			why = ""
			o.seen["provider remembered"]++
		}
	case writes && conflict:
		why = "it writes in a conflict"
	case writes && foreign && o.dice.consent.WriteConsent != gate.ConsentConflict:
		why = "it writes, with foreign text in the prompt"
	case writes && o.dice.consent.WriteConsent == gate.ConsentAlways:
		why = "it writes"
	}
	if why != "" && !o.clickedFor(s, m) {
		o.wrong("%s (%s %s) of turn %s %s without its actor's click: %s", m.call, m.tool, m.args, s.id, what, why)
	}
}

// promptAt is what the model had read when it asked for the call at a place.
func (o *oracle) promptAt(s *story, at int) *ask {
	for _, a := range o.asks {
		if a.turn == s.id && s.answered(a.n) == at {
			return a
		}
	}
	return &ask{}
}

// foreign reports whether a prompt holds anything that its turn's actor has not
// typed in it.
func (o *oracle) foreign(s *story, a *ask, at int) bool {
	for _, m := range a.req.Messages {
		if m.Role == chat.ToolRole {
			return true
		}
		for _, found := range tokenForm.FindAllString(m.Content, -1) {
			if !slices.ContainsFunc(o.said, func(m said) bool { return m.token() == found && s.took(m.ID.TS, at) }) {
				return true
			}
		}
	}
	return false
}

// named reports whether the actor may have typed a host in the turn.
func (o *oracle) named(s *story, host string, at int) bool {
	return slices.ContainsFunc(o.said, func(m said) bool {
		return s.took(m.ID.TS, at) && (m.words < 0 || words[m.words].names == host)
	})
}

// remembered reports whether the actor has allowed a call of a kind before a
// place, and nobody else has steered the turn since.
func (o *oracle) remembered(s *story, at int, kind func(chat.Question) bool) bool {
	for _, c := range o.clicked {
		from := s.decided(c.wait)
		if c.turn != s.id || !c.counted || c.by != s.actor || from < 0 || from >= at {
			continue
		}
		if slices.ContainsFunc(s.log[from:at], func(i item) bool { return i.steer() && i.author != s.actor }) {
			continue
		}
		for _, q := range o.questions(c.turn, c.wait) {
			if slices.Contains(c.allowed, q.Call) && kind(q) {
				return true
			}
		}
	}
	return false
}

// prompt is about what the model was given once.
func (o *oracle) prompt(a *ask) {
	s := o.turns[a.turn]
	if s == nil {
		o.wrong("the model was asked in turn %s, which nobody knows", a.turn)
		return
	}
	if s.actor == people[robot] {
		o.wrong("the model was asked for a bot")
	}
	at, text := s.answered(a.n), a.text()
	for _, m := range o.made {
		if kinds[m.tool].Provider == "" || !strings.Contains(text, m.token) {
			continue
		}
		switch {
		case m.actor != s.actor:
			o.wrong("what is private to %s is in a prompt of turn %s of %s", m.actor.Key(), s.id, s.actor.Key())
		case m.turn != s.id && at >= 0 && s.conflict(at):
			o.wrong("what is private to %s in turn %s is in a prompt of turn %s, in a conflict", m.actor.Key(), m.turn, s.id)
		}
	}
	for _, other := range o.asks {
		from := o.turns[other.turn]
		if from == nil || from.actor == s.actor || !strings.Contains(text, answerToken(other.n)) {
			continue
		}
		if !slices.ContainsFunc(o.posts, func(p post) bool { return strings.Contains(p.Markdown, answerToken(other.n)) }) {
			o.wrong("what the model wrote in turn %s and did not post is in a prompt of turn %s", other.turn, s.id)
		}
	}
	for _, m := range a.req.Messages {
		if m.Role != chat.UserRole || strings.HasPrefix(m.Content, "<information>") {
			continue
		}
		for _, found := range tokenForm.FindAllString(m.Content, -1) {
			if !slices.ContainsFunc(o.said, func(m said) bool { return m.token() == found && s.took(m.ID.TS, len(s.log)) }) {
				o.wrong("%s stands as the request in turn %s of %s", found, s.id, s.actor.Key())
			}
		}
	}
}

// told wants a turn that has ended to have said so.
func (o *oracle) told(s *story) {
	if s.outcome == mailbox.Withdrawn {
		return
	}
	if !slices.ContainsFunc(o.posts, func(p post) bool { return p.Turn == s.id && p.Card == nil }) {
		o.wrong("turn %s has ended as %s, and nobody was told", s.id, s.outcome)
	}
}

// arrived wants each message that was accepted in a turn, and as a request once.
// What somebody stopped or changed may be in none.
func (o *oracle) arrived() {
	stops := slices.ContainsFunc(o.said, func(m said) bool { return m.Stop || m.changed })
	for _, m := range o.said {
		if m.Author == people[robot] { // it may have been taken for a person at first
			continue
		}
		in, requests := 0, 0
		for _, s := range o.turns {
			for _, i := range s.log {
				if i.own == m.ID.TS && i.taken == mailbox.TakenRequest {
					requests++
				}
				if i.ts == m.ID.TS && i.taken != mailbox.Struck {
					in++
				}
			}
		}
		if requests > 1 {
			o.wrong("message %s was a request %d times", m.ID.TS, requests)
		}
		switch m.outcome.Disposition {
		case chat.Start, chat.Wait, chat.SteerOwn, chat.SteerContext, chat.JoinParked, chat.EndWait:
			if in == 0 && !stops {
				o.wrong("message %s of %s was accepted (%s) and is in no turn", m.ID.TS, m.Author.Key(), m.outcome.Disposition)
			}
			if in > 1 && requests == 1 {
				o.seen["message handed back"]++
			}
		}
	}
}
