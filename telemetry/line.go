package telemetry

import (
	"context"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"
)

// The longest text of a client or an upstream that is written into a log line, in bytes.
const (
	maxName = 128
	maxErr  = 1024
)

// LogValue is the exchange as one line: always the same fields in the same order, null where a value is unknown.
// Durations are in milliseconds; tokens and cost are those of all attempts together.
func (x Exchange) LogValue() slog.Value {
	profile, model, firstToken := x.served()
	usage, cost := x.spent()
	return slog.GroupValue(
		slog.String("id", x.ID),
		slog.String("outcome", string(x.Outcome)),
		slog.Int("status", x.Status),
		slog.String("endpoint", x.Endpoint),
		slog.String("role", clip(x.Role, maxName)),
		slog.String("role_source", x.RoleSource),
		slog.String("key", x.Key),
		slog.String("requested_model", clip(x.Model, maxName)),
		slog.Bool("stream", x.Stream),
		known("profile", profile, profile != ""),
		known("model", clip(model, maxName), profile != ""),
		slog.Int("attempts", len(x.Attempts)),
		slog.Int("failovers", x.Failovers),
		slog.String("tried", x.tried()),
		slog.Float64("total_ms", milliseconds(x.Total)),
		slog.Float64("overhead_ms", milliseconds(x.Overhead)),
		known("waited_ms", milliseconds(x.Waited), x.Waited > 0),
		known("first_token_ms", milliseconds(firstToken), firstToken > 0),
		known("input_tokens", usage.Input, usage.Known),
		known("output_tokens", usage.Output, usage.Known),
		known("cost_usd", cost.USD, cost.Known),
		known("err", clip(x.Err, maxErr), x.Err != ""),
	)
}

// Log writes the exchange's one line, as loud as its outcome deserves.
func (x *Exchange) Log(ctx context.Context, l *slog.Logger) {
	l.LogAttrs(ctx, x.level(), "request", slog.Any("", x))
}

// level: a success at the first try is told by the metrics already, and its line costs more than they do; what a client
// brought upon itself is no warning.
func (x *Exchange) level() slog.Level {
	switch x.Outcome {
	case Success:
		if x.Failovers == 0 {
			return slog.LevelDebug
		}
	case Exhausted, Interrupted, Unavailable:
		return slog.LevelWarn
	case InternalError:
		return slog.LevelError
	}
	return slog.LevelInfo
}

// served names the account whose answer the client saw, or the last one tried, with the time to its first token.
func (x *Exchange) served() (profile, model string, firstToken time.Duration) {
	if len(x.Attempts) == 0 {
		return "", "", 0
	}
	last := &x.Attempts[len(x.Attempts)-1]
	return last.Profile, last.Model, last.FirstToken
}

// spent sums up what is known of the attempts' usage and cost. A sum that would leave out a cost is unknown.
func (x *Exchange) spent() (usage Usage, cost Cost) {
	cost.Known = true
	for i := range x.Attempts {
		a := &x.Attempts[i]
		if !a.Usage.Known {
			continue
		}
		usage.Known = true
		usage.Input += a.Usage.Input
		usage.Output += a.Usage.Output
		cost.USD += a.Cost.USD
		cost.Known = cost.Known && a.Cost.Known
	}
	cost.Known = cost.Known && usage.Known
	return usage, cost
}

// tried lists the attempts in order, as in "codex-1:quota_exhausted,claude-2:ok".
func (x *Exchange) tried() string {
	var b strings.Builder
	for i := range x.Attempts {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(x.Attempts[i].Profile)
		b.WriteByte(':')
		b.WriteString(x.Attempts[i].Outcome)
	}
	return b.String()
}

// known is the attribute with its value, or null.
func known[T any](key string, value T, ok bool) slog.Attr {
	if !ok {
		return slog.Any(key, nil)
	}
	return slog.Any(key, value)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// clip cuts s after at most n bytes, between two characters, and marks the cut.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
