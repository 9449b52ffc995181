package agent

import (
	"context"
	"errors"
	"strings"
	"time"
)

const (
	// summaryTime bounds the model call for a summary.
	summaryTime = time.Minute
	// leastTokens is the smallest request that is tried after one was too long.
	leastTokens = 1000
)

// compact has the model summarise the earlier turns for which the next request
// has no room, and writes the summary to the log: it stands for them from then
// on, in this turn and in its actor's later ones. What goes wrong costs the
// summary alone: what does not fit is then left out, and a note says so.
func (r *run) compact(ctx context.Context) (done bool, err error) {
	if r.compacted == r.limit {
		return false, nil
	}
	s, needed := overflow(r.turn, r.limit)
	if !needed {
		return false, nil
	}
	r.compacted = r.limit
	asking, cancel := context.WithTimeout(ctx, summaryTime)
	reply, err := r.complete(asking, summaryRequest(r.turn, s, r.limit))
	cancel()
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err == nil && strings.TrimSpace(reply.Text) == "" {
		err = errors.New("the model gave no text")
	}
	if err != nil {
		r.options.Logger.Warn("earlier turns not summarised", "turn", r.turn.ID, "err", err)
		return false, nil
	}
	e := r.summaryEntry(s, reply.Text, reply.Tokens)
	if err := r.log.Commit(ctx, e); err != nil {
		return false, err
	}
	r.turn.Before = summarised(r.turn.Before, e)
	r.options.Logger.Info("earlier turns summarised", "turn", r.turn.ID, "from", s.covers.From, "to", s.covers.To, "tokens", reply.Tokens)
	return true, nil
}

// tooLong reports whether the model refused a request as too long, and a smaller
// one is worth a try: one for each request. Every later one is smaller too.
func (r *run) tooLong(err error) bool {
	var failure *Failure
	if !errors.As(err, &failure) || failure.Kind != TooLong {
		r.shrunk = false
		return false
	}
	smaller := min(r.limit, Estimate(BuildRequest(r.turn, r.tools, r.limit))) / 2
	if r.shrunk || smaller < leastTokens {
		return false
	}
	r.options.Logger.Warn("request too long", "turn", r.turn.ID, "limit", r.limit, "next", smaller)
	r.limit, r.shrunk = smaller, true
	return true
}
