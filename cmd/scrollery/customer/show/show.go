// Package show prints the answers of the server for people and for programs: as a table,
// as JSON, as CSV, or through a jq program. Texts of creators are untrusted: on a
// terminal, and in every table, characters that it would not print are escaped.
package show

import (
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf16"

	"golang.org/x/term"
)

// Printer is where answers go, and how they are shown there.
type Printer struct {
	Out io.Writer
	// Terminal is set where a person sees Out at once.
	Terminal bool
	// Style allows bold letters.
	Style bool
	// Escape replaces what a terminal would obey instead of printing it.
	Escape func(string) string
}

// New returns a printer to out. Style is left out as NO_COLOR and TERM ask for.
func New(out io.Writer, escape func(string) string, lookup func(string) (string, bool)) Printer {
	p := Printer{Out: out, Escape: escape, Terminal: IsTerminal(out)}
	none, _ := lookup("NO_COLOR")
	kind, _ := lookup("TERM")
	p.Style = p.Terminal && none == "" && kind != "dumb" && kind != ""
	return p
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Lines escapes a text of several lines, which stay lines.
func (p Printer) Lines(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		body, ended := strings.CutSuffix(line, "\n")
		for i, cell := range strings.Split(body, "\t") {
			if i > 0 {
				out.WriteByte('\t')
			}
			out.WriteString(p.Escape(cell))
		}
		if ended {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// safeJSON writes, for a terminal, the characters that it would not print as JSON
// escapes: the text stays the same JSON. Elsewhere it changes nothing.
func (p Printer) safeJSON(text []byte) []byte {
	if !p.Terminal {
		return text
	}
	const hex = "0123456789abcdef"
	var out []byte
	for _, r := range string(text) {
		if r == '\n' || unicode.IsPrint(r) {
			out = append(out, string(r)...)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			out = append(out, '\\', 'u', hex[unit>>12], hex[unit>>8&15], hex[unit>>4&15], hex[unit&15])
		}
	}
	return out
}
