package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"reeve/runtime/chat"
)

func TestThePageIsToldWhatTheLogTells(t *testing.T) {
	var out bytes.Buffer
	var told []string
	publish := func(kind string, data any) {
		raw, err := json.Marshal(data)
		if err != nil {
			t.Errorf("%v is no JSON: %v", data, err)
		}
		told = append(told, kind+" "+string(raw))
	}
	log := slog.New(teeHandler(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn}), publish))

	log.Info("message", "disposition", chat.SteerOwn, "author", chat.Person("T1", "U1").Key(), "forced", true)
	log.Debug("message", "disposition", chat.Ignored)
	log.With("turn", chat.TurnID("t_1")).WithGroup("of").With("a", 1).Warn("turn lost", "err", errors.New("gone"), slog.Group("g", "b", 2))
	log.Warn("model refused", "err", "a key")
	log.WithGroup("").Info("turn ended", "messages", []chat.TS{"1.0"})

	want := []string{
		`log {"author":"T1:U1","disposition":"steer","forced":true,"msg":"message"}`,
		`log {"disposition":"ignored","msg":"message"}`,
		`log {"msg":"turn lost","of.a":1,"of.err":"gone","of.g.b":2,"turn":"t_1"}`,
		`log {"messages":["1.0"],"msg":"turn ended"}`,
	}
	if !reflect.DeepEqual(told, want) {
		t.Errorf("told\n%s", strings.Join(told, "\n"))
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "turn=t_1 of.a=1 of.err=gone of.g.b=2") || !strings.Contains(lines[1], "model refused") {
		t.Errorf("logged\n%s", out.String())
	}
}
