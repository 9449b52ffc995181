package memory

import "encoding/json"

// The forms in which models are asked to answer.
var (
	proposalSchema = json.RawMessage(`{"type":"object","additionalProperties":false,"required":["memories"],"properties":{
		"memories":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["kind","topic","text","evidence"],"properties":{
			"kind":{"type":"string","enum":["preference","fact","knowledge","procedure","task","event"]},
			"topic":{"type":"string"},"text":{"type":"string"},
			"evidence":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["entry","span"],"properties":{
				"entry":{"type":"integer"},"span":{"type":"string"}}}}}}}}}`)
	verdictSchema = json.RawMessage(`{"type":"object","additionalProperties":false,"required":["verdicts"],"properties":{
		"verdicts":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["memory","sensitive","of_others","order"],"properties":{
			"memory":{"type":"integer"},"sensitive":{"type":"boolean"},"of_others":{"type":"boolean"},"order":{"type":"boolean"}}}}}}`)
)
