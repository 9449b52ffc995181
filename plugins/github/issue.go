package github

import (
	"context"
	"fmt"
	"strings"
	"time"

	"reeve/plugins"
)

type issueArguments struct {
	Issue string `json:"issue" jsonschema:"the issue, as owner/name#number or by its link"`
	Page  int    `json:"page,omitempty" jsonschema:"which page of its comments, the newest when left out"`
}

// perPage is how many comments, reviews or files are asked for at a time.
const perPage = 30

func (p *plugin) readIssue(ctx context.Context, call plugins.Call, in issueArguments) (plugins.Result, error) {
	at, err := p.parseNumbered(in.Issue)
	if err != nil {
		return told(err)
	}
	c, err := p.account(call)
	if err != nil {
		return told(err)
	}
	var i issue
	if _, err := c.get(ctx, at.at("issues", at.number), nil, &i); err != nil {
		return told(err)
	}
	if i.PullRequest != nil {
		return told(refusal("%s is a pull request: read it with github_read_pull_request.", at))
	}
	var s sheet
	s.rights(call)
	s.line("Issue %s, %s%s, by %s, opened %s, touched %s%s.", at, state(i), labels(i.Labels), i.User.name(), day(i.CreatedAt), day(i.UpdatedAt), assignees(i.Assignees))
	s.line("version: %s", i.version())
	s.line("Title:")
	s.text(flat(i.Title), maxLine)
	s.line("Text:")
	s.text(i.Body, maxText)
	if err := c.comments(ctx, &s, at, i.Comments, in.Page); err != nil {
		return told(err)
	}
	return plugins.Result{Text: s.String()}, nil
}

// comments writes a page of the comments of an issue or pull request, which come
// oldest first; the last page unless another one is asked for.
func (c client) comments(ctx context.Context, s *sheet, at numbered, count, asked int) error {
	if count == 0 {
		s.line("Comments: none.")
		return nil
	}
	last := (count + perPage - 1) / perPage
	which := pageOf(asked, last, last)
	var list []comment
	if _, err := c.get(ctx, at.at("issues", at.number, "comments"), page(which, perPage), &list); err != nil {
		return err
	}
	s.line("%s", pages("Comments, oldest first", which, last, count))
	var pieces []string
	for _, one := range list {
		pieces = append(pieces, one.piece())
	}
	if left := s.newest(pieces); left > 0 {
		s.line("The %d oldest of this page are left out for want of room.", left)
	}
	return nil
}

func (c comment) piece() string {
	var s sheet
	s.line("[%s] %s%s:", day(c.CreatedAt), c.User.name(), association(c.AuthorAssociation))
	s.text(c.Body, maxPiece)
	return s.String()
}

// association is what somebody is to the repository, as GitHub says it.
func association(text string) string {
	if text == "" || text == "NONE" {
		return ""
	}
	return " (" + strings.ToLower(strings.ReplaceAll(flat(text), "_", " ")) + ")"
}

func state(i issue) string {
	text := flat(i.State)
	if i.StateReason != "" && i.State == "closed" {
		text += " as " + strings.ReplaceAll(flat(i.StateReason), "_", " ")
	}
	if i.Locked {
		text += ", locked"
	}
	return text
}

func assignees(list []*user) string {
	var names []string
	for _, one := range list[:min(len(list), 20)] {
		names = append(names, one.name())
	}
	if len(names) == 0 {
		return ""
	}
	return ", assigned to " + strings.Join(names, ", ")
}

// day is a moment as it is shown: GitHub's own clock.
func day(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// changes counts what a file or a pull request changes.
func changes(additions, deletions int) string { return fmt.Sprintf("+%d -%d", additions, deletions) }
