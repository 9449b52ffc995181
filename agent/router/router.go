// Package router asks a small model where a message belongs that came while a
// turn runs: to that turn, or into one of its own. It decides convenience alone.
// What a message counts for is not asked, and the answer cannot change it.
package router

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"reeve/agent"
	"reeve/plugins"
	"reeve/runtime/chat"
)

// Answer is the model's opinion.
type Answer string

const (
	// Steer: the message corrects the running turn, or contributes to it.
	Steer Answer = "steer"
	// FollowUp: it asks for something of its own.
	FollowUp Answer = "follow_up"
)

const (
	// timeout bounds one question.
	timeout = 2 * time.Second
	// maxText bounds each text that is shown, in bytes.
	maxText = 2000
	// maxRunning is how many requests of the running turn are shown, the newest.
	maxRunning = 8
	// maxAnswer bounds the answer, in tokens: it is one word, and what some
	// models think before it.
	maxAnswer = 512
)

//go:embed prompt.md
var rules string

// Question is what the model is told.
type Question struct {
	// Running are what the running turn was asked for, oldest first.
	Running []string
	// Message is the text that came meanwhile.
	Message string
	// Own: it is by the person whose turn runs.
	Own bool
}

// Router asks a model. It is safe for concurrent use.
type Router struct {
	model   agent.Model
	timeout time.Duration
}

// Options are bounds; zero values mean the defaults.
type Options struct {
	Timeout time.Duration // of one question: 2 s
}

// New is a router that asks model, which should not try again by itself: there
// is no time for that.
func New(model agent.Model, o Options) *Router {
	if o.Timeout == 0 {
		o.Timeout = timeout
	}
	return &Router{model, o.Timeout}
}

// Decide asks. An error means that there is no opinion: the model did not
// answer in time, or with something else than one of its two words.
func (r *Router) Decide(ctx context.Context, q Question) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	reply, err := r.model.Complete(ctx, Request(q))
	if err != nil {
		return "", fmt.Errorf("ask router: %w", err)
	}
	// It is not searched for in a sentence: who explains has been talked to.
	if answer := Answer(strings.TrimSpace(reply.Text)); len(reply.Calls) == 0 && (answer == Steer || answer == FollowUp) {
		return answer, nil
	}
	return "", fmt.Errorf("ask router: it answered neither %s nor %s", Steer, FollowUp)
}

// Request is what the model is sent. All that people wrote is escaped.
func Request(q Question) agent.Request {
	var elements []agent.Element
	running := q.Running[max(len(q.Running)-maxRunning, 0):]
	for _, text := range running {
		elements = append(elements, agent.Element{Origin: "running", Author: "A", Text: plugins.CutMiddle(text, maxText)})
	}
	author := "B"
	if q.Own {
		author = "A"
	}
	elements = append(elements, agent.Element{Origin: "message", Author: author, Text: plugins.CutMiddle(q.Message, maxText)})
	return agent.Request{
		System:    strings.TrimSpace(rules),
		Messages:  []agent.Message{{Role: chat.UserRole, Content: agent.Block(elements)}},
		MaxTokens: maxAnswer,
	}
}
