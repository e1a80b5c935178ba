package score

import (
	_ "embed"
	"strings"
	"testing"
	"unicode/utf8"
)

//go:embed testdata/hooks.tsv
var labelledHooks string

// TestHookTextsHaveTheHook compares with 60 made up transcripts, of each of which a reader
// marked the hook: nine in ten texts have all of it, and seven in ten have at most 1.5 times
// its words.
func TestHookTextsHaveTheHook(t *testing.T) {
	t.Parallel()
	all, within, short, words, shown := 0, 0, 0, 0, 0
	for line := range strings.Lines(labelledHooks) {
		spoken, hook, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !strings.Contains(spoken, hook) || hook == "" {
			t.Fatalf("hook %q is no part of its transcript", hook)
		}
		got := HookText(spoken, nil)
		all++
		if strings.Contains(got, hook) {
			within++
		} else {
			t.Logf("got %q, without all of %q", got, hook)
		}
		if halfWords(got)*2 <= halfWords(hook)*3 {
			short++
		} else {
			t.Logf("got %q, longer than 1.5 times %q", got, hook)
		}
		words, shown = words+halfWords(spoken), shown+halfWords(got)
	}
	t.Logf("%d transcripts: %s have the hook, %s at most 1.5 times its words; %s of the words are shown", all, Part(within, all), Part(short, all), Part(shown, words))
	if all != 60 || Part(within, all).Compare(Decimal{Frac: 9000}) < 0 || Part(short, all).Compare(Decimal{Frac: 7000}) < 0 {
		t.Errorf("got %s with the hook and %s short of %d, want .9 and .7 of 60", Part(within, all), Part(short, all), all)
	}
}

func TestHookText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("beans ", 60)
	for name, c := range map[string]struct {
		spoken string
		cues   []Cue
		want   string
	}{
		"nothing is spoken":                    {" \n ", nil, ""},
		"a short first sentence has the next":  {"Wait. You pull a shot like this? No.", nil, "Wait. You pull a shot like this?"},
		"five words are a sentence":            {"You pull it like this. Yes.", nil, "You pull it like this."},
		"a full stop in a number":              {"It is 3.5 bar and no more. So.", nil, "It is 3.5 bar and no more."},
		"line ends are spaces":                 {"you pull a\nshot like\r\nthis. Yes", nil, "you pull a shot like this."},
		"without an end, 14 words":             {strings.Repeat("a b c d e f g ", 3), nil, "a b c d e f g a b c d e f g"},
		"a pause after five words ends it":     {"a b c d e f g h i", []Cue{{0, 500, "a b c"}, {900, 1500, "d e f"}, {1900, 2000, "g h i"}}, "a b c d e f"},
		"cues without a pause":                 {"a b c d e f g h i", []Cue{{0, 900, "a b c"}, {900, 1500, "d e f"}, {1600, 2000, "g h i"}}, "a b c d e f g h i"},
		"cues of other words":                  {"a b c d e f g h i", []Cue{{0, 500, "a b x"}, {900, 1500, "d e f"}, {1900, 2000, "g h i"}}, "a b c d e f g h i"},
		"a pause says nothing where signs are": {"a b c d e f g. H i", []Cue{{0, 500, "a b c d e"}, {900, 1500, "f g. H i"}}, "a b c d e f g."},
		"140 letters, cut at a space":          {long[:len(long)-1] + ".", nil, strings.TrimSpace(long[:138])},
		"letters without spaces are half":      {strings.Repeat("猫", 40), nil, strings.Repeat("猫", 28)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := HookText(c.spoken, c.cues); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzHookText(f *testing.F) {
	f.Add("Wait. You pull a shot like this?", "Wait. You", int64(400))
	f.Fuzz(func(t *testing.T, spoken, cue string, at int64) {
		spoken = strings.ToValidUTF8(spoken, "\uFFFD")
		got := HookText(spoken, []Cue{{0, 1, cue}, {at, at, "x"}})
		if utf8.RuneCountInString(got) > hookLength || !utf8.ValidString(got) || !strings.HasPrefix(strings.Join(strings.Fields(spoken), " "), got) {
			t.Errorf("got %q of %q, want the first 140 letters of it at most", got, spoken)
		}
	})
}
