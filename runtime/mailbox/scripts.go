package mailbox

import (
	"context"
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed prelude_keys.lua
var preludeKeys string

//go:embed prelude_messages.lua
var preludeMessages string

//go:embed prelude_turns.lua
var preludeTurns string

//go:embed prelude_waits.lua
var preludeWaits string

//go:embed prelude_ends.lua
var preludeEnds string

//go:embed prelude_tasks.lua
var preludeTasks string

//go:embed put.lua
var putSource string

//go:embed renew.lua
var renewSource string

//go:embed commit.lua
var commitSource string

//go:embed close.lua
var closeSource string

//go:embed claim.lua
var claimSource string

//go:embed handover.lua
var handoverSource string

//go:embed settle.lua
var settleSource string

//go:embed park.lua
var parkSource string

//go:embed end_wait.lua
var endWaitSource string

//go:embed sent.lua
var sentSource string

//go:embed edit.lua
var editSource string

//go:embed remove.lua
var removeSource string

//go:embed mend.lua
var mendSource string

//go:embed aside.lua
var asideSource string

//go:embed abandon.lua
var abandonSource string

//go:embed send_claim.lua
var sendClaimSource string

//go:embed stamp.lua
var stampSource string

//go:embed close_gap.lua
var closeGapSource string

//go:embed task_claim.lua
var taskClaimSource string

//go:embed task_renew.lua
var taskRenewSource string

//go:embed task_end.lua
var taskEndSource string

//go:embed hand_back.lua
var handBackSource string

//go:embed route.lua
var routeSource string

//go:embed store_set.lua
var storeSetSource string

//go:embed notify.lua
var notifySource string

//go:embed erase.lua
var eraseSource string

// script is one transition. Its name carries a version: a release that changes
// what a script does gives it a new one, so that two releases can work side by
// side on one store.
type script struct {
	name   string
	source string
	sha    string
}

// scripts are all transitions, as this store is to run them.
type scripts struct {
	put, renew, commit, close, claim, handover, settle, park, endWait, sent, sendClaim, edit, remove script

	stamp, closeGap, notify script

	mend, aside, abandon script

	taskClaim, taskRenew, taskEnd, handBack, route, storeSet, erase script
}

func (s *scripts) all() []*script {
	return []*script{&s.put, &s.renew, &s.commit, &s.close, &s.claim, &s.handover, &s.settle,
		&s.park, &s.endWait, &s.sent, &s.sendClaim, &s.edit, &s.remove, &s.stamp, &s.closeGap, &s.mend, &s.aside, &s.abandon,
		&s.taskClaim, &s.taskRenew, &s.taskEnd, &s.handBack, &s.route, &s.storeSet, &s.erase, &s.notify}
}

// newScripts builds the scripts. On a real server each begins with the #!lua
// header, which makes touching another slot's key an error; the embedded store
// does not know that header. How long things are kept, and what they write by
// themselves, is part of the scripts.
func newScripts(header bool, opts Options) *scripts {
	times := fmt.Sprintf("local RETENTION, UNTOUCHED, MESSAGE_LIFE = %d, %d, %d\n",
		opts.Retention.Milliseconds(), opts.Untouched.Milliseconds(), messageKeyLife.Milliseconds())
	make := func(name, source string) script {
		full := "-- " + name + "\n" + times + stoppedLines + preludeKeys + preludeMessages + preludeTurns + preludeWaits + preludeEnds + preludeTasks + source
		if header {
			full = "#!lua\n" + full
		}
		sum := sha1.Sum([]byte(full))
		return script{name: name, source: full, sha: hex.EncodeToString(sum[:])}
	}
	return &scripts{
		put: make("put_v3", putSource), renew: make("renew_v1", renewSource),
		commit: make("commit_v1", commitSource), close: make("close_v2", closeSource),
		claim: make("claim_v2", claimSource), handover: make("handover_v1", handoverSource),
		settle: make("settle_v1", settleSource), park: make("park_v3", parkSource),
		endWait: make("end_wait_v3", endWaitSource), sent: make("sent_v2", sentSource),
		sendClaim: make("send_claim_v1", sendClaimSource),
		edit:      make("edit_v1", editSource), remove: make("remove_v2", removeSource),
		stamp: make("stamp_v1", stampSource), closeGap: make("close_gap_v1", closeGapSource),
		mend: make("mend_v2", mendSource), aside: make("aside_v2", asideSource), abandon: make("abandon_v2", abandonSource),
		taskClaim: make("task_claim_v1", taskClaimSource), taskRenew: make("task_renew_v1", taskRenewSource),
		taskEnd: make("task_end_v1", taskEndSource), handBack: make("hand_back_v2", handBackSource),
		route: make("route_v1", routeSource), storeSet: make("store_set_v1", storeSetSource),
		erase: make("erase_v2", eraseSource), notify: make("notify_v1", notifySource),
	}
}

// call is one script with its keys and arguments.
type call struct {
	script *script
	keys   []string
	args   []any
}

// run sends calls in one pipeline, in their order, and answers each. A server
// that has forgotten a script is told it again. What got no answer for want of
// a connection, or was refused for a reason that passes, is sent again until
// ctx ends: every script answers a repeated call as it answered the first. An
// attempt takes half of CallTimeout at first, so that a connection that was lost
// without a word leaves time for another.
func (b *Box) run(ctx context.Context, calls []call) ([][]any, []error) {
	results, errs := make([][]any, len(calls)), make([]error, len(calls))
	left, mended := make([]int, len(calls)), map[int]bool{}
	for i := range left {
		left[i] = i
	}
	attempt := b.opts.CallTimeout / 2
	for pause := time.Duration(0); len(left) > 0; pause = min(2*pause+5*time.Millisecond, 250*time.Millisecond) {
		if pause > 0 && !waited(ctx, pause) {
			break
		}
		once, cancel := context.WithTimeout(ctx, attempt)
		attempt *= 2
		cmds := make([]*redis.Cmd, len(left))
		b.trips.Add(1)
		_, _ = b.rdb.Pipelined(once, func(p redis.Pipeliner) error {
			for n, i := range left {
				c := calls[i]
				cmds[n] = p.EvalSha(once, c.script.sha, c.keys, c.args...)
			}
			return nil
		})
		cancel()
		var again []int
		var forgotten []*script
		for n, i := range left {
			value, err := cmds[n].Slice()
			results[i], errs[i] = value, nil
			if err == nil {
				continue
			}
			errs[i] = fmt.Errorf("%s: %w", calls[i].script.name, err)
			switch {
			case redis.HasErrorPrefix(err, "NOSCRIPT"):
				forgotten = append(forgotten, calls[i].script)
				again = append(again, i)
			case passing(err), refused(err):
				again = append(again, i)
			case broken(err) && !mended[i]:
				mended[i] = true
				if b.mendFor(ctx, calls[i], err) {
					again = append(again, i)
				}
			}
		}
		if len(forgotten) > 0 {
			if err := b.load(ctx, b.lessons(forgotten)); err != nil && !away(err) {
				break
			}
		}
		left = again
	}
	return results, errs
}

// waited lets a pause go by; false when ctx ends first.
func waited(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// one runs a single call.
func (b *Box) one(ctx context.Context, s *script, keys []string, args ...any) ([]any, error) {
	results, errs := b.run(ctx, []call{{s, keys, args}})
	return results[0], errs[0]
}

// lessons are the scripts to be taught where some were not known. A server that
// has forgotten one has forgotten all. The embedded store is as slow to read them
// as it is near, so that it is taught those alone that are called.
func (b *Box) lessons(forgotten []*script) []*script {
	if b.embed == nil {
		return b.scripts.all()
	}
	slices.SortFunc(forgotten, func(a, b *script) int { return strings.Compare(a.sha, b.sha) })
	return slices.Compact(forgotten)
}

// load teaches every primary some scripts, in one round trip.
func (b *Box) load(ctx context.Context, lessons []*script) error {
	teach := func(ctx context.Context, c redis.Cmdable) error {
		_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, s := range lessons {
				p.ScriptLoad(ctx, s.source)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("load scripts: %w", err)
		}
		return nil
	}
	if cluster, ok := b.rdb.(*redis.ClusterClient); ok {
		return cluster.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error { return teach(ctx, c) })
	}
	return teach(ctx, b.rdb)
}
