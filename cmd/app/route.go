package app

import (
	"context"
	"time"

	"reeve/agent/openai"
	"reeve/agent/router"
	"reeve/runtime"
)

// router is what the mode router asks: a small model, once, since it has two
// seconds. Nil in the other modes, and without a provider.
func (a assembly) router() (runtime.Router, error) {
	s := a.settings
	if runtime.MidRunMode(s.CrossActorMidRunMode) != runtime.ModeRouter || a.model != nil {
		return nil, nil
	}
	name := s.RouterModel
	if name == "" {
		name = s.OpenAIModel
	}
	model, err := openai.New(openai.Options{
		BaseURL: s.OpenAIBaseURL, APIKey: s.OpenAIAPIKey.Reveal(), Model: name, Logger: a.log, Waits: []time.Duration{},
	})
	if err != nil {
		return nil, err
	}
	return asked{router.New(model, router.Options{})}, nil
}

// asked puts the runtime's question to package router, which knows nothing of
// the runtime.
type asked struct{ router *router.Router }

func (r asked) Route(ctx context.Context, q runtime.RouteQuestion) (runtime.Verdict, error) {
	answer, err := r.router.Decide(ctx, router.Question{Running: q.Running, Message: q.Message, Own: q.Own})
	return runtime.Verdict(answer), err
}
