package app

import (
	"maps"
	"os"
	"slices"
	"strings"

	"reeve/plugins"
)

// checkDotenv looks for what a start lets pass: names that set nothing, and
// secrets that others on the machine can read. A file that cannot be read is
// told of with the settings.
func checkDotenv(file string, providers []string, compiled []plugins.Plugin) []finding {
	info, err := os.Stat(file)
	if err != nil {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	set, err := parseDotenv(string(text))
	if err != nil {
		return nil
	}
	var found []finding
	var secret string
	known := knownNames(providers)
	for _, name := range slices.Sorted(maps.Keys(set)) {
		isSecret, ok := known[name]
		if !ok {
			isSecret, ok = secretsOfPlugins(name, known, compiled)
		}
		switch {
		case !ok:
			found = append(found, finding{file, warned, name + " is no setting", "take it out, or correct its name" + meant(name, known)})
		case isSecret && set[name] != "" && secret == "":
			secret = name
		}
	}
	if secret != "" && info.Mode().Perm()&0o004 != 0 {
		found = append(found, finding{file, warned, "everybody on this machine can read it, and it holds " + secret, "chmod 600 " + file})
	}
	return found
}

// knownNames are the settings of the host, of its plugins and of providers, and
// whether each is a secret.
func knownNames(providers []string) map[string]bool {
	known := map[string]bool{}
	for _, s := range optionalSettings(providers) {
		known[s.name] = strings.HasSuffix(s.name, "_CLIENT_SECRET") || strings.HasSuffix(s.name, "_PRIVATE_KEY")
	}
	for _, s := range settingsList() {
		known[s.Name] = s.Secret
	}
	return known
}

// secretsOfPlugins knows a name that begins with a plugin's of which not all
// settings are known: one of somebody else's, or mcp, whose file may be filled with
// any. What they hold may be secret.
func secretsOfPlugins(name string, known map[string]bool, compiled []plugins.Plugin) (isSecret, ok bool) {
	for _, plugin := range compiled {
		prefix := strings.ToUpper(plugin.Name()) + "_"
		listed := slices.ContainsFunc(slices.Collect(maps.Keys(known)), func(k string) bool { return strings.HasPrefix(k, prefix) })
		if strings.HasPrefix(name, prefix) && (!listed || prefix == "MCP_") {
			return true, true
		}
	}
	return false, false
}

// meant names the setting that begins as the name does for most of its length.
func meant(name string, known map[string]bool) string {
	for n := len(name); n > len(name)*2/3; n-- {
		for _, other := range slices.Sorted(maps.Keys(known)) {
			if strings.HasPrefix(other, strings.ToUpper(name[:n])) {
				return " (did you mean " + other + "?)"
			}
		}
	}
	return ""
}
