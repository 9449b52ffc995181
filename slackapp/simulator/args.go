package simulator

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// args are a call's arguments, whether they came as a form, in the address or
// as JSON; structured values are kept as JSON text.
type args struct{ values map[string]string }

func (a args) get(name string) string { return a.values[name] }
func (a args) has(name string) bool   { _, ok := a.values[name]; return ok }
func (a args) yes(name string) bool   { return a.values[name] == "true" || a.values[name] == "1" }

func (a args) number(name string, otherwise int) int {
	n, err := strconv.Atoi(a.values[name])
	if err != nil {
		return otherwise
	}
	return n
}

// flag is nil when the argument was not given.
func (a args) flag(name string) *bool {
	if !a.has(name) {
		return nil
	}
	b := a.yes(name)
	return &b
}

// maxBody of a Web API call.
const maxBody = 4 << 20

func readArgs(r *http.Request) (args, error) {
	a := args{map[string]string{}}
	for k, v := range r.URL.Query() {
		a.values[k] = v[0]
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		return a, fail("request_timeout")
	}
	switch kind := r.Header.Get("Content-Type"); {
	case strings.HasPrefix(kind, "application/json"):
		if len(body) == 0 {
			return a, nil
		}
		var values map[string]json.RawMessage
		if json.Unmarshal(body, &values) != nil {
			return a, fail("invalid_json")
		}
		for k, raw := range values {
			var text string
			if json.Unmarshal(raw, &text) != nil {
				text = string(raw)
			}
			if text != "null" {
				a.values[k] = text
			}
		}
	case len(body) == 0:
	default:
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		parse := r.ParseForm
		if strings.HasPrefix(kind, "multipart/form-data") {
			parse = func() error { return r.ParseMultipartForm(maxBody) }
		}
		if parse() != nil {
			return a, fail("invalid_form_data")
		}
		for k, v := range r.Form {
			a.values[k] = v[0]
		}
	}
	return a, nil
}

// token is the call's token, from the header or the arguments, which lose it.
func token(r *http.Request, a args) string {
	t := a.values["token"]
	delete(a.values, "token")
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		t = bearer
	}
	return t
}
