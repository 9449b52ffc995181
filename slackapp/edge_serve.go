package slackapp

import (
	"context"
	"errors"
	"time"
)

// flushWait is how long sockets are kept at the end for acknowledgements that
// are not written yet.
const flushWait = 2 * time.Second

// Serve runs an edge on its sockets until ctx ends, or until a token is
// refused: then the error is an *AuthError. At the end no work is taken any
// more, the batch under way is acknowledged, and only then the sockets are
// dropped.
func Serve(ctx context.Context, sockets *Sockets, edge *Edge) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	socketCtx, drop := context.WithCancel(context.WithoutCancel(ctx))
	defer drop()
	socketsEnd := make(chan error, 1)
	go func() {
		socketsEnd <- sockets.Run(socketCtx, edge.Take)
		cancel()
	}()
	edgeErr := edge.Run(ctx)
	sockets.Flush(flushWait)
	drop()
	if err := <-socketsEnd; err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return edgeErr
}
