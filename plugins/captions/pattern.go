package captions

import (
	"regexp"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/internal/lazy"
	"github.com/scrollery/scrollery/plugins/stage"
)

// pattern is a way to open a video that its words give away.
type pattern struct {
	name, label string
	// maybe is false for texts that cannot match: to look for words is far faster than
	// match, and most texts have none of them.
	maybe func(text string) bool
	match func() *regexp.Regexp
}

// clues reports whether a text has one of some words, separated by |, which each text
// that matches has: somewhere, or with ^ at its beginning. Without words it is true.
func clues(words string) func(text string) bool {
	all := strings.Split(words, "|")
	return func(text string) bool {
		return slices.ContainsFunc(all, func(word string) bool {
			if first, begins := strings.CutPrefix(word, "^"); begins {
				return strings.HasPrefix(text, first)
			}
			return strings.Contains(text, word)
		})
	}
}

// openings are the patterns, in the order in which their keys are given. They
// are English: an opening in another language has only the question mark.
var openings = []pattern{
	{"question", "Asks a question", clues(`?|？|؟|^what|^why|^how|^when|^where|^who|^which|^di|^do|^is|^are|^can|^could|^would|^ha|^ever`), lazy.Pattern(`[?？؟]|^(?:what|why|how|when|where|who|which|did|do|does|is|are|can|could|would|have|has|ever)\b[^.!]{3,80}\b(?:you|we|i|it|this|your)\b`)},
	{"how_to", "How to", clues(`how|step|tutorial`), lazy.Pattern(`\bhow (?:to|i|you can|we)\b|\b(?:here is|here's|this is) how\b|\bstep[- ]by[- ]step\b|\btutorial\b`)},
	{"list", "Numbered list", clues(`things|ways|tips|mistakes|reasons|steps|tricks|hacks|rules|signs|ideas|fixes|facts|secrets|lessons|tools|recipes|questions|habits|myths`), lazy.Pattern(`\b(?:[2-9]|[1-4][0-9]|two|three|four|five|six|seven|eight|nine|ten) (?:\w+ ){0,2}(?:things|ways|tips|mistakes|reasons|steps|tricks|hacks|rules|signs|ideas|fixes|facts|secrets|lessons|tools|recipes|questions|habits|myths)\b`)},
	{"number", "Opens with a number", clues(``), lazy.Pattern(`^(?:day |part |episode |no\. ?|number )?[$€£]?[0-9]+`)},
	{"stop", "Stop doing this", clues(`stop |scroll|wait before you`), lazy.Pattern(`\b(?:stop (?:scrolling|doing|using|putting|buying|making|saying|\w+ing)|don't scroll|wait before you|before you scroll)\b`)},
	{"pov", "POV", clues(`pov|point of view`), lazy.Pattern(`\bpov\b|\bpoint of view\b`)},
	{"mistake", "Mistake or warning", clues(`mistake|wrong|never |don't |avoid|worst|warning|ruin`), lazy.Pattern(`\b(?:mistakes?|wrong|never (?:do|buy|use|put|make|say)|don't (?:buy|do|use|make|ever)|avoid|worst|warning|ruin(?:s|ed|ing)?)\b`)},
	{"before_after", "Before and after", clues(`after|day |transformation|glow`), lazy.Pattern(`\bbefore (?:and|vs\.?|&|/) ?after\b|\bbefore ?/ ?after\b|\bday (?:1|one) (?:vs\.?|against|to) day\b|\btransformation\b|\bglow[- ]?up\b`)},
	{"secret", "Secret or reveal", clues(`secret|nobody |no one |what they don't|hidden|reveal|the truth about`), lazy.Pattern(`\b(?:secrets?|nobody (?:tells|talks|shows|knows)|no one (?:tells|talks|shows|knows)|what they don't tell you|hidden|revealed?|the truth about)\b`)},
	{"story", "Tells a story", clues(`story|so |the day i|when i was|i t|i used|i bought|i spent`), lazy.Pattern(`\b(?:story ?time|so (?:yesterday|today|last (?:night|week))|the day i|when i was|i (?:tried|tested|used|bought|spent) )`)},
	{"contrast", "Against what people think", clues(`unpopular opinion|hot take|everyone | been|is not |actually`), lazy.Pattern(`\b(?:unpopular opinion|hot take|everyone (?:thinks|says|shows|is)|you(?:'ve| have) been|is not .{2,60}, (?:it|your) |actually)\b`)},
	{"challenge", "Challenge", clues(`challenge|bet you`), lazy.Pattern(`\bchallenge\b|\b(?:i )?bet you (?:can't|can not|didn't)\b`)},
}

// patterns are the trend keys of an opening.
func patterns(spoken, printed string) []stage.Key {
	texts := []string{opening(spoken), opening(printed)}
	if texts[0] == "" && texts[1] == "" {
		return nil
	}
	var keys []stage.Key
	for _, p := range openings {
		for _, text := range texts {
			if text != "" && p.maybe(text) && p.match().MatchString(text) {
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
