package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// frames reads what a server writes, a message a line, and hands on only what
// is a message of bearable length. The client behind it ends the connection
// over anything else, and with it every other call.
//
// A line that is no JSON, such as a greeting on standard output, is left out. A
// message that is too long is replaced by an error that answers the same call.
type frames struct {
	lines *bufio.Reader
	limit int
	// event: the stream is one of server-sent events, in which the lines that
	// hold a message begin with "data:".
	event bool
	// dropped is told what was left out, and why.
	dropped func(why string)

	ready   []byte // what of the line at hand was not read yet
	leaving error  // after it
}

func newFrames(from io.Reader, limit int, event bool, dropped func(string)) *frames {
	return &frames{lines: bufio.NewReaderSize(from, 4096), limit: limit, event: event, dropped: dropped}
}

func (f *frames) Read(into []byte) (int, error) {
	for len(f.ready) == 0 {
		if f.leaving != nil {
			return 0, f.leaving
		}
		f.ready, f.leaving = f.line()
	}
	n := copy(into, f.ready)
	f.ready = f.ready[n:]
	return n, nil
}

// line is the next line that may pass, or nothing.
func (f *frames) line() ([]byte, error) {
	var line []byte
	var skimmed skim
	size := 0
	for {
		part, err := f.lines.ReadSlice('\n')
		size += len(part)
		if size <= f.limit {
			line = append(line, part...)
		}
		skimmed.feed(part)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if size > f.limit {
			return f.tooLong(skimmed.id, size), err
		}
		return f.pass(line), err
	}
}

func (f *frames) pass(line []byte) []byte {
	if f.event {
		return line
	}
	text := bytes.TrimSpace(line)
	switch {
	case len(text) == 0:
		return nil
	case text[0] != '{' || !json.Valid(text):
		f.dropped("a line that is no message")
		return nil
	}
	return append(text, '\n')
}

func (f *frames) tooLong(id string, size int) []byte {
	if id == "" || !json.Valid([]byte(id)) {
		f.dropped(fmt.Sprintf("a message of %d bytes", size))
		return nil
	}
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"the result was %d bytes long; at most %d are taken, so ask for less"}}`+"\n", id, size, f.limit)
	if f.event {
		answer = "data: " + answer
	}
	return []byte(answer)
}

// skim finds the id of a message without holding the message: it stands at the
// first level, before or behind a result of any length.
type skim struct {
	id string

	depth            int
	inText, escaping bool
	key, token       []byte // at the first level
}

// longestToken is enough for any id.
const longestToken = 128

func (s *skim) feed(part []byte) {
	for _, b := range part {
		switch {
		case s.inText:
			s.keep(b)
			switch {
			case s.escaping:
				s.escaping = false
			case b == '\\':
				s.escaping = true
			case b == '"':
				s.inText = false
			}
		case b == '"':
			s.inText = true
			s.keep(b)
		case b == '{' || b == '[':
			s.depth++
		case b == '}' || b == ']':
			if s.depth == 1 {
				s.value()
			}
			s.depth--
		case s.depth != 1:
		case b == ':':
			s.key, s.token = s.token, nil
		case b == ',':
			s.value()
		case b > ' ':
			s.keep(b)
		}
	}
}

func (s *skim) keep(b byte) {
	if s.depth == 1 && len(s.token) < longestToken {
		s.token = append(s.token, b)
	}
}

// value is the end of a field of the first level.
func (s *skim) value() {
	if string(s.key) == `"id"` {
		s.id = string(s.token)
	}
	s.key, s.token = nil, nil
}
