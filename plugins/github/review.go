package github

import (
	"context"
	"strings"
)

// reviews writes reviews and then comments at lines, which are pages of two lists.
func (c client) reviews(ctx context.Context, s *sheet, at numbered, pr pull, asked int) error {
	var all []review
	answer, err := c.get(ctx, at.at("pulls", at.number, "reviews"), page(1, 100), &all)
	if err != nil {
		return err
	}
	s.line("Reviews, oldest first: %d%s.", len(all), map[bool]string{true: ", and more that are not shown"}[answer.more])
	var pieces []string
	for _, one := range all {
		pieces = append(pieces, one.piece(pr.Head.SHA))
	}
	s.rest(s.newest(pieces), "reviews")
	if pr.ReviewComments == 0 {
		s.line("Comments at lines: none.")
		return nil
	}
	last := (pr.ReviewComments + perPage - 1) / perPage
	which := pageOf(asked, last, last)
	var list []reviewComment
	if _, err := c.get(ctx, at.at("pulls", at.number, "comments"), page(which, perPage), &list); err != nil {
		return err
	}
	s.line("%s", pages("Comments at lines, oldest first", which, last, pr.ReviewComments))
	pieces = nil
	for _, one := range list {
		pieces = append(pieces, one.piece())
	}
	s.rest(s.newest(pieces), "comments at lines")
	return nil
}

func (r review) piece(head string) string {
	var s sheet
	older := ""
	if r.CommitID != "" && r.CommitID != head {
		older = ", of an earlier state"
	}
	s.line("[%s] %s: %s%s", day(r.SubmittedAt), r.User.name(), strings.ToLower(strings.ReplaceAll(flat(r.State), "_", " ")), older)
	if r.Body != "" {
		s.text(r.Body, maxPiece)
	}
	return s.String()
}

func (r reviewComment) piece() string {
	var s sheet
	s.line("[%s] %s%s at %s, line %d:", day(r.CreatedAt), r.User.name(), association(r.AuthorAssociation), title(r.Path), r.Line)
	s.text(r.Body, maxPiece/2)
	return s.String()
}
