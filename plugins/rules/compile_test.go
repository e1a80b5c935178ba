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
		{Rule: "no giveaways; at least 500 views", Text: `drops videos that mention the word "giveaways"; keeps only videos with at least 500 views`},
		{Rule: "skip #ad", Text: "drops videos tagged #ad"},
	}
	if diff := cmp.Diff(want, p.readings(nil)); diff != "" {
		t.Errorf("readings, want - got +:\n%s", diff)
	}
	if diff := cmp.Diff(want[1:], p.readings(p.Open)); diff != "" {
		t.Errorf("readings where a model judges the open rules, want - got +:\n%s", diff)
	}
}

// TestSentences reads testdata: written.txt has rules as people write them. A rule, then indented what it is compiled to; `?`
// marks what must be reported as unclear.
func TestSentences(t *testing.T) {
	t.Parallel()
	for file, least := range map[string]int{"rules.txt": 240, "written.txt": 290, "prompts.txt": 15} {
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

// A rule that is partly unclear drops nothing, and says what is unclear.
func TestAHalfUnderstoodRuleDropsNothing(t *testing.T) {
	t.Parallel()
	p := compiled("", "at least 1000 views and family friendly", "no giveaways")
	views := int64(5)
	few := stage.Record{Ref: stage.Ref{Platform: "tiktok", ExternalID: "1"}, Metrics: stage.Metrics{Views: &views}, Metadata: []byte(`{"caption":"a latte"}`)}
	if got := p.Judge(few, noon).DroppedBy; got != "" {
		t.Errorf("a video of 5 views is dropped by %q, want kept", got)
	}
	if diff := cmp.Diff([]string{"at least 1000 views and family friendly (not understood: family friendly)"}, p.Unclear); diff != "" {
		t.Errorf("unclear rules (-want +got):\n%s", diff)
	}
}

// Words of the brief are known to be what videos are about; other words need a verb or quotes.
func TestOnlyKnownSubjectsAreRequired(t *testing.T) {
	t.Parallel()
	run := stage.Run{Now: noon.UnixMilli(), Rules: []stage.Rule{{Text: "only kombucha"}}}
	if p := Compile(run); len(p.Checks) != 0 || len(p.Unclear) != 1 {
		t.Errorf("without a brief: got %s, want unclear", explained(p))
	}
	run.Brief.Description = "We brew kombucha in small batches."
	if p := Compile(run); explained(p) != "\trequire text mentions \"kombucha\"\n" {
		t.Errorf("with the brief: got %s, want a requirement", explained(p))
	}
}

func TestPartsOfAVideoAreJudgedByThemselves(t *testing.T) {
	t.Parallel()
	said := func(text string) *string { return &text }
	fans := int64(2000)
	rec := stage.Record{
		Ref: stage.Ref{Platform: "tiktok", ExternalID: "1"}, Metadata: []byte(`{"caption":"oat latte"}`), Metrics: stage.Metrics{Followers: &fans},
		Evidence: &stage.Evidence{Spoken: said("Did you know this? It is easy."), OnScreenText: said("day 1")},
	}
	unheard := rec
	unheard.Evidence = nil
	for rule, want := range map[string][2]bool{ // dropped, and dropped without evidence
		"speech must mention easy":         {false, false},
		"speech must mention latte":        {true, false},
		"caption must mention latte":       {false, false},
		"no latte in the speech":           {false, false},
		"on-screen text must say \"day\"":  {false, false},
		"hook must be a question":          {false, false},
		"hooks under 3 words":              {true, false},
		"captions under 100 characters":    {false, false},
		"captions under 5 characters":      {true, true},
		"at least 10000 followers":         {true, true},
		"creators under 100k":              {false, false},
		"at least 3k followers or #latte":  {true, true},
		"at least 3k followers or TikTok":  {false, false},
		"For YouTube, at least 100k views": {false, false},
		"TikTok: no latte":                 {true, true},
	} {
		p := compiled("", rule)
		got := [2]bool{p.Judge(rec, noon).DroppedBy != "", p.Judge(unheard, noon).DroppedBy != ""}
		if got != want || len(p.Unclear) > 0 {
			t.Errorf("%q drops %v (unclear %v), want %v", rule, got, p.Unclear, want)
		}
	}
}
