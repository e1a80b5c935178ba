package rules

import (
	"strconv"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/plugins/internal/tables"
)

func TestLexicon(t *testing.T) {
	t.Parallel()
	all := tables.Sections(englishText + "\n" + grammarText)
	number := func(t *testing.T, text string) {
		t.Helper()
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			t.Errorf("got %q, want a number", text)
		}
	}
	t.Run("keys that are numbers can be read", func(t *testing.T) {
		t.Parallel()
		for _, e := range all["piece"] {
			class, key, _ := strings.Cut(e.Key, " ")
			parts := strings.Split(key, "/")
			switch {
			case strings.Contains("nqM", class):
				number(t, key)
			case class == "u" && len(parts) != 3:
				t.Fatalf("unit %q: got %d parts, want field/seconds/name", e.Key, len(parts))
			case class == "u":
				number(t, parts[1])
			}
		}
	})
	t.Run("cells have a letter", func(t *testing.T) {
		t.Parallel()
		for _, e := range all["cell"] {
			if len(e.Key) != 1 {
				t.Errorf("got cell %q, want a letter", e.Key)
			}
		}
	})
	t.Run("every section has words", func(t *testing.T) {
		t.Parallel()
		for name, entries := range all {
			for _, e := range entries {
				if len(strings.Fields(e.Text)) == 0 {
					t.Errorf("section %q, key %q: got no words, want some", name, e.Key)
				}
			}
		}
	})
}
