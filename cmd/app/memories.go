package app

import (
	"context"
	"encoding/json"
	"errors"

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
			Store: memoryStore(box, a.settings), Model: askOnce{model}, Embedder: embedder,
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

// askOnce is the model that answers turns, as memory asks it.
type askOnce struct{ model agent.Model }

func (m askOnce) Complete(ctx context.Context, system, user string, schema json.RawMessage) (string, error) {
	reply, err := m.model.Complete(ctx, agent.Request{
		System: system, Messages: []agent.Message{{Role: chat.UserRole, Content: user}}, Schema: schema,
	})
	if err == nil && len(reply.Calls) > 0 {
		err = errors.New("the model called a tool where it was offered none")
	}
	return reply.Text, err
}
