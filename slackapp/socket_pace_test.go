package slackapp

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slack-go/slack"
)

// dials runs a supervised socket for a while and gives the times of its dials,
// from the start.
func dials(t *testing.T, n int, during time.Duration, connect func(ctx context.Context, dial int) ended) []time.Duration {
	ctx, cancel := context.WithTimeout(t.Context(), during)
	defer cancel()
	start, p := time.Now(), newPace()
	var at []time.Duration
	done := make(chan error, n)
	lock := make(chan struct{}, 1)
	for range n {
		go func() {
			done <- p.supervise(ctx, func(context.Context) error { return nil }, func(ctx context.Context) ended {
				lock <- struct{}{}
				at = append(at, time.Since(start))
				dial := len(at)
				<-lock
				return connect(ctx, dial)
			}, func(ended, time.Duration) {})
		}()
	}
	for range n {
		if err := <-done; ctx.Err() == nil {
			t.Errorf("ended early: %v", err)
		}
	}
	return at
}

func TestStormIsDamped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Slack takes each socket and throws it out at once.
		at := dials(t, 2, time.Minute, func(context.Context, int) ended { return ended{err: errors.New("thrown out")} })
		early := 0
		for _, d := range at {
			if d < 10*time.Second {
				early++
			}
		}
		if early < 2 || early > 6 {
			t.Errorf("%d dials in 10 s: %v", early, at)
		}
		if len(at) > 14 {
			t.Errorf("%d dials in a minute: %v", len(at), at)
		}
	})
}

func TestRefreshIsDialledAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const life = time.Hour
		at := dials(t, 1, 5*life, func(ctx context.Context, _ int) ended {
			select {
			case <-time.After(life):
			case <-ctx.Done():
			}
			return ended{up: life, err: errors.New("refresh")}
		})
		for i := 1; i < len(at); i++ {
			if gap := at[i] - at[i-1] - life; gap > 100*time.Millisecond {
				t.Errorf("%s without a socket", gap)
			}
		}
		if len(at) != 5 {
			t.Errorf("dialled at %v", at)
		}
	})
}

func TestBackoffEndsOnlyWhenStable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Sockets that stand for five seconds are no recovery.
		at := dials(t, 1, 20*time.Minute, func(ctx context.Context, _ int) ended {
			select {
			case <-time.After(5 * time.Second):
			case <-ctx.Done():
			}
			return ended{up: 5 * time.Second}
		})
		last := at[len(at)-1] - at[len(at)-2]
		if last < 20*time.Second || last > 36*time.Second {
			t.Errorf("at the end a dial every %s, want 15 to 30 s of wait and 5 of life", last)
		}
	})
}

func TestSlackSaysHowLongToWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := dials(t, 1, 3*time.Minute, func(ctx context.Context, dial int) ended {
			if dial == 1 {
				return ended{err: &slack.RateLimitedError{RetryAfter: time.Minute}, after: time.Minute}
			}
			<-ctx.Done()
			return ended{}
		})
		if len(at) != 2 || at[1] < time.Minute {
			t.Errorf("dialled at %v", at)
		}
	})
}

func TestRefusedTokenEndsIt(t *testing.T) {
	for _, refusal := range []error{
		slack.SlackErrorResponse{Err: "invalid_auth"}, slack.SlackErrorResponse{Err: "account_inactive"},
		slack.SlackErrorResponse{Err: "not_authed"}, slack.SlackErrorResponse{Err: "token_revoked"},
		slack.StatusCodeError{Code: 404},
	} {
		err := newPace().supervise(t.Context(), func(context.Context) error { return nil },
			func(context.Context) ended { return ended{err: refusal} }, func(ended, time.Duration) {})
		auth, ok := errors.AsType[*AuthError](err)
		if !ok || auth.Token != "SLACK_APP_TOKEN" || auth.Fix == "" {
			t.Errorf("%v: %v", refusal, err)
		}
	}
}

func TestNoSecretsInLogs(t *testing.T) {
	app, bot := "xapp-"+"1-A1-2-abc", "xoxb"+"-1-2-abc"
	got := scrubbed(errors.New(`dial "wss://x.example/link/?ticket=abc-1&app_id=A1" with ` + app + " or " + bot))
	if got != `dial "wss://x.example/link/?***&app_id=A1" with *** or ***` {
		t.Errorf("got %q", got)
	}
}
