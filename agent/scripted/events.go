package scripted

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"reeve/runtime/chat"
)

// events writes a stream of completion chunks.
type events struct {
	w     http.ResponseWriter
	model string
}

func (e events) raw(text string) {
	_, _ = io.WriteString(e.w, text)
	_ = http.NewResponseController(e.w).Flush()
}

func (e events) chunk(fields map[string]any) {
	fields["id"], fields["object"], fields["model"] = "chatcmpl-scripted", "chat.completion.chunk", e.model
	data, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	e.raw("data: " + string(data) + "\n\n")
}

func (e events) delta(delta map[string]any, finish string) {
	choice := map[string]any{"index": 0, "delta": delta, "finish_reason": nil}
	if finish != "" {
		choice["finish_reason"] = finish
	}
	e.chunk(map[string]any{"choices": []any{choice}})
}

// whole sends an answer in several pieces, as providers do.
func (e events) whole(step Step, usage bool) {
	finish := step.Finish
	if finish == "" {
		finish = "stop"
		if len(step.Calls) > 0 {
			finish = "tool_calls"
		}
	}
	for _, piece := range pieces(step.Text) {
		e.delta(map[string]any{"content": piece}, "")
	}
	for i, call := range step.Calls {
		e.delta(map[string]any{"tool_calls": []any{callDelta(i, call, "")}}, "")
		for _, piece := range pieces(call.Arguments) {
			e.delta(map[string]any{"tool_calls": []any{callDelta(i, chat.ToolCall{}, piece)}}, "")
		}
	}
	e.delta(map[string]any{}, finish)
	if usage && step.Tokens > 0 {
		e.chunk(map[string]any{"choices": []any{}, "usage": map[string]any{"prompt_tokens": step.Tokens - 1, "completion_tokens": 1, "total_tokens": step.Tokens}})
	}
	e.raw("data: [DONE]\n\n")
}

func callDelta(index int, call chat.ToolCall, arguments string) map[string]any {
	function := map[string]any{"arguments": arguments}
	delta := map[string]any{"index": index, "function": function}
	if call.Tool != "" {
		delta["id"], delta["type"], function["name"] = call.ID, "function", call.Tool
	}
	return delta
}

// pieces cuts text in three, at the starts of words.
func pieces(text string) []string {
	if text == "" {
		return nil
	}
	words := strings.SplitAfter(text, " ")
	third := len(words)/3 + 1
	var out []string
	for len(words) > third {
		out = append(out, strings.Join(words[:third], ""))
		words = words[third:]
	}
	return append(out, strings.Join(words, ""))
}
