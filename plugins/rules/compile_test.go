package rules

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/stage"
)

// noon is the time of all test runs: a Friday.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func compiled(prompt string, rules ...string) *Program {
	run := stage.Run{Now: noon.UnixMilli(), Prompt: prompt}
	for _, text := range rules {
		run.Rules = append(run.Rules, stage.Rule{Text: text})
	}
	return Compile(run)
}

// explained is a program as the sentence files have it.
func explained(p *Program) string {
	var out strings.Builder
	for _, check := range p.Checks {
		out.WriteString("\t" + check.String() + "\n")
	}
	for _, item := range p.Unclear {
		out.WriteString("\t? " + item + "\n")
	}
	return out.String()
}

func TestReadingsAreTheChecksOfEachRule(t *testing.T) {
	t.Parallel()
	p := compiled("find latte art", "no giveaways; at least 500 views", "be nice", "skip #ad")
	want := []stage.Reading{
		{Rule: "no giveaways; at least 500 views", Text: `drop if text mentions "giveaways"; require views >= 500`},
		{Rule: "skip #ad", Text: "drop if hashtag is #ad"},
	}
	if diff := cmp.Diff(want, p.readings(nil)); diff != "" {
		t.Errorf("readings, want - got +:\n%s", diff)
	}
	if diff := cmp.Diff(want[1:], p.readings(p.Open)); diff != "" {
		t.Errorf("readings where a model judges the open rules, want - got +:\n%s", diff)
	}
}

// TestSentences reads testdata: a rule, then indented what it is compiled to; `?`
// marks what must be reported as unclear.
func TestSentences(t *testing.T) {
	t.Parallel()
	for file, least := range map[string]int{"rules.txt": 240, "prompts.txt": 15} {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile("testdata/" + file)
			if err != nil {
				t.Fatal(err)
			}
			count := 0
			for _, block := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
				sentence, want, _ := strings.Cut(block+"\n", "\n")
				count++
				p := compiled("", sentence)
				if file == "prompts.txt" {
					p = compiled(sentence)
				}
				if diff := cmp.Diff(want, explained(p)); diff != "" {
					t.Errorf("%q is compiled to, want - got +:\n%s", sentence, diff)
				}
			}
			if count < least {
				t.Errorf("%s: %d sentences, want %d at least", file, count, least)
			}
		})
	}
}
