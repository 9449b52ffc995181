package app

import (
	"maps"
	"os"
	"slices"
	"strings"
)

// checkDotenv looks for what a start lets pass: names that set nothing, and
// secrets that others on the machine can read. A file that cannot be read is
// told of with the settings.
func checkDotenv(file string) []finding {
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
	list := settingsList()
	for _, name := range slices.Sorted(maps.Keys(set)) {
		i := slices.IndexFunc(list, func(s setting) bool { return s.Name == name })
		switch {
		case i < 0:
			found = append(found, finding{file, warned, name + " is no setting", "take it out, or correct its name" + meant(name, list)})
		case list[i].Secret && set[name] != "" && secret == "":
			secret = name
		}
	}
	if secret != "" && info.Mode().Perm()&0o004 != 0 {
		found = append(found, finding{file, warned, "everybody on this machine can read it, and it holds " + secret, "chmod 600 " + file})
	}
	return found
}

// meant names the setting that begins as the name does for most of its length.
func meant(name string, list []setting) string {
	for n := len(name); n > len(name)*2/3; n-- {
		for _, s := range list {
			if strings.HasPrefix(s.Name, strings.ToUpper(name[:n])) {
				return " (did you mean " + s.Name + "?)"
			}
		}
	}
	return ""
}
