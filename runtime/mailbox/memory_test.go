package mailbox

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Memory is a store as a value: what the scripts see, without a server. Taking
// a copy costs nothing, so that a checker can go back to any state. It knows the
// commands that the scripts use, and nothing else; TestMemoryAgrees compares
// it with the embedded store. Keys live for good.
type Memory struct {
	// Now is the time in milliseconds.
	Now   int64
	keys  map[string]*record
	owned bool // keys is this copy's own, and may be changed
}

// record is the value of a key. It is never changed once it is in a Memory.
type record struct {
	text string
	hash map[string]string
	list []string
	set  []scored // by score, then member
}

type scored struct {
	member string
	score  float64
}

// Copy is the store as it is now.
func (m *Memory) Copy() Memory { return Memory{Now: m.Now, keys: m.keys} }

// Hash, List and Set are what stands under a key; not to be changed.
func (m *Memory) Hash(key string) map[string]string { return m.at(key).hash }
func (m *Memory) List(key string) []string          { return m.at(key).list }
func (m *Memory) Set(key string) map[string]float64 {
	all := map[string]float64{}
	for _, s := range m.at(key).set {
		all[s.member] = s.score
	}
	return all
}

// Members are a sorted set's, in its order.
func (m *Memory) Members(key string) []string {
	var all []string
	for _, s := range m.at(key).set {
		all = append(all, s.member)
	}
	return all
}

// Keys are all keys, in no order.
func (m *Memory) Keys() []string { return slices.Collect(maps.Keys(m.keys)) }

// Same reports whether nothing differs but the time.
func (m *Memory) Same(o *Memory) bool {
	return maps.EqualFunc(m.keys, o.keys, func(a, b *record) bool {
		return a == b || a.text == b.text && maps.Equal(a.hash, b.hash) && slices.Equal(a.list, b.list) && slices.Equal(a.set, b.set)
	})
}

// String is all that stands in the store, for reading.
func (m *Memory) String() string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(m.keys)) {
		r := m.keys[key]
		lines = append(lines, fmt.Sprint(key, " ", r.text, r.hash, r.list, r.set))
	}
	return strings.Join(lines, "\n")
}

// SendElsewhere lets a process that the checker does not know post what stands in
// the conversation's outbox, for good: whoever makes a step gets no lease for it.
func (m *Memory) SendElsewhere(conv string) {
	m.put(conv, &record{hash: map[string]string{"s_until": sentElsewhere}})
}

const sentElsewhere = "4000000000000" // ms

var nothing = &record{}

func (m *Memory) at(key string) *record {
	if r := m.keys[key]; r != nil {
		return r
	}
	return nothing
}

func (m *Memory) put(key string, r *record) {
	if !m.owned {
		m.keys, m.owned = maps.Clone(m.keys), true
		if m.keys == nil {
			m.keys = map[string]*record{}
		}
	}
	if r.text == "" && len(r.hash) == 0 && len(r.list) == 0 && len(r.set) == 0 {
		delete(m.keys, key)
		return
	}
	m.keys[key] = r
}

// do carries out one command. It answers nil, a string, an int64 or a list of
// them.
func (m *Memory) do(name string, a []string) (any, error) {
	switch name {
	case "TIME":
		return []any{strconv.FormatInt(m.Now/1000, 10), strconv.FormatInt(m.Now%1000*1000, 10)}, nil
	case "PUBLISH", "PERSIST", "PEXPIRE":
		return int64(0), nil
	}
	key := a[0]
	switch {
	case name == "EXISTS":
		return truth(m.keys[key] != nil), nil
	case name == "DEL":
		m.put(key, nothing)
		return int64(1), nil
	case name == "GET":
		return optional(m.at(key).text, m.keys[key] != nil), nil
	case name == "SET":
		m.put(key, &record{text: a[1]})
		return "OK", nil
	case name == "INCR":
		n, _ := strconv.ParseInt(m.at(key).text, 10, 64)
		m.put(key, &record{text: strconv.FormatInt(n+1, 10)})
		return n + 1, nil
	case name[0] == 'H':
		return m.hashDo(name, key, a)
	case name[0] == 'Z':
		return m.setDo(name, key, a)
	case name[0] == 'L' || name == "RPUSH":
		return m.listDo(name, key, a)
	}
	return nil, fmt.Errorf("ERR this store does not know %s", name)
}

func truth(v bool) int64 {
	if v {
		return 1
	}
	return 0
}

func optional(s string, ok bool) any {
	if !ok {
		return nil
	}
	return s
}

