package golden

import (
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reeve/cmd/app/apptest"
	"reeve/slackapp/simulator"
)

var update = flag.Bool("update", false, "rewrite the expect sections of testdata")

// The conversations that testdata holds. Together they show every row of the
// table in package runtime in every column that can come about: turns do not
// park yet. What the mode router moves has a test of its own.
//
// Stories with the same settings share a replica, a workspace and a provider,
// and are played side by side.
func TestConversations(t *testing.T) {
	groups := map[string][]*story{}
	for _, s := range readStories(t, "testdata/*.txtar") {
		groups[s.group()] = append(groups[s.group()], s)
	}
	for settings, stories := range groups {
		t.Run(title(settings), func(t *testing.T) {
			t.Parallel()
			playGroup(t, stories)
		})
	}
}

func title(settings string) string {
	if settings == "" {
		return "shipped"
	}
	return strings.ReplaceAll(settings, " ", ",")
}

func playGroup(t *testing.T, stories []*story) {
	world := simulator.DefaultWorld()
	for _, s := range stories {
		s.cast.join(world)
	}
	p := newPlace(t, world, stories[0].settings...)
	p.Model.Otherwise(route(stories, p.Wake))
	r := p.Start(t)
	performances := make([]*performance, len(stories))
	t.Run("stories", func(t *testing.T) {
		for i, s := range stories {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				performances[i] = s.perform(t, p)
				performances[i].judge(t)
			})
		}
	})
	if t.Failed() {
		return
	}
	r.Term(t)
	// Nothing has come afterwards, not even at the end.
	for _, f := range performances {
		if f != nil && !*update {
			if diff := cmp.Diff(f.expect, f.shown()); diff != "" {
				t.Errorf("%s: something came after its end (-want +got):\n%s", f.name, diff)
			}
		}
	}
	checkPosts(t, p)
	checkLog(t, p, performances)
}

// judge compares what came of a story with what its file expects. What is still
// on its way is waited for.
func (f *performance) judge(t *testing.T) {
	t.Helper()
	if *update {
		f.place.Quiet(time.Second)
		if err := f.rewrite(f.shown()); err != nil {
			t.Fatal(err)
		}
		return
	}
	if len(f.play.asked()) > len(f.play.answers) {
		t.Errorf("the model was asked %d times and has %d answers", len(f.play.asked()), len(f.play.answers))
	}
	if f.place.Wait(10*time.Second, func() bool { return f.shown() == f.expect }) != nil {
		t.Errorf("(-want +got):\n%s", cmp.Diff(f.expect, f.shown()))
	}
}

// checkPosts holds what is the same for all that the bot says.
func checkPosts(t *testing.T, p *apptest.Place) {
	t.Helper()
	for _, method := range []string{"chat.postMessage", "chat.postEphemeral"} {
		for _, c := range p.Slack.Calls(method) {
			if method == "chat.postMessage" && (c.Args["unfurl_links"] != "false" || c.Args["unfurl_media"] != "false") {
				t.Errorf("a post may unfurl: %v", c.Args)
			}
			if c.Args["link_names"] != "" || c.Args["parse"] == "full" {
				t.Errorf("%s links names: %v", method, c.Args)
			}
		}
	}
}

// checkLog: what people write is in no line, and neither is a token.
func checkLog(t *testing.T, p *apptest.Place, performances []*performance) {
	t.Helper()
	var secret []string
	for _, f := range performances {
		for _, s := range f.said {
			if words := strings.TrimSpace(mentioned.ReplaceAllString(s.text, "")); len(words) > 12 {
				secret = append(secret, words)
			}
		}
		for _, a := range f.play.answers {
			if len(a.Text) > 12 {
				secret = append(secret, a.Text)
			}
		}
	}
	secret = append(secret, p.Slack.BotToken(), p.Slack.AppToken())
	for _, text := range p.Journal.Texts() {
		for _, s := range secret {
			if strings.Contains(text, s) {
				t.Errorf("the log tells %q: %s", s, text)
			}
		}
	}
}
