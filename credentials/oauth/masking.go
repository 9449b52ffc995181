package oauth

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	"reeve/credentials"
)

// unseen takes a token out of an answer, in which a server may have written it
// down, as some do with a whole request. The answer keeps its length.
func unseen(response *http.Response, bearer credentials.Secret) {
	if !bearer.IsSet() {
		return
	}
	token := bearer.Reveal()
	stars := strings.Repeat("*", len(token))
	for _, values := range response.Header {
		for i := range values {
			values[i] = strings.ReplaceAll(values[i], token, stars)
		}
	}
	response.Status = strings.ReplaceAll(response.Status, token, stars)
	response.Body = &masking{ReadCloser: response.Body, token: []byte(token), stars: []byte(stars)}
}

// masking reads a body without a token. It holds back no more than what may be
// the token's beginning, so that an event comes through when it is there.
type masking struct {
	io.ReadCloser
	token, stars []byte
	held         []byte // read, and looked at but for its end
	ready        int    // how much of held may go out
	err          error
}

func (m *masking) Read(into []byte) (int, error) {
	for m.ready == 0 && m.err == nil && len(into) > 0 {
		chunk := make([]byte, max(len(into), len(m.token)))
		n, err := m.ReadCloser.Read(chunk)
		m.held, m.err = append(m.held, chunk[:n]...), err
		m.held = bytes.ReplaceAll(m.held, m.token, m.stars)
		m.ready = len(m.held)
		if err == nil {
			m.ready -= m.begun()
		}
	}
	n := copy(into, m.held[:m.ready])
	m.held, m.ready = m.held[n:], m.ready-n
	if m.ready == 0 && len(m.held) == 0 && m.err != nil {
		return n, m.err
	}
	return n, nil
}

// begun is how much of the end of what is held may be the token's beginning.
func (m *masking) begun() int {
	for n := min(len(m.token)-1, len(m.held)); n > 0; n-- {
		if bytes.HasSuffix(m.held, m.token[:n]) {
			return n
		}
	}
	return 0
}
