package captions

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/scrollery/scrollery/plugins/internal/lazy"
	"github.com/scrollery/scrollery/plugins/stage"
)

// pattern is a way to open a video that its words give away.
type pattern struct {
	name, label string
	// marks: each of these gives it away, wherever it is.
	marks []string
	// starts are what words begin with from which on match may hold. To look for them is far
	// faster than match, and most texts have none of them.
	starts []string
	// first: match holds for the beginning of a text alone.
	first bool
	match func() *regexp.Regexp
}

// openings are the patterns, in the order in which their keys are given. They
// are English: an opening in another language has only the question mark.
var openings = []pattern{
	{"question", "Asks a question", []string{`?`, `？`, `؟`}, starts(`what|why|how|when|where|who|which|did|do|is|are|can|could|would|have|has|ever`), true, lazy.Pattern(`^(?:what|why|how|when|where|who|which|did|do|does|is|are|can|could|would|have|has|ever)\b[^.!]{3,80}\b(?:you|we|i|it|this|your)\b`)},
	{"how_to", "How to", nil, starts(`how |here is how|here's how|this is how|step|tutorial`), false, lazy.Pattern(`^(?:how (?:to|i|you can|we)\b|(?:here is|here's|this is) how\b|step[- ]by[- ]step\b|tutorial\b)`)},
	{"list", "Numbered list", nil, starts(`1|2|3|4|5|6|7|8|9|two |three |four |five |six |seven |eight |nine |ten `), false, lazy.Pattern(`^(?:[2-9]|[1-4][0-9]|two|three|four|five|six|seven|eight|nine|ten) (?:\w+ ){0,2}(?:things|ways|tips|mistakes|reasons|steps|tricks|hacks|rules|signs|ideas|fixes|facts|secrets|lessons|tools|recipes|questions|habits|myths)\b`)},
	{"number", "Opens with a number", nil, starts(`day |part |episode |no|number |$|€|£|0|1|2|3|4|5|6|7|8|9`), true, lazy.Pattern(`^(?:day |part |episode |no\. ?|number )?[$€£]?[0-9]+`)},
	{"stop", "Stop doing this", nil, starts(`stop |don't scroll|wait before you|before you scroll`), false, lazy.Pattern(`^(?:stop (?:scrolling|doing|using|putting|buying|making|saying|\w+ing)|don't scroll|wait before you|before you scroll)\b`)},
	{"pov", "POV", nil, starts(`pov|point of view`), false, lazy.Pattern(`^(?:pov|point of view)\b`)},
	{"mistake", "Mistake or warning", nil, starts(`mistake|wrong|never |don't |avoid|worst|warning|ruin`), false, lazy.Pattern(`^(?:mistakes?|wrong|never (?:do|buy|use|put|make|say)|don't (?:buy|do|use|make|ever)|avoid|worst|warning|ruin(?:s|ed|ing)?)\b`)},
	{"before_after", "Before and after", nil, starts(`before|day 1|day one|transformation|glow`), false, lazy.Pattern(`^(?:before (?:and|vs\.?|&|/) ?after|before ?/ ?after|day (?:1|one) (?:vs\.?|against|to) day|transformation|glow[- ]?up)\b`)},
	{"secret", "Secret or reveal", nil, starts(`secret|nobody |no one |what they don't|hidden|reveal|the truth about`), false, lazy.Pattern(`^(?:secrets?|nobody (?:tells|talks|shows|knows)|no one (?:tells|talks|shows|knows)|what they don't tell you|hidden|revealed?|the truth about)\b`)},
	{"story", "Tells a story", nil, starts(`story|so |the day i|when i was|i t|i used|i bought|i spent`), false, lazy.Pattern(`^(?:story ?time|so (?:yesterday|today|last (?:night|week))|the day i|when i was|i (?:tried|tested|used|bought|spent) )`)},
	{"contrast", "Against what people think", nil, starts(`unpopular opinion|hot take|everyone |you've been|you have been|is not |actually`), false, lazy.Pattern(`^(?:unpopular opinion|hot take|everyone (?:thinks|says|shows|is)|you(?:'ve| have) been|is not .{2,60}, (?:it|your) |actually)\b`)},
	{"challenge", "Challenge", nil, starts(`challenge|i bet you|bet you`), false, lazy.Pattern(`^(?:challenge\b|(?:i )?bet you (?:can't|can not|didn't)\b)`)},
}

func starts(words string) []string { return strings.Split(words, "|") }

// beginning is a pattern that may hold from a word on which begins so.
type beginning struct {
	start string
	of    int
}

// beginnings are those of all openings, by their first byte.
var beginnings = sync.OnceValue(func() [][]beginning {
	all := make([][]beginning, 256)
	for i := range openings {
		for _, start := range openings[i].starts {
			all[start[0]] = append(all[start[0]], beginning{start, i})
		}
	}
	return all
})

// patternsIn are the openings that a text has, a bit each. It looks at the text once, for
// all of them.
func patternsIn(text string) (found uint) {
	for i := range openings {
		for _, mark := range openings[i].marks {
			if strings.Contains(text, mark) {
				found |= 1 << i
			}
		}
	}
	all := beginnings()
	for at := range len(text) {
		if at > 0 && ofWord(text[at-1]) {
			continue
		}
		for _, b := range all[text[at]] {
			p := &openings[b.of]
			if found&(1<<b.of) == 0 && (at == 0 || !p.first) && strings.HasPrefix(text[at:], b.start) && p.match().MatchString(text[at:]) {
				found |= 1 << b.of
			}
		}
	}
	return found
}

// ofWord is \w.
func ofWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// patterns are the trend keys of an opening.
func patterns(spoken, printed string) []stage.Key {
	found := patternsIn(opening(spoken)) | patternsIn(opening(printed))
	if found == 0 {
		return nil
	}
	var keys []stage.Key
	for i := range openings {
		if found&(1<<i) != 0 {
			keys = append(keys, stage.Key{Key: "hook:" + openings[i].name, Label: openings[i].label})
		}
	}
	return keys
}

// opening is the beginning of a text in lower case, with one space between words. What
// would be cut off is not looked at.
func opening(text string) string {
	text = within(text, 4<<10)
	b := make([]byte, 0, min(len(text)+8, 2*spokenLength))
	letters, space := 0, false
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			if r == ' ' || '\t' <= r && r <= '\r' {
				space = len(b) > 0
				continue
			}
			if 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
		case r == '’':
			r = '\''
		case unicode.IsSpace(r):
			space = len(b) > 0
			continue
		default:
			r = unicode.ToLower(r)
		}
		if space {
			b, letters, space = append(b, ' '), letters+1, false
		}
		b = utf8.AppendRune(b, r)
		if letters++; letters > spokenLength {
			break
		}
	}
	return cut(string(b), spokenLength)
}
