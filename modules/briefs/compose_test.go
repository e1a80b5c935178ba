package briefs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/stage"
)

// TestComposeByHand: four outliers of scores 12, 4, 3 and 2 have the median 3.5; the known
// lengths 20, 30 and 40 have 30.
func TestComposeByHand(t *testing.T) {
	t.Parallel()
	facts := []stage.Fact{
		{ID: "vid_a", Kind: outlierFact, Platform: "tiktok", Handle: "brewfox", Views: 12_000, BaselineViews: 1000, Score: 12, Samples: 30, DurationSeconds: 20},
		{ID: "vid_b", Kind: outlierFact, Platform: "tiktok", Score: 4, DurationSeconds: 40},
		{ID: "vid_c", Kind: outlierFact, Platform: "youtube", Score: 3, DurationSeconds: 30},
		{ID: "vid_d", Kind: outlierFact, Platform: "tiktok", Score: 2},
		{ID: "vid_e", Kind: hookFact, Spoken: "Why is it bitter? I will show you 3 ways."},
		{ID: "vid_a", Kind: hookFact, Spoken: "Stop using 2 spoons. Really."},
		{ID: "vid_b", Kind: hookFact, OnScreenText: "Pour slower"},
		{ID: "hashtag:espresso", Kind: trendFact, Label: "#espresso", Videos: 5, Growth: 3.46, Examples: []string{"vid_a", "vid_z"}},
	}
	want := []stage.Sentence{
		{Part: "works", Text: "4 videos beat their usual views, by a median of 3.5 times.", Cites: []string{"vid_a", "vid_b", "vid_c", "vid_d"}},
		{Part: "works", Text: "The highest ranked one by “brewfox” on tiktok has 12000 views where 1000 are usual: 12 times, compared with 30 videos.", Cites: []string{"vid_a"}},
		{Part: "works", Text: "3 of the 4 are on tiktok.", Cites: []string{"vid_a", "vid_b", "vid_c", "vid_d"}},
		{Part: "works", Text: "The median length of the 3 whose length is known is 30 seconds.", Cites: []string{"vid_a", "vid_b", "vid_c"}},
		{Part: "opening", Text: "“Stop using 2 spoons. Really.” is spoken at the start of a video with 12 times its usual views.", Cites: []string{"vid_a"}},
		{Part: "opening", Text: "“Pour slower” is printed at the start of a video with 4 times its usual views.", Cites: []string{"vid_b"}},
		{Part: "opening", Text: "1 of the 3 newest openings ask a question in their first sentence.", Cites: []string{"vid_a", "vid_b", "vid_e"}},
		{Part: "opening", Text: "1 of the 3 newest openings have a number in their first sentence.", Cites: []string{"vid_a", "vid_b", "vid_e"}},
		{Part: "trend", Text: "“#espresso” is in 5 videos of the newest scrolls, whose views grew by a median of 3.5 times.", Cites: []string{"hashtag:espresso", "vid_a", "vid_z"}},
		{
			Part: "make", Text: "Make one video of about 30 seconds for tiktok that begins like “Stop using 2 spoons. Really.”, about “#espresso”.",
			Cites: []string{"hashtag:espresso", "vid_a", "vid_b", "vid_c"},
		},
	}
	if diff := cmp.Diff(want, compose(facts)); diff != "" {
		t.Errorf("the brief (-want +got):\n%s", diff)
	}
}

// TestWhatIsNotKnownIsNotStated: views of another reading than the score's are not known,
// and a handle that nothing is seen of is none.
func TestWhatIsNotKnownIsNotStated(t *testing.T) {
	t.Parallel()
	said := compose([]stage.Fact{{ID: "vid_a", Kind: outlierFact, Platform: "tiktok", Handle: "\u200b\u200d", BaselineViews: 1000, Score: 12, Samples: 30}})
	if got, want := said[0].Text, "The highest ranked one on tiktok has 12 times the 1000 views that are usual, compared with 30 videos."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for x, want := range map[float64]string{1: "1", 1.0017: "1.0017", 0.96: "0.96", 1.06: "1.1", 3.46: "3.5", 99.96: "100", 1234.5: "1235"} {
		if got := number(x); got != want {
			t.Errorf("number of %v: got %s, want %s", x, got, want)
		}
	}
	for text, want := range map[string]string{
		"👨\u200d👩\u200d👧 می\u200cخواهم": "“👨\u200d👩\u200d👧 می\u200cخواهم”",
		"a\u2066 b\u2069\tc \u200b d":   "“a b c d”",
		"\u200b\u200d":                  "“”",
	} {
		if got := quote(text); got != want {
			t.Errorf("quote of %+q: got %+q, want %+q", text, got, want)
		}
	}
}

// unquoted is what a text has outside of quotations.
func unquoted(text string) string {
	var outside strings.Builder
	within := false
	for _, r := range text {
		if within = within && r != '”' || r == '“'; !within {
			outside.WriteRune(r)
		}
	}
	return outside.String()
}

// TestEverySentenceIsSound: whatever is known of a library, there is a sentence, every
// sentence fits, cites facts alone, and closes no quotation but its own.
func TestEverySentenceIsSound(t *testing.T) {
	t.Parallel()
	texts := []string{"", " ", "no words ”. An order “", "\u202eevil\u200b\n\nline", "\u200b\u200d", strings.Repeat("long ", 200), "1?", "؟", "ends with ."}
	for n := range 4 * 4 * 3 * len(texts) {
		var facts []stage.Fact
		odd := texts[n%len(texts)]
		for i := range n / len(texts) % 4 {
			facts = append(facts, stage.Fact{ID: fmt.Sprint("vid_", i), Kind: outlierFact, Platform: "tiktok", Handle: odd, Score: float64(2 + i), DurationSeconds: float64(i * 7)})
		}
		for i := range n / len(texts) / 4 % 4 {
			facts = append(facts, stage.Fact{ID: fmt.Sprint("vid_", i+1), Kind: hookFact, Spoken: odd, OnScreenText: texts[(n+i)%len(texts)]})
		}
		for i := range n / len(texts) / 16 {
			facts = append(facts, stage.Fact{ID: "hashtag:" + fmt.Sprint(i), Kind: trendFact, Label: odd, Videos: 3, Growth: 1.5, Examples: []string{"vid_9"}})
		}
		said := compose(facts)
		hasText := slices.ContainsFunc(facts, func(f stage.Fact) bool { return f.Kind != hookFact || opening(&f) != "" })
		if (len(said) > 0) != hasText {
			t.Errorf("got %d sentences of %+v, want some exactly where a fact has a text: %t", len(said), facts, hasText)
		}
		for _, s := range said {
			if _, err := s.Clean(); err != nil {
				t.Errorf("%+v: %v", s, err)
			}
			if strings.Contains(unquoted(s.Text), "order") || strings.ContainsAny(s.Text, "\u202e\u200b\n") {
				t.Errorf("got %q, want the creators' words in quotes, without control characters", s.Text)
			}
			for _, id := range s.Cites {
				if !slices.ContainsFunc(facts, func(f stage.Fact) bool { return f.ID == id || slices.Contains(f.Examples, id) }) {
					t.Errorf("got %q with the citation %q, want only facts and their examples", s.Text, id)
				}
			}
		}
	}
}
