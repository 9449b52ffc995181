package simulator

import (
	"encoding/json"
	"time"

	"github.com/gorilla/websocket"
)

// writeLimit bounds one write to a client that does not read.
const writeLimit = 5 * time.Second

// maxAck is the size in bytes from which Slack ignores an acknowledgement.
const maxAck = 20 << 10

// send queues a text frame. The lock is held.
func (c *socket) send(frame []byte) {
	c.queue = append(c.queue, frame)
	c.nudge()
}

// shutdown closes the socket in the proper way once its queue is written.
func (c *socket) shutdown() {
	c.closing = true
	c.nudge()
}

// drop cuts the connection without a close frame.
func (c *socket) drop() { c.conn.NetConn().Close() }

func (c *socket) nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// write sends frames and pings until the socket is gone.
func (c *socket) write() {
	ping := time.NewTicker(c.s.o.PingInterval)
	defer ping.Stop()
	for {
		select {
		case <-c.gone:
			return
		case <-ping.C:
			if c.silent() {
				continue
			}
			_ = c.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeLimit))
		case <-c.wake:
			if !c.writeQueue() {
				c.drop()
				return
			}
		}
	}
}

// silent: the socket neither sends nor answers pings.
func (c *socket) silent() bool {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.dead || c.s.network.noPings
}

func (c *socket) writeQueue() bool {
	c.s.mu.Lock()
	frames, closing, dead := c.queue, c.closing, c.dead
	c.queue = nil
	c.s.mu.Unlock()
	if dead {
		return !closing
	}
	_ = c.conn.SetWriteDeadline(time.Now().Add(writeLimit))
	for _, f := range frames {
		if c.conn.WriteMessage(websocket.TextMessage, f) != nil {
			return false
		}
	}
	if closing {
		text := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
		_ = c.conn.WriteControl(websocket.CloseMessage, text, time.Now().Add(writeLimit))
		// The answer is waited for shortly; then the reader ends.
		_ = c.conn.SetReadDeadline(time.Now().Add(time.Second))
	}
	return true
}

// read takes acknowledgements until the connection ends, and says how it did.
func (c *socket) read() (reason string) {
	c.conn.SetReadLimit(maxBody)
	c.conn.SetPingHandler(func(data string) error {
		if c.silent() {
			return nil
		}
		_ = c.conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(writeLimit))
		return nil
	})
	for {
		_, raw, err := c.conn.ReadMessage()
		if websocket.IsCloseError(err, websocket.CloseNormalClosure, websocket.CloseGoingAway, websocket.CloseNoStatusReceived) {
			return "closed"
		}
		if err != nil {
			return "dropped"
		}
		// Slack drops larger responses without a word, and what is no ack.
		var ack struct {
			ID      string          `json:"envelope_id"`
			Payload json.RawMessage `json:"payload"`
		}
		if len(raw) >= maxAck || json.Unmarshal(raw, &ack) != nil {
			continue
		}
		c.s.mu.Lock()
		if !c.dead {
			c.s.acked(ack.ID, ack.Payload, c.id)
		}
		c.s.mu.Unlock()
	}
}
