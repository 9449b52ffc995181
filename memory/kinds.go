package memory

import (
	"slices"
	"time"
)

const day = 24 * time.Hour

// lifetimes are how long memories of each kind live.
var lifetimes = map[Kind]time.Duration{
	Preference: 365 * day,
	Fact:       365 * day,
	Knowledge:  180 * day,
	Procedure:  365 * day,
	TaskKind:   30 * day,
	Event:      30 * day,
}

// Of a channel nothing is remembered that is somebody's own.
var (
	personalKinds = []Kind{Preference, Fact, Procedure, TaskKind, Event}
	sharedKinds   = []Kind{Knowledge, Procedure, TaskKind, Event}
)

// Kinds are the kinds of memory that an owner can have.
func (o Owner) Kinds() []Kind {
	if o.IsPersonal() {
		return slices.Clone(personalKinds)
	}
	return slices.Clone(sharedKinds)
}

// Sensitive are the kinds of information that are never remembered, also not
// when their owner asks for it: most are the special categories of the GDPR,
// articles 9 and 10; the others are what could be used against a person at work.
var Sensitive = []string{
	"health, illness, disability, pregnancy or medication",
	"religion or belief",
	"political opinion or party",
	"trade union membership",
	"ethnic origin",
	"sex life or sexual orientation",
	"genetic or biometric data",
	"criminal record or accusation",
	"money: salary, debt, account or card numbers",
	"government identity numbers",
	"home address or private whereabouts",
	"conflict with or judgement of a colleague",
	"passwords, keys, tokens or other secrets",
}

// maxText, maxTopic and maxSpan bound a memory, in bytes, and maxSpans the spans
// of one: it is no copy of what was said.
const (
	maxText  = 400
	maxTopic = 80
	maxSpan  = 400
	maxSpans = 5
)
