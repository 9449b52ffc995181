package app

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"reeve/plugins"
	"reeve/plugins/clock"
)

func playground(t *testing.T, variables map[string]string, list ...plugins.Plugin) assembly {
	t.Helper()
	settings, err := ParseSettings(variables)
	if err != nil {
		t.Fatal(err)
	}
	return assembly{
		settings: settings, options: Options{Environ: []string{}}.withDefaults(), plugins: list,
		log: slog.New(slog.DiscardHandler), ready: newReadiness(),
	}
}

func TestPlaygroundSaysWhatIsOn(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	read, write := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := playground(t, map[string]string{"CROSS_ACTOR_MID_RUN_MODE": "router"}, clock.New(nil), silent{}).play(ctx, "127.0.0.1:0", write)
		_ = write.Close()
		ended <- err
	}()
	var said []string
	for lines := bufio.NewScanner(read); lines.Scan(); {
		if said = append(said, lines.Text()); strings.HasPrefix(lines.Text(), "It works in memory") {
			cancel()
		}
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if len(said) != 4 || !strings.HasPrefix(said[0], "plugins: clock, silent; tools: ") || !strings.Contains(said[0], "current_time") ||
		!strings.HasPrefix(said[1], "The demo model routes nothing") || !strings.HasPrefix(said[2], "Open http://127.0.0.1:") {
		t.Errorf("it says:\n%s", strings.Join(said, "\n"))
	}
}

// Nobody is sent to a page that is gone when a plugin does not open.
func TestPlaygroundThatCannotStartNamesNoPage(t *testing.T) {
	var out strings.Builder
	err := playground(t, nil, talker{open: errors.New("its file is wrong")}).play(t.Context(), "127.0.0.1:0", &out)
	if err == nil || !strings.Contains(err.Error(), "its file is wrong") || out.Len() > 0 {
		t.Errorf("it ends with %v, and says %q", err, out.String())
	}
}
