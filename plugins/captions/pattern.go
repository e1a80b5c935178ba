package captions

import (
	"regexp"
	"strings"

	"github.com/scrollery/scrollery/plugins/internal/lazy"
	"github.com/scrollery/scrollery/plugins/stage"
)

// pattern is a way to open a video that its words give away.
type pattern struct {
	name, label string
	// marks: each of these characters gives it away, wherever it is.
	marks string
	// starts are what words begin with from which on match may hold. To look for them is far
	// faster than match, and most texts have none of them. Without them match holds for the
	// beginning of a text.
	starts []string
	match  func() *regexp.Regexp
}

// openings are the patterns, in the order in which their keys are given. They
// are English: an opening in another language has only the question mark.
var openings = []pattern{
	{"question", "Asks a question", `?？؟`, nil, lazy.Pattern(`^(?:what|why|how|when|where|who|which|did|do|does|is|are|can|could|would|have|has|ever)\b[^.!]{3,80}\b(?:you|we|i|it|this|your)\b`)},
	{"how_to", "How to", ``, starts(`how |here is how|here's how|this is how|step|tutorial`), lazy.Pattern(`^(?:how (?:to|i|you can|we)\b|(?:here is|here's|this is) how\b|step[- ]by[- ]step\b|tutorial\b)`)},
	{"list", "Numbered list", ``, starts(`1|2|3|4|5|6|7|8|9|two |three |four |five |six |seven |eight |nine |ten `), lazy.Pattern(`^(?:[2-9]|[1-4][0-9]|two|three|four|five|six|seven|eight|nine|ten) (?:\w+ ){0,2}(?:things|ways|tips|mistakes|reasons|steps|tricks|hacks|rules|signs|ideas|fixes|facts|secrets|lessons|tools|recipes|questions|habits|myths)\b`)},
	{"number", "Opens with a number", ``, nil, lazy.Pattern(`^(?:day |part |episode |no\. ?|number )?[$€£]?[0-9]+`)},
	{"stop", "Stop doing this", ``, starts(`stop |don't scroll|wait before you|before you scroll`), lazy.Pattern(`^(?:stop (?:scrolling|doing|using|putting|buying|making|saying|\w+ing)|don't scroll|wait before you|before you scroll)\b`)},
	{"pov", "POV", ``, starts(`pov|point of view`), lazy.Pattern(`^(?:pov|point of view)\b`)},
	{"mistake", "Mistake or warning", ``, starts(`mistake|wrong|never |don't |avoid|worst|warning|ruin`), lazy.Pattern(`^(?:mistakes?|wrong|never (?:do|buy|use|put|make|say)|don't (?:buy|do|use|make|ever)|avoid|worst|warning|ruin(?:s|ed|ing)?)\b`)},
	{"before_after", "Before and after", ``, starts(`before|day 1|day one|transformation|glow`), lazy.Pattern(`^(?:before (?:and|vs\.?|&|/) ?after|before ?/ ?after|day (?:1|one) (?:vs\.?|against|to) day|transformation|glow[- ]?up)\b`)},
	{"secret", "Secret or reveal", ``, starts(`secret|nobody |no one |what they don't|hidden|reveal|the truth about`), lazy.Pattern(`^(?:secrets?|nobody (?:tells|talks|shows|knows)|no one (?:tells|talks|shows|knows)|what they don't tell you|hidden|revealed?|the truth about)\b`)},
	{"story", "Tells a story", ``, starts(`story|so |the day i|when i was|i t|i used|i bought|i spent`), lazy.Pattern(`^(?:story ?time|so (?:yesterday|today|last (?:night|week))|the day i|when i was|i (?:tried|tested|used|bought|spent) )`)},
	{"contrast", "Against what people think", ``, starts(`unpopular opinion|hot take|everyone |you've been|you have been|is not |actually`), lazy.Pattern(`^(?:unpopular opinion|hot take|everyone (?:thinks|says|shows|is)|you(?:'ve| have) been|is not .{2,60}, (?:it|your) |actually)\b`)},
	{"challenge", "Challenge", ``, starts(`challenge|i bet you|bet you`), lazy.Pattern(`^(?:challenge\b|(?:i )?bet you (?:can't|can not|didn't)\b)`)},
}

func starts(words string) []string { return strings.Split(words, "|") }

// in reports whether a text has the pattern.
func (p *pattern) in(text string) bool {
	if strings.ContainsAny(text, p.marks) {
		return true
	}
	if p.starts == nil {
		return p.match().MatchString(text)
	}
	for _, start := range p.starts {
		for rest := text; ; {
			at := strings.Index(rest, start)
			if at < 0 {
				break
			}
			place := len(text) - len(rest) + at
			if (place == 0 || !ofWord(text[place-1])) && p.match().MatchString(text[place:]) {
				return true
			}
			rest = rest[at+1:]
		}
	}
	return false
}

// ofWord is \w.
func ofWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// patterns are the trend keys of an opening.
func patterns(spoken, printed string) []stage.Key {
	texts := []string{opening(spoken), opening(printed)}
	if texts[0] == "" && texts[1] == "" {
		return nil
	}
	var keys []stage.Key
	for i := range openings {
		p := &openings[i]
		for _, text := range texts {
			if text != "" && p.in(text) {
				keys = append(keys, stage.Key{Key: "hook:" + p.name, Label: p.label})
				break
			}
		}
	}
	return keys
}

func opening(text string) string {
	text = strings.ReplaceAll(strings.ToLower(within(text, 4<<10)), "’", "'")
	return cut(strings.Join(strings.Fields(text), " "), spokenLength)
}
