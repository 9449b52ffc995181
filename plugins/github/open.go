package github

import (
	"context"
	"fmt"
	"net/http"

	"reeve/plugins"
)

type openArguments struct {
	Repository string `json:"repository" jsonschema:"the repository, as owner/name or by its link"`
	Head       string `json:"head" jsonschema:"the branch with the changes, which is in the same repository"`
	Base       string `json:"base" jsonschema:"the branch into which they shall go"`
	HeadSHA    string `json:"head_sha" jsonschema:"the commit at which head stood when you read it"`
	Title      string `json:"title" jsonschema:"the title, in one line"`
	Body       string `json:"body" jsonschema:"the text, in Markdown"`
	Draft      bool   `json:"draft,omitempty" jsonschema:"true: it is not ready for review"`
}

func (p *plugin) openPull(ctx context.Context, call plugins.Call, in openArguments) (plugins.Result, error) {
	at, err := p.parseRepository(in.Repository)
	for _, check := range []error{checkBranch(in.Head), checkBranch(in.Base), checkText(in.Title, in.Body)} {
		if err == nil {
			err = check
		}
	}
	switch {
	case err != nil:
		return told(err)
	case in.Head == in.Base:
		return told(refusal("head and base are the same branch."))
	case !shaForm.MatchString(in.HeadSHA):
		return told(refusal("head_sha is no commit's: github_read_branch tells it."))
	}
	w, err := p.begin(ctx, call, at)
	if err != nil {
		return told(err)
	}
	if !w.repo.Permissions.writes() {
		return told(refusal("Nothing was written: the GitHub account %s may not push to %s, and so cannot open a pull request from a branch there.", w.who.Login, at))
	}
	c, err := w.as(ctx, in.Title+"\n"+in.Body)
	if err != nil {
		return told(err)
	}
	made, err := w.openOnce(ctx, c, in)
	if err != nil {
		return told(err)
	}
	result := w.written(c, fmt.Sprintf("Opened is the pull request %s#%d", at, made.Number), made.HTMLURL)
	if made.Head.SHA != in.HeadSHA {
		result.Text += "\nWhile it was being opened, the branch has moved: it holds more, or other, than you have read. Say so."
	}
	return result, nil
}

// openOnce opens a pull request, or finds the one that this very call has opened
// before.
func (w *writer) openOnce(ctx context.Context, c client, in openArguments) (made pull, err error) {
	if found, err := w.opened(ctx, in, &made); found || err != nil {
		return made, err
	}
	sha, err := w.account.head(ctx, w.at, in.Head)
	switch {
	case err != nil:
		return made, err
	case sha != in.HeadSHA:
		return made, refusal("Nothing was written: the branch %s has moved since head_sha. Read it again with github_read_branch; if it is still what is meant, ask for it with the head_sha that it has then.", quoted(in.Head))
	}
	body := map[string]any{
		"title": in.Title, "head": in.Head, "base": in.Base, "draft": in.Draft, "body": credited(w.call.Key, w.who, w.call.Run, in.Body),
	}
	look := func(ctx context.Context) (bool, error) { return w.opened(ctx, in, &made) }
	err = w.send(ctx, c, w.at.at("pulls"), body, &made, look)
	if is(err, http.StatusUnprocessableEntity) { // also where an earlier try of this call has just come through
		if found, _ := look(ctx); found {
			return made, nil
		}
	}
	return made, err
}

// opened finds the pull request that this call has opened; another one that is
// open for the same branches is an error that names it.
func (w *writer) opened(ctx context.Context, in openArguments, made *pull) (bool, error) {
	query := page(1, perPage)
	for name, value := range map[string]string{"head": w.repo.Owner.Login + ":" + in.Head, "base": in.Base, "state": "all", "sort": "created", "direction": "desc"} {
		query.Set(name, value)
	}
	var list []pull
	if _, err := w.account.get(ctx, w.at.at("pulls"), query, &list); err != nil {
		return false, err
	}
	if pick(list, made, func(p pull) bool { return marked(p.Body, w.call.Key) }) {
		return true, nil
	}
	var other pull
	if pick(list, &other, func(p pull) bool { return p.State == "open" && p.Head.Ref == in.Head && p.Base.Ref == in.Base }) {
		return false, refusal("Nothing was written: that branch has an open pull request already, %s#%d.", w.at, other.Number)
	}
	return false, nil
}
