package rules

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var negated = regexp.MustCompile(`not ([a-z -]+) (<=|>=|<|>) `)

// dropped are the lines of a reading that drop, in one form: to require something is to
// drop what is not so.
func dropped(reading string) string {
	var all []string
	for line := range strings.Lines(reading) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "require "); ok {
			line = "drop if not " + rest
		}
		what, ok := strings.CutPrefix(line, "drop if ")
		if !ok {
			continue
		}
		what = strings.ReplaceAll(negated.ReplaceAllStringFunc(what, func(s string) string {
			m := negated.FindStringSubmatch(s)
			return m[1] + " " + map[string]string{"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[m[2]] + " "
		}), "not not ", "")
		conditions := strings.Split(what, " and ")
		slices.Sort(conditions)
		all = append(all, strings.Join(conditions, " and "))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// TestMarketersSentences reads sentences that were labelled before the compiler saw them.
// A label is what the sentence drops, a second one behind "or" what it may drop as well,
// and ? marks a sentence whose meaning is unclear. The first 198 taught the grammar. The
// others came in lots, each read once before it taught: of 63, 63, 66 and 65 it misread
// 7, 4, 3 and 5. The last 794 came in eight lots, of registers, languages and typing errors
// that the earlier lots lack, and with traps: of 149, 106, 112, 86, 90, 98, 94 and 64 it
// misread 10, 12, 5, 10, 5, 5, 8 and 4. Two lots of 60, of agencies' briefs and lists, and of
// people who speak, or write in German or in an English of their own, had 5 and 2; of two more of 60, in all these styles, 4 and 4. Then
// 120 were written before the grammar became a table, of which the old one misread 5; the table
// misread 2 of 60 more, and without its rules for where verbs may begin 3 of 60; of the last 30 it misread 1.
// Of 255 more it misread 9, and of 1,164 that went where these had pointed (exceptions, lists behind "or",
// judgements of numbers) 66; of those that it misread each has a label. Of the 255 it
// leaves 36 unclear that are clear to people; most of these are not here. Then came six lots of
// 190, 62, 118, 85, 50 and 56, each read once before it taught: it misread none, 2, 4, 3, 4 and 1, and
// left 25, 7, 12, 10, 3 and 1 of the English ones unclear that are clear to people: those have ? and their meaning. Of five
// lots of 282, 121, 118, 91 and 93, it took 150, 55, 75, 60 and 61 as clear, and misread 7, 8, 2, 3 and 1 of
// them; the second one was of traps. One person labelled them; 50 of them, drawn at random and labelled
// again apart from the first labels, had the same reading or one that they allow, but for one. Of the last 975, in
// lots of 100, 108, 117, 102, 117 and 70 and of traps of 103, 102, 102 and 54, it took 60, 55, 60, 57, 80 and 39 as clear, and
// 63, 49, 69 and 28 traps, and misread 2, 2, 0, 1, 4 and 1 of them, and 17, 4, 14 and 5 traps: "video games" were games.
func TestMarketersSentences(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/marketers.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n\n")
	refused := 0
	for _, block := range all {
		sentence, labels, _ := strings.Cut(block, "\n")
		p := compiled("", sentence)
		got := dropped(explained(p))
		mayRefuse, same := false, false
		for label := range strings.SplitSeq(labels, "\n\tor\n") {
			mayRefuse = mayRefuse || strings.TrimSpace(label) == "?"
			same = same || dropped(label) == got && len(p.Unclear) == 0
		}
		switch {
		case same, mayRefuse && got == "":
		case got == "" && len(p.Unclear) > 0:
			refused++
			t.Logf("%q is refused:\n%s", sentence, explained(p))
		default:
			t.Errorf("%q is read as\n%s, want\n%s", sentence, explained(p), labels)
		}
	}
	const least, most = 4433, 5
	if len(all) < least || refused > most {
		t.Errorf("%d of %d clear sentences are refused, want %d at most of %d", refused, len(all), most, least)
	}
}
