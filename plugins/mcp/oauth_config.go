package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// oauthConfig is what the operator says of a server at which each person has an
// account of his own.
type oauthConfig struct {
	// ClientID and ClientSecret are those of an app that the operator has registered;
	// without an id the bot registers itself.
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	// Issuer is the one authorization server that is used, whatever the server says.
	Issuer string `json:"issuer"`
	// Scopes are asked for in place of those that the server names, and MoreScopes
	// may be asked for when it wants them for a call.
	Scopes     []string `json:"scopes"`
	MoreScopes []string `json:"more_scopes"`
}

// maxCatalog bounds a list of tools, in bytes.
const maxCatalog = 4 << 20

var scopeForm = regexp.MustCompile(`^[\x21\x23-\x5B\x5D-\x7E]{1,200}$`)

// readOAuth reads the field "oauth", which is true or an object.
func (c *serverConfig) readOAuth() error {
	switch text := strings.TrimSpace(string(c.RawOAuth)); {
	case text == "", text == "false", text == "null":
		return nil
	case text == "true":
		c.oauth = &oauthConfig{}
		return nil
	case text[0] != '{':
		return errors.New(`the field "oauth" may be true, false or an object`)
	}
	var o oauthConfig
	if err := strict(c.RawOAuth, &o); err != nil {
		return fmt.Errorf(`the field "oauth": %w`, err)
	}
	c.oauth = &o
	return nil
}

// checkOAuth refuses what would not do for people's accounts.
func (c *serverConfig) checkOAuth() error {
	if c.oauth == nil {
		for name, tool := range c.tools {
			if len(tool.Scopes) > 0 {
				return fmt.Errorf(`tool %q: the field "scopes" is for a server with "oauth"`, name)
			}
		}
		if c.Catalog != "" {
			return errors.New(`the field "catalog" is for a server with "oauth": the tools of others are listed by the server`)
		}
		return nil
	}
	u, err := url.Parse(c.URL)
	switch {
	case c.URL == "" || err != nil:
		return errors.New(`the field "oauth" is for a server with "url"`)
	case u.Scheme != "https" && !isLoopback(u.Hostname()):
		return errors.New(`the field "url" must be an https address, since people's tokens go there ("oauth")`)
	case u.User != nil || u.RawQuery != "" || u.ForceQuery:
		return errors.New(`the field "url" may have no user and no query, since the server is known by it ("oauth")`)
	case len("mcp_"+c.id) > 32:
		return errors.New(`its name may have 28 characters at most, since people's accounts are kept under it ("oauth")`)
	case c.Catalog == "":
		return errors.New(`it has "oauth", and so "catalog" must name a file with the server's list of tools: nobody's account is used to learn it`)
	case c.oauth.ClientID == "" && c.oauth.ClientSecret != "":
		return errors.New(`the field "oauth.client_secret" is nothing without "client_id"`)
	}
	for name := range c.Headers {
		if slices.Contains([]string{"authorization", "cookie", "proxy-authorization"}, strings.ToLower(name)) {
			return fmt.Errorf(`the field "headers" has the header %q, in whose place each person's own token goes ("oauth")`, name)
		}
	}
	lists := map[string][]string{"oauth.scopes": c.oauth.Scopes, "oauth.more_scopes": c.oauth.MoreScopes}
	for name, tool := range c.tools {
		lists["tools."+name+".scopes"] = tool.Scopes
	}
	for field, list := range lists {
		for _, scope := range list {
			if !scopeForm.MatchString(scope) {
				return fmt.Errorf("the field %q has %q, which is no scope", field, scope)
			}
		}
	}
	return nil
}

// readCatalog reads the list of tools: the result of tools/list, as any client
// gets it. It is the operator's, so that it is the same for all people, is there
// before anybody has an account, and holds nothing of anybody's.
func (c *serverConfig) readCatalog(folder string) error {
	if c.oauth == nil {
		return nil
	}
	path := c.Catalog
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	info, err := os.Stat(path)
	if err == nil && info.Size() > maxCatalog {
		err = fmt.Errorf("it is longer than %d bytes", maxCatalog)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return fmt.Errorf(`the field "catalog": %w`, err)
	}
	var list sdk.ListToolsResult
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf(`the field "catalog", %s: %w`, c.Catalog, readable(data, err))
	}
	for _, tool := range list.Tools {
		if tool == nil || tool.Name == "" {
			return fmt.Errorf(`the field "catalog", %s: a tool has no name`, c.Catalog)
		}
	}
	if len(list.Tools) == 0 {
		return fmt.Errorf(`the field "catalog", %s: it has no list "tools", as the result of tools/list has`, c.Catalog)
	}
	c.catalog = list.Tools
	return nil
}

func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// provider is under which name people's accounts at the server are kept.
func (c serverConfig) provider() string { return "mcp_" + c.id }
