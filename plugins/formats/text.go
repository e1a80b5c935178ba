package formats

import "github.com/scrollery/scrollery/plugins/stage"

// cleanJSON makes stored text of a stranger's JSON, see [stage.CleanJSON].
func cleanJSON(text []byte) []byte {
	text, _ = stage.CleanJSON(text)
	return text
}

// cleanText does for plain text what cleanJSON does for JSON.
func cleanText(s string) string { return stage.CleanText(s) }
