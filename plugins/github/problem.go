package github

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"reeve/plugins"
)

// problem is why something was not done, as a sentence for the model that says
// what would help.
type problem struct {
	text string
	// dm is for the person alone: a link that is his.
	dm     string
	status int
	// silent: there was no answer, so that a change may have been made. unknown: a
	// change was sent, and nobody knows whether it was.
	silent, unknown bool
	// message is GitHub's own word.
	message string
}

func (p *problem) Error() string { return p.text }

// told makes a result of an error.
func told(err error) (plugins.Result, error) {
	if p, ok := errors.AsType[*problem](err); ok {
		return plugins.Result{Error: true, Unknown: p.unknown, Text: p.text, DM: p.dm}, nil
	}
	if refused, ok := errors.AsType[plugins.Refusal](err); ok {
		return plugins.Result{Error: true, Text: string(refused)}, nil
	}
	return plugins.Result{}, err
}

// is reports whether an error is GitHub's answer with one of these statuses.
func is(err error, statuses ...int) bool {
	p, ok := errors.AsType[*problem](err)
	return ok && slices.Contains(statuses, p.status)
}

// refused is the body of an answer that is none of 2xx.
type refused struct {
	Message string `json:"message"`
	Errors  []struct {
		Field, Code, Message string
	} `json:"errors"`
}

// UnmarshalJSON reads also errors that are bare texts.
func (r *refused) UnmarshalJSON(data []byte) error {
	var plain struct {
		Message string            `json:"message"`
		Errors  []json.RawMessage `json:"errors"`
	}
	if err := json.Unmarshal(data, &plain); err != nil {
		return err
	}
	r.Message = plain.Message
	for _, one := range plain.Errors {
		var e struct{ Field, Code, Message string }
		if json.Unmarshal(one, &e) != nil {
			_ = json.Unmarshal(one, &e.Message)
		}
		r.Errors = append(r.Errors, e)
	}
	return nil
}

func (r refused) sentence() string {
	var said []string
	if text := flat(r.Message); text != "" {
		said = append(said, strings.TrimSuffix(text, "."))
	}
	for _, e := range r.Errors[:min(len(r.Errors), 5)] {
		switch {
		case e.Message != "":
			said = append(said, strings.TrimSuffix(flat(e.Message), "."))
		case e.Field != "":
			said = append(said, flat(e.Field+" is "+strings.ReplaceAll(e.Code, "_", " ")))
		}
	}
	return orElse(strings.Join(said, "; "), "it does not say why")
}

func words(list string) (all []string) {
	for word := range strings.SplitSeq(list, ",") {
		if word = flat(word); word != "" {
			all = append(all, word)
		}
	}
	return all
}

func orNone(list []string) string { return orElse(strings.Join(list, ", "), "none") }

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
