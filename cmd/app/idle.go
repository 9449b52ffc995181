package app

import (
	"log/slog"
	"slices"
	"strings"

	"reeve/credentials/oauth"
	"reeve/plugins"
)

// optionalSetting is one that a plugin or a provider alone goes by.
type optionalSetting struct {
	name string
	in   string // where its user is switched on: PLUGINS or OAUTH_PROVIDERS
	user string
}

// pluginSettings are those of plugins. One that needs an account besides has a
// second row.
var pluginSettings = []optionalSetting{
	{"MCP_CONFIG", "PLUGINS", "mcp"},
	{"EMBEDDING_MODEL", "PLUGINS", "memory"},
	{"MEMORY_EXTRACTION", "PLUGINS", "memory"},
	{"ECHO_KEEP", "PLUGINS", "echo"},
	{"GITHUB_ACCESS", "PLUGINS", "github"},
	{"GITHUB_ACCESS", "OAUTH_PROVIDERS", "github"},
	{"GITHUB_API_URL", "PLUGINS", "github"},
	{"GITHUB_API_URL", "OAUTH_PROVIDERS", "github"},
	{"GITHUB_APP_ID", "PLUGINS", "github"},
	{"GITHUB_APP_ID", "OAUTH_PROVIDERS", "github"},
	{"GITHUB_APP_PRIVATE_KEY", "PLUGINS", "github"},
	{"GITHUB_APP_PRIVATE_KEY", "OAUTH_PROVIDERS", "github"},
	{"GITHUB_APP_PRIVATE_KEY_FILE", "PLUGINS", "github"},
	{"GITHUB_APP_PRIVATE_KEY_FILE", "OAUTH_PROVIDERS", "github"},
}

// optionalSettings are those of plugins and of providers: the built-in ones, and
// those that are named.
func optionalSettings(providers []string) []optionalSetting {
	all := slices.Clone(pluginSettings)
	names := slices.Clone(providers)
	for name := range oauth.Builtin() {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		for _, s := range oauth.SettingsOf(name) {
			all = append(all, optionalSetting{s.Name, "OAUTH_PROVIDERS", name})
		}
	}
	return all
}

// String says of one that is set that it has no effect.
func (s optionalSetting) String() string {
	if s.in == "PLUGINS" {
		return s.name + " is set, and has no effect: the plugin " + s.user + " is off"
	}
	return s.name + " is set, and has no effect: " + s.in + " does not name " + s.user
}

func (s optionalSetting) fix() string {
	if s.in == "PLUGINS" {
		return "name " + s.user + " in PLUGINS, beside the others that are to be on, or unset " + s.name
	}
	return "name " + s.user + " in " + s.in + ", or unset " + s.name
}

// idleSettings are set, and have no effect, since what goes by them is off. Each is
// told of once.
func idleSettings(environ []string, providers []string, chosen []plugins.Plugin) []optionalSetting {
	set := map[string]string{}
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		set[name] = value
	}
	on := map[string][]string{"PLUGINS": names(chosen), "OAUTH_PROVIDERS": providers}
	var idle []optionalSetting
	for _, s := range optionalSettings(providers) {
		told := slices.ContainsFunc(idle, func(i optionalSetting) bool { return i.name == s.name })
		// Who says "off" of what is off is not mistaken.
		if value := set[s.name]; value != "" && value != "off" && !told && !slices.Contains(on[s.in], s.user) {
			idle = append(idle, s)
		}
	}
	return idle
}

func warnIdle(log *slog.Logger, environ []string, providers []string, chosen []plugins.Plugin) {
	for _, s := range idleSettings(environ, providers, chosen) {
		log.Warn(s.String(), "fix", s.fix())
	}
}

func checkIdle(environ []string, providers []string, chosen []plugins.Plugin) []finding {
	var found []finding
	for _, s := range idleSettings(environ, providers, chosen) {
		found = append(found, finding{test: "settings", result: warned, detail: s.String(), fix: s.fix()})
	}
	return found
}
