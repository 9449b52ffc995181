package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// noRepeats refuses a key that stands twice in one object. Of two, a decoder
// takes the last without a word: a second "deny" would allow what the first one
// denies.
func noRepeats(data []byte) error {
	return noRepeatsIn(json.NewDecoder(bytes.NewReader(data)), nil)
}

// noRepeatsIn reads one value. What is no valid JSON is told elsewhere.
func noRepeatsIn(decoder *json.Decoder, place []string) error {
	token, err := decoder.Token()
	if err != nil {
		return nil
	}
	switch token {
	case json.Delim('['):
		for decoder.More() {
			if err := noRepeatsIn(decoder, place); err != nil {
				return err
			}
		}
	case json.Delim('{'):
		seen := map[string]bool{}
		for decoder.More() {
			token, err := decoder.Token()
			key, isText := token.(string)
			if err != nil || !isText {
				return nil
			}
			if seen[key] {
				return fmt.Errorf("%q stands twice in %s; only one of them would hold, so take one out", key, where(place))
			}
			seen[key] = true
			if err := noRepeatsIn(decoder, append(slices.Clone(place), key)); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	_, _ = decoder.Token() // the end of the list or object
	return nil
}

func where(place []string) string {
	if len(place) == 0 {
		return "the file"
	}
	return fmt.Sprintf("%q", strings.Join(place, "."))
}

// exactKeys refuses a field that is known in other letters, which a decoder
// takes for the known one, so that it stands twice beside it.
func exactKeys(data []byte, into any) error {
	kind := reflect.TypeOf(into).Elem()
	if kind.Kind() != reflect.Struct {
		return nil
	}
	var written map[string]json.RawMessage
	if json.Unmarshal(data, &written) != nil {
		return nil
	}
	known := map[string]bool{}
	for i := range kind.NumField() {
		if name := kind.Field(i).Tag.Get("json"); name != "" {
			known[name] = true
		}
	}
	for _, field := range slices.Sorted(maps.Keys(written)) {
		if known[field] {
			continue
		}
		for name := range known {
			if strings.EqualFold(name, field) {
				return fmt.Errorf("the field %q is unknown; it is written %q", field, name)
			}
		}
	}
	return nil
}
