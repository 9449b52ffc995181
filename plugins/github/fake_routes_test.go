package github_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	gh "github.com/google/go-github/v82/github"

	"reeve/plugins/plugintest"
)

// asker is whoever has sent a request.
type asker struct {
	name string // "alice", or "app at acme"
	user *gh.User
	role string
}

type handler = func(w http.ResponseWriter, r *http.Request, p *place, by asker)

func (h *hub) routes() {
	h.mux.HandleFunc("GET /user", func(w http.ResponseWriter, r *http.Request) {
		account, _ := plugintest.RightsOf(r)
		reply(w, 200, people[account])
	})
	h.mux.HandleFunc("GET /search/{kind}", h.search)
	at := func(pattern string, do handler) {
		method, rest, _ := strings.Cut(pattern, " ")
		h.mux.HandleFunc(method+" /repos/{owner}/{name}"+rest, h.in(do))
	}
	at("GET ", func(w http.ResponseWriter, _ *http.Request, p *place, by asker) {
		shown := p.Repository
		roles := []string{"pull", "triage", "push", "maintain", "admin"}
		has := func(role string) *bool { return gh.Ptr(slices.Index(roles, by.role) >= slices.Index(roles, role)) }
		shown.Permissions = &gh.RepositoryPermissions{Pull: has("pull"), Triage: has("triage"), Push: has("push"), Maintain: has("maintain"), Admin: has("admin")}
		reply(w, 200, shown)
	})
	at("GET /issues/{n}", func(w http.ResponseWriter, r *http.Request, p *place, _ asker) {
		answer(w, p.issues[number(r)])
	})
	at("GET /issues", func(w http.ResponseWriter, r *http.Request, p *place, _ asker) {
		list := []*gh.Issue{}
		for _, i := range p.issues {
			list = append(list, i)
		}
		slices.SortFunc(list, func(a, b *gh.Issue) int { return b.GetNumber() - a.GetNumber() })
		paged(w, r, list)
	})
	at("GET /issues/{n}/comments", func(w http.ResponseWriter, r *http.Request, p *place, _ asker) { paged(w, r, p.comments[number(r)]) })
	at("GET /pulls/{n}", func(w http.ResponseWriter, r *http.Request, p *place, _ asker) { answer(w, p.pulls[number(r)]) })
	at("GET /pulls/{n}/files", func(w http.ResponseWriter, r *http.Request, p *place, _ asker) { paged(w, r, p.files) })
	at("GET /pulls/{n}/reviews", func(w http.ResponseWriter, r *http.Request, p *place, _ asker) { paged(w, r, p.reviews) })
	at("GET /pulls/{n}/comments", func(w http.ResponseWriter, r *http.Request, p *place, _ asker) { paged(w, r, p.lines) })
	at("GET /pulls", h.pulls)
	at("GET /git/ref/heads/{branch...}", func(w http.ResponseWriter, r *http.Request, p *place, _ asker) {
		sha, ok := p.branches[r.PathValue("branch")]
		if !ok {
			fail(w, 404, "Not Found")
			return
		}
		reply(w, 200, gh.Reference{Ref: gh.Ptr("refs/heads/" + r.PathValue("branch")), Object: &gh.GitObject{SHA: &sha}})
	})
	at("GET /compare/{basehead...}", func(w http.ResponseWriter, r *http.Request, p *place, _ asker) {
		reply(w, 200, gh.CommitsComparison{Status: gh.Ptr("ahead"), AheadBy: gh.Ptr(1), BehindBy: gh.Ptr(0), TotalCommits: gh.Ptr(1), Files: p.files, Commits: []*gh.RepositoryCommit{{
			SHA: gh.Ptr(headSHA), Author: people[plugintest.Bob], Commit: &gh.Commit{Message: gh.Ptr("Fix it\n\nreally"), Author: &gh.CommitAuthor{Name: gh.Ptr("Bob")}},
		}}})
	})
	at("POST /issues", h.postIssue)
	at("POST /issues/{n}/comments", h.postComment)
	at("POST /pulls", h.postPull)
}

// in finds the repository, and who asks: it is not there for whom it is closed.
func (h *hub) in(do handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		account, app := plugintest.RightsOf(r)
		by := asker{name: people[account].GetLogin(), user: people[account]}
		p := h.places[strings.ToLower(r.PathValue("owner")+"/"+r.PathValue("name"))]
		if p == nil {
			fail(w, 404, "Not Found")
			return
		}
		by.role = p.roles[by.name]
		scopes := w.Header().Get("X-OAuth-Scopes")
		switch {
		case app != "" && !strings.EqualFold(app, p.GetFullName()):
			fail(w, 404, "Not Found")
			return
		case app != "" && p.mute && r.Method == http.MethodPost:
			w.Header().Set("X-Accepted-GitHub-Permissions", "issues=write")
			fail(w, 403, "Resource not accessible by integration")
			return
		case app != "":
			by = asker{name: "app at acme", user: &gh.User{ID: gh.Ptr(int64(9)), Login: gh.Ptr("reeve[bot]")}, role: "push"}
		case p.signOn:
			w.Header().Set("X-GitHub-SSO", "required; url=https://github.com/orgs/acme/sso?authorization_request=AZ2")
			fail(w, 403, "Resource protected by organization SAML enforcement.")
			return
		case p.GetPrivate() && (by.role == "" || !strings.Contains(scopes, "repo") || strings.Contains(scopes, "public_repo")):
			fail(w, 404, "Not Found")
			return
		case r.Method == http.MethodPost && !strings.Contains(scopes, "repo"):
			w.Header().Set("X-Accepted-OAuth-Scopes", "public_repo, repo")
			fail(w, 403, "Must have the scope.")
			return
		case by.role == "":
			by.role = "pull"
		}
		if to := p.GetMirrorURL(); to != "" { // it has moved there
			w.Header().Set("Location", "https://api.github.com"+strings.Replace(r.URL.Path, r.PathValue("owner")+"/"+r.PathValue("name"), to, 1))
			fail(w, 301, "Moved Permanently")
			return
		}
		do(w, r, p, by)
	}
}

