package github

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"reeve/plugins"
)

type createArguments struct {
	Repository string `json:"repository" jsonschema:"the repository, as owner/name or by its link"`
	Title      string `json:"title" jsonschema:"the title, in one line"`
	Body       string `json:"body" jsonschema:"the text, in Markdown"`
}

const (
	maxTitle = 256 // characters, GitHub's own limit
	maxBody  = 60_000
	// skew is how far GitHub's clock may be from ours.
	skew = 5 * time.Minute
)

func (p *plugin) createIssue(ctx context.Context, call plugins.Call, in createArguments) (plugins.Result, error) {
	at, err := p.parseRepository(in.Repository)
	if err == nil {
		err = checkText(in.Title, in.Body)
	}
	if err != nil {
		return told(err)
	}
	w, err := p.begin(ctx, call, at)
	if err != nil {
		return told(err)
	}
	if !w.repo.HasIssues {
		return told(refusal("Nothing was written: %s has its issues switched off.", at))
	}
	c, err := w.as(ctx, in.Title+"\n"+in.Body)
	if err != nil {
		return told(err)
	}
	var made issue
	body := map[string]any{"title": in.Title, "body": credited(call.Key, w.who, call.Run, in.Body)}
	err = w.send(ctx, c, at.at("issues"), body, &made, func(ctx context.Context) (bool, error) {
		recent := page(1, perPage)
		recent.Set("state", "all")
		recent.Set("sort", "created")
		recent.Set("direction", "desc")
		var list []issue
		_, err := w.account.get(ctx, at.at("issues"), recent, &list)
		return pick(list, &made, func(i issue) bool { return marked(i.Body, call.Key) }), err
	})
	if err != nil {
		return told(err)
	}
	return w.written(c, fmt.Sprintf("Opened is the issue %s#%d", at, made.Number), made.HTMLURL), nil
}

type commentArguments struct {
	Issue   string `json:"issue" jsonschema:"the issue or pull request, as owner/name#number or by its link"`
	Body    string `json:"body" jsonschema:"the comment, in Markdown"`
	Version string `json:"version" jsonschema:"the version that it had when you read it"`
}

func (p *plugin) comment(ctx context.Context, call plugins.Call, in commentArguments) (plugins.Result, error) {
	at, err := p.parseNumbered(in.Issue)
	if err == nil {
		err = checkText("-", in.Body)
	}
	if err != nil {
		return told(err)
	}
	w, err := p.begin(ctx, call, at.repository)
	if err != nil {
		return told(err)
	}
	c, err := w.as(ctx, in.Body)
	if err != nil {
		return told(err)
	}
	if err := w.open(ctx, at, in.Version); err != nil {
		return told(err)
	}
	var made comment
	path := at.at("issues", at.number, "comments")
	body := map[string]any{"body": credited(call.Key, w.who, call.Run, in.Body)}
	err = w.send(ctx, c, path, body, &made, func(ctx context.Context) (bool, error) {
		recent := page(1, 100)
		recent.Set("since", w.started.Add(-skew).UTC().Format(time.RFC3339))
		var list []comment
		_, err := w.account.get(ctx, path, recent, &list)
		return pick(list, &made, func(c comment) bool { return marked(c.Body, call.Key) }), err
	})
	if err != nil {
		return told(err)
	}
	return w.written(c, fmt.Sprintf("The comment stands at %s", at), made.HTMLURL), nil
}

// open looks whether an issue or pull request is what it was, and may be written
// on. It is the last look before the comment.
func (w *writer) open(ctx context.Context, at numbered, version string) error {
	var i issue
	if _, err := w.account.get(ctx, at.at("issues", at.number), nil, &i); err != nil {
		return err
	}
	now := i.version()
	switch {
	case i.PullRequest != nil:
		var pr pull
		if _, err := w.account.get(ctx, at.at("pulls", at.number), nil, &pr); err != nil {
			return err
		}
		now = pr.version()
	case !w.repo.HasIssues:
		return refusal("Nothing was written: %s has its issues switched off.", at.repository)
	}
	switch {
	case i.Locked && !w.repo.Permissions.writes():
		return refusal("Nothing was written: %s is locked, and the GitHub account %s may not write there.", at, w.who.Login)
	case now != version:
		return refusal("Nothing was written: %s has changed since the version that you name. Read it again; if the comment still fits, ask for it with the version that it has then.", at)
	}
	return nil
}

// marked: a text that this call has written.
func marked(body, key string) bool { return strings.HasPrefix(body, mark(key)) }

func pick[T any](list []T, into *T, fits func(T) bool) bool {
	for _, one := range list {
		if fits(one) {
			*into = one
			return true
		}
	}
	return false
}

// checkText refuses what GitHub would refuse, or show otherwise than a person has
// seen it.
func checkText(title, body string) error {
	switch {
	case strings.TrimSpace(title) == "" || utf8.RuneCountInString(title) > maxTitle || strings.ContainsFunc(title, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }):
		return refusal("A title is one line of 1 to %d characters.", maxTitle)
	case strings.TrimSpace(body) == "" || len(body) > maxBody:
		return refusal("A text has 1 to %d bytes.", maxBody)
	case strings.ContainsRune(body, 0):
		return refusal("A text holds no zero bytes.")
	}
	return nil
}
