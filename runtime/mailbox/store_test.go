package mailbox_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

func TestPluginStoreKeepsWhatItIsGiven(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		ctx, s := t.Context(), w.box.PluginStore("notes", alice)
		get := func(s *mailbox.PluginStore, key, want string) {
			t.Helper()
			value, found, err := s.Get(ctx, key)
			if err != nil || found != (want != "-") || found && string(value) != want {
				t.Errorf("get %s: %q %v %v, want %q", key, value, found, err, want)
			}
		}
		add := func(value string, want bool) {
			t.Helper()
			if added, err := s.Add(ctx, "b", []byte(value)); err != nil || added != want {
				t.Errorf("add: %v %v, want %v", added, err, want)
			}
		}
		get(s, "a", "-")
		for _, value := range []string{"one", "", "\x00\r\n two"} {
			if err := s.Set(ctx, "a", []byte(value)); err != nil {
				t.Fatal(err)
			}
			get(s, "a", value)
		}
		add("first", true)
		add("second", false)
		get(s, "b", "first")
		// Another replica sees it, another person and another plugin do not.
		get(w.other.PluginStore("notes", alice), "b", "first")
		get(w.box.PluginStore("notes", bob), "b", "-")
		get(w.box.PluginStore("note", alice), "b", "-")
		get(w.box.PluginStore("notes", chat.Actor{}), "b", "-")
		keys, err := s.Keys(ctx)
		if err != nil || fmt.Sprint(keys) != "[a b]" {
			t.Errorf("keys: %v %v", keys, err)
		}
		for range 2 {
			if err := s.Delete(ctx, "b"); err != nil {
				t.Error(err)
			}
		}
		get(s, "b", "-")
		add("third", true)
	})
}

func TestPluginStoreHasItsLimits(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		ctx, s := t.Context(), w.box.PluginStore("notes", chat.Actor{})
		limit := func(what string, err error, word string) {
			t.Helper()
			if err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %v, want %q", what, err, word)
			}
		}
		long := strings.Repeat("k", 256)
		if err := s.Set(ctx, long, make([]byte, 64<<10)); err != nil {
			t.Errorf("the longest key and value: %v", err)
		}
		err := s.Set(ctx, long+"k", nil)
		limit("a longer key", err, "256")
		if !errors.Is(err, mailbox.ErrLimit) {
			t.Errorf("it is not ErrLimit: %v", err)
		}
		limit("a longer value", s.Set(ctx, "k", make([]byte, 64<<10+1)), "65536")
		limit("no key", s.Set(ctx, "", nil), "empty")
		for i := range 999 {
			if err := s.Set(ctx, fmt.Sprint(i), nil); err != nil {
				t.Fatal(err)
			}
		}
		limit("one key too many", s.Set(ctx, "more", nil), "1000 keys")
		_, err = s.Add(ctx, "more", nil)
		limit("one key too many, added", err, "1000 keys")
		if err := s.Set(ctx, "7", []byte("new")); err != nil {
			t.Errorf("a key that is there: %v", err)
		}
		if err := s.Delete(ctx, "8"); err != nil {
			t.Fatal(err)
		}
		if err := s.Set(ctx, "more", nil); err != nil {
			t.Errorf("after one was deleted: %v", err)
		}
	})
}
