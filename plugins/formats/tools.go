package formats

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
)

// toolFiles are the known tools, a file each. Beside each is a sample with what must come of it.
//
//go:embed tools/*.json
var toolFiles embed.FS

// tool is a program that writes tables of its own.
type tool struct {
	Tool string `json:"tool"`
	// AsOf is the month in which the columns were as here.
	AsOf string `json:"asOf"`
	// Marks are columns that all of its tables have, and those of no other tool.
	Marks []string `json:"marks"`
	// Map has its columns; those that a table lacks are left out. Names are compared
	// without case, blanks and punctuation, so that `a/b`, `a.b` and `a_b` are the same.
	Map json.RawMessage `json:"map"`
	// Ignore are columns that would be taken for something else by their names.
	Ignore []string `json:"ignore"`
	// Not has columns of other tables of the tool, and why those are not read.
	Not map[string]string `json:"not"`
	// DateOrder is the order of dates of numbers, such as `mdy`, if no value shows it.
	DateOrder string `json:"dateOrder"`
	// Type is the column that says what kind of post it is.
	Type string `json:"type"`

	columns *Map
}

func readTools() (tools []tool) {
	entries, err := toolFiles.ReadDir("tools")
	if err != nil {
		panic(err) // it is compiled in
	}
	for _, entry := range entries {
		text, err := toolFiles.ReadFile("tools/" + entry.Name())
		var t tool
		if err == nil {
			err = json.Unmarshal(text, &t)
		}
		if err == nil {
			t.columns, err = ParseMap(t.Map)
		}
		if err != nil {
			panic(fmt.Errorf("%s: %w", entry.Name(), err)) // it is compiled in, and tested
		}
		tools = append(tools, t)
	}
	return tools
}

// toolOf is the tool that wrote a table with these columns: of several the one with the most
// marks; nil if none did.
func toolOf(tools []tool, header []string) (found *tool) {
	have := map[string]bool{}
	for _, name := range header {
		have[foldName(name)] = true
	}
	for i := range tools {
		fits := true
		for _, mark := range tools[i].Marks {
			fits = fits && have[foldName(mark)]
		}
		if fits && (found == nil || len(tools[i].Marks) > len(found.Marks)) {
			found = &tools[i]
		}
	}
	return found
}

// columnAt is the place of a column by its name: as it is written, else folded; -1 without one.
func columnAt(header []string, name string) int {
	folded := -1
	if name == "" {
		return folded // not a column without a name
	}
	for i, column := range header {
		if column == name {
			return i
		}
		if folded < 0 && strings.EqualFold(foldName(column), foldName(name)) && foldName(name) != "" {
			folded = i
		}
	}
	return folded
}
