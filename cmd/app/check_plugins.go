package app

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"reeve/plugins"
)

// reporter is a plugin that can say more of itself than whether it opens: what
// it reaches, and what it offers there.
type reporter interface {
	// Report answers lines for the operator, and warnings of what works
	// otherwise than its settings let one think. An error says, a line each,
	// what cannot be reached.
	Report(ctx context.Context, services plugins.Services) (lines, warnings []string, err error)
}

// checkPlugins opens each plugin, and has those report that can.
func checkPlugins(ctx context.Context, chosen []plugins.Plugin, options Options) []finding {
	log := slog.New(slog.DiscardHandler)
	var found []finding
	for _, plugin := range chosen {
		test := "plugin " + plugin.Name()
		furnishForCheck(plugin)
		with := services(plugin.Name(), log, options, func([]plugins.Tool) error { return nil })
		with.Providers = checkedProviders(options, plugin.Name())
		if _, err := openPlugin(ctx, plugin, with); err != nil {
			for line := range strings.Lines(err.Error()) {
				found = append(found, finding{test: test, result: wrong, detail: strings.TrimSpace(line)})
			}
			continue
		}
		can, ok := plugin.(reporter)
		if !ok {
			continue
		}
		// A server may have to be installed first.
		asking, cancel := context.WithTimeout(ctx, 2*time.Minute)
		lines, warnings, err := can.Report(asking, with)
		cancel()
		for _, line := range lines {
			found = append(found, finding{test: test, detail: line})
		}
		for _, line := range warnings {
			found = append(found, finding{test: test, result: warned, detail: line})
		}
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				found = append(found, finding{test: test, result: unreachable, detail: strings.TrimSpace(line), fix: "see that it runs and can be reached from this machine"})
			}
		}
	}
	return found
}
