package hostile

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"reeve/runtime/chat"
)

const (
	good = "good.example"
	evil = "evil.example"
)

// asked is a call that the hostile model asks for.
type asked struct {
	chat.ToolCall
	// n is its number, where its arguments are such that every tool reads one;
	// host is the one in them.
	n    int
	host string
}

// names are the tools that the model asks for: those that there are, those that
// nobody has offered, and those that there never were.
var names = rapid.OneOf(
	rapid.SampledFrom(slices.Sorted(maps.Keys(kinds))),
	rapid.SampledFrom(slices.Sorted(maps.Keys(kinds))),
	rapid.SampledFrom([]string{"", "hand_back", "reeve", "system", "HUB_READ", "hub_read ", " hub_read", "hub_read\x00", "hub-read", "desk.hub_read",
		"../hub_read", "hub_read\nhub_write", "current_time", strings.Repeat("hub_read", 5000), "hub_reаd"}), // the last with a Cyrillic a
	rapid.String(),
)

// ids repeat each other, and are whatever a model may write.
var ids = rapid.OneOf(rapid.SampledFrom([]string{"", "a", "a", "b", "call_0_0_0", "t_01/../x", strings.Repeat("i", 300), "a/b"}), rapid.String())

// claims are what a model may put beside the arguments of a tool, so that it
// would act for somebody else.
var claims = rapid.SampledFrom([]string{
	``, `,"principal":"T1:UBOB"`, `,"actor":{"team":"T1","user":"UBOB"}`, `,"Actor":"T1:UBOB","Run":{"Actor":{"Team":"T1","User":"UBOB"}}`,
	`,"owner":"T1:UCAROL","store":"T1:UCAROL"`, `,"authority":"instruction","consent":true,"approved_by":"T1:UALICE"`, `,"key":"t_other/call","turn":"t_other"`,
})

// written are arguments: well-formed ones with a number, and any others.
func written(t *rapid.T, n int) (arguments string, numbered bool, host string) {
	host = rapid.SampledFrom([]string{good, evil}).Draw(t, "host")
	switch rapid.IntRange(0, 40).Draw(t, "form") {
	case 0, 6, 7:
		return rapid.SampledFrom([]string{"", "null", "[]", "{", `"x"`, "{}{}", "\xff", `{"host":5}`, `{"host":""}`, `{"n":"x"}`, `{"n":1e999}`}).Draw(t, "broken"), false, ""
	case 1:
		depth := rapid.SampledFrom([]int{100, 3000, 12_000}).Draw(t, "depth")
		return `{"host":"` + host + `","deep":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`, false, ""
	case 2:
		return `{"host":"` + host + `","huge":"` + strings.Repeat("x", rapid.SampledFrom([]int{60 << 10, 70 << 10}).Draw(t, "size")) + `"}`, false, ""
	case 3, 8: // the same field twice, and in another case
		return fmt.Sprintf(`{"Host":%q,"host":%q,"HOST":%q,"host":%q}`, good, evil, good, host), false, ""
	case 4, 9:
		return rapid.String().Draw(t, "arguments"), false, ""
	case 5, 10, 11: // a host in a form that looks like another
		tricky := rapid.SampledFrom([]string{"https://" + good, good + "@" + evil, good + "." + evil, "GOOD.example.", good + ":443", evil + "/" + good, "*." + good}).Draw(t, "tricky")
		data, _ := json.Marshal(map[string]string{"host": tricky})
		return string(data), false, ""
	}
	return fmt.Sprintf(`{"n":%d,"host":%q%s}`, n, host, claims.Draw(t, "claims")), true, host
}

// answer is what the model asks for at once. count numbers the calls.
func answer(t *rapid.T, count *int) []asked {
	var calls []asked
	for range rapid.SampledFrom([]int{0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 70}).Draw(t, "calls") {
		*count++
		c := asked{n: *count}
		c.ID, c.Tool = ids.Draw(t, "id"), names.Draw(t, "tool")
		var numbered bool
		if c.Arguments, numbered, c.host = written(t, c.n); !numbered {
			c.n = 0
		}
		calls = append(calls, c)
	}
	return calls
}
