package app

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
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
func checkPlugins(ctx context.Context, chosen []plugins.Plugin, s Settings, options Options) []finding {
	log := slog.New(slog.DiscardHandler)
	var found []finding
	for _, plugin := range chosen {
		test := "plugin " + plugin.Name()
		furnishForCheck(plugin)
		with := services(plugin.Name(), log, options, func([]plugins.Tool) error { return nil })
		with.Providers = checkedProviders(options, plugin.Name())
		extension, err := openPlugin(ctx, plugin, with)
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				found = append(found, finding{test, wrong, strings.TrimSpace(line), "correct that, or have PLUGINS name all that are to be on but " + plugin.Name()})
			}
			continue
		}
		found = append(found, unoffered(plugin.Name(), extension.Tools, s)...)
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
			found = append(found, finding{test, warned, line, "correct that in the plugin's settings, unless it is what you want"})
		}
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				found = append(found, finding{test: test, result: unreachable, detail: strings.TrimSpace(line), fix: "see that it runs and can be reached from this machine"})
			}
		}
	}
	return found
}

// unoffered says which tools nobody is offered, since no account can be connected
// at their provider. A plugin provides those of its own name itself. Who has named
// the plugin is warned; of others it is on without their doing.
func unoffered(plugin string, tools []plugins.Tool, s Settings) []finding {
	lacking := map[string]int{}
	for _, t := range tools {
		if t.Account && !strings.HasPrefix(t.Provider, plugin+"_") && !slices.Contains(s.OAuthProviders, t.Provider) {
			lacking[t.Provider]++
		}
	}
	var found []finding
	for _, provider := range slices.Sorted(maps.Keys(lacking)) {
		f := finding{test: "plugin " + plugin, detail: fmt.Sprintf("%d of its %d tools are offered to nobody: they need accounts at %s, which OAUTH_PROVIDERS does not name", lacking[provider], len(tools), provider)}
		if slices.Contains(s.Plugins, plugin) {
			f.result, f.fix = warned, "name "+provider+" in OAUTH_PROVIDERS, with its settings and CREDENTIAL_KEYS (docs/credentials.md), or take "+plugin+" out of PLUGINS"
		}
		found = append(found, f)
	}
	return found
}
