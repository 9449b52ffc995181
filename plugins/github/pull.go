package github

import (
	"context"

	"reeve/plugins"
)

// shows are the parts of a pull request that are read one at a time.
var shows = []string{"overview", "diff", "reviews", "comments"}

type pullArguments struct {
	PullRequest string `json:"pull_request" jsonschema:"the pull request, as owner/name#number or by its link"`
	Show        string `json:"show,omitempty" jsonschema:"overview (when left out): text, state, names of the changed files; diff: what changes in them; reviews: reviews and comments at lines; comments: the conversation"`
	Page        int    `json:"page,omitempty" jsonschema:"which page of that part: of reviews and comments the newest when left out, else the first"`
}

// filesInOverview is how many names of files an overview has.
const filesInOverview = 100

func (p *plugin) readPull(ctx context.Context, call plugins.Call, in pullArguments) (plugins.Result, error) {
	at, err := p.parseNumbered(in.PullRequest)
	if err != nil {
		return told(err)
	}
	c, err := p.account(call)
	if err != nil {
		return told(err)
	}
	var pr pull
	if _, err := c.get(ctx, at.at("pulls", at.number), nil, &pr); err != nil {
		return told(err)
	}
	var s sheet
	s.rights(call)
	s.line("Pull request %s, %s, by %s, opened %s, touched %s.", at, pr.state(), pr.User.name(), day(pr.CreatedAt), day(pr.UpdatedAt))
	s.line("From %s (head_sha %s) into %s. Commits: %d, files: %d, lines: %s, comments: %d, comments at lines: %d.",
		pr.Head.name(at.repository), flat(pr.Head.SHA), pr.Base.name(at.repository), pr.Commits, pr.ChangedFiles, changes(pr.Additions, pr.Deletions), pr.Comments, pr.ReviewComments)
	s.line("version: %s", pr.version())
	s.line("Title:")
	s.text(flat(pr.Title), maxLine)
	switch in.Show {
	case "diff":
		err = c.diff(ctx, &s, at, pr, in.Page)
	case "reviews":
		err = c.reviews(ctx, &s, at, pr, in.Page)
	case "comments":
		err = c.comments(ctx, &s, at, pr.Comments, in.Page)
	default:
		s.line("Text:")
		s.text(pr.Body, maxText)
		err = c.names(ctx, &s, at, pr, in.Page)
	}
	if err != nil {
		return told(err)
	}
	return plugins.Result{Text: s.String()}, nil
}

func (p pull) state() string {
	text := flat(p.State)
	switch {
	case p.Merged:
		text = "merged"
	case p.Draft:
		text += ", a draft"
	}
	if p.Locked {
		text += ", locked"
	}
	if p.State == "open" && p.MergeableState != "" {
		text += ", merging: " + flat(p.MergeableState)
	}
	return text
}

// name is a branch, with its repository where that is another one.
func (b branchEnd) name(here repository) string {
	switch {
	case b.Repo == nil:
		return title(b.Ref) + " of a repository that is gone"
	case !here.same(b.Repo.FullName):
		return title(b.Ref) + " of " + flat(b.Repo.FullName)
	}
	return title(b.Ref)
}

// names lists the changed files.
func (c client) names(ctx context.Context, s *sheet, at numbered, pr pull, asked int) error {
	last := (pr.ChangedFiles + filesInOverview - 1) / filesInOverview
	which := pageOf(asked, 1, last)
	var list []file
	if _, err := c.get(ctx, at.at("pulls", at.number, "files"), page(which, filesInOverview), &list); err != nil {
		return err
	}
	s.line("%s", pages("Changed files", which, last, pr.ChangedFiles))
	var pieces []string
	for _, one := range list {
		pieces = append(pieces, one.head())
	}
	s.rest(s.first(pieces), "files")
	return nil
}

// rest tells how many of a page had no room.
func (s *sheet) rest(left int, what string) {
	if left > 0 {
		s.line("%d more %s of this page are left out for want of room.", left, what)
	}
}

func (f file) head() string {
	was := ""
	if f.PreviousFilename != "" {
		was = ", was " + title(f.PreviousFilename)
	}
	return "- " + title(f.Filename) + " " + flat(f.Status) + " " + changes(f.Additions, f.Deletions) + was + "\n"
}

// filesInDiff are few: GitHub sends all their diffs at once.
const filesInDiff = 20

func (c client) diff(ctx context.Context, s *sheet, at numbered, pr pull, asked int) error {
	last := (pr.ChangedFiles + filesInDiff - 1) / filesInDiff
	which := pageOf(asked, 1, last)
	var list []file
	if _, err := c.get(ctx, at.at("pulls", at.number, "files"), page(which, filesInDiff), &list); err != nil {
		return err
	}
	s.line("%s", pages("Changed files with their diffs", which, last, pr.ChangedFiles))
	s.rest(s.first(diffs(list)), "files")
	return nil
}

// diffs are files with what changes in them. Of those that share a page each may
// be as long as a fair part of it.
func diffs(list []file) (pieces []string) {
	limit := max(maxPiece, maxSheet*3/4/max(len(list), 1))
	for _, one := range list {
		var s sheet
		s.WriteString(one.head())
		if one.Patch == "" {
			s.line(indent + "(no text that GitHub shows: it is binary, too long, or only renamed)")
		} else {
			s.text(one.Patch, limit)
		}
		pieces = append(pieces, s.String())
	}
	return pieces
}
