package mailbox_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/runtime/mailbox/redistest"
)

// BenchmarkPutByFsync is what docs/reliability.md says of appendfsync: the
// median round trip of the step that takes a message in.
func BenchmarkPutByFsync(b *testing.B) {
	for _, fsync := range []string{"always", "everysec", "no"} {
		b.Run(fsync, func(b *testing.B) {
			server := redistest.Start(b, redistest.Config("appendfsync", fsync))
			box, err := mailbox.Open(mailbox.Options{URL: server.URL()})
			if err != nil {
				b.Fatal(err)
			}
			defer box.Shutdown()
			who := chat.Person("T1", "UALICE")
			var took []time.Duration
			for n := 0; b.Loop(); n++ {
				ts := chat.TS(fmt.Sprintf("1700000000.%06d", n))
				m := chat.Message{
					ID:           chat.MessageID{Team: "T1", Channel: "C1", TS: ts},
					Conversation: chat.Conversation{Team: "T1", Channel: "C1", Root: ts},
					Author:       who, Addressed: true, Standing: chat.MayInstruct, Visibility: chat.Public, Text: "hello",
				}
				row := runtime.DecideRow(m, runtime.Policy{SameActor: runtime.ModeSteer, CrossActor: runtime.ModeFollowUp, Stop: runtime.StopByAnyone})
				start := time.Now()
				_, errs := box.PutAll(context.Background(), []mailbox.Put{{Message: m, Row: row, Turn: chat.TurnID(fmt.Sprint("t_", n))}})
				took = append(took, time.Since(start))
				if errs[0] != nil {
					b.Fatal(errs[0])
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
		})
	}
}
