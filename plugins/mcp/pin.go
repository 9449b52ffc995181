package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// pinOf is the fingerprint of all that a server says of a tool: what the model
// reads, and by which it can be talked into things. JSON writes the fields of
// maps in order, so that it depends on nothing else.
func pinOf(t *sdk.Tool) string {
	said, err := json.Marshal(struct {
		Name, Title, Description string
		Input, Output            any
		Annotations              *sdk.ToolAnnotations
	}{t.Name, t.Title, t.Description, t.InputSchema, t.OutputSchema, t.Annotations})
	if err != nil {
		return "" // matches no pin
	}
	sum := sha256.Sum256(said)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// seen remembers for the life of the process what each offered name stood for
// when it was first seen, and each tool under its server's own name: a server can
// change the one without the other, by listing more tools. The operator's wish to
// read the file again forgets.
type seen struct {
	mu   sync.Mutex
	pins map[string]string
}

// approves says whether a tool may be offered: the operator's pin alone decides
// where there is one, else what was first seen under each of its names.
func (s *seen) approves(names []string, pin, configured string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pins == nil {
		s.pins = map[string]string{}
	}
	if pin == "" || configured != "" && configured != pin {
		return false
	}
	for _, name := range names {
		if first, known := s.pins[name]; known && first != pin && configured == "" {
			return false
		}
	}
	for _, name := range names {
		s.pins[name] = pin
	}
	return true
}

// forget approves of whatever is seen next.
func (s *seen) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pins = nil
}
