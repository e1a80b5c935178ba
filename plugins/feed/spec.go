// Package feed is the source that reads a folder of files.
//
// It reads JSON Lines and JSON in the feed's own form, yt-dlp's info JSON of
// videos and playlists, and CSV with a column map, each also gzipped. What
// cannot be read is skipped and counted; a video is handed over once a run.
package feed

import (
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Spec is the feed stage.
func Spec() stage.Spec {
	return stage.Spec{
		ID: "feed", Version: "1.0.0", Kind: stage.SourceKind,
		Summary: "Reads videos from a folder: JSON Lines, yt-dlp info JSON, CSV with a column map.",
		Settings: []stage.Setting{
			{Name: "dir", Required: true, Path: true, Help: "Feed folder; `sample` reads the built-in sample library."},
			{Name: "csv_map", Path: true, Help: "Column map of CSV files that have none beside them: a file, or the JSON itself."},
		},
		Limits:  stage.Limits{Stall: time.Minute},
		Collect: collect,
		Refresh: refresh,
	}
}
