package bench

import "testing"

// BenchmarkMention measures the whole way of a mention, the acknowledgement
// alone, and what Reeve holds in memory then. Bots take turns, so that what
// disturbs one disturbs the other.
func BenchmarkMention(b *testing.B) {
	for range b.N {
		s := newStage(b)
		s.oneAtATime(b)
		s.manyAtOnce(b)
		s.acknowledgement(b)
		s.memory(b)
	}
}

// BenchmarkStop measures from a stop word, said to one replica, to the end of
// the model call in the other.
func BenchmarkStop(b *testing.B) {
	for range b.N {
		stops(b)
	}
}

// BenchmarkLostWorker kills a replica in the middle of its turns, with the
// shipped intervals, and measures until the other asks the model again.
func BenchmarkLostWorker(b *testing.B) {
	for range b.N {
		lostWorkers(b)
	}
}

// BenchmarkIdle measures the shipped binary, with the naive bot beside it: from
// its start to its first socket, and then with nothing to do.
func BenchmarkIdle(b *testing.B) {
	for range b.N {
		idle(b)
	}
}

// BenchmarkGrowth measures the steps of one message while few conversations are
// known and while many are, and in short and in long ones. Few and many take
// turns, so that what disturbs one disturbs the other.
func BenchmarkGrowth(b *testing.B) {
	for range b.N {
		growth(b)
	}
}
