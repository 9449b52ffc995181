package app

import (
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"reeve/credentials"
)

var (
	idForm       = regexp.MustCompile(`^[A-Z][A-Z0-9]{2,}$`)
	nameForm     = regexp.MustCompile(`^[a-z0-9_]+$`)
	prefixForm   = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,32}$`)
	reactionForm = regexp.MustCompile(`^[a-z0-9_+'-]+$`)
	tokenForm    = regexp.MustCompile(`^[\x21-\x7e]+$`)
)

// check tells whether a value that has the right type may be. The hint says
// what is probably meant.
func (s setting) check(field reflect.Value, value string) (ok bool, hint string) {
	switch v := field.Interface().(type) {
	case time.Duration:
		low, _ := time.ParseDuration(s.tag.Get("min"))
		high, _ := time.ParseDuration(s.tag.Get("max"))
		return low <= v && v <= high, ""
	case int:
		low, _ := strconv.Atoi(s.tag.Get("min"))
		high, _ := strconv.Atoi(s.tag.Get("max"))
		return low <= v && v <= high, ""
	case bool:
		return true, ""
	}
	if field.Kind() == reflect.Slice {
		return s.checkList(field)
	}
	if one := strings.Fields(s.tag.Get("one")); len(one) > 0 {
		return slices.Contains(one, value), ""
	}
	return s.checkText(value)
}

func (s setting) checkText(value string) (ok bool, hint string) {
	switch s.Name {
	case "SLACK_APP_TOKEN":
		return checkToken(s.Name, "xapp-", value)
	case "SLACK_BOT_TOKEN":
		return checkToken(s.Name, "xoxb-", value)
	case "OPENAI_API_KEY":
		return tokenForm.MatchString(value), ""
	case "SLACK_API_URL", "PUBLIC_URL":
		u, err := url.Parse(value)
		return err == nil && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "" &&
			(u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname())), ""
	case "OPENAI_BASE_URL":
		u, err := url.Parse(value)
		return err == nil && u.Host != "" && u.RawQuery == "" && u.Fragment == "" && (u.Scheme == "https" || u.Scheme == "http"), ""
	case "REDIS_URL":
		return checkRedisURL(value)
	case "REDIS_PREFIX":
		return prefixForm.MatchString(value), ""
	case "STOP_REACTION":
		return reactionForm.MatchString(value), ""
	case "HTTP_ADDR", "PUBLIC_ADDR":
		_, port, err := net.SplitHostPort(value)
		n, convErr := strconv.ParseUint(port, 10, 16)
		return err == nil && convErr == nil && n <= 65535, ""
	case "CREDENTIAL_KEYS":
		return checkKeyring(value)
	case "MCP_CONFIG":
		return checkFile(value)
	default: // a model's name
		return strings.TrimSpace(value) == value, ""
	}
}

// checkList tidies a list and checks its items. A list that is set and holds
// nothing is wrong: an allow-list of white space must not let everybody in.
func (s setting) checkList(field reflect.Value) (ok bool, hint string) {
	var kept []string
	tidy := reflect.MakeSlice(field.Type(), 0, field.Len())
	for i := range field.Len() {
		item := strings.TrimSpace(field.Index(i).String())
		if item == "" || slices.Contains(kept, item) {
			continue
		}
		kept = append(kept, item)
		tidy = reflect.Append(tidy, reflect.ValueOf(item).Convert(field.Type().Elem()))
	}
	field.Set(tidy)
	initials := strings.Fields(s.tag.Get("ids"))
	for _, item := range kept {
		switch {
		case len(initials) == 0 && !nameForm.MatchString(item):
			return false, ""
		case len(initials) == 0:
		case strings.ContainsAny(item[:1], "#@"):
			return false, "a name can be given to somebody else, an id cannot; copy it from the profile or the channel's details in Slack"
		case !idForm.MatchString(item) || !slices.Contains(initials, item[:1]):
			return false, ""
		}
	}
	return len(kept) > 0, ""
}

func checkToken(name, prefix, value string) (ok bool, hint string) {
	for _, kind := range tokenKinds {
		if strings.HasPrefix(value, kind.prefix) && kind.prefix != prefix {
			hint = "this looks like " + kind.name
			if kind.belongs != "" {
				hint += "; it belongs in " + kind.belongs
			}
			return false, hint
		}
	}
	if strings.ContainsAny(value, " \t\r\n") {
		return false, "it holds white space"
	}
	return strings.HasPrefix(value, prefix) && len(value) > len(prefix) && tokenForm.MatchString(value), ""
}

// checkFile says where it looked: from which folder a path is seen is not plain
// to everybody.
func checkFile(path string) (ok bool, hint string) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return false, ""
	}
	f, err := os.Open(absolute)
	if err != nil {
		return false, err.Error()
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false, absolute + " is no file"
	}
	return true, ""
}

// checkRedisURL knows the four forms; the mailbox reads them.
func checkRedisURL(value string) (ok bool, hint string) {
	scheme, rest, _ := strings.Cut(value, "://")
	rest, query, _ := strings.Cut(rest, "?")
	if query != "" && scheme != "redis" && scheme != "rediss" {
		return false, "this form takes no options after a ?"
	}
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		rest = rest[at+1:]
	}
	hosts, path, _ := strings.Cut(rest, "/")
	switch scheme {
	case "redis", "rediss":
		if strings.Contains(hosts, ",") {
			return false, "several hosts need redis+sentinel:// or redis+cluster://"
		}
		if _, err := url.Parse(value); err != nil {
			return false, "characters such as # ? / @ in a password must be written as %23 %3F %2F %40"
		}
		if _, err := strconv.ParseUint(path, 10, 8); path != "" && err != nil {
			return false, "the path is the number of a database"
		}
	case "redis+sentinel":
		if path == "" || strings.Contains(path, "/") {
			return false, "the path names the sentinels' master"
		}
	case "redis+cluster":
		if path != "" && path != "0" {
			return false, "a cluster has no numbered databases"
		}
	default:
		return false, ""
	}
	return !slices.ContainsFunc(strings.Split(hosts, ","), func(host string) bool {
		return strings.TrimSpace(host) == "" || strings.HasPrefix(host, ":")
	}), ""
}

func checkKeyring(value string) (ok bool, hint string) {
	_, err := credentials.ParseKeys(value)
	if err != nil {
		return false, strings.TrimPrefix(err.Error(), "parse credential keys: ")
	}
	return true, ""
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// passwordOf is what may be secret in a URL, as it is written and as it is
// sent: the user part's password, and query values of such a name.
func passwordOf(raw string) []string {
	_, rest, found := strings.Cut(raw, "://")
	if !found {
		return nil
	}
	rest, query, _ := strings.Cut(rest, "?")
	var secrets []string
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		_, written, _ := strings.Cut(rest[:at], ":")
		secrets = append(secrets, written)
		if sent, err := url.PathUnescape(written); err == nil {
			secrets = append(secrets, sent)
		}
	}
	values, _ := url.ParseQuery(query)
	for name, all := range values {
		if strings.Contains(strings.ToLower(name), "password") {
			secrets = append(secrets, all...)
		}
	}
	return secrets
}
