package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	goopenai "github.com/sashabaranov/go-openai"
	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"
)

// naive is the yardstick: a goroutine an event, acknowledged at once, nothing
// durable, nothing in order, nobody told apart.
func naive() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	api := slack.New(os.Getenv("SLACK_BOT_TOKEN"), slack.OptionAppLevelToken(os.Getenv("SLACK_APP_TOKEN")),
		slack.OptionAPIURL(os.Getenv("SLACK_API_URL")))
	config := goopenai.DefaultConfig("none")
	config.BaseURL = os.Getenv("OPENAI_BASE_URL")
	model := goopenai.NewClientWithConfig(config)
	client := socketmode.New(api)
	go func() {
		for event := range client.Events {
			if event.Type != socketmode.EventTypeEventsAPI {
				continue
			}
			_ = client.Ack(*event.Request)
			outer, ok := event.Data.(slackevents.EventsAPIEvent)
			if !ok {
				continue
			}
			if mention, ok := outer.InnerEvent.Data.(*slackevents.AppMentionEvent); ok {
				go reply(ctx, api, model, mention)
			}
		}
	}()
	_ = client.RunContext(ctx)
	return 0
}

func reply(ctx context.Context, api *slack.Client, model *goopenai.Client, mention *slackevents.AppMentionEvent) {
	stream, err := model.CreateChatCompletionStream(ctx, goopenai.ChatCompletionRequest{
		Model:    os.Getenv("OPENAI_MODEL"),
		Messages: []goopenai.ChatCompletionMessage{{Role: "user", Content: mention.Text}},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer stream.Close()
	var text strings.Builder
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		for _, choice := range chunk.Choices {
			text.WriteString(choice.Delta.Content)
		}
	}
	if _, _, err := api.PostMessageContext(ctx, mention.Channel, slack.MsgOptionText(text.String(), false),
		slack.MsgOptionTS(mention.TimeStamp)); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
