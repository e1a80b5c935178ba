package captions

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"
)

// TestCluesExcludeNoMatch makes texts from the patterns themselves.
func TestCluesExcludeNoMatch(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, p := range openings {
		t.Run(p.name, func(t *testing.T) {
			tree, err := syntax.Parse(p.match().String(), syntax.Perl)
			if err != nil {
				t.Fatal(err)
			}
			matched := 0
			for range 5000 {
				var text strings.Builder
				write(&text, tree, random)
				if !p.match().MatchString(text.String()) {
					continue // a made word may run into the next one
				}
				matched++
				if !p.maybe(text.String()) {
					t.Errorf("%q matches without a clue", text.String())
				}
			}
			if matched < 100 {
				t.Errorf("only %d of the made texts match, want at least 100", matched)
			}
			if other := "zzz"; p.name != "number" && p.maybe(other) {
				t.Errorf("%q has a clue", other)
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
