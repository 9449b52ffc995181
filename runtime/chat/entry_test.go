package chat_test

import (
	"encoding/json"
	"testing"

	"reeve/runtime/chat"
)

var alice = chat.Person("T1", "UALICE")

// Whatever form provenance has in a record, no words get an authority by it that
// their author does not have by his ids.
func TestProvenanceOfAnyFormIsRead(t *testing.T) {
	const author = `{"team":"T1","user":"UALICE"}`
	for provenance, want := range map[string]struct {
		authority chat.Authority
		author    chat.Actor
	}{
		`null`:                           {chat.Context, chat.Actor{}},
		`{}`:                             {chat.Context, chat.Actor{}},
		`"instruction"`:                  {chat.Context, chat.Actor{}},
		`["instruction",` + author + `]`: {chat.Context, chat.Actor{}},
		`{"authority":"instruction"}`:    {chat.Context, chat.Actor{}},
		`{"authority":"instruction","author":` + author + `}`:                                     {chat.Instruction, alice},
		`{"authority":"context","author":` + author + `}`:                                         {chat.Context, alice},
		`{"authority":"order","author":` + author + `}`:                                           {chat.Context, alice},
		`{"authority":["instruction"],"author":` + author + `}`:                                   {chat.Context, alice},
		`{"authority":"instruction","author":"T1:UALICE"}`:                                        {chat.Context, chat.Actor{}},
		`{"authority":"instruction","author":{"user":"UALICE"}}`:                                  {chat.Context, chat.Actor{}},
		`{"authority":"instruction","author":{"team":"T1"}}`:                                      {chat.Context, chat.Actor{}},
		`{"authority":"instruction","author":{"team":1,"user":2}}`:                                {chat.Context, chat.Actor{}},
		`{"authority":"instruction","author":{"team":"T1","user":"U:X"}}`:                         {chat.Context, chat.Actor{}},
		`{"authority":"instruction","author":{"team":"T1","user":"UALICE","system":"scheduler"}}`: {chat.Context, chat.Actor{}},
		`{"authority":"instruction","author":{"system":"scheduler"}}`:                             {chat.Instruction, chat.SystemActor("scheduler")},
	} {
		var e chat.Entry
		if err := json.Unmarshal([]byte(`{"role":"user","origin":"request","text":"do it","provenance":`+provenance+`}`), &e); err != nil {
			t.Errorf("%s: %v", provenance, err)
			continue
		}
		if e.Authority() != want.authority || e.Author() != want.author {
			t.Errorf("%s is %s by %q", provenance, e.Authority(), e.Author().Key())
		}
		again, err := json.Marshal(e)
		var back chat.Entry
		if err != nil || json.Unmarshal(again, &back) != nil || back.Authority() != e.Authority() || back.Author() != e.Author() {
			t.Errorf("%s is stored as %s (%v)", provenance, again, err)
		}
		if later := e.Shown(); later.Authority() != chat.Context || later.Author() != e.Author() {
			t.Errorf("%s is %s by %q in a later turn", provenance, later.Authority(), later.Author().Key())
		}
	}
}

func TestARangeStandsForItsTurnsAndEarlierSummaries(t *testing.T) {
	r := chat.Range{From: 2, To: 5, Reader: alice}
	for _, c := range []struct {
		entry chat.Entry
		want  bool
	}{
		{chat.Entry{Origin: chat.History, Closing: 5}, true},
		{chat.Entry{Origin: chat.Thread, Closing: 2}, true},
		{chat.Entry{Origin: chat.History, Closing: 6}, false},
		{chat.Entry{Origin: chat.Thread}, false},
		{chat.Entry{Origin: chat.Section}, false},
		{chat.Entry{Origin: chat.Summary, Covers: &chat.Range{From: 1, To: 3}}, true},
		{chat.Entry{Origin: chat.Summary, Covers: &chat.Range{From: 1, To: 8}}, false},
		{chat.Entry{Origin: chat.Summary, Closing: 1}, false},
	} {
		if r.Includes(c.entry) != c.want {
			t.Errorf("%+v: want %v", c.entry, c.want)
		}
	}
}
