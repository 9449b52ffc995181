package openai_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reeve/agent"
	"reeve/agent/openai"
)

var (
	good    = stream(text("hi"), finish("stop"), done)
	refused = func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }
)

func TestWhatMayPassIsTriedAgain(t *testing.T) {
	tests := map[string]func(*http.Request) (*http.Response, error){
		"408": status(408, "{}"), "409": status(409, "{}"), "429": status(429, `{"error":{"message":"slow down","type":"rate_limit"}}`),
		"500": status(500, "oops"), "503": status(503, ""), "529": status(529, ""),
		"network":             refused,
		"cut":                 stream(text("half of it")),
		"finished by nothing": stream(text("half of it"), done),
		"empty":               stream(finish("stop"), done),
		"blank":               stream(text(" "), finish("stop"), done),
		"nothing at all":      status(200, ""),
		"garbage":             stream("{no json"),
		"a page":              status(200, "<html>gateway</html>"),
		"error in the stream": stream(text("half"), `{"error":{"message":"overloaded","type":"server_error"}}`),
		"status in stream":    stream(text("half"), `{"error":{"message":"overloaded","code":502}}`),
	}
	for name, bad := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &provider{answers: []func(*http.Request) (*http.Response, error){bad, bad, good}}
				reply, err := client(t, p).Complete(t.Context(), hello)
				if err != nil || reply.Text != "hi" {
					t.Fatalf("got %q, %v", reply.Text, err)
				}
				for i, want := range []time.Duration{500 * time.Millisecond, time.Second} {
					if got := p.asked[i+1].Sub(p.asked[i]); got < want*8/10 || got > want*12/10 {
						t.Errorf("wait %d took %v, want %v give or take 20%%", i+1, got, want)
					}
				}
			})
		})
		t.Run(name+" for ever", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &provider{answers: []func(*http.Request) (*http.Response, error){bad}}
				start := time.Now()
				reply, err := client(t, p).Complete(t.Context(), hello)
				if kind := kindOf(t, err); kind != agent.ModelUnreachable || reply.Text != "" {
					t.Errorf("got %q, %s", reply.Text, kind)
				}
				if took := time.Since(start); len(p.asked) != 5 || took > 9*time.Second+10*time.Millisecond {
					t.Errorf("%d attempts in %v", len(p.asked), took)
				}
			})
		})
	}
}

func TestPermanentErrorsAreNotTriedAgain(t *testing.T) {
	tests := map[string]struct {
		answer func(*http.Request) (*http.Response, error)
		kind   agent.FailureKind
	}{
		"401":                {status(401, `{"error":{"message":"Incorrect API key provided: `+key+`","code":"invalid_api_key"}}`), agent.ModelRefused},
		"403":                {status(403, "no"), agent.ModelRefused},
		"404":                {status(404, `{"error":{"message":"no such model","code":"model_not_found"}}`), agent.ModelRefused},
		"400":                {status(400, `{"error":{"message":"bad"}}`), agent.ModelRefused},
		"quota":              {status(429, `{"error":{"message":"pay","code":"insufficient_quota"}}`), agent.ModelRefused},
		"filter":             {stream(text("some"), finish("content_filter"), done), agent.ModelRefused},
		"refusal in stream":  {stream(`{"error":{"message":"bad","type":"invalid_request_error"}}`), agent.ModelRefused},
		"400 in stream":      {stream(`{"error":{"message":"bad","code":400}}`), agent.ModelRefused},
		"too long by code":   {status(400, `{"error":{"message":"x","code":"context_length_exceeded"}}`), agent.TooLong},
		"too long by words":  {status(400, `{"error":{"message":"This model's maximum context length is 8192 tokens."}}`), agent.TooLong},
		"too long elsewhere": {status(422, `prompt is too long: 9000 tokens > 8000`), agent.TooLong},
		"too long in stream": {stream(`{"error":{"message":"x","code":"context_length_exceeded"}}`), agent.TooLong},
		"413":                {status(413, ""), agent.TooLong},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &provider{answers: []func(*http.Request) (*http.Response, error){test.answer}}
				_, err := client(t, p).Complete(t.Context(), hello)
				if kind := kindOf(t, err); kind != test.kind || len(p.asked) != 1 {
					t.Errorf("got %s after %d attempts: %v", kind, len(p.asked), err)
				}
			})
		})
	}
}

