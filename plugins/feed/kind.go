package feed

import (
	"net/url"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
)

// kinds knows whose videos are whose.
type kinds struct{ of map[string]stage.Source }

// newKinds takes the brief's competitors and the seeds of the run; handles are
// compared without case and @, and an address counts as the handle in it.
func newKinds(brief stage.Brief, seeds []stage.Seed) kinds {
	k := kinds{of: map[string]stage.Source{}}
	for _, competitor := range brief.Competitors {
		if key := competitorKey(competitor); key != "" {
			k.of[key] = stage.Source{Kind: "competitor", SeededBy: competitor}
		}
	}
	for _, seed := range seeds {
		if key := handleKey(seed.Handle); key != "" && (seed.Kind == "own" || seed.Kind == "competitor") {
			if _, have := k.of[key]; !have || seed.Kind == "own" {
				k.of[key] = stage.Source{Kind: seed.Kind, SeededBy: seed.Handle}
			}
		}
	}
	return k
}

// competitorKey is the handle in a brief's words: `@name`, `name`, or the
// address of a profile.
func competitorKey(text string) string {
	if at, err := url.Parse(strings.TrimSpace(text)); err == nil && at.Host != "" {
		parts := strings.Split(strings.Trim(at.Path, "/"), "/")
		return handleKey(parts[0])
	}
	return handleKey(text)
}

// settle completes the record's source: its kind is what it says itself, else what the
// brief makes of its handle, else `niche`. A record that says nothing has no source.
func (k kinds) settle(rec *stage.Record) {
	var source stage.Source
	if rec.Source != nil {
		source = *rec.Source
	}
	if !slices.Contains([]string{"own", "competitor", "niche"}, source.Kind) {
		source.Kind = ""
	}
	if source == (stage.Source{}) {
		rec.Source = nil
		return
	}
	known, have := k.of[handleKey(source.Handle)]
	have = have && source.Handle != ""
	if source.Kind == "" {
		source.Kind = "niche"
		if have {
			source.Kind = known.Kind
		}
	}
	if source.SeededBy == "" && have && source.Kind == known.Kind {
		source.SeededBy = known.SeededBy
	}
	rec.Source = &source
}

// handleKey is a handle as handles are compared.
func handleKey(handle string) string {
	return strings.ToLower(strings.TrimPrefix(strings.TrimSpace(handle), "@"))
}
