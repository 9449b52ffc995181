package slackapp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"
)

// readLimit bounds one frame from Slack, in bytes.
const readLimit = 4 << 20

// socket is one connection, from its dial to its end. Each has a client of
// slack-go of its own, which is not allowed to dial a second time: when to
// dial again is said by the pace alone.
type socket struct {
	index  int
	client *socketmode.Client
	wire   *wire
	take   func(Delivery) bool
	owner  *Sockets

	acks chan acknowledgement
	// gone is closed when no acknowledgement can be written any more.
	gone chan struct{}

	opened    time.Time // zero: never
	hello     bool      // guarded by owner.mu
	err       error     // why it ended, as far as known
	retryWait time.Duration
}

// connect opens one socket and serves it until it ends.
func (s *Sockets) connect(ctx context.Context, index int, take func(Delivery) bool) ended {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k := &socket{
		index: index, wire: newWire(), take: take, owner: s,
		acks: make(chan acknowledgement, 1024), gone: make(chan struct{}),
	}
	options := []slack.Option{
		slack.OptionAppLevelToken(s.opts.AppToken),
		slack.OptionHTTPClient(&oneOpening{client: httpClient(s.opts.CallTimeout)}),
	}
	if s.opts.APIURL != "" {
		options = append(options, slack.OptionAPIURL(s.opts.APIURL))
	}
	k.client = socketmode.New(slack.New("", options...),
		socketmode.OptionReadLimit(readLimit),
		socketmode.OptionPingInterval(s.opts.Silence),
		socketmode.OptionDialer(k.wire.dialer(s.opts.CallTimeout)))

	end := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				end <- fmt.Errorf("socket mode client: panic: %v", r)
			}
		}()
		end <- k.client.RunContext(ctx)
	}()
	var acking sync.WaitGroup
	acking.Go(func() { k.writeAcks(ctx) })
	err := k.serve(cancel, end)
	acking.Wait()
	if k.err == nil {
		k.err = err
	}
	e := ended{err: k.err, after: k.retryWait}
	if !k.opened.IsZero() {
		e.up = time.Since(k.opened)
	}
	return e
}

// serve reads what the client reports until the client has ended. It never
// works: what comes is handed on, and the reader reads.
func (k *socket) serve(stop context.CancelFunc, end <-chan error) error {
	watch := time.NewTicker(min(k.owner.opts.Silence, k.owner.opts.HelloTimeout) / 6)
	defer watch.Stop()
	defer k.close()
	for {
		select {
		case ev := <-k.client.Events:
			if !k.event(ev) {
				stop()
			}
		case <-watch.C:
			if err := k.dead(); err != nil {
				k.fail(err)
				stop()
			}
		case err := <-end:
			for {
				select {
				case ev := <-k.client.Events:
					k.event(ev)
					continue
				default:
				}
				return err
			}
		}
	}
}

// event takes one event of the client. false: the connection is over.
func (k *socket) event(ev socketmode.Event) bool {
	s := k.owner
	switch ev.Type {
	case socketmode.EventTypeConnecting:
		if c, ok := ev.Data.(*slack.ConnectingEvent); ok && (c.ConnectionCount > 0 || c.Attempt > 1) {
			k.fail(errors.New("the connection was closed"))
			return false
		}
	case socketmode.EventTypeConnectionError:
		if c, ok := ev.Data.(*slack.ConnectionErrorEvent); ok {
			k.fail(c.ErrorObj)
			if limited, ok := errors.AsType[*slack.RateLimitedError](c.ErrorObj); ok {
				k.retryWait = limited.RetryAfter
			}
		}
		return false
	case socketmode.EventTypeConnected:
		s.change(func() {
			k.opened = time.Now()
			s.live = append(s.live, k)
			s.connects++
		})
	case socketmode.EventTypeHello:
		s.change(func() {
			k.hello = true
			s.counted = ev.Request.NumConnections
		})
		s.log.Info("socket ready", "socket", k.index, "sockets_of_app", ev.Request.NumConnections)
	case socketmode.EventTypeIncomingError:
		if c, ok := ev.Data.(*slack.IncomingEventError); ok {
			s.log.Debug("socket read", "socket", k.index, "err", scrubbed(c.ErrorObj))
		}
	case socketmode.EventTypeErrorWriteFailed:
		k.wire.unwritten.Store(0)
		s.log.Warn("acknowledgement not written", "socket", k.index)
	case socketmode.EventTypeErrorBadMessage:
		// slack-go does not know the event, or one block of it; we may, and
		// it has to be acknowledged in any case.
		var env Envelope
		if bad, ok := ev.Data.(*socketmode.ErrorBadMessage); ok && json.Unmarshal(bad.Message, &env) == nil {
			k.handOn(env)
		}
	default:
		if r := ev.Request; r != nil {
			k.handOn(Envelope{ID: r.EnvelopeID, Type: r.Type, Payload: r.Payload, Attempt: r.RetryAttempt, Reason: r.RetryReason, Accepts: r.AcceptsResponsePayload})
		}
	}
	return true
}

func (k *socket) handOn(env Envelope) {
	if env.ID != "" {
		d := Delivery{Envelope: env, Ack: func() { k.owner.ack(k, acknowledgement{id: env.ID}) }}
		if env.Accepts {
			d.Answer = func(answer any) { k.owner.ack(k, acknowledgement{env.ID, answer}) }
		}
		k.take(d)
	}
}

// fail keeps the first reason.
func (k *socket) fail(err error) {
	if k.err == nil {
		k.err = err
	}
}

// dead says why the socket counts as dead, if it does.
func (k *socket) dead() error {
	switch {
	case k.opened.IsZero():
		return nil
	case k.wire.silent() > k.owner.opts.Silence:
		return errSilent
	case !k.hello && time.Since(k.opened) > k.owner.opts.HelloTimeout:
		return errNoHello
	}
	return nil
}

func (k *socket) close() {
	k.owner.change(func() {
		k.owner.live = slices.DeleteFunc(k.owner.live, func(o *socket) bool { return o == k })
	})
	close(k.gone)
}

// acknowledgement is an envelope's id, with an answer where it takes one.
type acknowledgement struct {
	id     string
	answer any
}

// ack queues an acknowledgement and returns at once; false: it cannot be sent
// here.
func (k *socket) ack(a acknowledgement) bool {
	select {
	case <-k.gone:
		return false
	default:
	}
	k.wire.unwritten.Add(1)
	select {
	case k.acks <- a:
		return true
	default:
		k.wire.unwritten.Add(-1)
		return false
	}
}

// writeAcks hands acknowledgements to the client, whose own queue is short
// and blocks.
func (k *socket) writeAcks(ctx context.Context) {
	for {
		select {
		case <-k.gone:
			return
		case a := <-k.acks:
			if err := k.client.AckCtx(ctx, a.id, a.answer); err != nil {
				k.wire.written()
			}
		}
	}
}
