package app

import (
	"log/slog"
	"slices"
	"strings"

	"reeve/plugins"
)

// pluginSettings are the settings of the host's that one plugin alone goes by.
var pluginSettings = []struct{ name, plugin string }{
	{"MCP_CONFIG", "mcp"},
	{"EMBEDDING_MODEL", "memory"},
	{"MEMORY_EXTRACTION", "memory"},
}

// idleSetting is one that is set, and has no effect, since its plugin is off.
type idleSetting struct{ name, plugin string }

func (s idleSetting) String() string {
	return s.name + " is set, and has no effect: the plugin " + s.plugin + " is off"
}

func (s idleSetting) fix() string {
	return "name " + s.plugin + " in PLUGINS, beside the others that are to be on, or unset " + s.name
}

func idleSettings(environ []string, chosen []plugins.Plugin) []idleSetting {
	set := map[string]string{}
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		set[name] = value
	}
	var idle []idleSetting
	for _, s := range pluginSettings {
		// Who says "off" of what is off is not mistaken.
		if value := set[s.name]; value != "" && value != "off" && !slices.Contains(names(chosen), s.plugin) {
			idle = append(idle, idleSetting(s))
		}
	}
	return idle
}

func warnIdle(log *slog.Logger, environ []string, chosen []plugins.Plugin) {
	for _, s := range idleSettings(environ, chosen) {
		log.Warn(s.String(), "fix", s.fix())
	}
}

func checkIdle(environ []string, chosen []plugins.Plugin) []finding {
	var found []finding
	for _, s := range idleSettings(environ, chosen) {
		found = append(found, finding{test: "settings", result: warned, detail: s.String(), fix: s.fix()})
	}
	return found
}
