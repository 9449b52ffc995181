package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// methodScopes are the bot scopes that each method of the Web API needs, as
// Slack's reference says. The kinds of conversation each have their own.
var methodScopes = map[string][]string{
	"auth.test":                  {},
	"apps.connections.open":      {}, // an app-level token's
	"chat.postMessage":           {"chat:write"},
	"chat.postEphemeral":         {"chat:write"},
	"chat.update":                {"chat:write"},
	"chat.delete":                {"chat:write"},
	"conversations.history":      {"channels:history", "groups:history", "im:history", "mpim:history"},
	"conversations.replies":      {"channels:history", "groups:history", "im:history", "mpim:history"},
	"conversations.info":         {"channels:read", "groups:read", "im:read", "mpim:read"},
	"conversations.members":      {"channels:read", "groups:read", "im:read", "mpim:read"},
	"conversations.open":         {"im:write"},
	"users.conversations":        {"channels:read", "groups:read", "im:read", "mpim:read"},
	"users.info":                 {"users:read", "users:read.email"}, // with the address in a profile
	"users.getPresence":          {"users:read"},
	"bots.info":                  {"users:read"},
	"reactions.add":              {"reactions:write"},
	"reactions.remove":           {"reactions:write"},
	"files.info":                 {"files:read"},
	"views.publish":              {},
	"views.open":                 {},
	"files.getUploadURLExternal": {"files:write"},
}

// goMethods are slack-go's names of them.
var goMethods = map[string]string{
	"AuthTest": "auth.test", "StartSocketMode": "apps.connections.open",
	"PostMessage": "chat.postMessage", "PostMessageWithResponse": "chat.postMessage", "SendMessage": "chat.postMessage",
	"PostEphemeral": "chat.postEphemeral", "UpdateMessage": "chat.update", "DeleteMessage": "chat.delete",
	"GetConversationHistory": "conversations.history", "GetConversationReplies": "conversations.replies",
	"GetConversationInfo": "conversations.info", "GetUsersInConversation": "conversations.members",
	"OpenConversation": "conversations.open", "GetConversationsForUser": "users.conversations", "GetUserInfo": "users.info", "GetUserPresence": "users.getPresence",
	"GetBotInfo": "bots.info", "AddReaction": "reactions.add", "RemoveReaction": "reactions.remove",
	"PublishView": "views.publish", "OpenView": "views.open", "GetFileInfo": "files.info", "UploadFile": "files.getUploadURLExternal",
}

// eventScopes are the subscriptions by which each type of event comes, and the
// scope that each needs.
var eventScopes = map[string]map[string]string{
	"app_mention": {"app_mention": "app_mentions:read"},
	"message": {
		"message.channels": "channels:history", "message.groups": "groups:history",
		"message.im": "im:history", "message.mpim": "mpim:history",
	},
	"reaction_added":        {"reaction_added": "reactions:read"},
	"agent_session_stopped": {"agent_session_stopped": ""},
	"app_home_opened":       {"app_home_opened": ""},
}

var apiName = regexp.MustCompile(`^(?:agents|apps|assistant|auth|bots|chat|conversations|emoji|files|pins|reactions|team|usergroups|users|views)\.[a-zA-Z.]+$`)

// clientMethods are the methods of slack-go's client, without "Context".
func clientMethods(t *testing.T) map[string]bool {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/slack-go/slack").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	methods := map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || !f.Name.IsExported() {
				continue
			}
			if star, ok := f.Recv.List[0].Type.(*ast.StarExpr); ok {
				if name, ok := star.X.(*ast.Ident); ok && name.Name == "Client" {
					methods[strings.TrimSuffix(f.Name.Name, "Context")] = true
				}
			}
		}
	}
	for _, none := range []string{"Debug", "Debugf", "Debugln"} {
		delete(methods, none)
	}
	if len(methods) < 100 {
		t.Fatalf("only %d methods of slack-go's client were found", len(methods))
	}
	return methods
}

// eachSlackFile visits the code of the Slack edge, without tests and simulator.
func eachSlackFile(t *testing.T, do func(name string, file *ast.File, set *token.FileSet)) {
	eachGo(t, parser.SkipObjectResolution, func(name string, _ []byte, file *ast.File, set *token.FileSet) {
		if strings.HasPrefix(name, "slackapp/") && !strings.HasPrefix(name, "slackapp/simulator/") && !strings.HasSuffix(name, "_test.go") {
			do(name, file, set)
		}
	})
}

// calledMethods are the Web API methods that the Slack edge calls.
func calledMethods(t *testing.T) map[string]string {
	t.Helper()
	methods, called := clientMethods(t), map[string]string{}
	eachSlackFile(t, func(_ string, file *ast.File, set *token.FileSet) {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				sel, ok := n.Fun.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				name := strings.TrimSuffix(sel.Sel.Name, "Context")
				if methods[name] && goMethods[name] == "" {
					t.Errorf("%s calls %s, whose scopes the test does not know", set.Position(n.Pos()), name)
				}
				if methods[name] {
					called[goMethods[name]] = set.Position(n.Pos()).String()
				}
			case *ast.BasicLit:
				if text := strings.Trim(n.Value, "`\""); n.Kind == token.STRING && apiName.MatchString(text) {
					if methodScopes[text] == nil {
						t.Errorf("%s names %s, whose scopes the test does not know", set.Position(n.Pos()), text)
					}
				}
			}
			return true
		})
	})
	delete(called, "")
	return called
}

// handledEvents are the types of events that admission tells apart.
func handledEvents(t *testing.T) []string {
	t.Helper()
	var handled []string
	eachSlackFile(t, func(_ string, file *ast.File, _ *token.FileSet) {
		ast.Inspect(file, func(n ast.Node) bool {
			sw, ok := n.(*ast.SwitchStmt)
			if !ok {
				return true
			}
			if sel, ok := sw.Tag.(*ast.SelectorExpr); !ok || sel.Sel.Name != "Type" {
				return true
			}
			for _, clause := range sw.Body.List {
				for _, value := range clause.(*ast.CaseClause).List {
					if lit, ok := value.(*ast.BasicLit); ok && eventScopes[strings.Trim(lit.Value, `"`)] != nil {
						handled = append(handled, strings.Trim(lit.Value, `"`))
					}
				}
			}
			return true
		})
	})
	slices.Sort(handled)
	return slices.Compact(handled)
}

func TestManifestIsWhatTheCodeUses(t *testing.T) {
	needed := map[string]bool{}
	for method := range calledMethods(t) {
		for _, scope := range methodScopes[method] {
			needed[scope] = true
		}
	}
	subscribed := map[string]bool{}
	for _, event := range handledEvents(t) {
		for subscription, scope := range eventScopes[event] {
			subscribed[subscription] = true
			if scope != "" {
				needed[scope] = true
			}
		}
	}
	if diff := cmp.Diff(sorted(needed), reasonNames(scopes)); diff != "" {
		t.Errorf("scopes (- needed by the code, + in the manifest):\n%s", diff)
	}
	if diff := cmp.Diff(sorted(subscribed), reasonNames(events)); diff != "" {
		t.Errorf("events (- handled by the code, + in the manifest):\n%s", diff)
	}
}

func sorted(set map[string]bool) []string {
	var names []string
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func reasonNames(list []reason) []string {
	var names []string
	for _, r := range list {
		names = append(names, r.name)
	}
	slices.Sort(names)
	return names
}
