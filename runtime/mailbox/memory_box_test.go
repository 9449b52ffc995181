package mailbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"reeve/runtime/chat"
)

// Bench runs the scripts, as they are, on a Memory, for a Box of its own. The
// Box does not know that there is no server.
type Bench struct {
	Box *Box
	// Memory is what the next step works on.
	Memory Memory
	// Call is the last step as it was sent, and Answer what it was answered.
	Call   *Call
	Answer any
	// Repeat: the next step is this very call, sent again.
	Repeat *Call

	vm     *lua.LState
	protos map[string]*lua.FunctionProto
}

// Call is a step as it was sent.
type Call struct{ args []any }

// NewBench makes a Box without a server.
func NewBench(opts Options) (*Bench, error) {
	opts = opts.filled()
	b := &Bench{
		Box: &Box{opts: opts, keys: keys{opts.Prefix}, owner: nonce(), scripts: newScripts(false, opts),
			rdb: redis.NewClient(clientOptions(&redis.Options{Addr: "127.0.0.1:1"}))},
		vm: lua.NewState(), protos: map[string]*lua.FunctionProto{},
	}
	b.Box.rdb.AddHook(b)
	for _, s := range b.Box.scripts.all() {
		proto, err := compiled(s)
		if err != nil {
			return nil, err
		}
		b.protos[s.sha] = proto
	}
	module := b.vm.NewTable()
	module.RawSetString("call", b.vm.NewFunction(func(l *lua.LState) int { return b.call(l, true) }))
	module.RawSetString("pcall", b.vm.NewFunction(func(l *lua.LState) int { return b.call(l, false) }))
	module.RawSetString("error_reply", b.vm.NewFunction(func(l *lua.LState) int {
		t := l.NewTable()
		t.RawSetString("err", l.Get(1))
		l.Push(t)
		return 1
	}))
	b.vm.SetGlobal("redis", module)
	return b, nil
}

var compiledScripts sync.Map // by sha

func compiled(s *script) (*lua.FunctionProto, error) {
	if proto, ok := compiledScripts.Load(s.sha); ok {
		return proto.(*lua.FunctionProto), nil
	}
	chunk, err := parse.Parse(strings.NewReader(s.source), s.name)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", s.name, err)
	}
	proto, err := lua.Compile(chunk, s.name)
	if err != nil {
		return nil, fmt.Errorf("compile %s: %w", s.name, err)
	}
	compiledScripts.Store(s.sha, proto)
	return proto, nil
}

// Prefix is what the keys of a conversation's shard begin with.
func (b *Bench) Prefix(c chat.Conversation) string { return b.Box.keys.of(c) }

// Close ends the Box.
func (b *Bench) Close() {
	b.vm.Close()
	_ = b.Box.rdb.Close()
}

func (b *Bench) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (b *Bench) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

// SendElsewhere does the same to the embedded store as to a Memory.
func (b *Box) SendElsewhere(c chat.Conversation) {
	b.embed.HSet(b.keys.conv(c), "s_until", sentElsewhere)
}

// Agrees makes the last call on the embedded store too, at the same time, and
// wants the same answer and the same keys.
func (b *Bench) Agrees(with *Box) error {
	ctx := context.Background()
	with.embed.SetTime(time.UnixMilli(b.Memory.Now))
	value, err := with.rdb.Do(ctx, b.Call.args...).Result()
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		called := slices.DeleteFunc(with.scripts.all(), func(s *script) bool { return s.sha != b.Call.args[1] })
		if err := with.load(ctx, called); err != nil {
			return err
		}
		value, err = with.rdb.Do(ctx, b.Call.args...).Result()
	}
	if err != nil && !isNil(err) {
		return err
	}
	if got, want := fmt.Sprint(value), fmt.Sprint(b.Answer); got != want {
		return fmt.Errorf("the embedded store answers %s, this one %s", got, want)
	}
	theirs := Memory{}
	for _, key := range with.embed.Keys() {
		r := &record{}
		switch with.embed.Type(key) {
		case "string":
			r.text, _ = with.embed.Get(key)
		case "list":
			r.list, _ = with.embed.List(key)
		case "hash":
			r.hash = map[string]string{}
			fields, _ := with.embed.HKeys(key)
			for _, field := range fields {
				r.hash[field] = with.embed.HGet(key, field)
			}
		case "zset":
			scores, _ := with.embed.SortedSet(key)
			for member, score := range scores {
				r.set = insert(r.set, scored{member, score})
			}
		}
		theirs.put(key, r)
	}
	if !theirs.Same(&b.Memory) {
		return fmt.Errorf("the embedded store holds:\n%s\nand this one:\n%s", &theirs, &b.Memory)
	}
	return nil
}

