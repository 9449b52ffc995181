package github

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"reeve/plugins"
)

// repository is one, by the names that GitHub gives: nothing else can be in
// them, so that none is more than one segment of a path.
type repository struct{ owner, name string }

func (r repository) String() string { return r.owner + "/" + r.name }

// same reports whether two names are one repository's; GitHub does not tell
// capitals from small letters.
func (r repository) same(full string) bool { return strings.EqualFold(r.String(), full) }

// numbered is an issue or a pull request.
type numbered struct {
	repository
	number int
}

func (n numbered) String() string { return fmt.Sprintf("%s#%d", n.repository, n.number) }

var (
	// Names of accounts; "_" stands in those that a company manages.
	ownerForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)
	nameForm  = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)
	shaForm   = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
)

// refusal is a sentence for the model about its arguments.
func refusal(format string, args ...any) error { return plugins.Refusal(fmt.Sprintf(format, args...)) }

// parseRepository reads "owner/name", or a link to a repository or into it.
func (p *plugin) parseRepository(text string) (repository, error) {
	path, link := p.cutLink(text)
	parts := strings.Split(path, "/")
	if len(parts) == 2 || link && len(parts) > 2 {
		if r, ok := newRepository(parts[0], parts[1]); ok {
			return r, nil
		}
	}
	return repository{}, refusal("%s is no repository: name one as owner/name, or by its link on %s.", quoted(text), p.web)
}

// parseNumbered reads "owner/name#5", or a link to an issue or pull request.
func (p *plugin) parseNumbered(text string) (numbered, error) {
	wrong := refusal("%s is no issue or pull request: name one as owner/name#number, or by its link on %s.", quoted(text), p.web)
	path, link := p.cutLink(text)
	if !link {
		name, number, found := strings.Cut(path, "#")
		if !found {
			return numbered{}, wrong
		}
		path = name + "/issues/" + number
	}
	parts := strings.Split(path, "/")
	if len(parts) < 4 || !link && len(parts) > 4 || parts[2] != "issues" && parts[2] != "pull" {
		return numbered{}, wrong
	}
	r, ok := newRepository(parts[0], parts[1])
	number, isNumber := parseNumber(parts[3])
	if !ok || !isNumber {
		return numbered{}, wrong
	}
	return numbered{r, number}, nil
}

// cutLink is the path of a link to our GitHub, or else the text as it is.
func (p *plugin) cutLink(text string) (path string, link bool) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		return text, false
	}
	u, err := url.Parse(strings.Trim(text, "<>"))
	host := ""
	if err == nil {
		host = strings.TrimPrefix(strings.ToLower(u.Host), "www.")
	}
	// A path that is written in more than one way is none of GitHub's.
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || host != p.web || u.EscapedPath() != u.Path {
		return "", false
	}
	return strings.Trim(u.Path, "/"), true
}

func newRepository(owner, name string) (repository, bool) {
	// GitHub takes ".git" off a name, and so it would be two names for one.
	name = strings.TrimSuffix(name, ".git")
	ok := ownerForm.MatchString(owner) && nameForm.MatchString(name) && strings.Trim(name, ".") != ""
	return repository{owner, name}, ok
}

func parseNumber(text string) (int, bool) {
	n, err := strconv.ParseInt(text, 10, 32)
	return int(n), err == nil && n > 0 && text[0] != '0' && text[0] != '+'
}

// checkBranch refuses what can be no branch's name, by git's own rules, and "%",
// which is read in more ways than one on the way to GitHub.
func checkBranch(name string) error {
	bad := name == "" || len(name) > 244 || !utf8.ValidString(name) || name == "@" ||
		strings.ContainsAny(name, "~^:?*[\\%") || strings.Contains(name, "..") || strings.Contains(name, "@{") ||
		strings.HasPrefix(name, "-") || strings.HasSuffix(name, ".") ||
		strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r) })
	for part := range strings.SplitSeq(name, "/") {
		bad = bad || part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock")
	}
	if bad {
		return refusal("%s is no branch: name one of the repository as it is, such as main, without an owner in front.", quoted(name))
	}
	return nil
}

// quoted is what a model wrote, short, in one line and in quotes.
func quoted(text string) string { return strconv.Quote(plugins.CutMiddle(flat(text), 120)) }
