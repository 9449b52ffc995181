package app

import (
	"net"
	"strconv"
)

type playgroundCommand struct {
	Addr string `default:"127.0.0.1:0" help:"Where to listen; a loopback address. Port 0 takes a free one."`
}

func (c playgroundCommand) Run(p *process) error {
	settings, err := p.settings()
	if err != nil {
		return err
	}
	if err := settings.ForPlayground(); err != nil {
		return err
	}
	if err := loopbackAddr(c.Addr); err != nil {
		return err
	}
	chosen, err := choose(p.plugins, settings.Plugins)
	if err != nil {
		return err
	}
	log := p.logger(settings)
	warnIdle(log, p.options.Environ, settings.OAuthProviders, chosen)
	return assembly{
		settings: settings, options: p.options, plugins: chosen, log: log,
		ready: newReadiness(),
	}.play(p.ctx, c.Addr, p.options.Stdout)
}

// loopbackAddr refuses an address that others can reach: whoever opens the
// page speaks as anybody.
func loopbackAddr(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return usageError("--addr is " + strconv.Quote(addr) + "; it may be 127.0.0.1:PORT")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil || !isLoopback(host) {
		return usageError("--addr is " + strconv.Quote(addr) + "; it may be 127.0.0.1:PORT, for the page lets everybody who opens it speak as anybody")
	}
	return nil
}
