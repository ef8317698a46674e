package telemetry

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// NewLogger returns a logger that writes one line per record to w and lets no credential through, whatever the caller
// hands it. Level is debug, info, warn or error; format is text or json: which of them suits a terminal is the caller's
// to know.
func NewLogger(w io.Writer, level, format string) (*slog.Logger, error) {
	options := &slog.HandlerOptions{ReplaceAttr: redact}
	switch strings.ToLower(level) {
	case "debug":
		options.Level = slog.LevelDebug
	case "info":
		options.Level = slog.LevelInfo
	case "warn":
		options.Level = slog.LevelWarn
	case "error":
		options.Level = slog.LevelError
	default:
		return nil, fmt.Errorf("log level %q: use debug, info, warn or error", level)
	}
	switch strings.ToLower(format) {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	default:
		return nil, fmt.Errorf("log format %q: use text or json", format)
	}
}
