package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
)

// variableName is what a line of .env may set.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// environment is what the settings are read from: the variables of .env, with
// those of the process on top. A variable that the process has set wins even
// when it is empty. A missing file is no error.
func environment(process []string, file string) (map[string]string, error) {
	env := map[string]string{}
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", file, err)
	default:
		if env, err = parseDotenv(string(text)); err != nil {
			return nil, fmt.Errorf("%s %w", file, err)
		}
	}
	for _, pair := range process {
		if name, value, found := strings.Cut(pair, "="); found {
			env[name] = value
		}
	}
	return env, nil
}

// parseDotenv reads lines of NAME=VALUE. A value may stand in single quotes,
// which keep it as it is, or in double quotes, in which \n, \t, \" and \\ are
// understood; outside quotes " #" begins a comment. Nothing is expanded. An
// error names the line and never shows a value.
func parseDotenv(text string) (map[string]string, error) {
	env := map[string]string{}
	for i, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, found := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		name = strings.TrimSpace(name)
		if !found || !variableName.MatchString(name) {
			return nil, fmt.Errorf("line %d: want NAME=VALUE", i+1)
		}
		if _, twice := env[name]; twice {
			return nil, fmt.Errorf("line %d: %s is set twice", i+1, name)
		}
		value, err := dotenvValue(strings.TrimSpace(rest))
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", i+1, name, err)
		}
		env[name] = value
	}
	return env, nil
}

func dotenvValue(raw string) (string, error) {
	if raw == "" || (raw[0] != '\'' && raw[0] != '"') {
		if raw != "" && raw[0] == '#' {
			return "", nil
		}
		value, _, _ := strings.Cut(raw, " #")
		return strings.TrimSpace(value), nil
	}
	quote := raw[0]
	var value strings.Builder
	for i := 1; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == quote:
			rest := strings.TrimSpace(raw[i+1:])
			if rest != "" && rest[0] != '#' {
				return "", errors.New("something stands after the closing quote")
			}
			return value.String(), nil
		case c == '\\' && quote == '"':
			if i++; i == len(raw) {
				return "", errors.New("the closing quote is missing")
			}
			switch raw[i] {
			case 'n':
				value.WriteByte('\n')
			case 't':
				value.WriteByte('\t')
			case '"', '\\':
				value.WriteByte(raw[i])
			default:
				return "", fmt.Errorf(`\%c is not understood in double quotes; use single quotes to keep it`, raw[i])
			}
		default:
			value.WriteByte(c)
		}
	}
	return "", errors.New("the closing quote is missing")
}
