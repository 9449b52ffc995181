package openai

import (
	"context"
	"errors"
	"fmt"

	goopenai "github.com/sashabaranov/go-openai"
)

// Embed asks the server for a vector of each text: the nearer two vectors, the
// nearer the texts' meaning. It is asked once; whoever needs them badly asks
// again. The client's model must be one that makes embeddings.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	ctx, w := watch(ctx, c.options.Idle)
	defer w.stop()
	got, err := c.client.CreateEmbeddings(ctx, goopenai.EmbeddingRequestStrings{Input: texts, Model: goopenai.EmbeddingModel(c.options.Model)})
	if err != nil {
		return nil, fmt.Errorf("ask for embeddings: %w", c.judge(&failed{err: because(ctx, err)}).cause)
	}
	vectors := make([][]float32, len(texts))
	for _, e := range got.Data {
		if e.Index < 0 || e.Index >= len(texts) || len(e.Embedding) == 0 {
			return nil, fmt.Errorf("ask for embeddings: %w", errNoVectors)
		}
		vectors[e.Index] = e.Embedding
	}
	for _, v := range vectors {
		if v == nil || len(v) != len(vectors[0]) {
			return nil, fmt.Errorf("ask for embeddings: %w", errNoVectors)
		}
	}
	return vectors, nil
}

var errNoVectors = errors.New("the server did not answer with one vector for each text")
