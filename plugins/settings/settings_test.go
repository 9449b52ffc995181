package settings_test

import (
	"strings"
	"testing"
	"time"

	"reeve/plugins/settings"
)

type lunch struct {
	Seats int           `env:"SEATS" envDefault:"4"`
	Pause time.Duration `env:"PAUSE"`
	Key   string        `env:"KEY,required"`
}

func TestRead(t *testing.T) {
	var got lunch
	if err := settings.Read("lunch", []string{"LUNCH_PAUSE=30m", "LUNCH_KEY=k", "SEATS=9"}, &got); err != nil {
		t.Fatal(err)
	}
	if want := (lunch{4, 30 * time.Minute, "k"}); got != want {
		t.Errorf("read is %+v", got)
	}
}

func TestErrorsNameEachVariableAndNoValue(t *testing.T) {
	err := settings.Read("lunch", []string{"LUNCH_SEATS=s3cret", "LUNCH_PAUSE=s3cret"}, &lunch{})
	if err == nil {
		t.Fatal("it was read")
	}
	for _, want := range []string{"LUNCH_SEATS cannot be read; it may be of the type int", "LUNCH_PAUSE cannot be read", "LUNCH_KEY"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %q, without %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "s3cret") {
		t.Errorf("the error shows a value: %q", err)
	}
	if err := settings.Read("lunch", nil, lunch{}); err == nil {
		t.Error("what is no pointer was filled")
	}
}
