package github

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"reeve/plugins"
)

// kinds are what can be searched for.
var kinds = []string{"issues", "pull_requests", "code", "repositories"}

type searchArguments struct {
	Kind       string `json:"kind" jsonschema:"what to look for: issues, pull_requests, code or repositories"`
	Query      string `json:"query" jsonschema:"words and qualifiers of GitHub's search"`
	Repository string `json:"repository,omitempty" jsonschema:"only in this repository, as owner/name"`
	Page       int    `json:"page,omitempty" jsonschema:"which page of the results, 1 when left out"`
}

const (
	perSearch = 20
	// mostFound is how many results of a search GitHub shows.
	mostFound = 1000
	// maxQuery is what GitHub takes at most, with our qualifiers beside it.
	maxQuery = 800
)

func (p *plugin) search(ctx context.Context, call plugins.Call, in searchArguments) (plugins.Result, error) {
	query := strings.TrimSpace(flatQuery(in.Query))
	switch {
	case !slices.Contains(kinds, in.Kind):
		return told(refusal("There is no such kind to search for: it may be %s.", strings.Join(kinds, ", ")))
	case query == "" && in.Repository == "" || len(query) > maxQuery:
		return told(refusal("A query has 1 to %d bytes.", maxQuery))
	case in.Kind == "repositories" && in.Repository != "":
		return told(refusal("A repository is not in a repository: leave one of the two out."))
	}
	if in.Repository != "" {
		r, err := p.parseRepository(in.Repository)
		if err != nil {
			return told(err)
		}
		query += " repo:" + r.String()
	}
	path := "/search/" + in.Kind
	switch in.Kind {
	case "issues":
		query += " is:issue"
	case "pull_requests":
		path, query = "/search/issues", query+" is:pull-request"
	}
	c, err := p.account(call)
	if err != nil {
		return told(err)
	}
	ask := page(pageOf(in.Page, 1, mostFound/perSearch), perSearch)
	ask.Set("q", strings.TrimSpace(query))
	var s sheet
	s.rights(call)
	switch in.Kind {
	case "code":
		err = look(ctx, c, &s, path, ask, codeHit.hit)
	case "repositories":
		err = look(ctx, c, &s, path, ask, repo.hit)
	default:
		err = look(ctx, c, &s, path, ask, issue.hit)
	}
	if err != nil {
		return told(err)
	}
	return plugins.Result{Text: s.String()}, nil
}

// look searches, and writes down what was found.
func look[T any](ctx context.Context, c client, s *sheet, path string, ask map[string][]string, hit func(T) string) error {
	var all found[T]
	answer, err := c.get(ctx, path, ask, &all)
	if err != nil {
		return err
	}
	if note := partial(answer.header); note != "" {
		s.line("%s", note)
	}
	if all.Incomplete {
		s.line("GitHub did not finish the search: there may be more.")
	}
	if len(all.Items) == 0 {
		s.line("Nothing was found there; %d in all.", all.Total)
		return nil
	}
	s.line("Found: %d, the best match first; page %s.", all.Total, ask["page"][0])
	if answer.more {
		s.line("There are more: ask with the next page.")
	}
	var pieces []string
	for _, item := range all.Items {
		pieces = append(pieces, hit(item))
	}
	if left := s.first(pieces); left > 0 {
		s.line("%d of this page are left out for want of room.", left)
	}
	return nil
}

func (i issue) hit() string {
	var s sheet
	s.line("- %s#%d %s, by %s, touched %s, comments: %d%s", i.repositoryOf(), i.Number, flat(i.State), i.User.name(), day(i.UpdatedAt), i.Comments, labels(i.Labels))
	s.text(flat(i.Title), maxLine)
	return s.String()
}

func (r repo) hit() string {
	var s sheet
	s.line("- %s, %s, language %s, stars: %d, open issues and pull requests: %d, default branch %s, last push %s", flat(r.FullName), r.kind(), orElse(flat(r.Language), "unknown"), r.Stars, r.OpenIssues, title(r.DefaultBranch), day(r.PushedAt))
	s.text(flat(r.Description), maxLine)
	return s.String()
}

// kind says who may read a repository, and what state it is in.
func (r repo) kind() string {
	kind := "public"
	switch {
	case r.Visibility == "internal":
		kind = "internal"
	case r.Private || r.Visibility == "private":
		kind = "private"
	}
	if r.Fork {
		kind += ", a fork"
	}
	if r.Archived {
		kind += ", archived"
	}
	return kind
}

func (h codeHit) hit() string {
	var s sheet
	s.line("- %s (%s), file %s", flat(h.Repository.FullName), h.Repository.kind(), title(h.Path))
	for _, match := range h.TextMatches[:min(len(h.TextMatches), 3)] {
		s.text(match.Fragment, maxPiece/4)
	}
	return s.String()
}

func labels(list []label) string {
	var names []string
	for _, l := range list[:min(len(list), 20)] {
		names = append(names, title(l.Name))
	}
	if len(names) == 0 {
		return ""
	}
	return ", labels " + strings.Join(names, " ")
}

// flatQuery makes one line of a query: GitHub's own newlines mean nothing.
func flatQuery(text string) string { return strings.Join(strings.Fields(text), " ") }

// enumerate writes the values that an argument may have into a tool's schema.
func enumerate(tool plugins.Tool, argument string, values []string) plugins.Tool {
	var schema jsonschema.Schema
	if err := json.Unmarshal(tool.Parameters, &schema); err != nil || schema.Properties[argument] == nil {
		panic(fmt.Sprintf("tool %s has no argument %s: %v", tool.Name, argument, err))
	}
	for _, value := range values {
		schema.Properties[argument].Enum = append(schema.Properties[argument].Enum, value)
	}
	written, err := json.Marshal(&schema)
	if err != nil {
		panic(err)
	}
	tool.Parameters = written
	return tool
}
