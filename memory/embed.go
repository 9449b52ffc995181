package memory

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"
)

// Embedder makes a vector of each text: the nearer two vectors, the nearer
// their texts' meaning.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

const (
	// embedTime is how long a prompt waits for vectors before it does without.
	embedTime = 2 * time.Second
	// maxVectors bounds how many are kept in a process: about 25 MB of the
	// usual length.
	maxVectors = 4000
)

// ranker orders memories by how well they answer a question: by their words,
// and where there is an embedder by their meaning too.
type ranker struct {
	embedder Embedder
	log      *slog.Logger

	mu sync.Mutex
	// vectors are kept by the text that they are of: a memory's text never
	// changes. They are not stored: a process asks for them once.
	vectors map[string][]float32
}

// rank is rank with meaning. Whatever goes wrong with vectors costs them alone.
func (r *ranker) rank(ctx context.Context, question string, memories []Memory) []Memory {
	byWords := rank(question, memories)
	if r.embedder == nil || len(memories) == 0 || question == "" {
		return byWords
	}
	ctx, cancel := context.WithTimeout(ctx, embedTime)
	defer cancel()
	texts := []string{question}
	for _, m := range memories {
		texts = append(texts, said(m))
	}
	vectors, err := r.of(ctx, texts)
	if err != nil {
		r.log.Warn("memories ranked without embeddings", "err", err)
		return byWords
	}
	byMeaning := nearest(vectors[0], vectors[1:], memories)
	return fused(byWords, byMeaning)
}

// said is a memory as it is compared.
func said(m Memory) string { return m.Topic + ": " + m.Text }

// of are the vectors of texts; those that are not known are asked for at once.
func (r *ranker) of(ctx context.Context, texts []string) ([][]float32, error) {
	known, missing := make([][]float32, len(texts)), []string{}
	r.mu.Lock()
	for i, text := range texts {
		if known[i] = r.vectors[text]; known[i] == nil && !slices.Contains(missing, text) {
			missing = append(missing, text)
		}
	}
	r.mu.Unlock()
	if len(missing) == 0 {
		return known, nil
	}
	vectors, err := r.embedder.Embed(ctx, missing)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.vectors == nil || len(r.vectors)+len(missing) > maxVectors {
		r.vectors = map[string][]float32{}
	}
	fresh := map[string][]float32{}
	for i, text := range missing {
		fresh[text], r.vectors[text] = vectors[i], vectors[i]
	}
	for i, text := range texts {
		if known[i] == nil {
			known[i] = fresh[text]
		}
	}
	return known, nil
}

// leastLike is how near a memory must be to count as an answer at all.
const leastLike = 0.3

// nearest are the memories by the cosine of their vectors to the question's.
func nearest(question []float32, vectors [][]float32, memories []Memory) []Memory {
	type scored struct {
		memory Memory
		score  float64
	}
	var found []scored
	for i, v := range vectors {
		if score := cosine(question, v); score >= leastLike {
			found = append(found, scored{memories[i], score})
		}
	}
	slices.SortStableFunc(found, func(x, y scored) int { return cmp.Compare(y.score, x.score) })
	ranked := make([]Memory, len(found))
	for i, s := range found {
		ranked[i] = s.memory
	}
	return ranked
}

func cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0 // two models' vectors are not of one space
	}
	var dot, x, y float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		x += float64(a[i]) * float64(a[i])
		y += float64(b[i]) * float64(b[i])
	}
	if x == 0 || y == 0 {
		return 0
	}
	return dot / math.Sqrt(x*y)
}

// fused is one order of two: reciprocal rank fusion (Cormack, Clarke and
// Büttcher, 2009) with its usual constant.
func fused(lists ...[]Memory) []Memory {
	const k = 60
	score, of, order := map[string]float64{}, map[string]Memory{}, []string{}
	for _, list := range lists {
		for i, m := range list {
			if _, seen := of[m.ID]; !seen {
				of[m.ID] = m
				order = append(order, m.ID)
			}
			score[m.ID] += 1 / float64(k+i+1)
		}
	}
	slices.SortStableFunc(order, func(x, y string) int { return cmp.Compare(score[y], score[x]) })
	ranked := make([]Memory, len(order))
	for i, id := range order {
		ranked[i] = of[id]
	}
	return ranked
}
