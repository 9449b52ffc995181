package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"reeve/agent"
	"reeve/agent/openai"
	"reeve/memory"
	"reeve/plugins"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// furnish gives the memory plugin, where it is on, what it works with.
func (a assembly) furnish(box *mailbox.Box, model agent.Model) error {
	for _, p := range a.plugins {
		plugin, ok := p.(*memory.Plugin)
		if !ok {
			continue
		}
		embedder, err := a.embedder()
		if err != nil {
			return err
		}
		plugin.Use(memory.Options{
			Store: memoryStore(box, a.settings), Embedder: embedder,
			Model:      askOnce{model: model, most: a.settings.DailyTokensPerPerson, meter: meter{box}, count: a.metrics.Count, log: a.log},
			Extraction: a.settings.MemoryExtraction == "on", Count: a.metrics.Count,
		})
	}
	return nil
}

// furnishForCheck gives it what it needs to be opened, and no more.
func furnishForCheck(p plugins.Plugin) {
	if plugin, ok := p.(*memory.Plugin); ok {
		plugin.Use(memory.Options{Store: &memory.Store{}, Model: askOnce{}})
	}
}

// memoryStore is the store of memories, beside the mailbox on the same Redis.
func memoryStore(box *mailbox.Box, s Settings) *memory.Store {
	return memory.NewStore(box.Redis(), s.RedisPrefix, s.RedisURL != "")
}

// embedder is the model that makes embeddings; nil without one.
func (a assembly) embedder() (memory.Embedder, error) {
	if a.settings.EmbeddingModel == "" {
		return nil, nil
	}
	return openai.New(openai.Options{
		BaseURL: a.settings.OpenAIBaseURL, APIKey: a.settings.OpenAIAPIKey.Reveal(), Model: a.settings.EmbeddingModel, Logger: a.log,
		Idle: a.options.ModelIdle, Attempt: a.options.ModelAttempt,
	})
}

// askOnce is the model that answers turns, as memory asks it. What it costs is
// counted with the turns of the person for whom it is asked.
type askOnce struct {
	model agent.Model
	most  int // tokens a day; 0: as many as one likes
	meter agent.Meter
	count func(name, label string, n int)
	log   *slog.Logger
}

func (m askOnce) Complete(ctx context.Context, who chat.Actor, system, user string, schema json.RawMessage) (string, error) {
	metered := m.most > 0 && who.IsPerson()
	if metered {
		spent, err := m.meter.Spent(ctx, who)
		switch {
		case err != nil: // a count that cannot be read stops nobody
			m.log.Warn("tokens of the day not known", "actor", who.Key(), "err", err)
		case spent >= m.most:
			return "", memory.ErrSpent
		}
	}
	request := agent.Request{System: system, Messages: []agent.Message{{Role: chat.UserRole, Content: user}}, Schema: schema}
	reply, err := m.model.Complete(ctx, request)
	if err != nil {
		return "", err
	}
	if reply.Tokens == 0 {
		reply.Tokens = agent.Estimate(request) + agent.Estimate(agent.Request{Messages: []agent.Message{{Content: reply.Text}}})
	}
	m.count(agent.CountTokens, "", reply.Tokens)
	if metered {
		if err := m.meter.Add(context.WithoutCancel(ctx), who, reply.Tokens); err != nil {
			m.log.Warn("tokens not counted", "actor", who.Key(), "tokens", reply.Tokens, "err", err)
		}
	}
	if len(reply.Calls) > 0 {
		return "", errors.New("the model called a tool where it was offered none")
	}
	return reply.Text, nil
}
