package rules

import (
	"go/ast"
	"go/parser"
	source "go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/plugins/internal/facts"
)

// constants are the values of the string constants of a type in a file.
func constants(t *testing.T, path, of string) (all []string) {
	t.Helper()
	file, err := parser.ParseFile(source.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == of {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, value)
		}
		return true
	})
	if len(all) < 3 {
		t.Fatalf("%s has the constants %v of %s, want more", path, all, of)
	}
	return all
}

// kinds are conditions of every field, part, comparison and unit, and their negations.
func kinds(t *testing.T) (all []Condition) {
	t.Helper()
	parts := append(constants(t, "../internal/facts/facts.go", "Part"), "")
	for _, name := range constants(t, "condition.go", "Field") {
		field := Field(name)
		var of []Condition
		switch field {
		case Text, Hashtag, Platform, Language, Creator, Kind, Sound:
			for _, values := range [][]string{{"es"}, {"own"}, {"two words"}, {"one", "two"}, {"#ad"}} {
				of = append(of, Condition{Field: field, Values: values}, Condition{Field: field, Values: values, All: true})
			}
		case Question:
			of = append(of, Condition{Field: field})
		case Age:
			for _, unit := range []string{"hours", "days", "weeks", "months", "years"} {
				of = append(of, Condition{Field: field, Unit: unit})
			}
		default:
			of = append(of, Condition{Field: field})
		}
		for _, c := range of {
			for _, op := range []string{"<", "<=", ">", ">="} {
				for _, n := range []float64{0.5, 1, 12345} {
					for _, part := range parts {
						if c.Op, c.Number, c.At = op, n, noon; part == "" || field == Text || field == Words || field == Characters {
							c.In = facts.Part(part)
							all = append(all, c)
							c.Not = true
							all = append(all, c)
							c.Not = false
						}
					}
				}
			}
		}
	}
	return all
}

// TestEveryKindOfCheckHasASentenceInEachLanguage takes the kinds from the source.
func TestEveryKindOfCheckHasASentenceInEachLanguage(t *testing.T) {
	t.Parallel()
	en, de := speakerOf("en"), speakerOf("de")
	foreign := regexp.MustCompile(`\b(videos? (with|on|in|by|of|that|whose|tagged|posted)|with|the|than|least|most|drops|keeps|mentions?)\b`)
	for _, effect := range constants(t, "condition.go", "Effect") {
		for _, c := range kinds(t) {
			check := Check{Effect: Effect(effect), Conditions: []Condition{c}, Unless: []Condition{c}}
			english, german := en.sentence(check), de.sentence(check)
			if english == german || strings.ContainsAny(english+german, "{}/") || foreign.MatchString(german) || strings.Contains(english+german, "  ") {
				t.Fatalf("%s is said as\n%s\n%s\nwant a sentence in each language", check, english, german)
			}
		}
	}
}

// TestSentencesAreWholeInEachLanguage compares the texts of each line.
func TestSentencesAreWholeInEachLanguage(t *testing.T) {
	t.Parallel()
	marks := regexp.MustCompile(`\{\w*\}`)
	places := func(text string) []string {
		all := marks.FindAllString(strings.ReplaceAll(text, "{few}", "{op}"), -1)
		slices.Sort(all)
		return slices.Compact(all)
	}
	for key, texts := range sentences() {
		if len(texts) != len(languages) || slices.Contains(texts, "") {
			t.Errorf("%s: %d texts, want one in each of %v", key, len(texts), languages)
			continue
		}
		for _, text := range texts[1:] {
			if !slices.Equal(places(texts[0]), places(text)) {
				t.Errorf("%s: %q and %q have different places", key, texts[0], text)
			}
		}
	}
	for _, key := range english().keys["name"] {
		if code, ok := strings.CutPrefix(key, "L "); ok && sentences()["say "+code] == nil {
			t.Errorf("the language %s has no name", code)
		}
	}
	reason := regexp.MustCompile(`(?:lost, |missed, |return \[\]string\{|return nil, \[\]string\{)"([^"]+)"`)
	found := 0
	for _, file := range []string{"compose.go", "phrases.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range reason.FindAllSubmatch(text, -1) {
			if found++; sentences()["why "+string(m[1])] == nil {
				t.Errorf("%s: the reason %q has no sentence", file, m[1])
			}
		}
	}
	if found < 20 {
		t.Errorf("%d reasons in the source, want 20 at least", found)
	}
}

func TestReadingsInGerman(t *testing.T) {
	t.Parallel()
	de := speakerOf("de")
	for rule, want := range map[string]string{
		"at least 1,000 views":                   "behält nur Videos mit mindestens 1.000 Aufrufen",
		"at least 1 like":                        "behält nur Videos mit mindestens 1 Like",
		"no giveaways":                           "entfernt Videos mit dem Wort „giveaways“",
		"caption must mention \"weight loss\"":   "behält nur Videos mit den Wörtern „weight loss“ in der Beschreibung",
		"only English or Spanish":                "behält nur Videos auf Englisch oder Spanisch",
		"On YouTube, nothing longer than 60 s":   "entfernt Videos auf YouTube und von mehr als 60 Sekunden",
		"skip videos under 1k views unless #ad":  "entfernt Videos mit weniger als 1.000 Aufrufen, außer es sind Videos mit Hashtag #ad",
		"nothing older than 2 weeks":             "entfernt Videos mit einem Alter von mehr als 2 Wochen",
		"only videos since March 2026":           "behält nur Videos mit Veröffentlichung ab dem 01.03.2026",
		"engagement over 2.5%":                   "behält nur Videos mit mehr als 2,5 % Engagement",
		"creators need at least 10000 followers": "behält nur Videos von Accounts mit mindestens 10.000 Followern",
		"the hook must be a question":            "behält nur Videos mit einer Frage als Hook",
		"captions under 100 characters":          "behält nur Videos mit weniger als 100 Zeichen in der Beschreibung",
		"no videos by @temu":                     "entfernt Videos von @temu",
		"prefer TikTok":                          "stellt Videos auf TikTok nach vorn",
	} {
		p := compiled("", rule)
		if len(p.Checks) != 1 || de.sentence(p.Checks[0]) != want {
			t.Errorf("%q is read as\n%s, want %q", rule, explained(p), want)
			for _, c := range p.Checks {
				t.Log(de.sentence(c))
			}
		}
	}
	if got, want := de.unclear("a rule", []string{"both", "warm"}, true), "a rule (nicht verstanden: ob beides gelten muss oder eines genügt; warm)"; got != want {
		t.Errorf("an unclear rule: got %q, want %q", got, want)
	}
}
