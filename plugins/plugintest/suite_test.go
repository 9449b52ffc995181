package plugintest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// sample is a plugin that a test bends.
type sample struct {
	name string
	open func(plugins.Services) (plugins.Extension, error)
}

func (s sample) Name() string { return s.name }
func (s sample) Open(_ context.Context, services plugins.Services) (plugins.Extension, error) {
	return s.open(services)
}

type words struct {
	Text string `json:"text"`
	Loud bool   `json:"loud,omitempty"`
}

type act = func(ctx context.Context, call plugins.Call, in words) (plugins.Result, error)

func tool(effect plugins.Effect, call act) plugins.Tool {
	access := plugins.Write
	if effect == plugins.Pure {
		access = plugins.Read
	}
	return plugins.MustTool(plugins.Tool{Name: "say", Description: "Says it.", Effect: effect, Access: access, Timeout: time.Second}, call)
}

func does(effect plugins.Effect, call act) func(plugins.Services) (plugins.Extension, error) {
	return func(plugins.Services) (plugins.Extension, error) {
		return plugins.Extension{Tools: []plugins.Tool{tool(effect, call)}}, nil
	}
}

func says(_ context.Context, _ plugins.Call, in words) (plugins.Result, error) {
	return plugins.Result{Text: in.Text}, nil
}

