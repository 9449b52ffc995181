package oauth_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"

	"reeve/credentials/oauth"
	"reeve/plugins"
)

// opened is Alice's account for one call.
func (k *kit) opened(access plugins.Access) (*http.Client, func()) {
	k.Helper()
	account, done, err := k.Open(k.Context(), oauth.Use{Actor: alice, Provider: "acme", Access: access, Key: "t_1/c1"})
	if err != nil {
		k.Fatal(err)
	}
	return account.HTTP, done
}

func send(t testing.TB, client *http.Client, method, address, body string, headers ...string) (*http.Response, string, error) {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, address, reader)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response, string(text), err
}

func TestACallThatReadsOnlyReads(t *testing.T) {
	k, f := newAccount(t)
	const json = "application/json"
	for _, test := range []struct {
		method, path, kind, body string
		may                      bool
	}{
		{"GET", "/api/x", "", "", true},
		{"HEAD", "/api/x", "", "", true},
		{"POST", "/api/x", json, "{}", false},
		{"PUT", "/api/x", json, "{}", false},
		{"PATCH", "/api/x", json, "{}", false},
		{"DELETE", "/api/x", "", "", false},
		{"get", "/api/x", "", "", false},
		{"POST", "/api/v1/search", json, `{"q":"x"}`, true},
		{"POST", "/api/v1/v2/search", json, `{}`, false},
		{"POST", "/api/v1/search/", json, `{}`, false},
		{"POST", "/api/x/../v1/search", json, `{}`, false},
		{"POST", "/api/v1%2fx/search", json, `{}`, false},
		{"POST", "/api//search", json, `{}`, false},
		{"PUT", "/api/v1/search", json, `{}`, false},
		{"POST", "/api/graphql", json, `{"query":"{ a }"}`, true},
		{"POST", "/api/graphql", "application/json; charset=utf-8", `{"query":"{ a }"}`, true},
		{"POST", "/api/graphql", json, `{"query":"mutation { a }"}`, false},
		{"POST", "/api/graphql", "application/graphql", `mutation { a }`, false},
		{"POST", "/api/graphql", "application/graphql", `{ a }`, false},
		{"POST", "/api/graphql", "", `{"query":"{ a }"}`, false},
		{"POST", "/api/graphql?query=mutation%7Ba%7D", json, `{"query":"{ a }"}`, false},
		{"GET", "/api/graphql?query=mutation%7Ba%7D", "", "", false},
		{"POST", "/api/graphql", json, `{"query":"{ a }"` + strings.Repeat(" ", 300<<10) + `}`, false},
	} {
		for _, access := range []plugins.Access{plugins.Read, plugins.Write} {
			client, done := k.opened(access)
			before := len(f.seen())
			_, _, err := send(t, client, test.method, f.base+test.path, test.body, "Content-Type", test.kind)
			done()
			reached := len(f.seen()) > before
			if may := test.may || access == plugins.Write; access == plugins.Read && (err == nil) != may || reached != may && test.path == "/api/x" {
				t.Errorf("%s: %s %s %s: %v, reached %v", access, test.method, test.path, test.kind, err, reached)
			}
		}
	}
	client, done := k.opened(plugins.Read)
	defer done()
	if _, _, err := send(t, client, "GET", f.base+"/api/x", "", "X-HTTP-Method-Override", "DELETE", "X-Method-Override", "DELETE"); err != nil {
		t.Fatal(err)
	}
	seen := f.seen()
	for name := range seen[len(seen)-1].Header {
		if strings.Contains(name, "Override") {
			t.Errorf("%s went along", name)
		}
	}
}

