package oauth_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"reeve/credentials/oauth"
	"reeve/plugins"
)

// written are the ways in which a server may write down a request that it got.
var written = map[string]func(string) string{
	"plain":          func(s string) string { return s },
	"base64":         func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64 of URLs": func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"hex":            func(s string) string { return hex.EncodeToString([]byte(s)) },
	"HEX":            func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"query":          url.QueryEscape,
	"path":           url.PathEscape,
	"JSON":           func(s string) string { text, _ := json.Marshal(s); return string(text) },
	"JSON of PHP":    func(s string) string { return strings.ReplaceAll(s, "/", `\/`) },
}

// read is an answer as a plugin reads it, whose body came in any pieces.
func read(t interface{ Fatal(...any) }, body io.Reader, token string) string {
	response := &http.Response{Status: "418 " + token, Header: http.Header{"X-Echo": {token, base64.StdEncoding.EncodeToString([]byte(token))}}, Body: io.NopCloser(body)}
	oauth.Unseen(response, token)
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.Status + strings.Join(response.Header["X-Echo"], " ") + string(text)
}

func TestS4_TokenIsTakenOutHoweverItIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token := rapid.StringMatching(`gho_[A-Za-z0-9+/=._~-]{12,40}`).Draw(t, "token")
		whole := rapid.StringMatching(`[ -~]{0,7}`).Draw(t, "before") + token + rapid.StringMatching(`[ -~]{0,7}`).Draw(t, "after")
		for name, write := range written {
			said := "<<" + write(whole) + ">>"
			var body io.Reader = strings.NewReader(said)
			if rapid.Bool().Draw(t, name+" by bytes") {
				body = iotest.OneByteReader(body)
			} else if rapid.Bool().Draw(t, name+" by halves") {
				body = iotest.HalfReader(body)
			}
			got := read(t, body, token)
			for _, spelling := range plugins.Spellings(token) {
				if strings.Contains(got, spelling) {
					t.Fatalf("%s: %s holds %s", name, got, spelling)
				}
			}
			if !strings.HasSuffix(got, ">>") || !strings.Contains(got, "<<") || len(got) != len("418 "+token+token+" "+base64.StdEncoding.EncodeToString([]byte(token)))+len(said) {
				t.Fatalf("%s: of %s is left %s", name, said, got)
			}
			if strings.Count(got, "*") < 4*(len(token)-4) {
				t.Fatalf("%s: too little of it is masked: %s", name, got)
			}
		}
	})
}

func TestTokenIsNotSeenInAnEchoOfTheRequest(t *testing.T) {
	k, f := newAccount(t)
	for name, write := range written {
		var spent string
		f.api = func(w http.ResponseWriter, r *http.Request) {
			spent = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			w.Header().Set("X-Echo", strings.ReplaceAll(write(r.Header.Get("Authorization")), "\n", ""))
			text := write("Authorization: " + r.Header.Get("Authorization") + "\r\n")
			for i := range text { // each byte in a piece of its own
				_, _ = io.WriteString(w, text[i:i+1])
				_ = http.NewResponseController(w).Flush()
			}
		}
		client, done := k.opened(plugins.Read)
		response, text, err := send(t, client, "GET", f.base+"/api/x", "")
		done()
		if err != nil || spent == "" {
			t.Fatal(err)
		}
		for _, spelling := range plugins.Spellings(spent) {
			if strings.Contains(text+response.Header.Get("X-Echo"), spelling) {
				t.Errorf("%s: %s %v", name, text, response.Header)
			}
		}
		if !strings.Contains(text, "****") || !strings.Contains(response.Header.Get("X-Echo"), "****") {
			t.Errorf("%s: it was not written down: %s %v", name, text, response.Header)
		}
	}
}
