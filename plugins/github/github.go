// Package github is the plugin for GitHub: it searches, reads issues, pull
// requests and branches, opens issues and pull requests, and comments.
//
// All of it spends the GitHub account that the person has connected for whom a
// turn acts. Reading is done with that account alone. What is written is written
// by the bot's own GitHub App where that is installed, right after the person's
// account was asked whether he may do that there himself, and with his name in
// the first line; elsewhere his account writes. writer.go says when which.
//
// What changes something names the version that it is meant for, as the reading
// tools give it (version.go), so that what a person has looked at and allowed is
// what happens, or nothing.
//
// It types the dozen REST calls by hand. go-github is well kept, and was
// measured: it adds 1.4 MB to the binary and 1.8 MB to the resident memory of a
// process that never talks to GitHub, which aims at 25 MB in all; and it reads
// answers without a bound. The tests hold the hand-typed fields to its types.
package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"reeve/plugins"
)

// New is the plugin.
func New() plugins.Plugin { return &plugin{} }

type plugin struct {
	api *url.URL // where the REST API is
	web string   // the host that people see in their browsers
	now func() time.Time
	log *slog.Logger
}

func (*plugin) Name() string { return "github" }

// settings are GITHUB_API_URL and GITHUB_ACCESS.
type settings struct {
	// APIURL is another one on GitHub Enterprise: https://HOST/api/v3 on a server
	// of one's own, https://api.NAME.ghe.com with data residency.
	APIURL string `env:"API_URL" envDefault:"https://api.github.com"`
	// Access is what people are asked to grant: all repositories, public ones, or
	// nothing more where they connect through a GitHub App, whose tokens have no
	// scopes.
	Access string `env:"ACCESS" envDefault:"all"`
}

// provider is the name under which people connect their accounts.
const provider = "github"

func (p *plugin) Open(_ context.Context, services plugins.Services) (plugins.Extension, error) {
	var s settings
	if err := services.Settings(&s); err != nil {
		return plugins.Extension{}, err
	}
	var err error
	if p.api, p.web, err = parseAPI(s.APIURL); err != nil {
		return plugins.Extension{}, err
	}
	reads, writes, err := scopes(s.Access)
	if err != nil {
		return plugins.Extension{}, err
	}
	p.now, p.log = services.Now, services.Log
	return plugins.Extension{Tools: append(p.reading(reads), p.writing(writes)...)}, nil
}

// parseAPI reads the address of the API, and tells the host of the pages.
func parseAPI(text string) (*url.URL, string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && !loopback(u) || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Contains(text, "%") {
		return nil, "", errors.New("GITHUB_API_URL is no address of an API; it may be such as https://api.github.com or https://github.example.com/api/v3")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	web := strings.ToLower(u.Hostname())
	if u.Path == "" {
		web = strings.TrimPrefix(web, "api.")
	}
	return u, web, nil
}

// loopback: a stand-in on this machine, of a test's. Whether an account's client
// speaks http with it is the host's to say.
func loopback(u *url.URL) bool {
	address, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "http" && err == nil && address.IsLoopback()
}

// scopes are those that reading and writing need. GitHub has none that reads
// private repositories and does not write: it is repo or nothing.
func scopes(setting string) (reads, writes []string, err error) {
	switch setting {
	case "all":
		return []string{"repo"}, []string{"repo"}, nil
	case "public": // reading what is public needs no scope
		return nil, []string{"public_repo"}, nil
	case "app":
		return nil, nil, nil
	}
	return nil, nil, fmt.Errorf("GITHUB_ACCESS is %q; it may be all, public or app", setting)
}

// read and write are what the tools have in common.
func read(name, description string, scopes []string) plugins.Tool {
	return plugins.Tool{
		Name: name, Description: description, Provider: provider, Account: true, Scopes: scopes,
		Effect: plugins.Pure, Access: plugins.Read, Timeout: readTimeout,
		// It sends nothing to where strangers read: what is asked goes to GitHub
		// alone, where the person's account is, and GitHub shows it to nobody, not to
		// the owner of what is searched or read either.
		Sends: false,
	}
}

func (p *plugin) write(name, description string, effect plugins.Effect, scopes []string) plugins.Tool {
	return plugins.Tool{
		Name: name, Description: description, Provider: provider, Account: true, Scopes: scopes,
		Effect: effect, Access: plugins.Write, Timeout: writeTimeout,
		// A repository may be public, and what is written there is mailed about.
		Sends: true,
		Host:  func(json.RawMessage) (string, error) { return p.web, nil },
	}
}

const (
	readTimeout  = 45 * time.Second
	writeTimeout = 90 * time.Second
)

func (p *plugin) reading(scopes []string) []plugins.Tool {
	const rights = " It reads what the connected GitHub account of the person you act for may read."
	return []plugins.Tool{
		enumerate(plugins.MustTool(read("github_search",
			"Searches GitHub for issues, pull requests, code or repositories, in GitHub's search syntax (such as is:open, label:bug, author:octocat, org:acme, language:go)."+rights, scopes), p.search), "kind", kinds),
		plugins.MustTool(read("github_read_issue",
			"Reads an issue of GitHub with its newest comments. Its version is what github_comment needs."+rights, scopes), p.readIssue),
		enumerate(plugins.MustTool(read("github_read_pull_request",
			"Reads a pull request of GitHub: what it is about and which files it changes, or its diff, its reviews, or its comments. Its version is what github_comment needs."+rights, scopes), p.readPull), "show", shows),
		plugins.MustTool(read("github_read_branch",
			"Tells what a branch of a GitHub repository has that another one lacks: commits and changed files. Its head_sha is what github_open_pull_request needs."+rights, scopes), p.readBranch),
	}
}

func (p *plugin) writing(scopes []string) []plugins.Tool {
	const who = " It is written for the person you act for, whose GitHub account must be allowed to do it; a line in front says for whom, so do not sign it."
	return []plugins.Tool{
		// GitHub keeps no keys of requests: whether an issue or a comment that was
		// never answered for is there can be looked for, and not be known.
		plugins.MustTool(p.write("github_create_issue", "Opens an issue in a GitHub repository."+who, plugins.Once, scopes), p.createIssue),
		plugins.MustTool(p.write("github_comment",
			"Comments on an issue or a pull request of GitHub. Read it first: it is refused when it has changed since the version that you name."+who, plugins.Once, scopes), p.comment),
		// This one can be: GitHub keeps no two open pull requests of one branch into
		// another, and one that was closed since has our mark in it.
		plugins.MustTool(p.write("github_open_pull_request",
			"Opens a pull request in a GitHub repository from a branch that is there. Read the branch first with github_read_branch: it is refused when the branch has moved since the head_sha that you name."+who, plugins.Idempotent, scopes), p.openPull),
	}
}
