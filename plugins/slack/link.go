package slack

import (
	"net/url"
	"strings"

	"reeve/runtime/chat"
)

// place is where a link leads.
type place struct {
	channel    string
	ts, thread chat.TS // thread is empty where the link does not name one
}

// parseLink reads a link to a message as Slack writes it:
// https://WORKSPACE.slack.com/archives/CHANNEL/pTS?thread_ts=ROOT. Which
// workspace it names does not matter: channels have ids of their own.
func parseLink(link string) (place, bool) {
	link = strings.Trim(strings.TrimSpace(link), "<>")
	link, _, _ = strings.Cut(link, "|")
	u, err := url.Parse(strings.ReplaceAll(link, "&amp;", "&"))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return place{}, false
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	if len(parts) != 3 || parts[0] != "archives" || !isID(parts[1], "CDG") {
		return place{}, false
	}
	digits, marked := strings.CutPrefix(parts[2], "p")
	if !marked || len(digits) != 16 {
		return place{}, false
	}
	p := place{channel: parts[1], ts: chat.TS(digits[:10] + "." + digits[10:]), thread: chat.TS(u.Query().Get("thread_ts"))}
	if !isTS(p.ts) || p.thread != "" && !isTS(p.thread) {
		return place{}, false
	}
	return p, true
}

// channelOf reads a channel as a model writes it: an id, a name, a mention
// (<#C0123|name>), a link to it or to a message in it.
func channelOf(text string) string {
	text = strings.Trim(strings.TrimSpace(text), "<>")
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		if parts := strings.Split(strings.Trim(u.Path, "/"), "/"); len(parts) >= 2 && parts[0] == "archives" {
			return parts[1]
		}
	}
	bare, _, _ := strings.Cut(strings.TrimPrefix(text, "#"), "|")
	return bare
}

// userOf reads a person as a model writes him: an id or a mention.
func userOf(text string) (chat.UserID, bool) {
	bare, _, _ := strings.Cut(strings.TrimPrefix(strings.Trim(strings.TrimSpace(text), "<>"), "@"), "|")
	if _, id, found := strings.Cut(bare, ":"); found { // as in "T0123:U0123"
		bare = id
	}
	return chat.UserID(bare), isID(bare, "UW")
}

// isID reports whether s is an id of Slack's that begins with one of first.
func isID(s, first string) bool {
	if len(s) < 2 || len(s) > 64 || !strings.Contains(first, s[:1]) {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') }) < 0
}

// isTS reports whether ts has a timestamp's form, such as 1700000000.000100.
func isTS(ts chat.TS) bool {
	if len(ts) != 17 || ts[10] != '.' {
		return false
	}
	return strings.IndexFunc(string(ts[:10]+ts[11:]), func(r rune) bool { return r < '0' || r > '9' }) < 0
}
