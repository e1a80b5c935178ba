package app

import (
	"io"
	"log/slog"
	"runtime/debug"
)

// NewLog returns the structured log of a process: one JSON object in each line.
func NewLog(w io.Writer, level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
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
