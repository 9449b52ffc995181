package openai

import (
	"errors"
	"fmt"
	"strings"

	goopenai "github.com/sashabaranov/go-openai"

	"reeve/agent"
	"reeve/runtime/chat"
)

// cutByLength stands behind an answer that the model's own limit cut short.
const cutByLength = "\n\n_(My answer ends here because it reached the model's length limit.)_"

// request is a request as go-openai sends it.
func (c *Client) request(req agent.Request) goopenai.ChatCompletionRequest {
	sent := goopenai.ChatCompletionRequest{Model: c.options.Model, Stream: true}
	if !c.noUsage.Load() {
		sent.StreamOptions = &goopenai.StreamOptions{IncludeUsage: true}
	}
	if c.newLimit.Load() {
		sent.MaxCompletionTokens = req.MaxTokens
	} else {
		//lint:ignore SA1019 many compatible servers know this name alone
		sent.MaxTokens = req.MaxTokens
	}
	if req.System != "" {
		sent.Messages = append(sent.Messages, goopenai.ChatCompletionMessage{Role: goopenai.ChatMessageRoleSystem, Content: req.System})
	}
	for _, m := range req.Messages {
		message := goopenai.ChatCompletionMessage{Role: string(m.Role), Content: m.Content, ToolCallID: m.CallID}
		for _, call := range m.Calls {
			message.ToolCalls = append(message.ToolCalls, goopenai.ToolCall{
				ID: call.ID, Type: goopenai.ToolTypeFunction,
				Function: goopenai.FunctionCall{Name: call.Tool, Arguments: call.Arguments},
			})
		}
		sent.Messages = append(sent.Messages, message)
	}
	for _, t := range req.Tools {
		sent.Tools = append(sent.Tools, goopenai.Tool{Type: goopenai.ToolTypeFunction, Function: &goopenai.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: t.Parameters,
		}})
	}
	if req.Schema != nil && !c.noSchema.Load() {
		sent.ResponseFormat = &goopenai.ChatCompletionResponseFormat{
			Type:       goopenai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &goopenai.ChatCompletionResponseFormatJSONSchema{Name: "answer", Schema: req.Schema, Strict: true},
		}
	}
	if len(sent.Tools) > 0 && c.noReasoning.Load() {
		sent.ReasoningEffort = goopenai.ReasoningEffortNone
	}
	return sent
}

// stream is what read needs of go-openai's stream.
type stream interface {
	Recv() (goopenai.ChatCompletionStreamResponse, error)
}

// read puts an answer together. It is whole once its finish reason has been
// seen, of which finished is told; how the stream ends after that does not
// matter.
func read(s stream, finished func()) (agent.Reply, error) {
	var text, refusal strings.Builder
	var calls assembly
	var finish goopenai.FinishReason
	tokens := 0
	for {
		chunk, err := s.Recv()
		if err != nil {
			if finish == "" {
				var api *goopenai.APIError
				if errors.As(err, &api) {
					return agent.Reply{}, err
				}
				return agent.Reply{}, fmt.Errorf("%w: %w", errCut, err)
			}
			break
		}
		if chunk.Usage != nil {
			tokens = chunk.Usage.TotalTokens
		}
		for _, choice := range chunk.Choices {
			if choice.Index != 0 {
				continue
			}
			text.WriteString(choice.Delta.Content)
			refusal.WriteString(choice.Delta.Refusal)
			for _, delta := range choice.Delta.ToolCalls {
				calls.add(delta)
			}
			if choice.FinishReason != "" && choice.FinishReason != goopenai.FinishReasonNull {
				finish = choice.FinishReason
				finished()
			}
		}
	}
	if finish == goopenai.FinishReasonContentFilter {
		return agent.Reply{}, errFiltered
	}
	reply := agent.Reply{Text: text.String(), Calls: calls.calls, Tokens: tokens}
	if strings.TrimSpace(reply.Text) == "" {
		reply.Text = refusal.String()
	}
	if len(reply.Calls) == 0 {
		if strings.TrimSpace(reply.Text) == "" {
			return agent.Reply{}, errEmpty
		}
		if finish == goopenai.FinishReasonLength {
			reply.Text += cutByLength
		}
	}
	return reply, nil
}

// assembly puts tool calls together from their pieces. Servers differ: some
// leave out the index, some give every call the index 0, some send a call in
// one piece.
type assembly struct {
	calls   []chat.ToolCall
	indices []int
}

func (a *assembly) add(delta goopenai.ToolCall) {
	at := a.place(delta)
	if at < 0 {
		at = len(a.calls)
		index := at
		if delta.Index != nil {
			index = *delta.Index
		}
		a.calls, a.indices = append(a.calls, chat.ToolCall{}), append(a.indices, index)
	}
	call := &a.calls[at]
	if call.ID == "" {
		call.ID = delta.ID
	}
	// A name comes once, in one piece or, rarely, in several.
	if call.Tool != delta.Function.Name {
		call.Tool += delta.Function.Name
	}
	call.Arguments += delta.Function.Arguments
}

// place is the call to which a piece belongs, or -1 for a new one.
func (a *assembly) place(delta goopenai.ToolCall) int {
	for i := len(a.calls) - 1; i >= 0; i-- {
		sameID := delta.ID == "" || delta.ID == a.calls[i].ID
		if delta.Index == nil {
			if i == len(a.calls)-1 && sameID && !(delta.ID == "" && delta.Function.Name != "") {
				return i
			}
			continue
		}
		if a.indices[i] == *delta.Index {
			if sameID {
				return i
			}
			return -1
		}
	}
	return -1
}