func TestRetryAfter(t *testing.T) {
	limited := func(headers ...string) func(*http.Request) (*http.Response, error) {
		return status(429, "{}", headers...)
	}
	t.Run("is honoured", func(t *testing.T) {
		for header, want := range map[string]time.Duration{"7": 7 * time.Second, "2.5": 2500 * time.Millisecond, "60": time.Minute} {
			synctest.Test(t, func(t *testing.T) {
				p := &provider{answers: []func(*http.Request) (*http.Response, error){limited("Retry-After", header), good}}
				start := time.Now()
				if _, err := client(t, p).Complete(t.Context(), hello); err != nil || time.Since(start) != want {
					t.Errorf("Retry-After %s: %v after %v", header, err, time.Since(start))
				}
			})
		}
	})
	t.Run("as a date", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			date := time.Now().Add(9 * time.Second).UTC().Format(http.TimeFormat)
			p := &provider{answers: []func(*http.Request) (*http.Response, error){limited("Retry-After", date), good}}
			start := time.Now()
			if _, err := client(t, p).Complete(t.Context(), hello); err != nil || time.Since(start).Round(time.Second) != 9*time.Second {
				t.Errorf("%v after %v", err, time.Since(start))
			}
		})
	})
	t.Run("in milliseconds", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := &provider{answers: []func(*http.Request) (*http.Response, error){limited("Retry-After-Ms", "3000"), good}}
			start := time.Now()
			if _, err := client(t, p).Complete(t.Context(), hello); err != nil || time.Since(start) != 3*time.Second {
				t.Errorf("%v after %v", err, time.Since(start))
			}
		})
	})
	t.Run("too long is a failure at once", func(t *testing.T) {
		for _, header := range []string{"61", "100000000000000000000", "Fri, 31 Dec 2100 23:59:59 GMT"} {
			synctest.Test(t, func(t *testing.T) {
				p := &provider{answers: []func(*http.Request) (*http.Response, error){limited("Retry-After", header)}}
				start := time.Now()
				_, err := client(t, p).Complete(t.Context(), hello)
				if kind := kindOf(t, err); kind != agent.RetryTooLong || time.Since(start) != 0 {
					t.Errorf("%s: %s after %v", header, kind, time.Since(start))
				}
			})
		}
	})
	t.Run("counts against the whole", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := &provider{answers: []func(*http.Request) (*http.Response, error){limited("Retry-After", "25")}}
			start := time.Now()
			_, err := client(t, p).Complete(t.Context(), hello)
			if kind := kindOf(t, err); kind != agent.RetryTooLong || time.Since(start) != 50*time.Second || len(p.asked) != 3 {
				t.Errorf("%s after %v and %d attempts", kind, time.Since(start), len(p.asked))
			}
		})
	})
	t.Run("nonsense is ignored", func(t *testing.T) {
		for _, header := range []string{"soon", "-5", "NaN"} {
			synctest.Test(t, func(t *testing.T) {
				p := &provider{answers: []func(*http.Request) (*http.Response, error){limited("Retry-After", header), good}}
				start := time.Now()
				if _, err := client(t, p).Complete(t.Context(), hello); err != nil || time.Since(start) > time.Second {
					t.Errorf("%s: %v after %v", header, err, time.Since(start))
				}
			})
		}
	})
}

// dripping is a body that gives a byte each time every passes, for ever.
type dripping struct {
	ctx   context.Context
	every time.Duration
}

func (d dripping) Read(p []byte) (int, error) {
	select {
	case <-time.After(d.every):
		p[0] = 'a'
		return 1, nil
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	}
}

func (dripping) Close() error { return nil }

func TestSilentAndDrippingProvidersAreCut(t *testing.T) {
	hang := func(req *http.Request) (*http.Response, error) {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	drip := func(every time.Duration) func(*http.Request) (*http.Response, error) {
		return func(req *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: dripping{req.Context(), every}}, nil
		}
	}
	slowError := func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 500, Header: http.Header{}, Body: dripping{req.Context(), time.Second}}, nil
	}
	tests := map[string]struct {
		answer func(*http.Request) (*http.Response, error)
		each   time.Duration
	}{
		"no headers":       {hang, time.Minute},
		"silence":          {drip(61 * time.Second), time.Minute},
		"drip":             {drip(time.Second), 5 * time.Minute},
		"drip of an error": {slowError, 5 * time.Minute},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &provider{answers: []func(*http.Request) (*http.Response, error){test.answer}}
				start := time.Now()
				_, err := client(t, p).Complete(t.Context(), hello)
				if kind := kindOf(t, err); kind != agent.ModelUnreachable {
					t.Errorf("got %s", kind)
				}
				took := time.Since(start)
				if low, high := 5*test.each, 5*test.each+9*time.Second+10*time.Millisecond; took < low || took > high {
					t.Errorf("took %v, want %v to %v", took, low, high)
				}
			})
		})
		t.Run(name+" is cut by the turn's end", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &provider{answers: []func(*http.Request) (*http.Response, error){test.answer}}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				start := time.Now()
				_, err := client(t, p).Complete(ctx, hello)
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 10*time.Second {
					t.Errorf("%v after %v", err, time.Since(start))
				}
			})
		})
	}
}

func TestEndOfTheTurnCutsAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{answers: []func(*http.Request) (*http.Response, error){status(429, "", "Retry-After", "30")}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := client(t, p).Complete(ctx, hello); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestServerThatStaysOpenAfterItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{answers: []func(*http.Request) (*http.Response, error){func(req *http.Request) (*http.Response, error) {
			whole := strings.NewReader("data: " + text("hi") + "\n\ndata: " + finish("stop") + "\n\n")
			body := io.MultiReader(whole, dripping{req.Context(), time.Hour})
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(body)}, nil
		}}}
		start := time.Now()
		reply, err := client(t, p).Complete(t.Context(), hello)
		if err != nil || reply.Text != "hi" || time.Since(start) > 3*time.Second {
			t.Errorf("got %q, %v after %v", reply.Text, err, time.Since(start))
		}
	})
}

func TestOptionsThatAServerRefusesAreLeftOut(t *testing.T) {
	p := &provider{answers: []func(*http.Request) (*http.Response, error){
		status(400, `{"error":{"message":"Unrecognized request argument supplied: stream_options"}}`), good}}
	c := client(t, p)
	for range 2 {
		if reply, err := c.Complete(t.Context(), hello); err != nil || reply.Text != "hi" {
			t.Fatalf("got %q, %v", reply.Text, err)
		}
	}
	if len(p.bodies) != 3 || !strings.Contains(p.bodies[0], "include_usage") || strings.Contains(p.bodies[1]+p.bodies[2], "stream_options") {
		t.Errorf("sent %q", p.bodies)
	}

	p = &provider{answers: []func(*http.Request) (*http.Response, error){status(400, `{"error":{"message":"stream_options"}}`)}}
	if _, err := client(t, p).Complete(t.Context(), hello); kindOf(t, err) != agent.ModelRefused || len(p.bodies) != 2 {
		t.Errorf("a server that always says so was asked %d times: %v", len(p.bodies), err)
	}
}

func TestModelsWithLimitsOfTheirOwn(t *testing.T) {
	limited := hello
	limited.MaxTokens = 10
	limited.Tools = []agent.ToolSpec{{Name: "look", Parameters: []byte(`{"type":"object","properties":{}}`)}}
	for model, want := range map[string]string{"gpt-5": `"max_completion_tokens":10`, "gpt-6-sol": `"reasoning_effort":"none"`, "m": `"max_tokens":10`} {
		p := &provider{answers: []func(*http.Request) (*http.Response, error){good}}
		if _, err := client(t, p, func(o *openai.Options) { o.Model = model }).Complete(t.Context(), limited); err != nil {
			t.Errorf("%s: %v", model, err)
			continue
		}
		if !strings.Contains(p.bodies[0], want) {
			t.Errorf("%s was sent %s", model, p.bodies[0])
		}
	}
}

func TestS4_KeyAndProviderTextStayInside(t *testing.T) {
	answers := map[string]func(*http.Request) (*http.Response, error){
		"api error": status(401, `{"error":{"message":"Incorrect API key provided: `+key+` provider-words","code":"invalid_api_key"}}`),
		"body":      status(500, "upstream said Authorization: Bearer "+key+" provider-words"),
		"stream":    stream(`{"error":{"message":"key ` + key + ` provider-words","type":"server_error"}}`),
		"network": func(req *http.Request) (*http.Response, error) {
			return nil, errors.New("proxy refused " + req.Header.Get("Authorization") + " provider-words")
		},
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				p := &provider{answers: []func(*http.Request) (*http.Response, error){answer}}
				c := client(t, p, func(o *openai.Options) {
					o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
				})
				_, err := c.Complete(t.Context(), hello)
				var failure *agent.Failure
				if !errors.As(err, &failure) {
					t.Fatalf("got %v", err)
				}
				for where, said := range map[string]string{"cause": failure.Error(), "log": log.String()} {
					if strings.Contains(said, "0123456789") {
						t.Errorf("the key stands in the %s: %s", where, said)
					}
				}
				if sentence := failure.Sentence("t_01jabcdefghijk"); strings.Contains(sentence, "provider-words") || strings.Contains(sentence, "sk-") {
					t.Errorf("the sentence says %q", sentence)
				}
				if !strings.Contains(log.String()+failure.Error(), "provider-words") {
					t.Errorf("the provider's words are nowhere, of no use to an operator: %v", failure)
				}
				// They may quote what people said: not above debug.
				loud := failure.Error()
				for line := range strings.Lines(log.String()) {
					if !strings.Contains(line, "level=DEBUG") {
						loud += line
					}
				}
				if name != "network" && strings.Contains(loud, "provider-words") {
					t.Errorf("the provider's words stand above debug: %s", loud)
				}
			})
		})
	}
}
