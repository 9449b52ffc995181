package slackapp

import (
	"context"
	"strings"

	"github.com/slack-go/slack"
)

// codeWindow begins the callback id of the window that asks for a code:
// "code:FLOW".
const codeWindow = "code:"

// codeField names its field, and codeMost bounds what is read of it.
const (
	codeField = "code"
	codeMost  = 64
)

// askCode opens the window.
func (c *Cards) askCode(ctx context.Context, k Click, flow string) {
	if _, err := c.Client.OpenViewContext(ctx, k.Trigger, codeView(flow)); err != nil {
		c.Log.Warn("window not opened", "actor", k.By.Key(), "err", judge(err).text())
		c.tell(ctx, k, TextModalLate)
	}
}

// renewCode puts another code of the provider's on a card whose own is over, or was
// lost. Nothing else of what it asks is changed by it.
func (c *Cards) renewCode(ctx context.Context, k Click, flow string) {
	if c.Connections == nil {
		c.tell(ctx, k, TextCardOver)
		return
	}
	card, sentence, err := c.Connections.NewCode(ctx, flow, k.By)
	switch {
	case err != nil:
		c.Log.Warn("no new code", "actor", k.By.Key(), "err", err)
		c.tell(ctx, k, TextCodeNone)
	case card == nil:
		c.tell(ctx, k, sentence)
	default:
		c.show(ctx, k, *card)
	}
}

func codeView(flow string) slack.ModalViewRequest {
	field := slack.NewPlainTextInputBlockElement(nil, codeField)
	field.MaxLength = codeMost
	return slack.ModalViewRequest{
		Type: slack.VTModal, CallbackID: codeWindow + flow,
		Title: literal(TextCodeTitle), Submit: literal(TextCodeSubmit), Close: literal(TextCodeClose),
		Blocks: slack.Blocks{BlockSet: []slack.Block{slack.NewInputBlock(codeField, literal(TextCodeLabel), nil, field)}},
	}
}

// Form implements Forms: whoever hands the code in is who Slack says it is.
func (c *Cards) Form(ctx context.Context, f Form) any {
	flow, ok := strings.CutPrefix(f.Window, codeWindow)
	if !ok || c.Connections == nil {
		return nil
	}
	code := strings.TrimSpace(f.Values[codeField])
	if code == "" || len(code) > 4*codeMost {
		return refuseCode(TextCodeMissing)
	}
	sentence, done, err := c.Connections.Enter(ctx, flow, f.By, code)
	switch {
	case err != nil:
		c.Log.Warn("code not checked", "actor", f.By.Key(), "err", err)
		return refuseCode(TextCodeOutage)
	case !done:
		return refuseCode(sentence)
	case sentence == "":
		return slack.NewClearViewSubmissionResponse()
	}
	return slack.NewUpdateViewSubmissionResponse(&slack.ModalViewRequest{
		Type: slack.VTModal, Title: literal(TextCodeTitle), Close: literal(TextCodeClose),
		Blocks: slack.Blocks{BlockSet: []slack.Block{slack.NewSectionBlock(plain(sentence), nil, nil)}},
	})
}

// refuseCode keeps the window open, with a sentence below its field.
func refuseCode(sentence string) any {
	return slack.NewErrorsViewSubmissionResponse(map[string]string{codeField: sentence})
}
