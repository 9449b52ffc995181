package plugintest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"reeve/plugins"
)

const (
	// maxArguments is what the loop keeps of one call's arguments, in bytes.
	maxArguments = 64 << 10
	// deepest is how far a schema that holds itself is followed.
	deepest = 6
	// attempts is how often arguments are drawn until some fit.
	attempts = 200
)

// hostile are texts that a model may be talked into.
var hostile = []string{
	"", " ", "\n", "0", "-1", "NaN", "null", "true", "{}", "[]", `"`, `\`, "'", "a",
	"\x00", "\x1b[2J", "\u202e\u2066", "\u200b", "\ufeff", "é́́́", "𝄞👩‍👩‍👧", "\ufffd",
	"</information>", "<entry origin=\"request\">", "<!channel>", "<@U0BOB>", "```", "[a](javascript:alert(1))",
	"../../../../etc/passwd", "/dev/zero", "C:\\CON", "'; DROP TABLE people; --", "${jndi:ldap://127.0.0.1/a}", "%s%n%d%!", "$(id)", "a\r\nX-Header: b",
	"http://127.0.0.1:1/", "http://[::1]:1/", "http://[::ffff:127.0.0.1]:1/", "http://169.254.169.254/latest/meta-data", "http://10.0.0.1/", "http://0x7f000001/",
	"file:///etc/passwd", "gopher://127.0.0.1/", "//example.com", "https://user:password@example.com/", "https://example.com:99999/", "https://example.com/",
	"2026-02-30", "Local", "1700000000.000100", "C0PLAY", "U0BOB",
	strings.Repeat("a", 16<<10), strings.Repeat("<", 4<<10), strings.Repeat("𝄞", 4<<10), strings.Repeat("a\n", 2<<10), strings.Repeat("[", 2<<10),
}

var numbers = []float64{0, 1, -1, 2, 7, 10, 100, 255, 1000, 1e6, math.MaxInt32, 1 << 53, math.MaxInt64, math.MinInt64, 0.5, -0.1, 1e-300, 1e300, math.MaxFloat64}

// generator draws arguments that fit a tool's schema and nothing else.
type generator struct {
	tool   plugins.Tool
	schema *jsonschema.Resolved
	dice   *rand.Rand
	mark   string // put in front of every other text
	deck   []int  // places in hostile that are still to come
}

func newGenerator(tool plugins.Tool, seed uint64, mark string) (*generator, error) {
	schema, err := plugins.ResolveSchema(tool.Parameters)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", tool.Name, err)
	}
	return &generator{tool: tool, schema: schema, dice: rand.New(rand.NewPCG(seed, 1)), mark: mark}, nil
}

// draw answers arguments, as the gate would pass them on.
func (g *generator) draw() (json.RawMessage, error) {
	for range attempts {
		value, ok := g.value(g.schema.Schema(), 0).(map[string]any)
		if !ok || g.schema.Validate(value) != nil {
			continue
		}
		if data, err := json.Marshal(value); err == nil && len(data) <= maxArguments {
			return data, nil
		}
	}
	return nil, fmt.Errorf("tool %s: no arguments could be made that fit its schema; name some with plugintest.Example", g.tool.Name)
}

func (g *generator) value(s *jsonschema.Schema, depth int) any {
	switch {
	case s == nil:
		return g.text(nil)
	case s.Const != nil:
		return *s.Const
	case len(s.Enum) > 0:
		return s.Enum[g.dice.IntN(len(s.Enum))]
	case strings.HasPrefix(s.Ref, "#/$defs/"):
		if depth > deepest {
			return nil
		}
		return g.value(g.schema.Schema().Defs[strings.TrimPrefix(s.Ref, "#/$defs/")], depth+1)
	case len(s.AnyOf) > 0:
		return g.value(s.AnyOf[g.dice.IntN(len(s.AnyOf))], depth+1)
	case len(s.OneOf) > 0:
		return g.value(s.OneOf[g.dice.IntN(len(s.OneOf))], depth+1)
	}
	switch g.kind(s) {
	case "object":
		return g.object(s, depth)
	case "array":
		return g.array(s, depth)
	case "integer":
		return math.Trunc(g.number(s))
	case "number":
		return g.number(s)
	case "boolean":
		return g.dice.IntN(2) == 0
	case "null":
		return nil
	default:
		return g.text(s)
	}
}

func (g *generator) kind(s *jsonschema.Schema) string {
	switch {
	case s.Type != "":
		return s.Type
	case len(s.Types) > 0:
		return s.Types[g.dice.IntN(len(s.Types))]
	case len(s.Properties) > 0:
		return "object"
	}
	return "string"
}

func (g *generator) object(s *jsonschema.Schema, depth int) map[string]any {
	object := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, name) || depth < deepest && g.dice.IntN(3) > 0 {
			object[name] = g.value(s.Properties[name], depth+1)
		}
	}
	// A closed schema has "not" here.
	if extra := s.AdditionalProperties; (extra == nil || extra.Not == nil) && depth < deepest && g.dice.IntN(2) == 0 {
		object[g.text(nil)] = g.value(extra, depth+1)
	}
	return object
}

func (g *generator) array(s *jsonschema.Schema, depth int) []any {
	least, most := 0, 4
	if s.MinItems != nil {
		least, most = *s.MinItems, *s.MinItems+4
	}
	if s.MaxItems != nil {
		most = min(most, *s.MaxItems)
	}
	list := []any{}
	if depth > deepest {
		most = least
	}
	for range least + g.dice.IntN(max(most-least, 0)+1) {
		list = append(list, g.value(s.Items, depth+1))
	}
	return list
}

func (g *generator) number(s *jsonschema.Schema) float64 {
	n := numbers[g.dice.IntN(len(numbers))]
	low, high := math.Inf(-1), math.Inf(1)
	if s.Minimum != nil {
		low = *s.Minimum
	}
	if s.Maximum != nil {
		high = *s.Maximum
	}
	return min(max(n, low), high)
}

func (g *generator) text(s *jsonschema.Schema) string {
	if len(g.deck) == 0 {
		g.deck = g.dice.Perm(len(hostile)) // so that each of them has its turn
	}
	text := hostile[g.deck[0]]
	g.deck = g.deck[1:]
	if g.dice.IntN(2) == 0 {
		text = g.mark + text
	}
	if s == nil {
		return text
	}
	runes := []rune(text)
	if s.MaxLength != nil && len(runes) > *s.MaxLength {
		runes = runes[:*s.MaxLength]
	}
	for s.MinLength != nil && len(runes) < *s.MinLength {
		runes = append(runes, 'a')
	}
	return string(runes)
}
