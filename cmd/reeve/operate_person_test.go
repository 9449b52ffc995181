package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"

	"reeve/memory"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/runtime/mailbox/redistest"
)

// seedMemories lets Erin and a channel have some memories.
func seedMemories(url, prefix string) error {
	ctx := context.Background()
	box, err := mailbox.Open(mailbox.Options{URL: url, Prefix: prefix})
	if err != nil {
		return err
	}
	defer box.Shutdown()
	store, now := memory.NewStore(box.Redis(), prefix, true), time.Now()
	rests := func(kind memory.Kind, topic, text string, author chat.UserID, span string) memory.Memory {
		return memory.Memory{
			Kind: kind, Topic: topic, Text: text, Schema: 1, Created: now, Expires: now.Add(24 * time.Hour),
			Evidence: memory.Evidence{Turn: "t_1", Spans: []memory.Span{{Entry: "e", Author: chat.Person("T1", author), Text: span}}},
		}
	}
	erin, _ := memory.Personal(chat.Person("T1", "UERIN"))
	channel, _ := memory.Shared(chat.Conversation{Team: "T1", Channel: "C1"})
	if _, err := store.Add(ctx, erin, now,
		rests(memory.Preference, "erins-drink", "erins-text: tea\x1b[2J", "UERIN", "erins-span"),
		rests(memory.Fact, "erins-floor", "erins-text: third floor", "UERIN", "erins-span")); err != nil {
		return err
	}
	all, err := store.All(ctx, erin)
	if err != nil {
		return err
	}
	if _, err := store.Forget(ctx, erin, now, memory.Forgetter{}, all[0].ID); err != nil {
		return err
	}
	_, err = store.Add(ctx, channel, now,
		rests(memory.Knowledge, "the lift", "erins-text: it is broken", "UERIN", "erins-span"),
		rests(memory.Knowledge, "the door", "bobs-text: it is open", "UBOB", "bobs-span"))
	if err == nil {
		err = box.KeepFact(ctx, chat.Person("T1", "UERIN"), []byte(`{"v":1,"name":"erins-name"}`), time.Hour)
	}
	if err == nil {
		err = box.PluginStore("todo", chat.Person("T1", "UERIN")).Set(ctx, "list", []byte("erins-list"))
	}
	return err
}

// holds looks for words in everything that the script's Redis holds under its
// prefix: every key, and every value. With ! it wants none of them to be there.
func holds(ts *testscript.TestScript, neg bool, words []string) {
	all, err := everything(ts.Getenv("URL"), ts.Getenv("REDIS_PREFIX"))
	ts.Check(err)
	for _, word := range words {
		if at := strings.Index(all, word); (at >= 0) == neg {
			ts.Fatalf("%q in the store: %v, %.200s", word, at >= 0, all[max(0, at-100):])
		}
	}
}

func everything(url, prefix string) (string, error) {
	ctx := context.Background()
	o, err := redis.ParseURL(url)
	if err != nil {
		return "", err
	}
	client := redis.NewClient(o)
	defer client.Close()
	keys, err := client.Keys(ctx, prefix+":*").Result()
	if err != nil {
		return "", err
	}
	var all strings.Builder
	for _, key := range keys {
		value, err := redistest.Value(ctx, client, key)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&all, "%s %v\n", key, value)
	}
	return all.String(), nil
}
