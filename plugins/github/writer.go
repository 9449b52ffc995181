package github

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"reeve/plugins"
)

// writer is a call that changes something in a repository, with all that was
// asked about it right before: whose account it is, and what he may do there.
type writer struct {
	*plugin
	call    plugins.Call
	account client
	who     user
	at      repository
	repo    repo
	started time.Time
}

// begin asks with the person's account what stands there now.
func (p *plugin) begin(ctx context.Context, call plugins.Call, at repository) (*writer, error) {
	w := &writer{plugin: p, call: call, at: at, started: p.now()}
	var err error
	if w.account, err = p.account(call); err != nil {
		return nil, err
	}
	if _, err := w.account.get(ctx, "/user", nil, &w.who); err != nil {
		return nil, err
	}
	// The account is the one of which a person's card has spoken.
	if id, err := strconv.ParseInt(call.Account.ID, 10, 64); w.who.ID == 0 || !ownerForm.MatchString(w.who.Login) || err == nil && id != w.who.ID {
		return nil, refusal("Nothing was written: GitHub names another account than the one that is connected. The person you act for has to connect it anew.")
	}
	if _, err := w.account.get(ctx, at.at(), nil, &w.repo); err != nil {
		return nil, err
	}
	switch {
	case !at.same(w.repo.FullName):
		return nil, refusal("Nothing was written: %s has moved and is %s now. Use that name, if it is the one that is meant.", at, flat(w.repo.FullName))
	case w.repo.Archived:
		return nil, refusal("Nothing was written: %s is archived, and can only be read.", at)
	case w.repo.Disabled:
		return nil, refusal("Nothing was written: GitHub has disabled %s.", at)
	case !w.repo.Permissions.Pull && !w.repo.Permissions.writes():
		return nil, refusal("Nothing was written: the GitHub account %s may not do that in %s.", w.who.Login, at)
	}
	return w, nil
}

// commands are words that may be one to what reads along in a repository: bots
// and workflows, which look at who has written them.
var commands = regexp.MustCompile(`(?m)^[\s>*_-]*/\w|@\w`)

// as is the client that writes a text: the bot's own App where it is installed
// for the repository, and else the person's account. The App writes only what
// GitHub is known to let the person write, and to mean no more when it comes from
// the App than when it comes from him. So he writes himself
//
//   - in a public repository where he has no role: whether he is blocked there, or
//     kept out for some days by a limit on interactions, GitHub tells only those
//     who administer it, and nobody gets around that through the bot;
//   - where he may not push, and the text may hold a command, such as "/approve"
//     or "@bot merge": the App's rights may be greater than his.
func (w *writer) as(ctx context.Context, text string) (client, error) {
	may := w.repo.Permissions
	switch {
	case w.call.Account.App == nil,
		!may.writes() && !may.Triage && w.repo.public(),
		!may.writes() && commands.MatchString(text):
		return w.account, nil
	}
	own, ok, err := w.call.Account.App(ctx, w.at.String())
	switch {
	case err != nil:
		if _, said := errors.AsType[plugins.Refusal](err); said {
			return client{}, err
		}
		w.log.Warn("github app cannot be used", "turn", w.call.Turn, "err", err)
		return client{}, &problem{text: "Nothing was written: the bot's own GitHub App cannot be used now. Try it again later; if that does not help, who operates the bot has to look at it."}
	case !ok:
		return w.account, nil
	}
	app := w.account
	app.http, app.app = own, true
	return app, nil
}

// lookTime is what is left of a call's time to look whether something is there
// that was never answered for.
const lookTime = 20 * time.Second

// send makes a change. Where GitHub gives no answer, look says whether what
// was to be made is there.
func (w *writer) send(ctx context.Context, c client, path string, body, into any, look func(context.Context) (bool, error)) error {
	attempt := ctx
	if end, ok := ctx.Deadline(); ok && time.Until(end) > 2*lookTime {
		var cancel context.CancelFunc
		attempt, cancel = context.WithDeadline(ctx, end.Add(-lookTime))
		defer cancel()
	}
	sent, err := c.post(attempt, path, body, into)
	p, ok := errors.AsType[*problem](err)
	switch {
	case err == nil || !ok:
		return err
	case !p.silent:
		p.text = "Nothing was written. " + p.text
		return p
	case !sent:
		p.text = "Nothing was sent. " + p.text
		return p
	}
	note := "Nobody could look whether it is there."
	if ctx.Err() == nil {
		found, wrong := look(ctx)
		switch {
		case found:
			return nil
		case wrong == nil:
			note = "It was not there a moment later, and may still come."
		}
	}
	return &problem{text: fmt.Sprintf("%s Whether it was written in %s is not known. %s Say so, and do not simply repeat it.", p.text, w.at, note), silent: true, unknown: true}
}

// written is the result of a change.
func (w *writer) written(c client, what, url string) plugins.Result {
	as := fmt.Sprintf("by the GitHub account %s itself", w.who.Login)
	if c.app {
		as = fmt.Sprintf("by the bot's GitHub App, on behalf of %s", w.who.Login)
	}
	return plugins.Result{Text: fmt.Sprintf("%s, %s: %s", what, as, flat(url))}
}
