package app

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"strings"
	"testing"
)

// The tokens are put together here, so that no scanner takes them for lost ones.
var (
	fakeBot    = "xoxb" + "-1234567890-0987654321-AbCdEfGhIjKlMnOp"
	fakeApp    = "xapp" + "-1-A0123456789-1234567890123-" + strings.Repeat("0af9", 16)
	fakeUser   = "xoxp" + "-11-22-33-" + strings.Repeat("ab", 16)
	fakeRotate = "xoxe" + ".xoxp" + "-1-" + strings.Repeat("Mi0y", 20)
	fakeKey    = "sk" + "-proj-" + strings.Repeat("Zx9_", 12)
	fakeTicket = "0f1e2d3c-aaaa-bbbb"
)

type nested struct {
	Header map[string][]string
	Err    error
}

func TestNoSecretPassesTheLog(t *testing.T) {
	password := `p"a\ss word<&>`
	var out bytes.Buffer
	redactor := newRedactor(password, "configured-key", "ab")
	for _, format := range []string{"text", "json"} {
		logger := newLogger(redactedWriter{&out, redactor}, "debug", format)
		for _, secret := range []string{fakeBot, fakeApp, fakeUser, fakeRotate, fakeKey, password, "configured-key"} {
			logger.With("kept", secret).WithGroup("group").Debug("message "+secret,
				"plain", secret,
				"error", fmt.Errorf("wrapped: %w", errors.New("token="+secret+"&x=1")),
				"any", nested{map[string][]string{"Authorization": {"Bearer " + secret}}, errors.New(secret)},
				slog.Group("inner", "bytes", []byte(secret), "list", []string{secret}),
				secret, "as a key")
			log.New(slog.NewLogLogger(logger.Handler(), slog.LevelInfo).Writer(), "", 0).Print("library says " + secret)
		}
		logger.Info("dialing", "url", "wss://wss-primary.slack.com/link/?ticket="+fakeTicket+"&app_id=1")
		logger.Info("redis", "url", "redis://user:"+"someword@host:6379/0")
	}
	for _, leak := range []string{
		fakeBot[5:], fakeApp[5:], fakeUser[5:], fakeRotate[12:], fakeKey[3:], fakeTicket, "someword",
		password, `p\"a\\ss`, "ss word", "configured-key",
	} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("%q stands in the log", leak)
		}
	}
	for _, kept := range []string{"xoxb-***", "xapp-***", "sk-***", "app_id=1", "host:6379", "wss-primary.slack.com"} {
		if !strings.Contains(out.String(), kept) {
			t.Errorf("%q is gone from the log", kept)
		}
	}
}

func TestRedactLeavesOrdinaryTextAlone(t *testing.T) {
	for _, text := range []string{
		"", "a risk-free task-list of desk-bound ab", "turn=t_01hq actor=T1:U1", "http://127.0.0.1:8080/healthz",
		"see <mailto:a@example.com|a>",
	} {
		if got := newRedactor("ab", "").redact(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestLogLevelHolds(t *testing.T) {
	var out bytes.Buffer
	logger := newLogger(&out, "warn", "text")
	logger.Info("not this")
	logger.Warn("but this")
	if s := out.String(); strings.Contains(s, "not this") || !strings.Contains(s, "but this") {
		t.Errorf("at warn the log holds: %s", s)
	}
}

func TestLogFormatIsJSONUnlessTerminal(t *testing.T) {
	var out bytes.Buffer
	if got := logFormat("", &out); got != "json" {
		t.Errorf("no terminal gets %s", got)
	}
	if got := logFormat("text", &out); got != "text" {
		t.Errorf("LOG_FORMAT=text gives %s", got)
	}
}
