package mailbox

import (
	"hash/fnv"
	"strconv"

	"reeve/runtime/chat"
)

// shards is how many hash tags the keys are spread over. All keys of one
// (team, channel), with the index that finds them, share one, so that every
// step is atomic on Redis Cluster too.
const shards = 64

// keys names every key of the store; prelude_keys.lua has the same names for keys
// that a script finds only as it runs.
type keys struct{ prefix string }

// shardOf is FNV-1a-32 of "TEAM|CHANNEL" modulo shards.
func shardOf(team chat.TeamID, channel chat.ChannelID) int {
	h := fnv.New32a()
	h.Write([]byte(string(team) + "|" + string(channel)))
	return int(h.Sum32() % shards)
}

// shard is the prefix of all keys in shard n: "PREFIX:{sNN}:".
func (k keys) shard(n int) string {
	s := strconv.Itoa(n)
	if n < 10 {
		s = "0" + s
	}
	return k.prefix + ":{s" + s + "}:"
}

func (k keys) of(c chat.Conversation) string { return k.shard(shardOf(c.Team, c.Channel)) }

func (k keys) conv(c chat.Conversation) string   { return k.of(c) + "conv:" + c.Key() }
func (k keys) closed(c chat.Conversation) string { return k.of(c) + "closed:" + c.Key() }
func (k keys) out(c chat.Conversation) string    { return k.of(c) + "out:" + c.Key() }
func (k keys) index(c chat.Conversation) string  { return k.of(c) + "leases" }

// touched are the threads of a shard that were spoken in of late.
func (k keys) touched(shard int) string { return k.shard(shard) + "touched" }

func (k keys) dm(c chat.Conversation) string {
	return k.of(c) + "dm:" + string(c.Team) + ":" + string(c.Channel)
}

func (k keys) turn(c chat.Conversation, t chat.TurnID) string { return k.of(c) + "turn:" + string(t) }
func (k keys) log(c chat.Conversation, t chat.TurnID) string  { return k.of(c) + "log:" + string(t) }

// task is one completed-turn task of a turn.
func (k keys) task(c chat.Conversation, name TaskName, t chat.TurnID) string {
	return k.of(c) + "task:" + taskKey(name, t)
}

// place is where a card of a turn's was posted.
func (k keys) place(c chat.Conversation, part string) string { return k.of(c) + "place:" + part }

func (k keys) message(id chat.MessageID) string {
	return k.shard(shardOf(id.Team, id.Channel)) + "msg:" + string(id.Team) + ":" + string(id.Channel) + ":" + string(id.TS)
}

// Unsharded keys, each on its own.

func (k keys) alive() string            { return k.prefix + ":alive" }
func (k keys) fact(a chat.Actor) string { return k.prefix + ":fact:" + a.Key() }
func (k keys) tokens(a chat.Actor, day string) string {
	return k.prefix + ":tokens:" + a.Key() + ":" + day
}

// store is what a plugin keeps for one person, or, for nobody, for all.
func (k keys) store(plugin string, owner chat.Actor) string {
	return k.prefix + ":store:" + plugin + ":" + owner.Key()
}
func (k keys) once(name string) string { return k.prefix + ":once:" + name }

// Channels of pub/sub: what a process is told of its turns, and that there is
// work for whoever has room. Losing one costs time, never work.

func (k keys) ownerChannel(owner string) string { return k.prefix + ":owner:" + owner }
func (k keys) workChannel() string              { return k.prefix + ":work" }
