// Package app is Reeve as a command: settings, subcommands and wiring. A
// distribution with other plugins is a main of a dozen lines that calls Main
// with its own list.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/time/rate"

	"reeve/plugins"
	"reeve/plugins/outbound"
)

// Exit codes. Only check ends with ExitUnreachable: run waits for what it
// cannot reach.
const (
	ExitOK            = 0
	ExitError         = 1
	ExitUsage         = 2
	ExitConfiguration = 3 // wrong credentials too
	ExitUnreachable   = 4
)

// Options are what another main, or a test, can change and an operator cannot.
// A zero value stands for the shipped one.
type Options struct {
	// Version is printed by the version command; empty: what the build knows.
	Version        string
	Stdout, Stderr io.Writer
	// Environ is read in place of the process's own, as NAME=VALUE.
	Environ []string
	// Dotenv is the file whose variables are read first; empty: ".env".
	Dotenv string

	// LeaseTTL is how long a run's or a sender's lease lasts, and LeaseMargin how much
	// earlier its holder stops to trust it. RenewEvery is the pause between
	// renewals.
	LeaseTTL, LeaseMargin, RenewEvery time.Duration
	// RetryEvery is the first pause before something unreachable is tried
	// again; the pause doubles up to thirty times that.
	RetryEvery time.Duration
	// PostRate is how many posts a second a channel may get after a burst of
	// PostBurst; Slack's own rule is one.
	PostRate  rate.Limit
	PostBurst int
	// StampEvery is the pause between the signs that somebody can acknowledge,
	// and GapAfter the longest one after which nothing is read back.
	StampEvery, GapAfter time.Duration
	// ReadRate is how many calls a second each method gets for reading back,
	// after a burst of ReadBurst: a third of what Slack allows.
	ReadRate  rate.Limit
	ReadBurst int
	// SweepEvery is the pause between sweeps over what leases do not find, and
	// DurabilityEvery that between looks at what Redis promises to keep.
	SweepEvery, DurabilityEvery time.Duration
	// TaskPause is the pause after the first try of a completed-turn task.
	TaskPause time.Duration
	// Untouched is the age at which what nobody has touched is not gone on with
	// by itself.
	Untouched time.Duration
	// ModelWaits are the pauses between the attempts of one model call, and
	// ModelMaxWait all of them together. ModelIdle cuts an attempt in which no
	// byte comes, ModelAttempt every one. Package openai has the shipped values.
	ModelWaits                            []time.Duration
	ModelMaxWait, ModelIdle, ModelAttempt time.Duration

	// Outbound is how the clients of plugins and of accounts reach the world: a
	// suite lets them reach this machine.
	Outbound outbound.Options

	// At is called at each of Points, on whatever goroutine passes there, which
	// waits for it. Tests let a process die in it; nil, as shipped: nothing.
	At func(point string)
}

func (o Options) withDefaults() Options {
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Dotenv == "" {
		o.Dotenv = ".env"
	}
	for interval, shipped := range map[*time.Duration]time.Duration{
		&o.LeaseTTL:        10 * time.Second,
		&o.LeaseMargin:     2 * time.Second,
		&o.RenewEvery:      3 * time.Second,
		&o.RetryEvery:      time.Second,
		&o.StampEvery:      2 * time.Second,
		&o.GapAfter:        5 * time.Second,
		&o.SweepEvery:      time.Minute,
		&o.DurabilityEvery: time.Hour,
		&o.Untouched:       24 * time.Hour,
		&o.TaskPause:       5 * time.Second,
	} {
		if *interval == 0 {
			*interval = shipped
		}
	}
	return o
}

