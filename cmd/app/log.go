package app

import (
	"io"
	"log/slog"
	"os"
)

// newLogger writes to w, which masks secrets: the mask is put over the finished
// line, so that no attribute, group, error or nested value can pass beside it.
func newLogger(w io.Writer, level, format string) *slog.Logger {
	var at slog.Level
	if err := at.UnmarshalText([]byte(level)); err != nil {
		at = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: at}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// logFormat is text on a terminal and json elsewhere, unless it is set.
func logFormat(setting string, w io.Writer) string {
	if setting != "" {
		return setting
	}
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return "text"
		}
	}
	return "json"
}
