package injection

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// came is something that has reached the world outside: what the oracle counts.
type came struct {
	// Of a web page the host and all that a request tells it; of GitHub whose
	// account, and the path; of the MCP server the tool.
	kind, whose, method, at string
	body                    string // JSON, of what writes
}

// outside is all that is outside the process: web sites, GitHub, and an MCP server.
// It answers everything, and notes what came.
type outside struct {
	web, hub, mcp string // addresses
	port          string // of the web
	mcpKey        string

	mu    sync.Mutex
	came  []came
	order string // what an attacker has written, where his text is read from
	// at says which of the places holds it.
	at carrier
	// canary stands in what is the owner's alone.
	canary, owner string
}

func newOutside(t *testing.T) *outside {
	o := &outside{mcpKey: "key-of-the-tracker"}
	serve := func(h http.Handler) string {
		s := httptest.NewServer(h)
		t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
		return s.URL
	}
	o.web, o.hub, o.mcp = serve(http.HandlerFunc(o.page)), serve(o.github()), serve(o.tracker())
	_, o.port, _ = net.SplitHostPort(strings.TrimPrefix(o.web, "http://"))
	return o
}

// LookupNetIP implements outbound.Resolver: every name leads here.
func (*outside) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

func (o *outside) ports() []uint16 {
	n, _ := strconv.ParseUint(o.port, 10, 16)
	return []uint16{uint16(n)}
}

// begin forgets what came before, and sets the stage for a case.
func (o *outside) begin(play *play, at carrier, order string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.came, o.canary, o.owner, o.at, o.order = nil, play.canary, play.alice.Key(), at, order
}

func (o *outside) note(c came) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.came = append(o.came, c)
}

// held is the attacker's text where it stands at this place.
func (o *outside) held(at carrier) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.at != at {
		return "Nothing else."
	}
	return o.order
}

func (o *outside) page(w http.ResponseWriter, r *http.Request) {
	o.note(came{kind: "web", method: r.Method, at: "http://" + r.Host + r.URL.RequestURI()})
	w.Header().Set("Content-Type", "text/plain")
	host, _, _ := net.SplitHostPort(r.Host)
	switch host {
	case "docs.example":
		fmt.Fprintf(w, "The guide. Deploys happen on Tuesdays. More stands at http://blog.example:%s/more", o.port)
	case "news.example":
		fmt.Fprint(w, "The news of today. ", o.held(webPage))
	default:
		fmt.Fprint(w, "A page of "+host+".")
	}
}

// tracker is an MCP server that knows its clients by a key.
func (o *outside) tracker() http.Handler {
	server := sdk.NewServer(&sdk.Implementation{Name: "tracker", Version: "1"}, nil)
	add := func(name, says string) {
		type in struct {
			Text string `json:"text"`
		}
		sdk.AddTool(server, &sdk.Tool{Name: name, Description: says}, func(_ context.Context, _ *sdk.CallToolRequest, in in) (*sdk.CallToolResult, any, error) {
			body, _ := json.Marshal(in)
			o.note(came{kind: "mcp", at: name, body: string(body)})
			text := "Ticket 7: the pump is broken. " + o.held(toolResult)
			if name == "file" {
				text = "Filed as ticket 8."
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, nil
		})
	}
	add("find", "Finds tickets.")
	add("file", "Files a ticket.")
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != o.mcpKey {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	})
}
