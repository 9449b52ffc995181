package mailbox_test

import (
	"bytes"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"reeve/runtime/mailbox"
)

// TestP10_TheClientRepeatsNothingByItself counts how often one write reaches a
// server that carries it out and then breaks the connection. Scripts answer a
// repeated call as they answered the first; a plain counter would count it twice.
func TestP10_TheClientRepeatsNothingByItself(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var writes atomic.Int64
	serve := func(conn net.Conn) {
		defer conn.Close()
		buffer := make([]byte, 4096)
		for {
			n, err := conn.Read(buffer)
			if err != nil {
				return
			}
			if bytes.Contains(buffer[:n], []byte("incrby")) {
				writes.Add(1)
				return
			}
			// Greetings: an old server does not know them.
			if _, err := conn.Write([]byte("-ERR unknown command\r\n")); err != nil {
				return
			}
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serve(conn)
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-ended
	})
	box, err := mailbox.Open(mailbox.Options{URL: "redis://" + listener.Addr().String(), CallTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := box.AddTokens(t.Context(), alice, "2026-01-01", 5); err == nil {
		t.Error("a write whose answer was lost is said to have been made")
	}
	_ = box.Shutdown()
	if got := writes.Load(); got != 1 {
		t.Errorf("one write was sent %d times", got)
	}
}
