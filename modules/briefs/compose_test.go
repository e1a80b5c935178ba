package briefs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/stage"
)

// TestComposeByHand: a brief is about the highest ranked video and those of its creator, or
// with its opening, or of its length, and joins nothing else to them.
func TestComposeByHand(t *testing.T) {
	t.Parallel()
	const (
		top   = "The highest ranked video by “brewfox” on tiktok has 12000 views where 1000 are usual: 12 times, compared with 30 videos."
		spoon = "“Stop using 2 spoons. Really.” is spoken at the start of a video with 12 times its usual views."
		grown = "“#espresso” is in 5 videos of the newest scrolls, whose views grew by a median of 3.5 times."
	)
	for name, c := range map[string]struct {
		change func(f map[string]*stage.Fact)
		want   []string
	}{
		"nothing in common": {func(map[string]*stage.Fact) {}, []string{
			top, spoon, grown, "Make one video of about 20 seconds for tiktok that begins like “Stop using 2 spoons. Really.”, about “#espresso”.",
		}},
		"one creator": {func(f map[string]*stage.Fact) { f["b"].Handle = "brewfox" }, []string{
			top, "Videos by “brewfox” on tiktok beat their usual views, by a median of 8 times.", spoon, grown,
			"Make one video of about 30 seconds for tiktok that begins like “Stop using 2 spoons. Really.”, about “#espresso”.",
		}},
		"one opening": {func(f map[string]*stage.Fact) { f["hook of b"].OnScreenText = "Stop using 2 spoons." }, []string{
			top, "Videos on tiktok that begin with “Stop using 2 spoons.” beat their usual views, by a median of 8 times.", spoon, grown,
			"Make one video of about 30 seconds for tiktok that begins like “Stop using 2 spoons. Really.”, about “#espresso”.",
		}},
		"one length": {func(f map[string]*stage.Fact) { f["b"].DurationSeconds = 24 }, []string{
			top, "Videos on tiktok of about 20 seconds beat their usual views, by a median of 8 times.", spoon, grown,
			"Make one video of about 22 seconds for tiktok that begins like “Stop using 2 spoons. Really.”, about “#espresso”.",
		}},
		"another's opening, and a trend of others": {func(f map[string]*stage.Fact) { f["hook of a"].ID, f["trend"].Examples = "vid_z", []string{"vid_z"} }, []string{
			top, "Make one video of about 20 seconds for tiktok.",
		}},
		"a trend that did not grow": {func(f map[string]*stage.Fact) { f["trend"].Growth = 1.19 }, []string{
			top, spoon, "“#espresso” is in 5 videos of the newest scrolls.",
			"Make one video of about 20 seconds for tiktok that begins like “Stop using 2 spoons. Really.”, about “#espresso”.",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			facts := []stage.Fact{
				{ID: "vid_a", Kind: outlierFact, Platform: "tiktok", Handle: "brewfox", Views: 12_000, BaselineViews: 1000, Score: 12, Samples: 30, DurationSeconds: 20},
				{ID: "vid_b", Kind: outlierFact, Platform: "tiktok", Score: 4, DurationSeconds: 40},
				{ID: "vid_c", Kind: outlierFact, Platform: "youtube", Handle: "brewfox", Score: 3, DurationSeconds: 20},
				{ID: "vid_a", Kind: hookFact, Spoken: "Stop using 2 spoons. Really."},
				{ID: "vid_b", Kind: hookFact, OnScreenText: "Pour slower"},
				{ID: "hashtag:espresso", Kind: trendFact, Label: "#espresso", Videos: 5, Growth: 3.46, Examples: []string{"vid_a", "vid_z"}},
			}
			c.change(map[string]*stage.Fact{"b": &facts[1], "hook of a": &facts[3], "hook of b": &facts[4], "trend": &facts[5]})
			var got []string
			for _, s := range compose(facts) {
				got = append(got, s.Text)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("the brief (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWhatIsNotKnownIsNotStated: views of another reading than the score's are not known,
// and a handle that nothing is seen of is none.
func TestWhatIsNotKnownIsNotStated(t *testing.T) {
	t.Parallel()
	said := compose([]stage.Fact{{ID: "vid_a", Kind: outlierFact, Platform: "tiktok", Handle: "\u200b\u200d", BaselineViews: 1000, Score: 12, Samples: 30}})
	if got, want := said[0].Text, "The highest ranked video on tiktok has 12 times the 1000 views that are usual, compared with 30 videos."; got != want {
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
