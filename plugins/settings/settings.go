// Package settings reads a plugin's own settings. It is what Services.Settings
// is made of, in the host and in the test kit.
package settings

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/caarlos0/env/v11"
)

// Read fills a struct from the variables that begin with the plugin's name in
// capitals and "_", by its tags. An error names each variable that is wrong, a
// sentence a line, and does not repeat its value, which may be a secret.
func Read(plugin string, environ []string, into any) error {
	prefix := strings.ToUpper(plugin) + "_"
	err := env.ParseWithOptions(into, env.Options{Prefix: prefix, Environment: env.ToMap(environ)})
	var all env.AggregateError
	if err == nil || !errors.As(err, &all) {
		return err
	}
	var wrong []error
	for _, one := range all.Errors {
		var parse env.ParseError
		if errors.As(one, &parse) {
			one = fmt.Errorf("%s cannot be read; it may be of the type %s", prefix+variable(into, parse.Name), parse.Type)
		}
		wrong = append(wrong, one)
	}
	return errors.Join(wrong...)
}

// variable is the name behind the prefix, of a field.
func variable(into any, field string) string {
	f, ok := reflect.TypeOf(into).Elem().FieldByName(field)
	if !ok {
		return field // of a struct inside
	}
	name, _, _ := strings.Cut(f.Tag.Get("env"), ",")
	return name
}
