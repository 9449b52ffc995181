package oauth

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"

	"reeve/credentials"
	"reeve/plugins"
)

// veil takes a token out of what a server says, in which it may have written the
// token down, as some do with a whole request: as it is, or in one of the other ways
// of writing it. What stands in its place is as long.
type veil struct{ spellings, stars []string }

func veilOf(bearer credentials.Secret) veil {
	v := veil{spellings: plugins.Spellings(bearer.Reveal())}
	for _, spelling := range v.spellings {
		v.stars = append(v.stars, strings.Repeat("*", len(spelling)))
	}
	return v
}

func (v veil) text(text string) string {
	for i, spelling := range v.spellings {
		text = strings.ReplaceAll(text, spelling, v.stars[i])
	}
	return text
}

// err leaves nothing of an error that holds the token. None is known to.
func (v veil) err(err error) error {
	if text := err.Error(); v.text(text) != text {
		return errors.New("the request broke off")
	}
	return err
}

// unseen takes a token out of an answer.
func unseen(response *http.Response, bearer credentials.Secret) {
	if !bearer.IsSet() {
		return
	}
	v := veilOf(bearer)
	for _, values := range response.Header {
		for i := range values {
			values[i] = v.text(values[i])
		}
	}
	response.Status = v.text(response.Status)
	body := &masking{ReadCloser: response.Body}
	for i := range v.spellings {
		body.spellings, body.stars = append(body.spellings, []byte(v.spellings[i])), append(body.stars, []byte(v.stars[i]))
		body.longest = max(body.longest, len(v.spellings[i]))
	}
	response.Body = body
}

// masking reads a body without a token. It holds back no more than what may be the
// beginning of one of its spellings, so that an event comes through when it is
// there.
type masking struct {
	io.ReadCloser
	spellings, stars [][]byte
	longest          int
	held             []byte // read, and looked at but for its end
	ready            int    // how much of held may go out
	err              error
}

func (m *masking) Read(into []byte) (int, error) {
	for m.ready == 0 && m.err == nil && len(into) > 0 {
		chunk := make([]byte, max(len(into), m.longest))
		n, err := m.ReadCloser.Read(chunk)
		m.held, m.err = append(m.held, chunk[:n]...), err
		for i, spelling := range m.spellings {
			m.held = bytes.ReplaceAll(m.held, spelling, m.stars[i])
		}
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

// begun is how much of the end of what is held may be a spelling's beginning.
func (m *masking) begun() int {
	for n := min(m.longest-1, len(m.held)); n > 0; n-- {
		end := m.held[len(m.held)-n:]
		for _, spelling := range m.spellings {
			if n < len(spelling) && bytes.HasPrefix(spelling, end) {
				return n
			}
		}
	}
	return 0
}
