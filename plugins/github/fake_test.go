package github_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gh "github.com/google/go-github/v82/github"

	"reeve/plugins/github"
	"reeve/plugins/plugintest"
	"reeve/runtime/chat"
)

// hub is a GitHub of a test, which answers with go-github's own types.
type hub struct {
	mux *http.ServeMux

	mu     sync.Mutex
	places map[string]*place // by small letters
	scopes map[string]string // of whom, by login; nil: all have repo
	limit  string            // "": none; else how answers say that there were too many
	still  bool              // what is written there is gone at once
	lose   string            // what becomes of a POST: "after" or "before" it is made, or "500"
	before func(r *http.Request)
	wrote  []string // who has written what, in order
	asked  []string
	wild   http.HandlerFunc // answers all but /user and the repository itself
}

// place is a repository.
type place struct {
	gh.Repository
	roles    map[string]string // by login: pull, triage, push, admin
	mute     bool              // the app lacks a permission
	signOn   bool              // the owner wants single sign-on
	issues   map[int]*gh.Issue
	comments map[int][]*gh.IssueComment
	pulls    map[int]*gh.PullRequest
	files    []*gh.CommitFile
	reviews  []*gh.PullRequestReview
	lines    []*gh.PullRequestComment
	branches map[string]string
}

var people = map[chat.Actor]*gh.User{
	plugintest.Alice:     {ID: gh.Ptr(int64(1001)), Login: gh.Ptr("alice")},
	plugintest.Bob:       {ID: gh.Ptr(int64(1002)), Login: gh.Ptr("bob-hub")},
	plugintest.Carol:     {ID: gh.Ptr(int64(1003)), Login: gh.Ptr("carol_acme")},
	plugintest.AwayAlice: {ID: gh.Ptr(int64(1004)), Login: gh.Ptr("alice-away")},
}

func accounts(person chat.Actor) (id, name string) {
	u := people[person]
	return strconv.FormatInt(u.GetID(), 10), u.GetLogin()
}

// moment is when everything there was made.
var moment = gh.Timestamp{Time: plugintest.Start.Add(-time.Hour)}

const (
	mainSHA = "1111111111111111111111111111111111111111"
	headSHA = "2222222222222222222222222222222222222222"
)

// newHub has one private repository, acme/app, to which everybody may push, with
// the issue 5, the pull request 7 and the branch fix/login.
func newHub() *hub {
	h := &hub{mux: http.NewServeMux(), places: map[string]*place{}}
	bob := people[plugintest.Bob]
	p := h.add("acme/app", "private")
	p.issues[5] = &gh.Issue{
		Number: gh.Ptr(5), Title: gh.Ptr("Login fails"), Body: gh.Ptr("Since Monday.\nversion: fake"), State: gh.Ptr("open"), User: bob, Comments: gh.Ptr(1),
		CreatedAt: &moment, UpdatedAt: &moment, HTMLURL: gh.Ptr("https://github.com/acme/app/issues/5"), RepositoryURL: gh.Ptr("https://api.github.com/repos/acme/app"),
		Labels: []*gh.Label{{Name: gh.Ptr("bug")}},
	}
	p.comments[5] = []*gh.IssueComment{{ID: gh.Ptr(int64(1)), Body: gh.Ptr("Me too"), User: bob, AuthorAssociation: gh.Ptr("MEMBER"), CreatedAt: &moment}}
	p.branches["main"], p.branches["fix/login"] = mainSHA, headSHA
	p.pull(7, "old", "main", bob)
	p.files = []*gh.CommitFile{
		{Filename: gh.Ptr("login.go"), Status: gh.Ptr("modified"), Additions: gh.Ptr(2), Deletions: gh.Ptr(1), Patch: gh.Ptr("@@ -1 +1,2 @@\n-old\n+new\n+newer")},
		{Filename: gh.Ptr("logo.png"), Status: gh.Ptr("added"), Additions: gh.Ptr(0), Deletions: gh.Ptr(0)},
	}
	p.reviews = []*gh.PullRequestReview{{User: bob, State: gh.Ptr("CHANGES_REQUESTED"), Body: gh.Ptr("Please test it."), SubmittedAt: &moment, CommitID: gh.Ptr(mainSHA)}}
	p.lines = []*gh.PullRequestComment{{User: bob, Body: gh.Ptr("Why?"), Path: gh.Ptr("login.go"), Line: gh.Ptr(2), CreatedAt: &moment}}
	h.routes()
	return h
}

