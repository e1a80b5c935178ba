package rules

import (
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/internal/language"
)

// spoken compares what a text may be in with what is asked for: Danish or
// Norwegian is surely not English, and surely one of Danish, Norwegian and Swedish.
func spoken(possible, wanted []string) answer {
	among := 0
	for _, language := range possible {
		if slices.Contains(wanted, language) {
			among++
		}
	}
	switch {
	case len(possible) == 0 || among > 0 && among < len(possible):
		return unknown
	case among > 0:
		return yes
	}
	return no
}

// foreign reports a rule in another language: it has as many words that are common there alone
// as words that are common in English alone.
func (l *lexicon) foreign(tokens []token) bool {
	foreign, english := 0, 0
	for _, t := range tokens {
		if t.kind != word || len([]rune(t.text)) < 3 {
			continue
		}
		switch languages := language.Of(t.text); {
		case languages == "en":
			english++
		case languages != "" && !strings.Contains(languages, "en") && !l.known[t.text]:
			foreign++
		}
	}
	return foreign > 0 && foreign >= english
}