// commands is the command line.
type commands struct {
	Run        runCommand        `cmd:"" help:"Work for a Slack workspace until SIGTERM."`
	Playground playgroundCommand `cmd:"" help:"Try the bot in the browser, without an account or a key."`
	Turns      turnsCommand      `cmd:"" help:"List the turns that are open, and the messages that wait."`
	Turn       turnCommand       `cmd:"" help:"Tell a turn's story; end it, or resume one that nobody touched."`
	Outbox     outboxCommand     `cmd:"" help:"List the parts of answers that are not posted yet."`
	Dead       deadCommand       `cmd:"" help:"List records that could not be processed and were set aside."`
	Memories   memoriesCommand   `cmd:"" help:"List who has memories, or what is remembered of one person or channel."`
	Person     personCommand     `cmd:"" help:"Export or erase all that is kept of a person, or list and disconnect their accounts."`
	Keys       keysCommand       `cmd:"" help:"List the keys that seal people's accounts, or rotate them."`
	Audit      auditCommand      `cmd:"" help:"Print what was done with people's rights, and by whose decision."`
	Check      checkCommand      `cmd:"" help:"Test settings, tokens, Redis and model, and say how to mend what is wrong."`
	Manifest   manifestCommand   `cmd:"" help:"Print the manifest from which Slack makes the app."`
	Version    versionCommand    `cmd:"" help:"Print the version."`
}

// process is what a command gets to work with.
type process struct {
	ctx     context.Context
	plugins []plugins.Plugin
	options Options
	// secrets are those of the settings, once they are read.
	secrets []string
}

// Main runs one command and returns the exit code. compiled are the plugins
// that this binary can use.
func Main(args []string, compiled []plugins.Plugin, options Options) int {
	options = options.withDefaults()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The second signal ends the process at once.
	defer context.AfterFunc(ctx, stop)()
	p := &process{ctx: ctx, plugins: compiled, options: options}

	command, code, done := parseArgs(args, options)
	if done {
		return code
	}
	err := command.Run(p)
	if err == nil {
		return ExitOK
	}
	var silent checkError
	if !errors.As(err, &silent) {
		stderr := redactedWriter{options.Stderr, newRedactor(p.secrets...)}
		var config *ConfigError
		if errors.As(err, &config) {
			for _, problem := range config.Problems {
				_, _ = fmt.Fprintf(stderr, "reeve: %s\n", problem)
			}
		} else {
			_, _ = fmt.Fprintf(stderr, "reeve: %v\n", err)
		}
	}
	return exitCode(err)
}

// parseArgs reads the command line; done says that nothing is left to do.
func parseArgs(args []string, options Options) (command *kong.Context, code int, done bool) {
	// kong ends the process after it has printed help: here the panic does.
	type exit int
	defer func() {
		if e, ok := recover().(exit); ok {
			command, code, done = nil, int(e), true
		}
	}()
	parser, err := kong.New(&commands{},
		kong.Name("reeve"),
		kong.Description("A Slack agent that acts for one person at a time. It is configured by environment variables; docs/configuration.md lists them."),
		kong.Writers(options.Stdout, options.Stderr),
		kong.Exit(func(code int) { panic(exit(code)) }),
	)
	if err != nil {
		panic(err) // the struct above is wrong
	}
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "help":
		args = append(slices.Clone(args[1:]), "--help")
	}
	command, err = parser.Parse(args)
	if err != nil {
		_, _ = fmt.Fprintf(options.Stderr, "reeve: %v\nTry: reeve --help\n", err)
		return nil, ExitUsage, true
	}
	return command, 0, false
}

// usageError is a command line that parses and makes no sense.
type usageError string

func (e usageError) Error() string { return string(e) }

func exitCode(err error) int {
	var config *ConfigError
	var usage usageError
	var check checkError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &config):
		return ExitConfiguration
	case errors.As(err, &usage):
		return ExitUsage
	case errors.As(err, &check):
		return int(check)
	default:
		return ExitError
	}
}

// settings reads .env and the environment. From then on the options hold both,
// for the settings of plugins.
func (p *process) settings() (Settings, error) {
	variables, err := environment(p.options.Environ, p.options.Dotenv)
	if err != nil {
		return Settings{}, &ConfigError{[]string{err.Error()}}
	}
	p.options.Environ = nil
	for name, value := range variables {
		p.options.Environ = append(p.options.Environ, name+"="+value)
	}
	settings, err := ParseSettings(variables)
	p.secrets = append(settings.secrets(), appSecrets(settings.OAuthProviders, variables)...)
	return settings, err
}