// ProcessPipelineHook carries steps out instead of sending them.
func (b *Bench) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(_ context.Context, cmds []redis.Cmder) error {
		var first error
		for _, cmd := range cmds {
			c := &Call{args: cmd.Args()}
			if b.Repeat != nil {
				c, b.Repeat = b.Repeat, nil
			}
			value, err := b.run(c)
			b.Call, b.Answer = c, value
			if err != nil {
				cmd.SetErr(err)
				first = err
				continue
			}
			cmd.(*redis.Cmd).SetVal(value)
		}
		return first
	}
}

// run carries out "evalsha SHA N KEY... ARG...".
func (b *Bench) run(c *Call) (any, error) {
	proto := b.protos[c.args[1].(string)]
	if proto == nil {
		return nil, answerError("NOSCRIPT no such script")
	}
	keys, argv, of := b.vm.NewTable(), b.vm.NewTable(), c.args[2].(int)
	for i, v := range c.args[3:] {
		if raw, ok := v.([]byte); ok {
			v = string(raw)
		}
		if i < of {
			keys.Append(lua.LString(fmt.Sprint(v)))
		} else {
			argv.Append(lua.LString(fmt.Sprint(v)))
		}
	}
	b.vm.SetGlobal("KEYS", keys)
	b.vm.SetGlobal("ARGV", argv)
	before := b.Memory.Copy()
	b.Memory = before
	b.vm.Push(b.vm.NewFunctionFromProto(proto))
	if err := b.vm.PCall(0, 1, nil); err != nil {
		b.vm.SetTop(0)
		return nil, answerError("ERR " + err.Error())
	}
	answer := toReply(b.vm.Get(-1))
	b.vm.SetTop(0)
	if err, ok := answer.(error); ok {
		b.Memory = before
		return nil, err
	}
	return answer, nil
}

// answerError is an error that a server answers.
type answerError string

func (e answerError) Error() string { return string(e) }
func (answerError) RedisError()     {}

func (b *Bench) call(l *lua.LState, strict bool) int {
	args := make([]string, 0, 8)
	for i := 2; i <= l.GetTop(); i++ {
		switch v := l.Get(i).(type) {
		case lua.LString:
			args = append(args, string(v))
		case lua.LNumber:
			args = append(args, v.String())
		default:
			l.RaiseError("redis.call takes strings and numbers, not %s", v.Type())
		}
	}
	value, err := b.Memory.do(l.CheckString(1), args)
	if err != nil {
		if strict {
			l.RaiseError("%s", err)
		}
		t := l.NewTable()
		t.RawSetString("err", lua.LString(err.Error()))
		l.Push(t)
		return 1
	}
	l.Push(toLua(l, value))
	return 1
}

func toLua(l *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case string:
		return lua.LString(v)
	case int64:
		return lua.LNumber(v)
	case []any:
		t := l.CreateTable(len(v), 0)
		for i, x := range v {
			t.RawSetInt(i+1, toLua(l, x))
		}
		return t
	}
	return lua.LFalse
}

// toReply is what a server makes of a script's value: a list ends at its first
// nil, false is nil, a number is cut to an integer.
func toReply(v lua.LValue) any {
	switch v := v.(type) {
	case lua.LString:
		return string(v)
	case lua.LNumber:
		return int64(v)
	case lua.LBool:
		if v {
			return int64(1)
		}
	case *lua.LTable:
		if err, ok := v.RawGetString("err").(lua.LString); ok {
			return answerError(err)
		}
		list := []any{}
		for i := 1; ; i++ {
			x := v.RawGetInt(i)
			if x == lua.LNil {
				return list
			}
			list = append(list, toReply(x))
		}
	}
	return nil
}
