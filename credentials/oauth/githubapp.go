package oauth

import (
	"bytes"
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"reeve/credentials"
	"reeve/plugins/outbound"
	"reeve/plugins/settings"
)

// App is what the bot itself is at a provider.
type App interface {
	// Place is what it may do in a place. ok is false where it is not installed.
	Place(ctx context.Context, place string) (p Place, ok bool, err error)
}

// Place is a part of a provider in which the bot has rights of its own.
type Place interface {
	Token(ctx context.Context) (credentials.Secret, error)
}

// GitHubApp is a GitHub App with its installations. A place is "owner" or
// "owner/repo"; a token is good for that repository alone where one is named.
type GitHubApp struct {
	id   string
	base string
	key  *rsa.PrivateKey
	wire *wire
	now  func() time.Time

	mu     sync.Mutex
	tokens map[string]appToken
}

type appToken struct {
	token   credentials.Secret
	expires time.Time
}

type appSettings struct {
	ID      string `env:"APP_ID"`
	Key     string `env:"APP_PRIVATE_KEY"`
	KeyFile string `env:"APP_PRIVATE_KEY_FILE"`
}

// LoadGitHubApp reads the app's settings. nil: there is none.
func LoadGitHubApp(environ []string, options outbound.Options) (*GitHubApp, error) {
	var s appSettings
	if err := settings.Read("github", environ, &s); err != nil {
		return nil, err
	}
	switch {
	case s.ID == "" && s.Key == "" && s.KeyFile == "":
		return nil, nil
	case s.ID == "":
		return nil, errors.New("GITHUB_APP_ID is required with a private key of the app")
	case s.Key == "" && s.KeyFile == "":
		return nil, errors.New("GITHUB_APP_PRIVATE_KEY or GITHUB_APP_PRIVATE_KEY_FILE is required with GITHUB_APP_ID")
	case s.Key != "" && s.KeyFile != "":
		return nil, errors.New("GITHUB_APP_PRIVATE_KEY and GITHUB_APP_PRIVATE_KEY_FILE are both set: want one")
	}
	if _, err := strconv.ParseInt(s.ID, 10, 64); err != nil && !appForm.MatchString(s.ID) {
		return nil, errors.New("GITHUB_APP_ID is no id of an app: want its number, or its client id")
	}
	text := strings.ReplaceAll(s.Key, `\n`, "\n")
	if s.KeyFile != "" {
		raw, err := os.ReadFile(s.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("GITHUB_APP_PRIVATE_KEY_FILE: %w", err)
		}
		text = string(raw)
	}
	key, err := parseKey(text)
	if err != nil {
		return nil, fmt.Errorf("GITHUB_APP_PRIVATE_KEY: %w", err)
	}
	return NewGitHubApp(s.ID, key, "https://api.github.com", options, time.Now), nil
}