func (h *hub) pulls(w http.ResponseWriter, r *http.Request, p *place, _ asker) {
	list := []*gh.PullRequest{}
	for _, pr := range p.pulls {
		if r.URL.Query().Get("head") == p.GetOwner().GetLogin()+":"+pr.GetHead().GetRef() && r.URL.Query().Get("base") == pr.GetBase().GetRef() {
			list = append(list, pr)
		}
	}
	slices.SortFunc(list, func(a, b *gh.PullRequest) int { return b.GetNumber() - a.GetNumber() })
	paged(w, r, list)
}

type posted struct{ Title, Body, Head, Base string }

func read(r *http.Request) (in posted) {
	_ = json.NewDecoder(r.Body).Decode(&in)
	return in
}

func (h *hub) postIssue(w http.ResponseWriter, r *http.Request, p *place, by asker) {
	in, n := read(r), 100+len(p.issues)
	h.wrote = append(h.wrote, fmt.Sprintf("%s: issue %q\n%s", by.name, in.Title, in.Body))
	p.issues[n] = &gh.Issue{Number: &n, Title: &in.Title, Body: &in.Body, State: gh.Ptr("open"), User: by.user, HTMLURL: gh.Ptr(fmt.Sprintf("https://github.com/%s/issues/%d", p.GetFullName(), n))}
	reply(w, 201, p.issues[n])
	if h.still {
		delete(p.issues, n)
	}
}

func (h *hub) postComment(w http.ResponseWriter, r *http.Request, p *place, by asker) {
	n, in := number(r), read(r)
	if p.issues[n] == nil {
		fail(w, 404, "Not Found")
		return
	}
	h.wrote = append(h.wrote, fmt.Sprintf("%s: comment on %d\n%s", by.name, n, in.Body))
	c := &gh.IssueComment{ID: gh.Ptr(int64(77)), Body: &in.Body, User: by.user, HTMLURL: gh.Ptr(fmt.Sprintf("https://github.com/%s/issues/%d#issuecomment-77", p.GetFullName(), n))}
	if reply(w, 201, c); h.still {
		return
	}
	p.comments[n] = append(p.comments[n], c)
	p.issues[n].Comments = gh.Ptr(len(p.comments[n]))
}

func (h *hub) postPull(w http.ResponseWriter, r *http.Request, p *place, by asker) {
	in := read(r)
	for _, pr := range p.pulls {
		if pr.GetState() == "open" && pr.GetHead().GetRef() == in.Head && pr.GetBase().GetRef() == in.Base {
			fail(w, 422, "Validation Failed", map[string]string{"resource": "PullRequest", "code": "custom", "message": "A pull request already exists for acme:" + in.Head + "."})
			return
		}
	}
	if p.branches[in.Base] == "" {
		fail(w, 422, "Validation Failed", map[string]string{"resource": "PullRequest", "field": "base", "code": "invalid"})
		return
	}
	h.wrote = append(h.wrote, fmt.Sprintf("%s: pull request %q of %s into %s\n%s", by.name, in.Title, in.Head, in.Base, in.Body))
	pr := p.pull(100+len(p.issues), in.Head, in.Base, by.user)
	pr.Title, pr.Body, pr.Head.SHA = &in.Title, &in.Body, gh.Ptr(p.branches[in.Head])
	if reply(w, 201, pr); h.still {
		delete(p.pulls, pr.GetNumber())
		delete(p.issues, pr.GetNumber())
	}
}

func (h *hub) search(w http.ResponseWriter, r *http.Request) {
	p := h.places["acme/app"]
	if p.signOn {
		w.Header().Set("X-GitHub-SSO", "partial-results; organizations=21955855,20582480")
	}
	switch r.PathValue("kind") {
	case "issues":
		reply(w, 200, gh.IssuesSearchResult{Total: gh.Ptr(1), IncompleteResults: gh.Ptr(true), Issues: []*gh.Issue{p.issues[5]}})
	case "repositories":
		reply(w, 200, gh.RepositoriesSearchResult{Total: gh.Ptr(1), Repositories: []*gh.Repository{&p.Repository}})
	case "code":
		w.Header().Set("Link", `<https://api.github.com/search/code?page=2>; rel="next"`)
		reply(w, 200, gh.CodeSearchResult{Total: gh.Ptr(900), CodeResults: []*gh.CodeResult{{Path: gh.Ptr("login.go"), Repository: &p.Repository, TextMatches: []*gh.TextMatch{{Fragment: gh.Ptr("func login() {\n}")}}}}})
	}
}

func number(r *http.Request) int {
	n, _ := strconv.Atoi(r.PathValue("n"))
	return n
}

func answer[T any](w http.ResponseWriter, value *T) {
	if value == nil {
		fail(w, 404, "Not Found")
		return
	}
	reply(w, 200, value)
}

func paged[T any](w http.ResponseWriter, r *http.Request, list []T) {
	size, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	from := min(max(page-1, 0)*size, len(list))
	to := min(from+size, len(list))
	if to < len(list) {
		w.Header().Set("Link", `<https://api.github.com/next>; rel="next"`)
	}
	reply(w, 200, append([]T{}, list[from:to]...))
}
