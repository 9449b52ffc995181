package github

import (
	"strings"
	"time"
)

// What is read of GitHub's answers; docs.github.com/rest names the fields.

type user struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
}

// name is an account as it is shown; one that was deleted has none.
func (u *user) name() string {
	if u == nil || u.Login == "" {
		return "ghost"
	}
	return flat(u.Login)
}

type repo struct {
	FullName      string      `json:"full_name"`
	Owner         user        `json:"owner"`
	Private       bool        `json:"private"`
	Visibility    string      `json:"visibility"`
	Archived      bool        `json:"archived"`
	Disabled      bool        `json:"disabled"`
	Fork          bool        `json:"fork"`
	HasIssues     bool        `json:"has_issues"`
	Description   string      `json:"description"`
	Language      string      `json:"language"`
	DefaultBranch string      `json:"default_branch"`
	Stars         int         `json:"stargazers_count"`
	OpenIssues    int         `json:"open_issues_count"`
	PushedAt      time.Time   `json:"pushed_at"`
	HTMLURL       string      `json:"html_url"`
	Permissions   permissions `json:"permissions"`
}

// permissions are those of whoever asks.
type permissions struct {
	Admin    bool `json:"admin"`
	Maintain bool `json:"maintain"`
	Push     bool `json:"push"`
	Triage   bool `json:"triage"`
	Pull     bool `json:"pull"`
}

// public: anybody may read there.
func (r repo) public() bool { return !r.Private && (r.Visibility == "" || r.Visibility == "public") }

func (p permissions) writes() bool { return p.Push || p.Maintain || p.Admin }

type label struct {
	Name string `json:"name"`
}

type issue struct {
	Number        int       `json:"number"`
	Title         string    `json:"title"`
	Body          string    `json:"body"`
	State         string    `json:"state"`
	StateReason   string    `json:"state_reason"`
	Locked        bool      `json:"locked"`
	User          *user     `json:"user"`
	Assignees     []*user   `json:"assignees"`
	Labels        []label   `json:"labels"`
	Comments      int       `json:"comments"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
	HTMLURL       string    `json:"html_url"`
	RepositoryURL string    `json:"repository_url"`
	PullRequest   *struct{} `json:"pull_request"` // it is one
}

type branchEnd struct {
	Ref  string `json:"ref"`
	SHA  string `json:"sha"`
	Repo *repo  `json:"repo"`
}

type pull struct {
	Number         int       `json:"number"`
	Title          string    `json:"title"`
	Body           string    `json:"body"`
	State          string    `json:"state"`
	Draft          bool      `json:"draft"`
	Merged         bool      `json:"merged"`
	Locked         bool      `json:"locked"`
	MergeableState string    `json:"mergeable_state"`
	User           *user     `json:"user"`
	Head           branchEnd `json:"head"`
	Base           branchEnd `json:"base"`
	Comments       int       `json:"comments"`
	ReviewComments int       `json:"review_comments"`
	Commits        int       `json:"commits"`
	Additions      int       `json:"additions"`
	Deletions      int       `json:"deletions"`
	ChangedFiles   int       `json:"changed_files"`
	CreatedAt      time.Time `json:"created_at"`
	UpdatedAt      time.Time `json:"updated_at"`
	HTMLURL        string    `json:"html_url"`
}

type comment struct {
	ID                int64     `json:"id"`
	Body              string    `json:"body"`
	User              *user     `json:"user"`
	AuthorAssociation string    `json:"author_association"`
	CreatedAt         time.Time `json:"created_at"`
	HTMLURL           string    `json:"html_url"`
}

// reviewComment stands at a line of a diff.
type reviewComment struct {
	comment
	Path string `json:"path"`
	Line int    `json:"line"`
}

type review struct {
	Body        string    `json:"body"`
	State       string    `json:"state"`
	User        *user     `json:"user"`
	SubmittedAt time.Time `json:"submitted_at"`
	CommitID    string    `json:"commit_id"`
}

type file struct {
	Filename         string `json:"filename"`
	PreviousFilename string `json:"previous_filename"`
	Status           string `json:"status"`
	Additions        int    `json:"additions"`
	Deletions        int    `json:"deletions"`
	Patch            string `json:"patch"`
}

type reference struct {
	Ref    string `json:"ref"`
	Object struct {
		SHA string `json:"sha"`
	} `json:"object"`
}

type comparison struct {
	Status       string   `json:"status"`
	AheadBy      int      `json:"ahead_by"`
	BehindBy     int      `json:"behind_by"`
	TotalCommits int      `json:"total_commits"`
	Commits      []commit `json:"commits"`
	Files        []file   `json:"files"`
}

type commit struct {
	SHA    string `json:"sha"`
	Author *user  `json:"author"`
	Commit struct {
		Message string `json:"message"`
		Author  struct {
			Name string `json:"name"`
		} `json:"author"`
	} `json:"commit"`
}

// found is a page of a search.
type found[T any] struct {
	Total      int  `json:"total_count"`
	Incomplete bool `json:"incomplete_results"`
	Items      []T  `json:"items"`
}

type codeHit struct {
	Path        string `json:"path"`
	HTMLURL     string `json:"html_url"`
	Repository  repo   `json:"repository"`
	TextMatches []struct {
		Fragment string `json:"fragment"`
	} `json:"text_matches"`
}

// repositoryOf is the repository of an issue that a search has found.
func (i issue) repositoryOf() string {
	parts := strings.Split(i.RepositoryURL, "/")
	if len(parts) < 2 {
		return "?"
	}
	return flat(parts[len(parts)-2] + "/" + parts[len(parts)-1])
}
