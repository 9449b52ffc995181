package github

import (
	"context"
	"net/url"
	"strings"

	"reeve/plugins"
)

type branchArguments struct {
	Repository string `json:"repository" jsonschema:"the repository, as owner/name or by its link"`
	Branch     string `json:"branch" jsonschema:"the branch's name"`
	Base       string `json:"base,omitempty" jsonschema:"the branch to compare with, the repository's default branch when left out"`
}

func (p *plugin) readBranch(ctx context.Context, call plugins.Call, in branchArguments) (plugins.Result, error) {
	at, err := p.parseRepository(in.Repository)
	if err != nil {
		return told(err)
	}
	if err := checkBranch(in.Branch); err != nil {
		return told(err)
	}
	c, err := p.account(call)
	if err != nil {
		return told(err)
	}
	base := in.Base
	if base == "" {
		var r repo
		if _, err := c.get(ctx, at.at(), nil, &r); err != nil {
			return told(err)
		}
		base = r.DefaultBranch
	}
	if err := checkBranch(base); err != nil {
		return told(err)
	}
	sha, err := c.head(ctx, at, in.Branch)
	if err != nil {
		return told(err)
	}
	// Compared is the commit, so that what is shown is that which head_sha names.
	var diff comparison
	if _, err := c.get(ctx, at.at("compare")+"/"+escapeBranch(base)+"..."+sha, url.Values{"per_page": {"100"}}, &diff); err != nil {
		return told(err)
	}
	var s sheet
	s.rights(call)
	s.line("Branch %s of %s, compared with %s: %s, ahead by %d commits, behind by %d.", title(in.Branch), at, title(base), flat(diff.Status), diff.AheadBy, diff.BehindBy)
	s.line("head_sha: %s", sha)
	s.line("Commits, oldest first: %d.", diff.TotalCommits)
	var pieces []string
	for _, one := range diff.Commits {
		pieces = append(pieces, one.piece())
	}
	s.rest(s.newest(pieces[max(len(pieces)-50, 0):])+max(len(pieces)-50, 0), "commits")
	s.line("Changed files: %d%s.", len(diff.Files), map[bool]string{true: " or more"}[len(diff.Files) >= 300])
	s.rest(s.first(diffs(diff.Files)), "files")
	return plugins.Result{Text: s.String()}, nil
}

// head is the commit at which a branch stands.
func (c client) head(ctx context.Context, at repository, branch string) (string, error) {
	var ref reference
	_, err := c.get(ctx, at.at("git", "ref", "heads")+"/"+escapeBranch(branch), nil, &ref)
	switch {
	case is(err, 404, 409): // 409: the repository is empty
		return "", refusal("There is no branch %s in %s, or the connected GitHub account cannot see it.", quoted(branch), at)
	case err != nil:
		return "", err
	case ref.Ref != "refs/heads/"+branch || !shaForm.MatchString(ref.Object.SHA):
		return "", refusal("GitHub knows no branch that is named exactly %s.", quoted(branch))
	}
	return ref.Object.SHA, nil
}

func (c commit) piece() string {
	by := flat(c.Commit.Author.Name)
	if c.Author != nil {
		by = c.Author.name()
	}
	subject, _, _ := strings.Cut(c.Commit.Message, "\n")
	return "- " + flat(c.SHA)[:min(len(flat(c.SHA)), 12)] + " by " + title(by) + ": " + title(subject) + "\n"
}
