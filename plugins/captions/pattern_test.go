package captions

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
)

// TestPatternsAreFoundByTheirStarts compares what is found with a search of the expression
// at every word, in texts that are made from the patterns themselves.
func TestPatternsAreFoundByTheirStarts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	around := []string{"", " ", "x", "so ", "the ", "é", "_", "before", "how ", "i ", "2 ", "day ", "'", "the truth "}
	for i := range openings {
		p := &openings[i]
		t.Run(p.name, func(t *testing.T) {
			expression := p.match().String()
			if !p.first {
				expression = `\b` + strings.TrimPrefix(expression, "^")
			}
			anywhere := regexp.MustCompile(expression)
			tree, err := syntax.Parse(p.match().String(), syntax.Perl)
			if err != nil {
				t.Fatal(err)
			}
			matched, refused := 0, 0
			for range 20_000 {
				var text strings.Builder
				text.WriteString(around[random.IntN(len(around))])
				text.WriteString(around[random.IntN(len(around))])
				write(&text, tree, random)
				made := text.String()
				if random.IntN(3) == 0 { // often spoilt by it
					at := random.IntN(len(made))
					made = made[:at] + around[random.IntN(len(around))] + made[at:]
				}
				made += around[random.IntN(len(around))]
				want := anywhere.MatchString(made) || strings.ContainsAny(made, strings.Join(p.marks, ""))
				if got := patternsIn(made)&(1<<i) != 0; got != want {
					t.Fatalf("%q: got %v, want %v", made, got, want)
				}
				if want {
					matched++
				} else {
					refused++
				}
			}
			if matched < 100 || refused < 100 {
				t.Errorf("%d of the made texts match and %d do not, want at least 100 of each", matched, refused)
			}
		})
	}
}

// write makes a text that an expression matches, but for the bounds of words.
func write(out *strings.Builder, e *syntax.Regexp, random *rand.Rand) {
	times := func(least, most int) {
		for range least + random.IntN(most-least+1) {
			write(out, e.Sub[0], random)
		}
	}
	switch e.Op {
	case syntax.OpLiteral:
		out.WriteString(string(e.Rune))
	case syntax.OpCharClass:
		at := 2 * random.IntN(len(e.Rune)/2)
		low, high := e.Rune[at], min(e.Rune[at+1], 'z')
		out.WriteRune(low + rune(random.IntN(max(int(high-low), 0)+1)))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out.WriteByte('x')
	case syntax.OpCapture:
		write(out, e.Sub[0], random)
	case syntax.OpStar:
		times(0, 3)
	case syntax.OpPlus:
		times(1, 3)
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpRepeat:
		times(e.Min, e.Max)
	case syntax.OpConcat:
		for _, sub := range e.Sub {
			write(out, sub, random)
		}
	case syntax.OpAlternate:
		write(out, e.Sub[random.IntN(len(e.Sub))], random)
	}
}

// TestOpeningIsTheBeginning compares it with the whole text in lower case, cut afterwards.
func TestOpeningIsTheBeginning(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	parts := []string{"a", "Word", "ÉTÉ", "İ", "ẞ", "日本", "🔥", "’", "'", " ", "  ", "\n", "\t", "\u00a0", "\u2003", "\u0085", "longer-than-others", "x\xff"}
	for range 20_000 {
		var text strings.Builder
		for range random.IntN(400) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		made := text.String()
		if random.IntN(20) == 0 {
			made = strings.Repeat(made, 8) // beyond what is looked at
		}
		lower := strings.ReplaceAll(strings.ToLower(within(made, 4<<10)), "’", "'")
		if got, want := opening(made), cut(strings.Join(strings.Fields(lower), " "), spokenLength); got != want {
			t.Fatalf("%q: got %q, want %q", made, got, want)
		}
	}
}