// Each of these is wrong in one way, which one check finds.
func TestTheSuiteFindsWhatIsWrong(t *testing.T) {
	hanging := make(chan struct{})
	defer close(hanging)
	tests := []struct {
		name, check, want string
		open              func(plugins.Services) (plugins.Extension, error)
		options           []Option
	}{
		{"an error", "opens", "no luck", func(plugins.Services) (plugins.Extension, error) { return plugins.Extension{}, errors.New("no luck") }, nil},
		{"a panic at start", "opens", "it panicked", func(plugins.Services) (plugins.Extension, error) { panic("oh") }, nil},
		{"a tool without a function", "opens", "no function", func(plugins.Services) (plugins.Extension, error) {
			return plugins.Extension{Tools: []plugins.Tool{{Name: "say", Description: "d"}}}, nil
		}, nil},
		{"the network at start", "opens", "made 1 requests", func(s plugins.Services) (plugins.Extension, error) {
			_, _ = s.HTTP("example.com").Get("https://example.com/")
			return plugins.Extension{}, nil
		}, nil},
		{"a panic", "arguments", "it panicked", does(plugins.Pure, func(_ context.Context, _ plugins.Call, in words) (plugins.Result, error) {
			return plugins.Result{Text: in.Text[:1]}, nil
		}), nil},
		{"too long a result", "arguments", "would be cut", does(plugins.Pure, func(_ context.Context, _ plugins.Call, in words) (plugins.Result, error) {
			return plugins.Result{Text: strings.Repeat(in.Text, 10)}, nil
		}), nil},
		{"no reason", "arguments", "does not say why", does(plugins.Pure, func(context.Context, plugins.Call, words) (plugins.Result, error) {
			return plugins.Result{Error: true}, nil
		}), nil},
		{"a schema that nothing fits", "arguments", "no arguments could be made", func(plugins.Services) (plugins.Extension, error) {
			x, _ := does(plugins.Pure, says)(plugins.Services{})
			x.Tools[0].Parameters = []byte(`{"type":"object","properties":{"text":{"type":"string","pattern":"^[0-9]{7}$"}},"required":["text"]}`)
			return x, nil
		}, nil},
		{"an example that fails", "examples", "not today", does(plugins.Pure, func(context.Context, plugins.Call, words) (plugins.Result, error) {
			return plugins.Result{}, errors.New("not today")
		}), []Option{Example("say", `{"text":"a"}`)}},
		{"an example of no tool", "examples", `no tool "sing"`, does(plugins.Pure, says), []Option{Example("sing", `{}`)}},
		{"text in the log", "log", "stands in the log", func(s plugins.Services) (plugins.Extension, error) {
			return does(plugins.Pure, func(_ context.Context, _ plugins.Call, in words) (plugins.Result, error) {
				s.Log.Info("said", "text", in.Text)
				return plugins.Result{}, nil
			})(s)
		}, nil},
		{"a hang", "ended context", "did not come back", does(plugins.Pure, func(context.Context, plugins.Call, words) (plugins.Result, error) {
			<-hanging
			return plugins.Result{}, nil
		}), []Option{Calls(1)}},
		{"counting calls", "same key", "stored something else", does(plugins.Idempotent, func(ctx context.Context, call plugins.Call, _ words) (plugins.Result, error) {
			return plugins.Result{}, appendTo(ctx, call.Store, "n")
		}), nil},
		{"a date in the key", "same key", "stored something else", func(s plugins.Services) (plugins.Extension, error) {
			return does(plugins.Idempotent, func(ctx context.Context, call plugins.Call, _ words) (plugins.Result, error) {
				return plugins.Result{}, call.Store.Set(ctx, s.Now().Format(time.DateOnly), []byte("x"))
			})(s)
		}, nil},
		{"success without its store", "store away", "it says that all is well: Kept.", does(plugins.Idempotent, func(ctx context.Context, call plugins.Call, _ words) (plugins.Result, error) {
			_ = call.Store.Set(ctx, "n", []byte("x"))
			return plugins.Result{Text: "Kept."}, nil
		}), nil},
		{"no look at the store's errors", "store away", "it panicked", does(plugins.Idempotent, func(ctx context.Context, call plugins.Call, _ words) (plugins.Result, error) {
			_ = call.Store.Set(ctx, "n", []byte("x"))
			value, _, _ := call.Store.Get(ctx, "n")
			return plugins.Result{Text: string(value[:1])}, nil
		}), nil},
		{"a memory of its own", "people", "gave back what", func(s plugins.Services) (plugins.Extension, error) {
			var mu sync.Mutex
			last := ""
			return does(plugins.Pure, func(_ context.Context, call plugins.Call, in words) (plugins.Result, error) {
				mu.Lock()
				defer mu.Unlock()
				said := last
				if call.Actor == Alice {
					last = in.Text
				}
				return plugins.Result{Text: said}, nil
			})(s)
		}, nil},
		{"the bot's rights, unasked", "arguments", "had not asked the person's account", func(plugins.Services) (plugins.Extension, error) {
			t := tool(plugins.Once, func(ctx context.Context, call plugins.Call, _ words) (plugins.Result, error) {
				app, _, err := call.Account.App(ctx, "acme")
				if err != nil {
					return plugins.Result{}, err
				}
				_, err = app.Post("https://api.example.com/", "text/plain", nil)
				return plugins.Result{Error: true, Text: "it failed"}, err
			})
			t.Provider, t.Account = "forge", true
			return plugins.Extension{Tools: []plugins.Tool{t}}, nil
		}, []Option{Apps("acme")}},
		{"too long a section", "sections", "its budget of 10 tokens is some 30: leave some of it out", func(plugins.Services) (plugins.Extension, error) {
			return plugins.Extension{Sections: []plugins.Section{{Name: "a", Tokens: 10, Render: func(context.Context, plugins.Call) ([]plugins.Note, error) {
				return []plugins.Note{{Text: "0123456789"}, {Text: "0123456789"}, {Text: "0123456789."}}, nil
			}}}}, nil
		}, nil},
		{"a task that counts", "tasks", "run a second time with the same key", func(plugins.Services) (plugins.Extension, error) {
			return plugins.Extension{Tasks: []plugins.Task{{Name: "a", Run: func(ctx context.Context, ended plugins.Ended) error {
				return appendTo(ctx, ended.Store, "n")
			}}}}, nil
		}, nil},
		{"a task that fails", "tasks", "not today", func(plugins.Services) (plugins.Extension, error) {
			return plugins.Extension{Tasks: []plugins.Task{{Name: "a", Run: func(context.Context, plugins.Ended) error { return errors.New("not today") }}}}, nil
		}, nil},
		{"a question that panics", "tasks", "Wants: it panicked", func(plugins.Services) (plugins.Extension, error) {
			return plugins.Extension{Tasks: []plugins.Task{{
				Name:  "a",
				Wants: func(ended plugins.Ended) bool { return ended.Contributors[0] == Bob },
				Run:   func(context.Context, plugins.Ended) error { return nil },
			}}}, nil
		}, nil},
		{"a button that panics", "home", "Home.Act of", func(plugins.Services) (plugins.Extension, error) {
			return plugins.Extension{Home: &plugins.Home{
				Title: "Things",
				Items: func(context.Context, chat.Actor) ([]chat.HomeItem, error) { return nil, nil },
				Act: func(_ context.Context, _ chat.Actor, _, item string) (string, error) {
					return "", errors.New(item[1:])
				},
			}}, nil
		}, nil},
		{"a home that has none", "home", "Home.Items for", func(plugins.Services) (plugins.Extension, error) {
			return plugins.Extension{Home: &plugins.Home{
				Title: "Things",
				Items: func(context.Context, chat.Actor) ([]chat.HomeItem, error) { return nil, errors.New("not today") },
				Act:   func(context.Context, chat.Actor, string, string) (string, error) { return "", nil },
			}}, nil
		}, nil},
		{"background work that stays", "end", "Extension.Run: it did not come back", func(plugins.Services) (plugins.Extension, error) {
			return plugins.Extension{Run: func(context.Context) error { <-hanging; return nil }}, nil
		}, nil},
		{"a goroutine that stays", "end", "still runs", does(plugins.Pure, func(context.Context, plugins.Call, words) (plugins.Result, error) {
			go func() { <-hanging }()
			return plugins.Result{}, nil
		}), []Option{Calls(1)}},
		{"tools that never come", "arguments", "not offered in time", func(plugins.Services) (plugins.Extension, error) { return plugins.Extension{}, nil },
			[]Option{Until(func(x plugins.Extension) bool { return len(x.Tools) > 0 }), Patience(time.Millisecond)}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, c := range checks {
				if c.name != test.check {
					continue
				}
				found := inspect(t, c, func() plugins.Plugin { return sample{"sample", test.open} }, test.options, &panics{at: map[string]bool{}})
				if len(found) == 0 || !strings.Contains(strings.Join(found, "\n"), test.want) {
					t.Errorf("found is %q, and should hold %q", found, test.want)
				}
				return
			}
			t.Fatalf("there is no check %q", test.check)
		})
	}
}

