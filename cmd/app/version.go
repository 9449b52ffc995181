package app

import (
	"fmt"
	"runtime/debug"
)

type versionCommand struct{}

func (versionCommand) Run(p *process) error {
	_, err := fmt.Fprintf(p.options.Stdout, "reeve %s\n", p.options.version())
	return err
}

// version is what the main or else the build says of itself.
func (o Options) version() string {
	if o.Version != "" {
		return o.Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := info.Main.Version
	if version == "" || version == "(devel)" {
		version = "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			version += " " + s.Value[:12]
		}
	}
	return version + " " + info.GoVersion
}
