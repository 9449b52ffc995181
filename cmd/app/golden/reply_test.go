package golden

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/slackapp/simulator"
)

// answered lets the shipped binary post an answer and gives the posts.
func answered(t *testing.T, p *apptest.Place, answer string, n int) (posts []simulator.Message, root string) {
	t.Helper()
	p.Model.Then(scripted.Answer(answer))
	root = p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> hello")
	return p.Posted(t, simulator.General, root, n), root
}

// A long answer comes in several posts, cut at the borders of its blocks and in
// their order. Nothing is lost, and each post's code is closed in it.
func TestLongAnswersAreSplit(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil)
	r := p.Start(t)
	var b strings.Builder
	var marks []string
	mark := func(kind string, i int) string {
		marks = append(marks, fmt.Sprintf("%s%03d", kind, i))
		return marks[len(marks)-1]
	}
	for i := range 60 {
		fmt.Fprintf(&b, "%s %s\n\n", mark("paragraph", i), strings.Repeat("lorem ipsum dolor ", 10))
	}
	b.WriteString("```go\n")
	for i := range 400 {
		fmt.Fprintf(&b, "fmt.Println(%q) // a line of code\n", mark("code", i))
	}
	b.WriteString("```\n\n")
	for i := range 60 {
		fmt.Fprintf(&b, "- %s %s\n", mark("item", i), strings.Repeat("sit amet ", 8))
	}
	_, root := answered(t, p, b.String(), 3)
	p.Until(t, "the last post", func() bool { return strings.Contains(texts(p, simulator.General, root), marks[len(marks)-1]) })
	r.Term(t)
	posts := p.Posts(simulator.General, root)
	var all strings.Builder
	for i, m := range posts {
		text := apptest.ShownText(m)
		all.WriteString(text)
		if n := utf8.RuneCountInString(text); n > 12_000 || n == 0 {
			t.Errorf("post %d has %d characters", i+1, n)
		}
		if n := strings.Count(text, "```"); n%2 != 0 {
			t.Errorf("post %d has %d fences", i+1, n)
		}
		if strings.Contains(text, "Println") && !strings.Contains(text, "```go\n") {
			t.Errorf("the code of post %d has lost its language", i+1)
		}
	}
	if len(posts) > 4 {
		t.Errorf("%d posts", len(posts))
	}
	at := 0
	for _, m := range marks {
		i := strings.Index(all.String()[at:], m)
		if i < 0 {
			t.Fatalf("%s is missing, or out of its order", m)
		}
		at += i
	}
	checkPosts(t, p)
}

// Whatever the model writes: nobody is pinged who is not in the thread, no link
// has a scheme of its own, and Slack is given nothing to fetch.
func TestAnswersAreDisarmed(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil)
	r := p.Start(t)
	posts, _ := answered(t, p, strings.Join([]string{
		"<!channel> <!here> <!everyone|all> <!subteam^S123> &lt;!channel&gt; `<!channel>`",
		"Ask <@UALICE> or <@UCAROL>.",
		"[a page](javascript:alert(1)) and [home](https://evil.example/?q=secret) and ![img](https://evil.example/x.png)",
		"[https://good.example](https://evil.example/login)",
		"```\n<!channel> <@UCAROL>\n```",
	}, "\n\n"), 1)
	r.Term(t)
	for _, sent := range []string{apptest.ShownText(posts[0]), posts[0].Text} {
		for _, token := range []string{"<!channel", "<!here", "<!everyone", "<!subteam", "<@UCAROL", "](javascript", "javascript:alert", "![", "@channel", "@here", "&lt;!channel"} {
			if strings.Contains(sent, token) {
				t.Errorf("%q stands in %q", token, sent)
			}
		}
	}
	shown := apptest.ShownText(posts[0])
	if !strings.Contains(shown, "<@UALICE>") {
		t.Errorf("who asked is not mentioned in %q", shown)
	}
	if !strings.Contains(shown, "evil.example") {
		t.Errorf("the target's host is hidden in %q", shown)
	}
	for _, m := range posts {
		if strings.Contains(string(m.Blocks), "image_url") || len(m.Attachments) > 0 {
			t.Errorf("Slack is given something to fetch: %s", m.Blocks)
		}
	}
	checkPosts(t, p)
}

// What Slack does not take in one form is posted in a plainer one, once; an
// answer is never lost for its form.
func TestAnswersFallBackToPlainText(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil)
	r := p.Start(t)
	p.Slack.Fail(simulator.Fault{Method: "chat.postMessage", Error: "invalid_blocks", Times: 2})
	posts, root := answered(t, p, "**The answer** is 42, and `not` <!channel>.", 1)
	r.Term(t)
	if n := len(p.Posts(simulator.General, root)); n != 1 {
		t.Errorf("%d posts", n)
	}
	if text := posts[0].Text; !strings.Contains(text, "The answer is 42") || strings.Contains(text, "<!channel") || posts[0].Blocks != nil {
		t.Errorf("posted: %q with blocks %s", text, posts[0].Blocks)
	}
	checkPosts(t, p)
}

// Slack carries a post out and its answer gets lost: it is found in the thread
// and not posted again.
func TestP7_LostAnswerOfAPost(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil)
	r := p.StartOther(t, tenth)
	p.Slack.Fail(simulator.Fault{Method: "chat.postMessage", LoseAnswer: true})
	_, root := answered(t, p, "The answer.", 1)
	p.Until(t, "it looks into the thread", func() bool { return len(p.Slack.Calls("conversations.replies")) > 0 })
	p.Until(t, "it has found the post", func() bool { return len(p.Journal.With("part found posted")) == 1 })
	r.Term(t)
	if got := texts(p, simulator.General, root); got != "The answer." {
		t.Errorf("the thread says %q", got)
	}
}

// Killed with the answer in the outbox and not posted: the next process posts
// it, without asking the model again.
func TestP7_KilledBeforeThePost(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil)
	p.Model.Then(scripted.Answer("The answer."))
	first := p.StartOther(t, tenth)
	release := p.Slack.Hold("chat.postMessage")
	defer release()
	root := p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> hello")
	p.Until(t, "the post is on its way", func() bool {
		for _, e := range p.Slack.Events(0) {
			if e.Kind == simulator.Held {
				return true
			}
		}
		return false
	})
	first.Kill()
	release()
	second := p.StartOther(t, tenth)
	p.Posted(t, simulator.General, root, 1)
	second.Term(t)
	if got := texts(p, simulator.General, root); got != "The answer." {
		t.Errorf("the thread says %q", got)
	}
	if n := len(p.Model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}