// What panics does so under most checks, and for most arguments.
func TestOnePanicIsToldOnce(t *testing.T) {
	known := &panics{at: map[string]bool{}}
	plugin := func() plugins.Plugin {
		return sample{"sample", does(plugins.Pure, func(_ context.Context, _ plugins.Call, in words) (plugins.Result, error) {
			if in.Loud {
				panic("too loud")
			}
			return plugins.Result{Text: in.Text[:1]}, nil
		})}
	}
	var found []string
	for _, c := range checks {
		found = append(found, inspect(t, c, plugin, nil, known)...)
	}
	if len(found) != 2 || !strings.Contains(strings.Join(found, "\n"), "too loud") || !strings.Contains(strings.Join(found, "\n"), "out of range") {
		t.Errorf("two lines panic, and found is:\n%s", strings.Join(found, "\n"))
	}
}

func appendTo(ctx context.Context, store plugins.Store, key string) error {
	value, _, err := store.Get(ctx, key)
	if err != nil {
		return err
	}
	return store.Set(ctx, key, append(value, '.'))
}

// A plugin that does everything, and nothing wrong: its tool comes later, asks
// the web, and writes once under its key.
func TestTheSuitePassesWhatIsRight(t *testing.T) {
	open := func(s plugins.Services) (plugins.Extension, error) {
		client := s.HTTP("*.example.com")
		fetch := tool(plugins.Idempotent, func(ctx context.Context, call plugins.Call, in words) (plugins.Result, error) {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://www.example.com/", nil)
			if err != nil {
				return plugins.Result{}, err
			}
			answer, err := client.Do(r)
			if err != nil {
				return plugins.Result{}, err
			}
			defer answer.Body.Close()
			body, err := io.ReadAll(io.LimitReader(answer.Body, 1000))
			if err != nil {
				return plugins.Result{}, err
			}
			_, err = call.Store.Add(ctx, "last", body)
			return plugins.Result{Text: string(body)}, err
		})
		return plugins.Extension{
			Run: func(ctx context.Context) error {
				if err := s.Offer([]plugins.Tool{fetch}); err != nil {
					return err
				}
				<-ctx.Done()
				return ctx.Err()
			},
			Sections: []plugins.Section{{Name: "last", Render: func(ctx context.Context, call plugins.Call) ([]plugins.Note, error) {
				value, _, err := call.Store.Get(ctx, "last")
				return []plugins.Note{{Text: plugins.CutMiddle(string(value), 900)}}, err
			}}},
			Tasks: []plugins.Task{{Name: "forget", Run: func(ctx context.Context, ended plugins.Ended) error { return ended.Store.Delete(ctx, "last") }}},
		}, nil
	}
	Suite(t, func() plugins.Plugin { return sample{"sample", open} },
		Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "you asked %s", r.Host) })),
		Until(func(x plugins.Extension) bool { return len(x.Tools) == 1 }),
		Example("say", `{"text":"a"}`), Calls(40))
}
