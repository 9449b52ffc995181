package redistest

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// Each mood spoils a command, each leaves the server alone, and none outlasts
// itself.
func TestProxyMoods(t *testing.T) {
	server := Start(t)
	direct := server.Client()
	for mood, carriedOut := range map[Mood]bool{Refuses: false, Blackholes: false, Resets: true, HalfOpen: false, Drips: true} {
		t.Run(string(mood), func(t *testing.T) {
			key := strings.ReplaceAll(string(mood), " ", "_")
			p := StartProxy(t, server.Addr())
			client := plainClient(p.Addr())
			defer client.Close()
			ctx := t.Context()
			if err := client.Set(ctx, key, "before", 0).Err(); err != nil {
				t.Fatal(err)
			}
			p.Set(mood)
			short, cancel := context.WithTimeout(ctx, 150*time.Millisecond)
			err := client.Set(short, key, "amid", 0).Err()
			cancel()
			if err == nil {
				t.Error("the command was answered")
			}
			if late := errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded); late != (mood != Refuses && mood != Resets) {
				t.Errorf("it failed with %v", err)
			}
			if got := direct.Get(ctx, key).Val(); (got == "amid") != carriedOut {
				t.Errorf("the server has %q", got)
			}
			p.Set(Passes)
			if err := client.Set(ctx, key, "after", 0).Err(); err != nil {
				t.Errorf("after it: %v", err)
			}
		})
	}
}
