package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestFrames(t *testing.T) {
	long := strings.Repeat(`x\"}],{`, 40)
	tests := []struct {
		name, in, want string
		event          bool
		dropped        int
	}{
		{name: "messages pass", in: "{\"id\":1}\n{\"id\":2}\n", want: "{\"id\":1}\n{\"id\":2}\n"},
		{name: "without an end of line", in: `{"id":1}`, want: "{\"id\":1}\n"},
		{name: "with another one", in: "{\"id\":1}\r\n\r\n{\"id\":2}\r\n", want: "{\"id\":1}\n{\"id\":2}\n"},
		{name: "noise", in: "hello\n{\"id\":1}\n{broken\n[1]\n\x00\n", want: "{\"id\":1}\n", dropped: 4},
		{name: "the id behind a long result", in: `{"result":{"id":8,"t":"` + long + `"},"jsonrpc":"2.0","id":7}` + "\n{\"id\":2}\n", want: "7\n{\"id\":2}\n"},
		{name: "the id before it", in: `{"jsonrpc":"2.0", "id" : "a\"b", "result":[{"id":8},"` + long + `"]}` + "\n", want: `"a\"b"` + "\n"},
		{name: "no id", in: `{"jsonrpc":"2.0","method":"` + long + `","params":{"id":8}}` + "\n{\"id\":2}\n", want: "{\"id\":2}\n", dropped: 1},
		{name: "an endless line", in: strings.Repeat("x", 5000) + "\n{\"id\":2}\n", want: "{\"id\":2}\n", dropped: 1},
		{name: "events pass", event: true, in: "event: message\ndata: {\"id\":1}\n\n: ping\n", want: "event: message\ndata: {\"id\":1}\n\n: ping\n"},
		{name: "a long event", event: true, in: "event: message\ndata: {\"id\":3,\"t\":\"" + long + "\"}\n\n", want: "event: message\ndata: 3\n\n"},
	}
	for _, test := range tests {
		for _, reader := range []io.Reader{strings.NewReader(test.in), iotest.OneByteReader(strings.NewReader(test.in))} {
			dropped := 0
			got, err := io.ReadAll(newFrames(reader, 100, test.event, func(string) { dropped++ }))
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			if shown := short(got); shown != test.want || dropped != test.dropped {
				t.Errorf("%s: %d dropped, got %q, want %q", test.name, dropped, shown, test.want)
			}
		}
	}
}

// short puts in the place of each error the id that it answers.
func short(out []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(out)) {
		prefix, message := "", line
		if rest, found := strings.CutPrefix(line, "data: "); found {
			prefix, message = "data: ", rest
		}
		var answer struct {
			ID    json.RawMessage
			Error struct{ Message string }
		}
		if json.Unmarshal([]byte(message), &answer) == nil && strings.Contains(answer.Error.Message, "at most 100 are taken") {
			line = fmt.Sprintf("%s%s\n", prefix, answer.ID)
		}
		b.WriteString(line)
	}
	return b.String()
}

// Whatever a server writes, each line that comes out is a message of bearable
// length, and a message of bearable length comes out as it was.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("{\"id\":1}\nnoise\n"), "hello")
	f.Add([]byte(`{"a":"`+strings.Repeat("b", 200)+`","id":5}`+"\n"), `x","id":9}`)
	f.Fuzz(func(t *testing.T, noise []byte, text string) {
		const limit = 150
		message, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "result": text})
		if err != nil {
			t.Skip()
		}
		in := append(append(append(bytes.Clone(noise), '\n'), message...), '\n')
		out, err := io.ReadAll(newFrames(bytes.NewReader(in), limit, false, func(string) {}))
		if err != nil {
			t.Fatal(err)
		}
		var last []byte
		for line := range bytes.Lines(out) {
			if last = bytes.TrimSpace(line); !json.Valid(last) || len(last) > 2*limit+longestToken {
				t.Fatalf("%q passes", line)
			}
		}
		var answer struct{ ID json.RawMessage }
		switch {
		case len(message)+1 <= limit && !bytes.Equal(last, message):
			t.Errorf("%q became %q", message, last)
		case json.Unmarshal(last, &answer) != nil || string(answer.ID) != "1":
			t.Errorf("%q became %q", message, last)
		}
	})
}
