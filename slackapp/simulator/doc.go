// Package simulator is a Slack on loopback: the part of the Web API and of
// Socket Mode that a bot meets, with Slack's timers, retries, limits and bad
// days. It is a test kit. It imports nothing of the bot, and a client in any
// language can talk to it.
//
// # Use in a test
//
// ForTest starts a server and closes it with the test. Point a client at
// APIURL with the tokens of Options, let people speak, and wait for what comes
// of it:
//
//	slack := simulator.ForTest(t, simulator.Options{})
//	go bot.Run(ctx, slack.APIURL(), slack.BotToken(), slack.AppToken())
//	ts := slack.Say(simulator.Alice, simulator.General, "<@UBOT> hello")
//	answer, err := slack.WaitMessage(ctx, simulator.ByBot(simulator.General, ts))
//
// Nothing here polls or sleeps. Every change is an Event in one log, in the
// order in which it happened; WaitFor returns the first event of the log, past
// or to come, that a predicate accepts. Messages, Ephemerals, Calls and
// Envelopes return copies of what has happened so far.
//
// # People and channels
//
// DefaultWorld has the team T1 with Alice, Bob and Carol, a guest, the bot
// under test, another bot, and Eve of another organisation, and a channel of
// every kind. Text is given as Slack puts it on the wire (mentions as <@U...>,
// &, < and > escaped); Typed turns what a person types into that.
//
// # What is emitted
//
// Each post, edit, deletion and reaction becomes the events that Slack would
// send: a mention in a channel becomes a message event and an app_mention with
// the same ts and another event_id, in the order that SayOptions.Twin asks for.
// Posts of bots, workflows, apps acting for a person and external people are
// stamped as Slack stamps them. DeliverPayload and Deliver send anything else.
//
// # Bad days
//
// Fail makes the next calls of a method answer 429, 500 or ok:false, answer
// late, or be carried out while the answer is lost. Hold keeps calls waiting
// until the test lets them go. DropSockets, Disconnect, StopPings,
// RefuseSockets, IgnoreAcks and Redeliver are the socket's.
//
// # Faithfulness
//
// Where Slack's own behaviour is documented or was seen in the field, it is
// followed; where it is not known, the comment at the place says so. Two
// clients that others wrote, slack-go and the Node pair @slack/socket-mode and
// @slack/web-api, are run against it by the Conformance tests.
package simulator
