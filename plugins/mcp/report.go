package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"reeve/plugins"
)

// Report connects to each server once, and says in lines for the operator what
// is offered as what, what the server itself suggests, and the pins. Warnings
// are of what the file says of tools and does not hold of them. An error names
// each server that cannot be reached; a file that is wrong is an error without
// lines.
func (p *Plugin) Report(ctx context.Context, services plugins.Services) (lines, warnings []string, err error) {
	path, err := configPath(services)
	if err != nil {
		return nil, nil, err
	}
	if path == "" {
		return []string{"it offers nothing: MCP_CONFIG is not set"}, nil, nil
	}
	list, err := readConfig(path, services.Settings)
	if err != nil {
		return nil, nil, err
	}
	h := &hub{options: p.options, services: plugins.Services{HTTP: services.HTTP, Providers: services.Providers}}
	reports, wrong := make([]report, len(list)), make([]error, len(list))
	var group sync.WaitGroup
	for i, config := range list {
		group.Go(func() { reports[i], wrong[i] = newServer(config, h).report(ctx) })
	}
	group.Wait()
	for _, r := range reports {
		lines, warnings = append(lines, r.lines...), append(warnings, r.warnings...)
	}
	return lines, warnings, errors.Join(wrong...)
}

// report is what there is to say of one server.
type report struct{ lines, warnings []string }

func (s *server) report(ctx context.Context) (report, error) {
	ctx, cancel := context.WithTimeout(ctx, s.hub.options.ConnectTimeout)
	defer cancel()
	if s.config.oauth != nil {
		return s.reportAccounts(ctx)
	}
	l, err := s.connect(ctx, older)
	if err != nil && ctx.Err() == nil {
		l, err = s.connect(ctx, newer)
	}
	var listed []*sdk.Tool
	if err == nil {
		defer l.close()
		listed, err = l.list(ctx)
		err = s.unanswered(ctx, err)
	}
	if err != nil {
		return report{}, fmt.Errorf("server %s: %w", s.config.name, s.mask.err(err))
	}
	whose := "spends nobody's rights"
	if s.config.credentialed() {
		whose = "spends the rights of its configuration"
	}
	return s.reportTools(listed, whose), nil
}

// reportTools says of each tool what holds.
func (s *server) reportTools(listed []*sdk.Tool, whose string) report {
	trouble := map[string]string{}
	chosen := s.choose(listed, trouble)
	var r report
	for _, e := range chosen {
		s.add(&r, e)
	}
	r.lines = slices.Insert(r.lines, 0, fmt.Sprintf("server %s: %d of %d tools; %s", s.config.name, len(r.lines), len(listed), whose))
	for _, name := range slices.Sorted(maps.Keys(trouble)) {
		why := trouble[name]
		if has(listed, name) {
			why = "not offered: " + why
		}
		r.warnings = append(r.warnings, s.mask.text(fmt.Sprintf("server %s: tool %s: %s", s.config.name, line(name), why)))
	}
	return r
}

// add says of a tool what holds, what its server suggests, and its pin.
func (s *server) add(r *report, e entry) {
	tool := s.tool(e)
	words := []string{string(tool.Access), string(tool.Effect)}
	if tool.Sends {
		words = append(words, "sends")
	}
	text := fmt.Sprintf("server %s: tool %s, offered as %s: %s", s.config.name, line(e.tool.Name), e.name, strings.Join(words, ", "))
	warn := func(why string) {
		r.warnings = append(r.warnings, s.mask.text(fmt.Sprintf("server %s: tool %s: not offered: %s", s.config.name, line(e.tool.Name), why)))
	}
	if err := plugins.CheckTools([]plugins.Tool{tool}); err != nil {
		warn(err.Error())
		return
	}
	if hints := suggestion(e.tool.Annotations); hints != "" {
		text += "; its server suggests " + hints
	}
	pin := `"pin": "` + e.pin + `"`
	switch configured := s.config.tools[e.tool.Name].Pin; configured {
	case "":
	case e.pin:
		pin += ", as in the file"
	default:
		warn("its pin in the file is not that of what the server says now, which is " + pin)
		return
	}
	r.lines = append(r.lines, s.mask.text(text+"; "+pin))
}

// suggestion is what annotations come to in the file's own words. They are a
// server's claim, which decides nothing.
func suggestion(a *sdk.ToolAnnotations) string {
	if a == nil {
		return ""
	}
	var hints struct {
		Access plugins.Access `json:"access,omitempty"`
		Effect plugins.Effect `json:"effect,omitempty"`
		Sends  *bool          `json:"sends,omitempty"`
	}
	if a.ReadOnlyHint {
		hints.Access, hints.Effect = plugins.Read, plugins.Pure
	} else if a.IdempotentHint {
		hints.Effect = plugins.Idempotent
	}
	if a.OpenWorldHint != nil && !*a.OpenWorldHint {
		hints.Sends = a.OpenWorldHint
	}
	data, err := json.Marshal(hints)
	if err != nil || string(data) == "{}" {
		return ""
	}
	return string(data)
}
