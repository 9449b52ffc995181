package slackapp_test

import (
	"strings"
	"testing"

	"reeve/runtime/chat"
	"reeve/slackapp"
	"reeve/slackapp/render"
)

// TestTexts renders every sentence: as it is posted, or as the notice that it
// is in.
func TestTexts(t *testing.T) {
	alice, task := chat.Person("T1", "UALICE"), chat.SystemActor("scheduler <!here>")
	for want, got := range map[string]string{
		"I am working for <@UALICE> here right now. Your message is kept; its turn comes next, after those that wait already. " +
			"If it belongs to the work under way, write it again with `!!` in front: then your words reach that work at once, as information.": slackapp.TextWaiting(alice),
		"I could not take your message: too many are waiting here already. Nothing of it is kept, so please send it again later.": slackapp.TextFull(),
		"I am working for <@UALICE> here, and only they may stop it.":                                                             slackapp.TextNotYours(alice),
		"Only the person for whom I work here may stop it.":                                                                       slackapp.TextNotYours(chat.Actor{}),
		"I am working for the scheduler &lt;!here&gt; here, and only they may stop it.":                                           slackapp.TextNotYours(task),
		"Nothing is running here.": slackapp.TextNothingRunning(false),
		"Your stop came when its turn had ended already. What runs here now began after it; write `stop` again to stop that.": slackapp.TextNothingRunning(true),
		"I do not work in channels that are shared with another organisation.":                                                slackapp.TextNotAllowed("external_channel"),
		"I may not act on your messages: you are not among the people for whom I was set up to work.":                         slackapp.TextNotAllowed("user_not_allowed"),
		"I may not act on your messages, because you write from another organisation.":                                        slackapp.TextNotAllowed("external_author"),
		"I may not act on your messages, because you write from a guest account.":                                             slackapp.TextNotAllowed("a guest account"),
		"I could not post all of my answer to your request (turn 123456): Slack will not take it (`is_archived`). " +
			"What is missing is kept for whoever runs me. If you still need it, ask me again elsewhere, or here once Slack takes it.": slackapp.TextRefused("t_00123456", "is_archived"),
		"I could not post all of my answer to your request (turn 123456): Slack will not take it. " +
			"What is missing is kept for whoever runs me. If you still need it, ask me again elsewhere, or here once Slack takes it.": slackapp.TextRefused("t_00123456", "`<!channel>"),
		"I could not post all of my answer to your request (turn 123456) for so long that I do not post it any more. " +
			"What is missing is kept for whoever runs me. If you still need it, please ask again.": slackapp.TextLate("t_00123456"),
		"*More people can read where you asked than when I began, so I give this to you alone:*\n\n# Answer": slackapp.TextMoved("# Answer"),
		"I may not act on your messages here.": slackapp.TextNotAllowed(""),
	} {
		if got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	for rung := range render.Rungs {
		post := render.Render(slackapp.TextNoAnswer(), render.Rung(rung), render.Options{})
		if post.Text != slackapp.TextNoAnswer() {
			t.Errorf("rung %d says %q", rung, post.Text)
		}
	}
	if got := slackapp.TextWaiting(chat.Person("T1", "U1><!here")); strings.Contains(got, "<!") {
		t.Errorf("an id that is none is a mention: %q", got)
	}
}

func TestSplitBlank(t *testing.T) {
	for _, in := range []string{"", " \n\t\n", "[a]: https://example.com"} {
		pieces := slackapp.Split(in)
		if len(pieces) != 1 || strings.TrimSpace(pieces[0]) == "" {
			t.Errorf("Split(%q) = %q, want one piece with words", in, pieces)
		}
	}
}
