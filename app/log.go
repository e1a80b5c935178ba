package app

import (
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"
)

// NewLog returns the structured log of a process: one JSON object in each line. While the
// database is away, each package says so once a minute; see [sparing].
func NewLog(w io.Writer, level slog.Leveler) *slog.Logger {
	handler := slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: withUnits})
	return slog.New(sparing{handler, &said{leftOut: map[string]int{}}})
}

// withUnits writes durations as `1.5s`, and not as a number of nanoseconds.
func withUnits(_ []string, attr slog.Attr) slog.Attr {
	if attr.Value.Kind() == slog.KindDuration {
		attr.Value = slog.StringValue(attr.Value.Duration().String())
	}
	return attr
}

// logged writes the log line of a request for a page or a webhook, in the form that the
// API has. path is the route: the rest of an address is a secret.
func logged(path string, next http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, answer := time.Now(), &statusWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			level := slog.LevelInfo
			if answer.status == http.StatusTooManyRequests { // any number of them comes
				level = slog.LevelDebug
			}
			log.LogAttrs(r.Context(), level, "request", slog.String("method", r.Method), slog.String("path", path),
				slog.Int("status", answer.status), slog.String("took", time.Since(began).Round(time.Microsecond).String()))
		}()
		next.ServeHTTP(answer, r)
	})
}

// APIVersion is the date in the service description.
const APIVersion = "2026-07-13"

// Version is the build's version: the module's version, and the revision if the build
// has it.
func Version() string {
	version := "(devel)"
	build, ok := debug.ReadBuildInfo()
	if ok && build.Main.Version != "" {
		version = build.Main.Version
	}
	text := "scrollery " + version + " (API " + APIVersion
	if ok {
		for _, setting := range build.Settings {
			if setting.Key == "vcs.revision" {
				text += ", " + setting.Value[:min(12, len(setting.Value))]
			}
		}
		text += ", " + build.GoVersion
	}
	return text + ")"
}
