package plugintest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"reeve/plugins"
)

func find(tools []plugins.Tool, name string) (plugins.Tool, bool) {
	i := slices.IndexFunc(tools, func(t plugins.Tool) bool { return t.Name == name })
	if i < 0 {
		return plugins.Tool{}, false
	}
	return tools[i], true
}

func written(arguments any) ([]byte, error) {
	switch a := arguments.(type) {
	case string:
		return []byte(a), nil
	case []byte:
		return a, nil
	case json.RawMessage:
		return a, nil
	}
	return json.Marshal(arguments)
}

// fit does with arguments what the gate does: what was checked is passed on.
func fit(tool plugins.Tool, arguments []byte) (json.RawMessage, error) {
	if len(bytes.TrimSpace(arguments)) == 0 {
		arguments = []byte("{}")
	}
	var object map[string]any
	if err := json.Unmarshal(arguments, &object); err != nil {
		return nil, fmt.Errorf("the arguments of %s are no JSON object: %w", tool.Name, err)
	}
	schema, err := plugins.ResolveSchema(tool.Parameters)
	if err != nil {
		return nil, err
	}
	if err := schema.Validate(object); err != nil {
		return nil, fmt.Errorf("the arguments of %s do not fit: %w", tool.Name, err)
	}
	return json.Marshal(object)
}

// do makes one call, as the gate does; its error is what no plugin may do.
func do(ctx context.Context, tool plugins.Tool, call plugins.Call, end func() error, arguments json.RawMessage) (plugins.Result, error) {
	timeout := tool.Timeout
	if timeout == 0 {
		timeout = 30 * time.Second
	}
	var result plugins.Result
	err := within(ctx, timeout, func(ctx context.Context) error {
		var err error
		if result, err = tool.Call(ctx, call, arguments); err != nil {
			result = plugins.Result{Error: true, Text: fmt.Sprintf("The tool %s failed: %v", tool.Name, err)}
		}
		return nil
	})
	if fault := end(); err == nil {
		err = fault
	}
	if err != nil {
		return plugins.Result{}, fmt.Errorf("tool %s, called with %.200s: %w", tool.Name, arguments, err)
	}
	result.Private = result.Private || tool.Provider != ""
	return result, nil
}

func render(ctx context.Context, section plugins.Section, call plugins.Call) (notes []plugins.Note, err error) {
	err = within(ctx, 5*time.Second, func(ctx context.Context) (err error) {
		notes, err = section.Render(ctx, call)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("section %s: %w", section.Name, err)
	}
	return notes, nil
}

func wants(task plugins.Task, ended plugins.Ended) bool {
	if task.Wants == nil {
		return ended.Outcome == plugins.Done
	}
	return task.Wants(ended)
}

func work(ctx context.Context, task plugins.Task, ended plugins.Ended) error {
	timeout := task.Timeout
	if timeout == 0 {
		timeout = time.Minute
	}
	if err := within(ctx, timeout, func(ctx context.Context) error { return task.Run(ctx, ended) }); err != nil {
		return fmt.Errorf("task %s: %w", task.Name, err)
	}
	return nil
}

// Fault is what no plugin may do: a panic, or a function that does not come
// back when its context has ended.
type Fault struct {
	What string
	at   string // where it panicked
}

func (f Fault) Error() string { return f.What }

// panicked is the line of code that the panic being recovered comes from.
func panicked() string {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for inPanic := false; ; {
		frame, more := frames.Next()
		inPanic = inPanic || frame.Function == "runtime.gopanic"
		if inPanic && !strings.HasPrefix(frame.Function, "runtime.") {
			return fmt.Sprintf("%s:%d", frame.File, frame.Line)
		}
		if !more {
			return ""
		}
	}
}

// comeBack is how long a function is waited for after its context has ended.
const comeBack = 2 * time.Second

// within runs a function of a plugin for at most its time.
func within(ctx context.Context, timeout time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		defer func() {
			if fault := recover(); fault != nil {
				done <- Fault{fmt.Sprintf("it panicked: %v\n%s", fault, debug.Stack()), panicked()}
			}
		}()
		done <- f(ctx)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	late := time.NewTimer(comeBack)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
		return Fault{What: fmt.Sprintf("it did not come back within %v after its context had ended", comeBack)}
	}
}