var (
	appForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
	// "_" stands in the names of accounts that a company manages.
	placeForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:/[A-Za-z0-9._-]{1,100})?$`)
)

func parseKey(text string) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("it is no key in PEM")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("it is no private key of RSA")
	}
	if private, ok := key.(*rsa.PrivateKey); ok {
		return private, nil
	}
	return nil, errors.New("it is no private key of RSA")
}

// NewGitHubApp makes an app whose API is at base.
func NewGitHubApp(id string, key *rsa.PrivateKey, base string, options outbound.Options, now func() time.Time) *GitHubApp {
	return &GitHubApp{id: id, base: strings.TrimSuffix(base, "/"), key: key, wire: newWire(options, now), now: now, tokens: map[string]appToken{}}
}

// Place implements App. Whether the app is there is asked each time: it may have
// been taken out.
func (g *GitHubApp) Place(ctx context.Context, place string) (Place, bool, error) {
	if !placeForm.MatchString(place) || strings.HasSuffix(place, "/.") || strings.HasSuffix(place, "/..") {
		return nil, false, fmt.Errorf("look for the app in %q: want an owner, or owner/repository", bounded(place))
	}
	owner, repo, _ := strings.Cut(place, "/")
	paths := []string{"/orgs/" + url.PathEscape(owner) + "/installation", "/users/" + url.PathEscape(owner) + "/installation"}
	if repo != "" {
		paths = []string{"/repos/" + url.PathEscape(owner) + "/" + url.PathEscape(repo) + "/installation"}
	}
	var found struct {
		ID        int64  `json:"id"`
		Suspended string `json:"suspended_at"`
	}
	var status int
	var err error
	for _, path := range paths {
		if status, err = g.ask(ctx, http.MethodGet, path, nil, &found); err != nil || status != http.StatusNotFound {
			break
		}
	}
	switch {
	case err != nil:
		return nil, false, err
	case status == http.StatusNotFound:
		return nil, false, nil
	case status != http.StatusOK || found.ID == 0:
		return nil, false, &Error{Op: "look for the app's installation", Provider: "github", Status: status}
	case found.Suspended != "":
		return nil, false, nil
	}
	return &installation{app: g, id: found.ID, repo: repo}, true, nil
}

type installation struct {
	app  *GitHubApp
	id   int64
	repo string
}

// Token implements Place. It is kept in memory until shortly before its end.
func (i *installation) Token(ctx context.Context) (credentials.Secret, error) {
	g, key := i.app, fmt.Sprintf("%d/%s", i.id, i.repo)
	g.mu.Lock()
	held, ok := g.tokens[key]
	g.mu.Unlock()
	if ok && g.now().Add(2*time.Minute).Before(held.expires) {
		return held.token, nil
	}
	var body []byte
	if i.repo != "" {
		body, _ = json.Marshal(map[string]any{"repositories": []string{i.repo}})
	}
	var got struct {
		Token   string    `json:"token"`
		Expires time.Time `json:"expires_at"`
	}
	status, err := g.ask(ctx, http.MethodPost, fmt.Sprintf("/app/installations/%d/access_tokens", i.id), body, &got)
	if err == nil && (status != http.StatusCreated || got.Token == "" || !plainToken(got.Token)) {
		err = &Error{Op: "get the app's token", Provider: "github", Status: status}
	}
	if err != nil {
		return credentials.Secret{}, err
	}
	held = appToken{credentials.NewSecret(got.Token), got.Expires}
	g.mu.Lock()
	defer g.mu.Unlock()
	for old, t := range g.tokens { // those of places that nobody asks for
		if g.now().After(t.expires) {
			delete(g.tokens, old)
		}
	}
	g.tokens[key] = held
	return held.token, nil
}

// ask asks GitHub as the app itself.
func (g *GitHubApp) ask(ctx context.Context, method, path string, body []byte, into any) (status int, err error) {
	const op = "ask as the app"
	proof, err := g.proof()
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, wireTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, g.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, &Error{Op: op, Provider: "github", why: "its URL is malformed"}
	}
	request.Header.Set("Authorization", "Bearer "+proof)
	request.Header.Set("Accept", "application/vnd.github+json")
	request.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	request.Header.Set("User-Agent", "reeve")
	response, err := g.wire.client.Do(request)
	if err != nil {
		return 0, failure(op, "github", false, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, failure(op, "github", false, err)
	}
	if response.StatusCode < 300 && json.Unmarshal(text, into) != nil {
		return 0, &Error{Op: op, Provider: "github", Status: response.StatusCode, why: "its answer cannot be read"}
	}
	return response.StatusCode, nil
}

// proof is a JWT of a few minutes, a little in the past, as GitHub advises for
// clocks that differ.
func (g *GitHubApp) proof() (string, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: g.key}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return "", errors.New("sign as the app: the key does not fit")
	}
	now := g.now()
	text, err := jwt.Signed(signer).Claims(jwt.Claims{
		Issuer: g.id, IssuedAt: jwt.NewNumericDate(now.Add(-time.Minute)), Expiry: jwt.NewNumericDate(now.Add(8 * time.Minute)),
	}).Serialize()
	if err != nil {
		return "", errors.New("sign as the app: the key does not fit")
	}
	return text, nil
}