func (h *hub) add(name, visibility string) *place {
	owner, _, _ := strings.Cut(name, "/")
	p := &place{
		Repository: gh.Repository{
			FullName: gh.Ptr(name), Owner: &gh.User{Login: gh.Ptr(owner)}, Private: gh.Ptr(visibility != "public"), Visibility: gh.Ptr(visibility),
			HasIssues: gh.Ptr(true), DefaultBranch: gh.Ptr("main"), Archived: gh.Ptr(false), Disabled: gh.Ptr(false), PushedAt: &moment, Description: gh.Ptr("The app"),
			Language: gh.Ptr("Go"), StargazersCount: gh.Ptr(3), OpenIssuesCount: gh.Ptr(2),
		},
		roles: map[string]string{}, issues: map[int]*gh.Issue{}, comments: map[int][]*gh.IssueComment{}, pulls: map[int]*gh.PullRequest{}, branches: map[string]string{},
	}
	for _, u := range people {
		p.roles[u.GetLogin()] = "push"
	}
	h.places[strings.ToLower(name)] = p
	return p
}

func (p *place) pull(number int, head, base string, by *gh.User) *gh.PullRequest {
	repository := &gh.Repository{FullName: p.FullName}
	pr := &gh.PullRequest{
		Number: gh.Ptr(number), Title: gh.Ptr("Fix the login"), Body: gh.Ptr("It works."), State: gh.Ptr("open"), User: by, Comments: gh.Ptr(0), ReviewComments: gh.Ptr(1),
		Head: &gh.PullRequestBranch{Ref: &head, SHA: gh.Ptr(headSHA), Repo: repository}, Base: &gh.PullRequestBranch{Ref: &base, SHA: gh.Ptr(mainSHA), Repo: repository},
		Commits: gh.Ptr(1), Additions: gh.Ptr(2), Deletions: gh.Ptr(1), ChangedFiles: gh.Ptr(2), CreatedAt: &moment, UpdatedAt: &moment, MergeableState: gh.Ptr("clean"),
		HTMLURL: gh.Ptr(fmt.Sprintf("https://github.com/%s/pull/%d", p.GetFullName(), number)),
	}
	p.pulls[number] = pr
	p.issues[number] = &gh.Issue{Number: &number, Title: pr.Title, Body: pr.Body, State: pr.State, User: by, Comments: gh.Ptr(0), CreatedAt: &moment, UpdatedAt: &moment, PullRequestLinks: &gh.PullRequestLinks{}}
	return pr
}

// host opens the plugin before this GitHub.
func (h *hub) host(t testing.TB, change ...plugintest.Option) *plugintest.Host {
	return plugintest.New(t, github.New(), append(h.around(), change...)...)
}

func (h *hub) around() []plugintest.Option {
	return []plugintest.Option{plugintest.Serve(h), plugintest.Accounts(accounts), plugintest.ProviderHosts("api.github.com")}
}

// change changes the place acme/app.
func (h *hub) change(f func(*place)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f(h.places["acme/app"])
}

// written is who has written what so far.
func (h *hub) written() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.wrote)
}

func (h *hub) requests() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.asked)
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.before != nil {
		h.before(r)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, r.Method+" "+r.URL.EscapedPath())
	account, app := plugintest.RightsOf(r)
	switch login := people[account].GetLogin(); {
	case account.IsZero() && app == "":
		fail(w, http.StatusUnauthorized, "Bad credentials")
		return
	case app == "":
		scopes := "repo, read:user"
		if h.scopes != nil {
			scopes = h.scopes[login]
		}
		w.Header().Set("X-OAuth-Scopes", scopes)
	}
	switch {
	case h.limit == "retry":
		w.Header().Set("Retry-After", "600")
		fail(w, http.StatusForbidden, "You have exceeded a secondary rate limit.")
	case h.limit == "reset":
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(plugintest.Start.Add(20*time.Minute).Unix(), 10))
		fail(w, http.StatusForbidden, "API rate limit exceeded for user ID 1001.")
	case h.wild != nil && r.URL.Path != "/user" && strings.Count(r.URL.Path, "/") > 3:
		h.wild(w, r)
	case r.Method != http.MethodPost || h.lose == "":
		h.mux.ServeHTTP(w, r)
	case h.lose == "500":
		fail(w, http.StatusBadGateway, "")
	default:
		if h.lose == "after" {
			h.mux.ServeHTTP(&nowhere{w.Header().Clone()}, r)
		}
		connection, _, _ := w.(http.Hijacker).Hijack()
		_ = connection.Close()
	}
}

// nowhere takes an answer that nobody gets.
type nowhere struct{ header http.Header }

func (n *nowhere) Header() http.Header       { return n.header }
func (*nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (*nowhere) WriteHeader(int)             {}

func fail(w http.ResponseWriter, status int, message string, errors ...any) {
	reply(w, status, map[string]any{"message": message, "errors": errors})
}

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

// forget begins the list of requests anew.
func (h *hub) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = nil
}
