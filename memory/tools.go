package memory

import (
	"encoding/json"
	"time"

	"reeve/plugins"
)

func (p *Plugin) tools() []plugins.Tool {
	return []plugins.Tool{
		plugins.MustTool(plugins.Tool{
			Name: "remember",
			Description: "Keeps something for later conversations, when the person you act for asks for it: for that person, or for everybody in this public channel. " +
				"You say which words, letter for letter; how it is kept is worded from the messages in which they stand alone, so that what you know from elsewhere cannot get into it.",
			Effect: plugins.Idempotent, Access: plugins.Write, Timeout: modelTime,
		}, p.remember),
		plugins.MustTool(plugins.Tool{
			Name: "recall",
			Description: "Looks up what is remembered of the person you act for and, in a public channel, for the channel. " +
				"With a question you read what fits it, with the ids and topics that forget takes. When the person asks what you know about them, leave the question out: the whole list is sent to them as a direct message.",
			Effect: plugins.Pure, Access: plugins.Read, Provider: Provider,
		}, p.recall),
		plugins.MustTool(plugins.Tool{
			Name: "forget",
			Description: "Forgets the memories that are named, or the one that is about something. Name all of them in one call. " +
				"Forgotten ones can be brought back within 24 hours.",
			Effect: plugins.Idempotent, Access: plugins.Write, Provider: Provider, Asks: forgetsSeveral,
		}, p.forget),
	}
}

// modelTime is for tools that ask a model, twice at least.
const modelTime = 2 * time.Minute

// forgetsSeveral: about that its person is asked in any case.
func forgetsSeveral(arguments json.RawMessage) bool {
	var in forgetIn
	return json.Unmarshal(arguments, &in) != nil || len(in.Memories) > 1
}

const ownMessage = "Tell them to ask in a message of their own."

func refused(why string) plugins.Result { return plugins.Result{Error: true, Text: why} }