func TestAClientIsBoundToHostsAndCall(t *testing.T) {
	k, f := newAccount(t)
	token, _ := k.record(alice, "acme")
	client, done := k.opened(plugins.Write)
	// What the plugin says of itself does not count, and nothing leads back to the token.
	var watched []string
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{WroteHeaderField: func(key string, value []string) { watched = append(watched, key) }})
	request, _ := http.NewRequestWithContext(ctx, "GET", f.base+"/api/x", nil)
	for name, value := range map[string]string{"Authorization": "Bearer mine", "Cookie": "a=b", "Proxy-Authorization": "x", "Proxy-Connection": "x", "X-Mine": "yes"} {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	seen := f.seen()[0].Header
	if seen.Get("Authorization") != "Bearer "+token.Access.Reveal() || seen.Get("Cookie") != "" || seen.Get("Proxy-Authorization") != "" || seen.Get("X-Mine") != "yes" {
		t.Errorf("%v", seen)
	}
	if response.Header.Get("Set-Cookie") != "" || len(response.Cookies()) > 0 {
		t.Error("a cookie came back")
	}
	if strings.Contains(fmt.Sprintf("%v %+v %#v", response.Request.Header, response, client.Transport), tokenKind) || len(watched) > 0 {
		t.Errorf("the token can be seen: %v %v", response.Request.Header, watched)
	}
	for _, address := range []string{"http://example.com/", "https://example.com/", "http://localhost/", strings.Replace(f.base, "127.0.0.1", "127.0.0.2", 1) + "/api/x", strings.Replace(f.base, "http://", "http://user:pass@", 1) + "/api/x"} {
		if _, _, err := send(t, client, "GET", address, ""); err == nil || strings.Contains(err.Error(), tokenKind) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if request, _ := http.NewRequest("GET", f.base+"/api/x", nil); true {
		request.Host = "other.example"
		if _, err := client.Do(request); err != nil {
			t.Errorf("another Host is left aside: %v", err)
		}
		if all := f.seen(); all[len(all)-1].Host == "other.example" {
			t.Error("the request names another host")
		}
	}
	done()
	n := len(f.seen())
	if _, _, err := send(t, client, "GET", f.base+"/api/x", ""); err == nil {
		t.Error("it works after its call")
	}
	if len(f.seen()) != n {
		t.Error("the request was sent")
	}
}

// What is under way when the call ends is cut, and so is reading its answer.
func TestTheEndOfACallCutsItsRequests(t *testing.T) {
	k, f := newAccount(t)
	reached, hang := make(chan struct{}, 2), make(chan struct{})
	defer close(hang)
	f.api = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/drip" {
			_, _ = io.WriteString(w, "x")
			w.(http.Flusher).Flush()
		}
		reached <- struct{}{}
		<-hang
	}
	for _, path := range []string{"/api/hang", "/api/drip"} {
		client, done := k.opened(plugins.Read)
		result := make(chan error, 1)
		go func() {
			_, _, err := send(t, client, "GET", f.base+path, "")
			result <- err
		}()
		<-reached
		done()
		if err := <-result; err == nil {
			t.Errorf("%s: not cut", path)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	account, done, err := k.Open(ctx, oauth.Use{Actor: alice, Provider: "acme", Access: plugins.Read})
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	cancel()
	if _, _, err := send(t, account.HTTP, "GET", f.base+"/api/x", ""); err == nil {
		t.Error("it works after the call's context")
	}
}

func TestRedirectsLeaveTheTokenBehind(t *testing.T) {
	f := newFake(t)
	var auth []string
	var back string
	other := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		auth = append(auth, r.Header.Get("Authorization"))
		if r.URL.Path == "/back" {
			http.Redirect(w, r, back, http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "elsewhere")
	}))
	k := newKit(t, []oauth.Configured{f.provider("acme")})
	k.connect(f, "acme")
	f.api = func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/same":
			http.Redirect(w, r, "/api/end", http.StatusTemporaryRedirect)
		case "/api/other":
			http.Redirect(w, r, other+"/x", http.StatusTemporaryRedirect)
		case "/api/back":
			http.Redirect(w, r, other+"/back", http.StatusFound)
		case "/api/inside":
			http.Redirect(w, r, "http://10.0.0.1/", http.StatusFound)
		case "/api/loop":
			http.Redirect(w, r, "/api/loop", http.StatusFound)
		default:
			_, _ = io.WriteString(w, "end")
		}
	}
	back = f.base + "/api/end"
	client, done := k.opened(plugins.Write)
	defer done()
	if _, text, err := send(t, client, "POST", f.base+"/api/same", "x"); err != nil || text != "end" {
		t.Errorf("%q, %v", text, err)
	}
	if all := f.seen(); all[len(all)-1].Header.Get("Authorization") == "" {
		t.Error("the token is lost on its own host")
	}
	if _, text, err := send(t, client, "GET", f.base+"/api/other", ""); err != nil || text != "elsewhere" || len(auth) != 1 || auth[0] != "" {
		t.Errorf("%q, %v, %q", text, err, auth)
	}
	if _, _, err := send(t, client, "POST", f.base+"/api/other", "secret"); err == nil || len(auth) != 1 {
		t.Errorf("a write goes to another host: %v", err)
	}
	if _, text, err := send(t, client, "GET", f.base+"/api/back", ""); err != nil || text != "end" {
		t.Errorf("%q, %v", text, err)
	}
	if all := f.seen(); all[len(all)-1].Header.Get("Authorization") != "" {
		t.Error("the token comes back over another host")
	}
	for _, path := range []string{"/api/inside", "/api/loop"} {
		if _, _, err := send(t, client, "GET", f.base+path, ""); err == nil {
			t.Errorf("%s passes", path)
		}
	}
}

// An account that is taken out, or replaced by another one, is so from the next
// request on, of calls that have begun before too.
func TestRevocationCountsFromTheNextRequest(t *testing.T) {
	f := newFake(t)
	providers := []oauth.Configured{f.provider("acme")}
	k := newKit(t, providers)
	k.connect(f, "acme")
	client, done := k.opened(plugins.Read)
	defer done()
	if _, text, err := send(t, client, "GET", f.base+"/api/x", ""); text != "hello" {
		t.Fatalf("%q, %v", text, err)
	}
	if _, err := k.another(providers).Disconnect(t.Context(), alice, "acme", oauth.ViaHome); err != nil {
		t.Fatal(err)
	}
	n := len(f.seen())
	if _, _, err := send(t, client, "GET", f.base+"/api/x", ""); err == nil || len(f.seen()) != n {
		t.Errorf("it was sent: %v", err)
	}
	f.set(func() { f.user["sub"], f.user["name"] = "18", "another" })
	k.connect(f, "acme")
	if _, _, err := send(t, client, "GET", f.base+"/api/x", ""); err == nil || len(f.seen()) != n {
		t.Errorf("another account is used: %v", err)
	}
	// A call was judged by an account: it opens no other one, whatever its name.
	was, err := k.Look(t.Context(), alice, "acme", nil)
	if err != nil || was.ID == "" {
		t.Fatalf("%+v, %v", was, err)
	}
	f.set(func() { f.user["sub"] = "19" })
	k.connect(f, "acme")
	judged := oauth.Use{Actor: alice, Provider: "acme", Account: was.ID, Access: plugins.Read}
	if _, _, err := k.Open(t.Context(), judged); !errors.Is(err, oauth.ErrConnect) {
		t.Errorf("another account of the same name is opened: %v", err)
	}
	now, _ := k.Look(t.Context(), alice, "acme", nil)
	judged.Account = now.ID
	if _, end, err := k.Open(t.Context(), judged); err != nil || now.Name != was.Name {
		t.Errorf("the one that it was judged by: %+v, %v", now, err)
	} else {
		end()
	}
}
