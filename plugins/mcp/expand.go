package mcp

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"reeve/plugins"
)

// reference is ${NAME} in the file.
var reference = regexp.MustCompile(`\$\{([^{}]*)\}`)

var variableForm = regexp.MustCompile(`^MCP_[A-Z0-9_]*[A-Z0-9]$`)

// expand puts variables in the place of references. Only those that begin with
// MCP_ can be had: a file must not be able to hand Reeve's own tokens to a
// server. Names of servers and tools are not expanded.
func (c *serverConfig) expand(fill func(into any) error) error {
	expand := func(field, text string) (string, error) {
		var failed error
		if strings.Contains(reference.ReplaceAllString(text, ""), "${") {
			return "", fmt.Errorf(`the field %q has "${" without its "}"`, field)
		}
		text = reference.ReplaceAllStringFunc(text, func(found string) string {
			name := reference.FindStringSubmatch(found)[1]
			value, err := variable(name, fill)
			if err != nil && failed == nil {
				failed = fmt.Errorf("the field %q: %w", field, err)
			}
			c.filled = append(c.filled, value)
			return value
		})
		return text, failed
	}
	var err error
	all := func(field string, texts ...*string) {
		for _, text := range texts {
			if err == nil {
				*text, err = expand(field, *text)
			}
		}
	}
	all("command", &c.Command)
	all("cwd", &c.Cwd)
	all("url", &c.URL)
	for i := range c.Args {
		all("args", &c.Args[i])
	}
	if c.oauth != nil {
		all("oauth.client_id", &c.oauth.ClientID)
		all("oauth.client_secret", &c.oauth.ClientSecret)
		all("oauth.issuer", &c.oauth.Issuer)
	}
	for field, values := range map[string]map[string]string{"env": c.Env, "headers": c.Headers} {
		for name, value := range values {
			all(field+"."+name, &value)
			values[name] = value
		}
	}
	return err
}

// variable reads one variable by way of the host's settings, which fill structs
// and prefix MCP_ to the name in the tag.
func variable(name string, fill func(into any) error) (string, error) {
	if !variableForm.MatchString(name) || name == "MCP_CONFIG" {
		return "", fmt.Errorf("${%s} cannot be filled in; only variables whose names begin with MCP_ can", name)
	}
	tag := fmt.Sprintf(`env:"%s"`, strings.TrimPrefix(name, "MCP_"))
	into := reflect.New(reflect.StructOf([]reflect.StructField{{Name: "Value", Type: reflect.TypeFor[string](), Tag: reflect.StructTag(tag)}}))
	if err := fill(into.Interface()); err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	value := into.Elem().Field(0).String()
	if value == "" {
		return "", fmt.Errorf("${%s} cannot be filled in: the variable is not set", name)
	}
	return value, nil
}

// credentialed: the configuration holds a secret, or may: any header, any
// variable of the process, whatever was filled in, a user or a query in the
// address. Whose calls such a server makes is then not everybody's business.
func (c serverConfig) credentialed() bool {
	u, err := url.Parse(c.URL)
	return c.Credentialed || c.oauth != nil || len(c.Env) > 0 || len(c.Headers) > 0 || len(c.filled) > 0 ||
		err != nil || u.User != nil || u.RawQuery != ""
}

// shortestSecret is the least length of a value that is masked: masking "1" or
// "debug" wherever they stand would only make texts unreadable.
const shortestSecret = 6

const masked = "[masked]"

// mask takes the values of the configuration out of texts: out of errors, of
// what a process writes, and of results.
type mask struct{ values *strings.Replacer }

func (c serverConfig) mask() mask {
	secrets := slices.Clone(c.filled)
	for _, value := range c.Env {
		secrets = append(secrets, value)
	}
	for _, value := range c.Headers {
		secrets = append(secrets, value)
		if _, token, found := strings.Cut(value, " "); found { // Bearer TOKEN
			secrets = append(secrets, token)
		}
	}
	if c.oauth != nil {
		secrets = append(secrets, c.oauth.ClientSecret)
	}
	if u, err := url.Parse(c.URL); err == nil {
		if u.User != nil {
			password, _ := u.User.Password()
			pair := u.User.Username() + ":" + password
			secrets = append(secrets, password, u.User.Username(), u.User.String(), base64.StdEncoding.EncodeToString([]byte(pair)))
		}
		for _, values := range u.Query() {
			secrets = append(secrets, values...)
		}
		secrets = append(secrets, u.RawQuery)
	}
	var pairs []string
	// Longer ones first, so that no secret hides a part of another.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	for _, secret := range secrets {
		if len(secret) < shortestSecret {
			continue
		}
		for _, spelling := range plugins.Spellings(secret) {
			pairs = append(pairs, spelling, masked)
		}
	}
	return mask{strings.NewReplacer(pairs...)}
}

func (m mask) text(text string) string { return m.values.Replace(text) }

func (m mask) err(err error) error {
	if err == nil {
		return nil
	}
	return maskedError{m.text(err.Error()), err}
}

// maskedError shows no secret, and is still what it was to errors.Is.
type maskedError struct {
	text  string
	cause error
}

func (e maskedError) Error() string { return e.text }
func (e maskedError) Unwrap() error { return e.cause }
