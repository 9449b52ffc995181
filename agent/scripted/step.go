package scripted

import (
	"context"
	"encoding/json"
	"time"

	"reeve/runtime/chat"
)

// Step is one answer of a Server.
type Step struct {
	Text  string
	Calls []chat.ToolCall
	// Finish is the finish reason; "stop" or "tool_calls" when empty.
	Finish string
	// Tokens is what the usage says; none is sent when it is 0.
	Tokens int
	// Status, when not 0, is an HTTP error with Body, and RetryAfter as its
	// header.
	Status     int
	RetryAfter string
	Body       string
	// Fault spoils the answer.
	Fault Fault
	// Every is the pause between the bytes of a drip; 10 ms when 0.
	Every time.Duration
	// When, if set, lets the step wait for a request that it fits.
	When func(Request) bool
	// Await, if set, says what is answered once that is known; ctx ends with the
	// request. False: nothing is.
	Await func(ctx context.Context) (Step, bool)

	hold <-chan struct{}
}

// Fault is a way in which a provider can misbehave.
type Fault string

const (
	HangFault       Fault = "hang"       // headers never come
	SilentFault     Fault = "silent"     // headers and half the text come, then nothing
	DripFault       Fault = "drip"       // a byte at a time, for ever
	CutFault        Fault = "cut"        // the connection breaks in the middle
	UnfinishedFault Fault = "unfinished" // the stream ends properly, without a finish reason
	GarbageFault    Fault = "garbage"    // no JSON
)

// Answer is a plain answer.
func Answer(text string) Step { return Step{Text: text} }

// Call asks for one tool; arguments are marshalled to JSON, a string is taken
// as it is.
func Call(id, tool string, arguments any) Step {
	written, ok := arguments.(string)
	if !ok {
		data, err := json.Marshal(arguments)
		if err != nil {
			panic(err)
		}
		written = string(data)
	}
	return Step{Calls: []chat.ToolCall{{ID: id, Tool: tool, Arguments: written}}}
}

// Calls asks for several tools at once.
func Calls(steps ...Step) Step {
	var all Step
	for _, s := range steps {
		all.Text += s.Text
		all.Calls = append(all.Calls, s.Calls...)
	}
	return all
}

// Status is an HTTP error; retryAfter may be empty.
func Status(status int, retryAfter string) Step {
	return Step{Status: status, RetryAfter: retryAfter, Body: `{"error":{"message":"scripted","type":"server_error"}}`}
}

// Empty is an answer without content.
func Empty() Step { return Step{Finish: "stop"} }

// Faulty is an answer that goes wrong.
func Faulty(fault Fault) Step { return Step{Text: "half of an answer", Fault: fault} }

// Held is the step, answered only once release is called; the request itself
// is seen by WaitRequest at once.
func (s Step) Held() (held Step, release func()) {
	gate := make(chan struct{})
	s.hold = gate
	return s, func() {
		select {
		case <-gate:
		default:
			close(gate)
		}
	}
}

// If is the step, kept for a request that fits.
func (s Step) If(fits func(Request) bool) Step {
	s.When = fits
	return s
}
