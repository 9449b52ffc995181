package memory

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"reeve/agent/openai"
)

//go:embed testdata/memories.txt
var labelledMemories string

//go:embed testdata/questions.txt
var labelledQuestions string

type question struct {
	text    string
	answers []string // ids
}

func records(text string) (lines [][]string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var fields []string
		for f := range strings.SplitSeq(line, "|") {
			fields = append(fields, strings.TrimSpace(f))
		}
		lines = append(lines, fields)
	}
	return lines
}

// labelled are the memories and the questions of testdata.
func labelled(t testing.TB) (memories []Memory, questions []question) {
	t.Helper()
	for i, f := range records(labelledMemories) {
		memories = append(memories, Memory{
			ID: strconv.Itoa(i + 1), Kind: Kind(f[0]), Topic: f[1], Text: f[2], Created: noon.Add(time.Duration(i) * time.Minute), Expires: noon.Add(day), Schema: schema,
		})
	}
	for _, f := range records(labelledQuestions) {
		q := question{text: f[0]}
		for id := range strings.SplitSeq(f[1], ",") {
			q.answers = append(q.answers, strings.TrimSpace(id))
		}
		questions = append(questions, q)
	}
	if len(memories) < 100 || len(questions) < 40 {
		t.Fatalf("%d memories and %d questions are too few", len(memories), len(questions))
	}
	return memories, questions
}

// recallAt is the share of answers that are among the first n found.
func recallAt(n int, questions []question, find func(string) []Memory) (share float64, missed []string) {
	found, all := 0, 0
	for _, q := range questions {
		first := find(q.text)
		first = first[:min(n, len(first))]
		for _, id := range q.answers {
			all++
			if slices.ContainsFunc(first, func(m Memory) bool { return m.ID == id }) {
				found++
			} else {
				missed = append(missed, fmt.Sprintf("%s: %s", q.text, id))
			}
		}
	}
	return float64(found) / float64(all), missed
}

func TestRecallByWords(t *testing.T) {
	memories, questions := labelled(t)
	share, missed := recallAt(5, questions, func(q string) []Memory { return rank(q, memories) })
	t.Logf("recall@5 by words: %.2f; missed %q", share, missed)
	if share < 0.85 {
		t.Errorf("recall@5 is %.2f; missed: %s", share, strings.Join(missed, "; "))
	}
}

// concepts is an embedder that knows what some words have in common, so that a
// question without any word of its answer can find it.
type concepts struct {
	calls int
	err   error
}

var concept = [][]string{
	{"colleague", "boss", "manager", "reports", "head"}, {"car", "train", "plane", "travel"}, {"hungry", "eats", "vegetarian", "food", "lunch"},
}

func (c *concepts) Embed(_ context.Context, texts []string) ([][]float32, error) {
	c.calls++
	if c.err != nil {
		return nil, c.err
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = make([]float32, len(concept)+1)
		vectors[i][len(concept)] = 0.01
		for n, words := range concept {
			for _, w := range words {
				if strings.Contains(strings.ToLower(text), w) {
					vectors[i][n] = 1
				}
			}
		}
	}
	return vectors, nil
}

// wired is a ranker that asks for embeddings as the shipped one does: over HTTP,
// of a server that speaks the API.
func wired(t testing.TB, c *concepts) *ranker {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Input []string }
		err := json.NewDecoder(r.Body).Decode(&asked)
		vectors, failed := c.Embed(r.Context(), asked.Input)
		if err != nil || failed != nil || r.URL.Path != "/v1/embeddings" {
			http.Error(w, `{"error":{"message":"out of order"}}`, http.StatusInternalServerError)
			return
		}
		type item struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var answer struct {
			Data []item `json:"data"`
		}
		for i, v := range vectors {
			answer.Data = append(answer.Data, item{i, v})
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	client, err := openai.New(openai.Options{BaseURL: server.URL + "/v1", APIKey: "key", Model: "vectors"})
	if err != nil {
		t.Fatal(err)
	}
	return &ranker{embedder: client, log: slog.New(slog.DiscardHandler)}
}

func TestEmbeddingsFindWhatHasNoWordInCommon(t *testing.T) {
	memories, _ := labelled(t)
	c := &concepts{}
	r := wired(t, c)
	const asked = "who is my boss?"
	if by := rank(asked, memories); len(by) > 0 && by[0].ID == "28" {
		t.Fatal("words find it too: the test proves nothing")
	}
	for range 2 {
		found := r.rank(t.Context(), asked, memories)
		if !slices.ContainsFunc(found[:min(5, len(found))], func(m Memory) bool { return m.ID == "28" }) {
			t.Errorf("found %+v", found)
		}
	}
	if c.calls != 1 {
		t.Errorf("the same texts were embedded %d times", c.calls)
	}
	c.err = errors.New("out of order")
	r.vectors = nil // as in another process
	share, _ := recallAt(5, []question{{"how do I rotate the certificates", []string{"52"}}}, func(q string) []Memory { return r.rank(t.Context(), q, memories) })
	if share != 1 {
		t.Error("without embeddings nothing is found by words")
	}
}
