// Package mcp is the plugin that offers the tools of MCP servers. MCP_CONFIG
// names the operator's file; docs/mcp.md tells of it.
//
// What a server says of itself is never believed. Its tools are writing, once
// and sending until the file says otherwise; its annotations are only printed.
// A tool that is no longer what it was when it was first seen is withdrawn. A
// server's process has its own environment, its own group, and nothing of
// Reeve's but what the file gives it.
//
// One goroutine lives for each server (server.run): it connects, lists, offers,
// waits until the connection ends, and connects again. A call finds the session
// that there is at its moment, or says that there is none.
//
// A server with people's accounts has no such connection (accounts.go): where it
// is that people connect them is found out and kept, its tools are the operator's
// list, and each call is a session of its own with its actor's account.
package mcp

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"reeve/plugins"
)

// Options are what the plugin needs of its main. Zero values mean the defaults.
type Options struct {
	// Environ is where a server's process gets PATH, HOME and the like from, as
	// NAME=VALUE. Nothing else of it is handed on.
	Environ []string
	// Reload asks for the file to be read again; nil: SIGHUP does.
	Reload <-chan os.Signal
	// Retry is the pause before a server is connected to again, 1 s; it doubles
	// up to sixty times that.
	Retry time.Duration
	// ConnectTimeout bounds one try to connect and to list: 1 min, since a
	// server may have to be installed first.
	ConnectTimeout time.Duration
	// Settle is the pause after a listing before the next: 1 s. A server that
	// announces changes without an end costs no more than that.
	Settle time.Duration
	// Grace is what a server's process is given to end by itself after its input
	// was closed, and again after SIGTERM: 2 s.
	Grace time.Duration
	// MaxMessage is the longest message of a server in bytes: 8 MiB.
	MaxMessage int
}

// Plugin offers the tools of MCP servers. It is one for a process.
type Plugin struct{ options Options }

// New is the plugin. Without MCP_CONFIG it offers nothing.
func New(options Options) *Plugin { return &Plugin{options.withDefaults()} }

// Name is the plugin's.
func (*Plugin) Name() string { return "mcp" }

// settings are the variables that begin with MCP_.
type settings struct {
	Config string `env:"CONFIG"`
}

// Open reads the file. Servers are connected to in the background.
func (p *Plugin) Open(_ context.Context, services plugins.Services) (plugins.Extension, error) {
	path, err := configPath(services)
	if err != nil || path == "" {
		return plugins.Extension{}, err
	}
	list, err := readConfig(path, services.Settings)
	if err != nil {
		return plugins.Extension{}, err
	}
	h := &hub{options: p.options, path: path, config: list, services: services}
	return plugins.Extension{Run: h.run}, nil
}

func configPath(services plugins.Services) (string, error) {
	if services.Settings == nil {
		return "", errors.New("read MCP_CONFIG: there are no settings")
	}
	var set settings
	if err := services.Settings(&set); err != nil {
		return "", err
	}
	return set.Config, nil
}

// reloads is where a wish to read the file again comes from, until stop.
func (o Options) reloads() (wishes <-chan os.Signal, stop func()) {
	if o.Reload != nil {
		return o.Reload, func() {}
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	return hangups, func() { signal.Stop(hangups) }
}

func (o Options) withDefaults() Options {
	for interval, shipped := range map[*time.Duration]time.Duration{
		&o.Retry: time.Second, &o.ConnectTimeout: time.Minute, &o.Settle: time.Second, &o.Grace: 2 * time.Second,
	} {
		if *interval == 0 {
			*interval = shipped
		}
	}
	if o.MaxMessage == 0 {
		o.MaxMessage = 8 << 20
	}
	return o
}

func logger(services plugins.Services) *slog.Logger {
	if services.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return services.Log
}
