package plan

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/plugins/stage"
)

// labelledBrief is a brief with the terms that a person would search for.
type labelledBrief struct {
	brief      stage.Brief
	rules      []stage.Rule
	prompt     string
	must, also []string
}

func readBriefs(t *testing.T, path string) []labelledBrief {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []labelledBrief
	for line := range strings.Lines(string(raw)) {
		name, text, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		if name == "name" {
			all = append(all, labelledBrief{brief: stage.Brief{Name: text}})
			continue
		}
		b := &all[len(all)-1]
		switch name {
		case "about":
			b.brief.Description = text
		case "rule":
			b.rules = append(b.rules, stage.Rule{Text: text})
		case "prompt":
			b.prompt = text
		case "must":
			b.must = strings.Split(text, ", ")
		case "also":
			b.also = strings.Split(text, ", ")
		default:
			t.Fatalf("got the line %q, want one of the known members", line)
		}
	}
	return all
}

// TestKeywordsOfLabelledBriefs holds the method against what a person would search
// for: precision is of the terms it finds, recall of those that have to be found.
func TestKeywordsOfLabelledBriefs(t *testing.T) {
	t.Parallel()
	briefs := readBriefs(t, "testdata/keywords.txt")
	if len(briefs) < 10 {
		t.Fatalf("%d briefs, want at least 10", len(briefs))
	}
	found, fine, wanted, met := 0, 0, 0, 0
	for _, b := range briefs {
		terms := keywords(b.brief, b.rules, b.prompt, 8)
		var odd, missing []string
		for _, term := range terms {
			if !slices.Contains(b.must, term) && !slices.Contains(b.also, term) {
				odd = append(odd, term)
			}
		}
		for _, term := range b.must {
			if !slices.Contains(terms, term) {
				missing = append(missing, term)
			}
		}
		found, fine = found+len(terms), fine+len(terms)-len(odd)
		wanted, met = wanted+len(b.must), met+len(b.must)-len(missing)
		t.Logf("%s: %q; odd %q, missing %q", b.brief.Name, terms, odd, missing)
	}
	precision, recall := float64(fine)/float64(found), float64(met)/float64(wanted)
	t.Logf("%d briefs: precision %.2f (%d of %d), recall %.2f (%d of %d)", len(briefs), precision, fine, found, recall, met, wanted)
	if precision < 0.8 || recall < 0.8 {
		t.Errorf("precision %.2f, recall %.2f: want 0.8 of each", precision, recall)
	}
}

func TestKeywordsLeaveOutWhatIsNotWanted(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string][]string{
		"No shoes, bags or hats":                      {},
		"Never show crypto content":                   {},
		"Skip shoes but show sneakers":                {"sneakers"},
		"Only latte art, no giveaways or unboxing":    {"latte art"},
		"Keine Schuhe, sondern nur Wanderstiefel":     {"wanderstiefel"},
		"Pas de régimes, uniquement le yoga":          {"yoga"},
		"At least 10k views, under 60 seconds":        {},
		"Knitting without patterns. Crochet patterns": {"knitting", "crochet patterns"},
		"Only videos my customers would like":         {},
		"Keep it family friendly":                     {},
		"Only female creators over 30":                {},
	} {
		got := keywords(stage.Brief{}, []stage.Rule{{Text: rule}}, "", 8)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", rule, got, want)
		}
	}
	about := stage.Brief{Name: "Frogs & Co", Description: "Pixel art, no combat, lots of ponds. Frogs!"}
	if got, want := keywords(about, nil, "", 8), []string{"pixel art", "ponds"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzKeywords(f *testing.F) {
	f.Add("L'apéro d'été, sans alcool #spritz", "only 3D printing! no 10k", 3)
	f.Add("de de de surf de de", "-''- ## #’’", 8)
	f.Fuzz(func(t *testing.T, about, rule string, limit int) {
		limit = max(0, min(limit, 20))
		terms := keywords(stage.Brief{Name: "Acme", Description: about}, []stage.Rule{{Text: rule}}, rule, limit)
		if len(terms) > limit {
			t.Fatalf("%d terms, want at most %v", len(terms), limit)
		}
		for _, term := range terms {
			if strings.TrimSpace(term) != term || term == "" || len(strings.Fields(term)) > longestTerm || strings.Contains(term, "acme ") {
				t.Errorf("got the term %q of %q, want 1 to %d trimmed words, without the name", term, about, longestTerm)
			}
		}
	})
}
