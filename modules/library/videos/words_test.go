package videos

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/library/score"
)

// TestFoldOfEveryRune compares the short way with the fold of scores, for each letter by
// itself and beside others that letters join.
func TestFoldOfEveryRune(t *testing.T) {
	t.Parallel()
	short := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		for _, text := range []string{string(r), "e" + string(r), string(r) + "\u0301", "\u0915" + string(r) + "\u093c", "\u1100" + string(r)} {
			if !isFolded(text) {
				continue
			}
			short++
			if got := score.Fold(text); got != text {
				t.Fatalf("%q (%U): got %q as folded, want %q", text, r, text, got)
			}
		}
	}
	if short < 20_000 {
		t.Errorf("got %d texts by the short way, want most letters of most scripts", short)
	}
}

// TestWordsByParts compares words that are read part by part with those of the whole text.
func TestWordsByParts(t *testing.T) {
	t.Parallel()
	parts := []string{
		" ", " ", " ", "Hello", "STOP", "stop", "a1b2", "don't", "é", "É", "e\u0301", "\u0301", "ß", "ẞ", "ñandú", "\u00a8", "\u0345", "\u03a3", "\u03c2",
		"\u0130", "\ufb01", "\u2126", "각", "\u1100", "\u1161", "\u11a8", "\u3000", "\u00a0", "💡", "❤\ufe0f", "👩\u200d🚀", "日本", "語", "ไทย", "Привет", "мир", "\xff", "\t", "\n",
		"20€", "#naïve", "…", "ﬀ", "नमस्ते", "\u0958", "مرحبا", "שלום", "\ufb2a", strings.Repeat("x", 50), strings.Repeat("é", 45),
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var made strings.Builder
		for range 1 + random.IntN(8) {
			made.WriteString(parts[random.IntN(len(parts))])
		}
		text := made.String()
		for _, single := range []bool{false, true} {
			var got, want []string
			words(text, single, func(word string) { got = append(got, word) })
			anyWords(score.Fold(text), single, func(word string) { want = append(want, word) })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%q (-of the whole +by parts):\n%s", text, diff)
			}
		}
	}
}

// TestTermsAreDistinct compares the terms of many texts with those that a map keeps.
func TestTermsAreDistinct(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		var made []string
		for range 1 + random.IntN(1500) {
			made = append(made, strconv.Itoa(random.IntN(1+random.IntN(900))))
		}
		var want []string
		seen := map[string]bool{}
		for _, word := range made {
			if !seen[word] && len(want) < mostTerms {
				seen[word], want = true, append(want, word)
			}
		}
		if diff := cmp.Diff(want, strings.Fields(Text{Words: []string{strings.Join(made, " ")}}.Terms())); diff != "" {
			t.Fatalf("terms (-want +got):\n%s", diff)
		}
	}
}

func TestTerms(t *testing.T) {
	t.Parallel()
	many := make([]string, 0, 600)
	for i := range 600 {
		many = append(many, string(rune('a'+i/26%26))+string(rune('a'+i%26)))
	}
	for name, c := range map[string]struct {
		text Text
		want string
	}{
		"nothing":          {Text{}, " "},
		"each once":        {Text{Words: []string{"Stop it", "stop"}, Handle: "@Ana", Hashtags: []string{"#Stop"}, Language: "en-US", Annotated: true}, " !annotated ~en @ana #stop ana stop it "},
		"letters by pairs": {Text{Words: []string{"日本語"}}, " 日本 本語 日 本 語 "},
		"the first count":  {Text{Words: []string{strings.Join(many, " ")}}, " " + strings.Join(many[:mostTerms], " ") + " "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, c.text.Terms()); diff != "" {
				t.Errorf("terms (-want +got):\n%s", diff)
			}
			if !utf8.ValidString(c.text.Terms()) {
				t.Errorf("got %q, want valid text", c.text.Terms())
			}
		})
	}
}
