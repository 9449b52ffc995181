package app

import (
	"context"
	"log/slog"
	"slices"
)

// shownLines are the lines of the log that tell what becomes of messages and
// turns. They hold ids and no text, so that a page may show them.
var shownLines = []string{
	"message", "message routed", "message handed back", "turn runs", "turn waits for its actor", "turn ended", "turn abandoned", "turn handed over", "turn lost",
}

// teeHandler hands everything to next, and publishes shownLines as kind "log":
// a map of the line's attributes, with its message as "msg". What next does not
// want by its level is published all the same.
func teeHandler(next slog.Handler, publish func(kind string, data any)) slog.Handler {
	return tee{next: next, publish: publish}
}

type tee struct {
	next    slog.Handler
	publish func(kind string, data any)
	attrs   []slog.Attr
	prefix  string // of attributes, from groups
}

func (t tee) Enabled(context.Context, slog.Level) bool { return true }

func (t tee) Handle(ctx context.Context, r slog.Record) error {
	if slices.Contains(shownLines, r.Message) {
		line := map[string]any{}
		for _, a := range t.attrs {
			put(line, "", a)
		}
		r.Attrs(func(a slog.Attr) bool {
			put(line, t.prefix, a)
			return true
		})
		line["msg"] = r.Message
		t.publish("log", line)
	}
	if !t.next.Enabled(ctx, r.Level) {
		return nil
	}
	return t.next.Handle(ctx, r)
}

// put writes an attribute so that it becomes good JSON.
func put(line map[string]any, prefix string, a slog.Attr) {
	value := a.Value.Resolve()
	if value.Kind() == slog.KindGroup {
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, inner := range value.Group() {
			put(line, prefix, inner)
		}
		return
	}
	if a.Key == "" {
		return
	}
	switch v := value.Any().(type) {
	case error:
		line[prefix+a.Key] = v.Error()
	default:
		line[prefix+a.Key] = v
	}
}

func (t tee) WithAttrs(attrs []slog.Attr) slog.Handler {
	t.next = t.next.WithAttrs(attrs)
	t.attrs = slices.Clone(t.attrs)
	for _, a := range attrs {
		if t.prefix != "" {
			a = slog.Attr{Key: t.prefix[:len(t.prefix)-1], Value: slog.GroupValue(a)}
		}
		t.attrs = append(t.attrs, a)
	}
	return t
}

func (t tee) WithGroup(name string) slog.Handler {
	if name == "" {
		return t
	}
	t.next = t.next.WithGroup(name)
	t.prefix += name + "."
	return t
}
