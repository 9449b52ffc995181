package simulator_test

import (
	"context"
	"fmt"
	"time"

	"github.com/slack-go/slack"

	"reeve/slackapp/simulator"
)

// A bot that knows one answer is asked in a channel.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	s := simulator.New(simulator.Options{})
	if err := s.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()

	question := s.Say(simulator.Alice, simulator.General, s.Typed("@reeve what is the answer?"))

	// The bot's part: in a test of a real one, it runs on its own.
	bot := slack.New(s.BotToken(), slack.OptionAPIURL(s.APIURL()))
	s.Fail(simulator.Fault{Method: "chat.postMessage", Status: 429, RetryAfter: 1})
	_, _, err := bot.PostMessage(simulator.General, slack.MsgOptionText("42", false), slack.MsgOptionTS(question))
	fmt.Println("first try:", err)
	if _, _, err = bot.PostMessage(simulator.General, slack.MsgOptionText("42", false), slack.MsgOptionTS(question)); err != nil {
		fmt.Println(err)
		return
	}

	answer, err := s.WaitMessage(ctx, simulator.ByBot(simulator.General, question))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("answer:", answer.Text)
	fmt.Println("calls:", len(s.Calls("chat.postMessage")), "events unacknowledged:", s.Unacknowledged())
	// Output:
	// first try: slack rate limit exceeded, retry after 1s
	// answer: 42
	// calls: 2 events unacknowledged: 3
}