func (m *Memory) hashDo(name, key string, a []string) (any, error) {
	old := m.at(key).hash
	switch name {
	case "HGET":
		v, ok := old[a[1]]
		return optional(v, ok), nil
	case "HEXISTS":
		_, ok := old[a[1]]
		return truth(ok), nil
	case "HMGET":
		out := make([]any, len(a)-1)
		for i, field := range a[1:] {
			v, ok := old[field]
			out[i] = optional(v, ok)
		}
		return out, nil
	case "HGETALL", "HKEYS":
		var out []any
		for field, v := range old {
			if out = append(out, field); name == "HGETALL" {
				out = append(out, v)
			}
		}
		return out, nil
	case "HSETNX":
		if _, ok := old[a[1]]; ok {
			return int64(0), nil
		}
	}
	h := maps.Clone(old)
	if h == nil {
		h = map[string]string{}
	}
	var answer int64
	switch name {
	case "HSET", "HSETNX":
		for i := 1; i < len(a); i += 2 {
			if _, ok := h[a[i]]; !ok {
				answer++
			}
			h[a[i]] = a[i+1]
		}
	case "HDEL":
		for _, field := range a[1:] {
			if _, ok := h[field]; ok {
				answer++
			}
			delete(h, field)
		}
	case "HINCRBY":
		n, _ := strconv.ParseInt(h[a[1]], 10, 64)
		by, _ := strconv.ParseInt(a[2], 10, 64)
		answer = n + by
		h[a[1]] = strconv.FormatInt(answer, 10)
	default:
		return nil, fmt.Errorf("ERR this store does not know %s", name)
	}
	m.put(key, &record{hash: h})
	return answer, nil
}

func (m *Memory) listDo(name, key string, a []string) (any, error) {
	l := m.at(key).list
	index := func(s string) int {
		n, _ := strconv.Atoi(s)
		if n < 0 {
			n += len(l)
		}
		return n
	}
	switch name {
	case "LLEN":
		return int64(len(l)), nil
	case "LINDEX":
		n := index(a[1])
		if n < 0 || n >= len(l) {
			return nil, nil
		}
		return l[n], nil
	case "LRANGE", "LTRIM":
		from, to := max(index(a[1]), 0), min(index(a[2]), len(l)-1)
		part := l[min(from, len(l)):max(min(from, len(l)), to+1)]
		if name == "LTRIM" {
			m.put(key, &record{list: part})
			return "OK", nil
		}
		return anys(part), nil
	case "RPUSH":
		l = slices.Concat(l, a[1:])
		m.put(key, &record{list: l})
		return int64(len(l)), nil
	case "LPOP":
		if len(l) == 0 {
			return nil, nil
		}
		m.put(key, &record{list: l[1:]})
		return l[0], nil
	case "LSET":
		n := index(a[1])
		if n < 0 || n >= len(l) {
			return nil, fmt.Errorf("ERR index out of range")
		}
		l = slices.Clone(l)
		l[n] = a[2]
		m.put(key, &record{list: l})
		return "OK", nil
	case "LREM":
		most, _ := strconv.Atoi(a[1])
		var left []string
		var gone int64
		for _, item := range l {
			if item == a[2] && (most == 0 || gone < int64(most)) {
				gone++
				continue
			}
			left = append(left, item)
		}
		m.put(key, &record{list: left})
		return gone, nil
	}
	return nil, fmt.Errorf("ERR this store does not know %s", name)
}

func (m *Memory) setDo(name, key string, a []string) (any, error) {
	s := m.at(key).set
	find := func(member string) int {
		return slices.IndexFunc(s, func(x scored) bool { return x.member == member })
	}
	switch name {
	case "ZCARD":
		return int64(len(s)), nil
	case "ZSCORE":
		if i := find(a[1]); i >= 0 {
			return strconv.FormatFloat(s[i].score, 'f', -1, 64), nil
		}
		return nil, nil
	case "ZRANGE":
		names := make([]string, len(s))
		for i, x := range s {
			names[i] = x.member
		}
		part := Memory{keys: map[string]*record{key: {list: names}}}
		return part.listDo("LRANGE", key, a)
	case "ZADD":
		only := a[1] == "NX"
		if only {
			a = a[1:]
		}
		score, err := strconv.ParseFloat(a[1], 64)
		if err != nil {
			return nil, fmt.Errorf("ERR value is not a valid float")
		}
		at := find(a[2])
		if at >= 0 && only {
			return int64(0), nil
		}
		s = slices.Clone(s)
		if at >= 0 {
			s = slices.Delete(s, at, at+1)
		}
		s = insert(s, scored{a[2], score})
		m.put(key, &record{set: s})
		return truth(at < 0), nil
	case "ZREM":
		at := find(a[1])
		if at < 0 {
			return int64(0), nil
		}
		m.put(key, &record{set: slices.Delete(slices.Clone(s), at, at+1)})
		return int64(1), nil
	case "ZREMRANGEBYSCORE", "ZREMRANGEBYRANK":
		return int64(0), nil // they bound long lists, by age and by number
	}
	return nil, fmt.Errorf("ERR this store does not know %s", name)
}

func insert(s []scored, x scored) []scored {
	at, _ := slices.BinarySearchFunc(s, x, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.score, b.score), strings.Compare(a.member, b.member))
	})
	return slices.Insert(s, at, x)
}

func anys(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}
