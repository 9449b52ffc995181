package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	gopenai "github.com/sashabaranov/go-openai"
)

// ProbeRefused is a provider's answer that a model will not do. It carries no
// text of the provider's, which may quote the key.
type ProbeRefused struct {
	Status int
	// Code is the provider's machine-readable reason; empty when it gave none.
	Code string
}

func (e *ProbeRefused) Error() string {
	text := fmt.Sprintf("the provider answers %d", e.Status)
	if e.Code != "" {
		text += " (" + e.Code + ")"
	}
	return text
}

// Probe sends the smallest request to a model, streamed as every request of a
// turn is, and waits for the first piece of the answer. A *ProbeRefused is the
// provider's answer; any other error says that it could not be asked. An empty
// baseURL is OpenAI's.
func Probe(ctx context.Context, baseURL, key, model string) error {
	config := gopenai.DefaultConfig(key)
	if baseURL != "" {
		config.BaseURL = strings.TrimSuffix(baseURL, "/")
	}
	stream, err := gopenai.NewClientWithConfig(config).CreateChatCompletionStream(ctx, gopenai.ChatCompletionRequest{
		Model:    model,
		Messages: []gopenai.ChatCompletionMessage{{Role: gopenai.ChatMessageRoleUser, Content: "Answer with the word ok."}},
		Stream:   true,
	})
	if err != nil {
		return probeError(err)
	}
	defer func() { _ = stream.Close() }()
	for {
		piece, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return &ProbeRefused{Status: 200, Code: "an empty answer"}
		case err != nil:
			return probeError(err)
		case len(piece.Choices) > 0:
			return nil
		}
	}
}

func probeError(err error) error {
	var api *gopenai.APIError
	if errors.As(err, &api) {
		return &ProbeRefused{Status: api.HTTPStatusCode, Code: machineCode(api)}
	}
	var request *gopenai.RequestError
	if errors.As(err, &request) && request.HTTPStatusCode != 0 {
		return &ProbeRefused{Status: request.HTTPStatusCode}
	}
	return fmt.Errorf("ask the model: %w", err)
}

// machineCode is the error's code or type, when it looks like one.
func machineCode(err *gopenai.APIError) string {
	code, _ := err.Code.(string)
	if code == "" {
		code = err.Type
	}
	for _, r := range code {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' && r != '-' {
			return ""
		}
	}
	return code
}
