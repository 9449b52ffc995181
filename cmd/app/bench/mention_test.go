package bench

import (
	"fmt"
	"testing"
	"time"

	"reeve/slackapp/simulator"
)

// stage has both bots at work, each in a Slack of its own, and the bare script.
type stage struct {
	model        *provider
	naive, reeve *workspace
	// The processes.
	naiveBot, reeveBot *bot
	script             *bareScript
}

func newStage(b *testing.B) *stage {
	b.Helper()
	server := newRedis(b)
	s := &stage{model: newProvider(b), naive: newWorkspace(b), reeve: newWorkspace(b)}
	s.naiveBot = startRole(b, roleNaive, place{slack: s.naive.Server, model: s.model, redis: server.URL(), prefix: "naive"})
	s.reeveBot = startRole(b, roleReeve, place{slack: s.reeve.Server, model: s.model, redis: server.URL(), prefix: "reeve"})
	const warm = 200 // the receipts' burst is over, too
	s.naive.askMany(warm, 4)
	s.reeve.askMany(warm, 4)
	s.script = seeScript(b, server, s.reeve, "reeve")
	s.script.measure(b, 100)
	return s
}

// oneAtATime asks both bots in turns. Between two mentions is time for what is
// done after a reply: it is a mention's cost, and not its delay.
func (s *stage) oneAtATime(b *testing.B) {
	pause := time.NewTicker(10 * time.Millisecond)
	defer pause.Stop()
	var bare, naive, reeve times
	for range 400 {
		<-pause.C
		bare = append(bare, s.script.measure(b, 2)...)
		<-pause.C
		naive = append(naive, s.naive.ask())
		<-pause.C
		reeve = append(reeve, s.reeve.ask())
	}
	if b.Failed() {
		return
	}
	yardstick := naive.median() + 2*bare.median()
	r := ratio(reeve.median(), yardstick)
	results.add(row{what: "bare script, one writer: median, p99", got: ms(bare.median()) + ", " + ms(bare.p99())})
	results.add(row{what: "mention -> reply, naive bot: median, p99", got: ms(naive.median()) + ", " + ms(naive.p99())})
	results.add(row{
		what: "mention -> reply, Reeve: median, p99", goal: "<= 1.25x (naive + 2 scripts = " + ms(yardstick) + ")",
		got: ms(reeve.median()) + ", " + ms(reeve.p99()), ratio: multiple(r), met: judged(r <= 1.25),
	})
	b.ReportMetric(r, "mention-ratio")
	const counted = 50
	before := roundTrips(b, s.script.client)
	for range counted {
		s.reeve.ask()
	}
	results.add(row{
		what: "round trips to Redis, a mention and its reply, with all that follows",
		got:  fmt.Sprintf("%.1f", float64(roundTrips(b, s.script.client)-before)/counted),
	})
}

// manyAtOnce keeps 20 mentions in flight.
func (s *stage) manyAtOnce(b *testing.B) {
	const inFlight, each, rounds = 20, 500, 5
	var naive, reeve []float64
	cpuNaive, cpuReeve := s.naiveBot.cpu(), s.reeveBot.cpu()
	for range rounds {
		naive = append(naive, s.naive.askMany(each, inFlight))
		reeve = append(reeve, s.reeve.askMany(each, inFlight))
	}
	if b.Failed() {
		return
	}
	cpuNaive, cpuReeve = (s.naiveBot.cpu()-cpuNaive)/(rounds*each), (s.reeveBot.cpu()-cpuReeve)/(rounds*each)
	r := medianOf(reeve) / medianOf(naive)
	results.add(row{what: "mentions a second, 20 in flight, naive bot", got: fmt.Sprintf("%.0f/s", medianOf(naive))})
	results.add(row{
		what: "mentions a second, 20 in flight, Reeve", goal: ">= 0.7x naive",
		got: fmt.Sprintf("%.0f/s", medianOf(reeve)), ratio: multiple(r), met: judged(r >= 0.7),
	})
	results.add(row{
		what: "CPU time a mention, naive bot, Reeve", got: ms(cpuNaive) + ", " + ms(cpuReeve), ratio: multiple(ratio(cpuReeve, cpuNaive)),
	})
	b.ReportMetric(r, "throughput-ratio")
}

// acknowledgement sends 200 messages a second, as steers of turns whose model
// calls are held, and then as mentions that each become a turn and a reply.
func (s *stage) acknowledgement(b *testing.B) {
	const held, rate, seconds = 100, 200, 4
	var threads [][2]string
	for range held {
		in, ts := s.reeve.mention("HOLD-ack")
		threads = append(threads, [2]string{in, ts})
		<-s.model.arrived
	}
	text := "<@" + s.reeve.Bot().UserID + "> and more"
	for _, kind := range []struct {
		name string
		say  func(int) (ts string)
	}{
		{"steers", func(n int) string {
			t := threads[n%held]
			s.reeve.Say(simulator.Alice, t[0], text, simulator.SayOptions{Thread: t[1]})
			return ""
		}},
		{"mentions that start turns", func(int) string {
			_, ts := s.reeve.mention("what is new?")
			return ts
		}},
	} {
		bare := s.script.measure(b, 400)
		mark := s.reeve.Mark()
		tick := time.NewTicker(time.Second / rate)
		var started []string
		for n := range rate * seconds {
			<-tick.C
			if ts := kind.say(n); ts != "" {
				started = append(started, ts)
			}
		}
		tick.Stop()
		for _, ts := range started {
			s.reeve.reply(ts)
		}
		ctx, cancel := patience()
		err := s.reeve.WaitSettled(ctx)
		cancel()
		acks := s.reeve.acks(mark)
		bare = append(bare, s.script.measure(b, 400)...)
		if err != nil || len(acks) != rate*seconds {
			b.Errorf("%d of %d messages were acknowledged (%v)", len(acks), rate*seconds, err)
			return
		}
		for _, p := range []struct {
			name      string
			got, bare time.Duration
		}{{"median", acks.median(), bare.median()}, {"p99", acks.p99(), bare.p99()}} {
			r := ratio(p.got, p.bare)
			results.add(row{
				what: fmt.Sprintf("envelope -> durable, acknowledged, %d/s, %s: %s", rate, kind.name, p.name),
				goal: "<= 3x the bare script's " + ms(p.bare), got: ms(p.got), ratio: multiple(r), met: judged(r <= 3),
			})
		}
	}
	s.model.release()
	for _, t := range threads {
		s.reeve.reply(t[1])
	}
}

// memory has Reeve know 10,000 conversations, and run 500 turns.
func (s *stage) memory(b *testing.B) {
	const known, running, most = 10_000, 500, 250
	if missing := known - int(s.reeve.next.Load()); missing > 0 {
		s.reeve.askMany(missing, 40)
	}
	for range running {
		s.reeve.mention("HOLD-memory", simulator.SayOptions{Twin: simulator.MessageOnly})
	}
	ctx, cancel := patience()
	defer cancel()
	for n := range running {
		select {
		case <-s.model.arrived:
		case <-ctx.Done():
			b.Errorf("%d of %d turns run at once", n, running)
			return
		}
	}
	mb := s.reeveBot.resident()
	results.add(row{
		what: fmt.Sprintf("resident, %d conversations known, %d turns running", s.reeve.next.Load(), running),
		goal: fmt.Sprintf("< %d MB", most), got: fmt.Sprintf("%.0f MB", mb), met: judged(mb < most),
	})
	s.model.release()
}
