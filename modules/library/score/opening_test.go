package score

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOpenings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, spoken, printed, want string }{
		{"letters and digits alone count", "Stop! Buying  these 3 things — today.", "", "stopbuyingthese3thin"},
		{"case and form do not", "ＳＴＯＰ buying these ③ things", "", "stopbuyingthese3thin"},
		{"full folding", "STRASSENFEST IN BERLIN HEUTE", "", Opening("straßenfest in berlin heute", "")},
		{"a ligature becomes its letters", "ﬁrst things ﬁrst, my dear friends", "", "firstthingsfirstmyde"},
		{"too few are none", "nineteen letters ab", "what the screen says is not asked then", ""},
		{"the screen where nothing is said", " ", "what the screen says", ""},
		{"the screen where it says enough", "", "what the screen says now", "whatthescreensaysnow"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Opening(test.spoken, test.printed); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestOpeningsAreShownAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, want string }{
		{"whole words", "Three mistakes that ruin your espresso", "Three mistakes that ruin…"},
		{"a sentence of its own", "Stop!  Buying\nthese 3 \tthings.", "Stop! Buying these 3 things"},
		{"the word that has the last letter", "Stop buying these 3 don't-buy things", "Stop buying these 3 don't-buy…"},
		{"signs at its beginning and end", "„Das geht ja wirklich gar nicht“, sagt er", "Das geht ja wirklich gar…"},
		{"letters of more than one", "Straßenfest in Berlin heute", "Straßenfest in Berlin…"},
		{"one that ends in two letters", "abcdefghijklmnopqrsß and more", "abcdefghijklmnopqrsß…"},
		{"a script without spaces", "今天我要教你怎么做一杯特别好喝的咖啡其实很简单首先我们需要准备好新鲜的豆子", "今天我要教你怎么做一杯特别好喝的咖啡其实…"},
		{"marks of its last letter", strings.Repeat("か\u3099", 40), strings.Repeat("が", 20) + "…"},
		{"parts of a syllable are one letter", strings.Repeat("\u1112\u1161\u11ab", 20), strings.Repeat("한", 20)},
		{"too few", "nineteen letters ab", ""},
		{"far apart", "a" + strings.Repeat(" ☕☕☕ b", 50), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := OpeningText(test.text)
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if got != "" && !strings.HasPrefix(Opening(got, ""), Opening(test.text, "")) {
				t.Errorf("%q has the opening %q, want that of its text, %q", got, Opening(got, ""), Opening(test.text, ""))
			}
		})
	}
}

func TestSpokenTextIsCutAtAWord(t *testing.T) {
	t.Parallel()
	letters := func(n int) string { return strings.Repeat("é", n) }
	for _, test := range []struct{ name, text, want string }{
		{"short text stays byte for byte", " a  b ", " a  b "},
		{"280 stay", letters(280), letters(280)},
		{"a longer one ends before its last space", letters(200) + " \t" + letters(100), letters(200)},
		{"a space as the 281st ends a full text", letters(280) + " " + letters(9), letters(280)},
		{"no space, no word to end at", letters(300), letters(280)},
		{"space at the beginning alone is none", "  " + letters(300), "  " + letters(278)},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := CutSpoken(test.text); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestPatternsNeedNoLanguage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"How long is a day? Long.":                    "hook:question hook:short",
		"This is a plain sentence of mine. Why? No.":  "",
		"你知道为什么吗？因为咖啡":                                "hook:question",
		"هل تعرف لماذا يحدث هذا كل يوم؟ لا":           "hook:question",
		"I have made ٣ mistakes with my moka":         "hook:number",
		"one two three four five six seven 8":         "hook:number",
		"one two three four five six seven eight 9":   "",
		"Stop. Here is what nobody says":              "hook:short",
		"Stop.":                                       "",
		"It costs 3.5 euros at a.com each":            "hook:number",
		"„Das geht nicht“, hat er mir gestern gesagt": "hook:quote",
		"「これは違う」と彼は言いました":                             "hook:quote",
		"你好。今天我们来做咖啡":                                 "hook:short",
		"今天我要教你怎么做一杯特别好喝的咖啡。首先":                       "",
		"   ": "",
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			var got []string
			for _, key := range Patterns(text, "") {
				got = append(got, key.Key)
				if strings.Contains(key.Label, "work") {
					t.Errorf(`got label %q, want one without the word "work"`, key.Label)
				}
			}
			if got := strings.Join(got, " "); got != want {
				t.Errorf("got patterns %q, want %q", got, want)
			}
		})
	}
}

func TestRepeatedHooksComeLast(t *testing.T) {
	t.Parallel()
	hooks := []Hook{
		{ID: 1, Creator: 1, ChangedAt: 10, Opening: "x"},
		{ID: 2, Creator: 1, ChangedAt: 20, Opening: "x"},
		{ID: 3, Creator: 2, ChangedAt: 15, Opening: "x"},
		{ID: 4, Creator: 1, ChangedAt: 20, Opening: "x"},
		{ID: 5, Creator: 1, ChangedAt: 5},
		{ID: 6, Creator: 1, ChangedAt: 5},
		{ID: 7, ChangedAt: 30, Opening: "x"},
		{ID: 8, ChangedAt: 1, Opening: "x"},
	}
	repetitions := SortHooks(hooks)
	var got []int64
	for _, h := range hooks {
		got = append(got, h.ID)
	}
	if repetitions != 2 {
		t.Errorf("got %d repetitions, want 2", repetitions)
	}
	if diff := cmp.Diff([]int64{7, 2, 3, 5, 6, 8, 4, 1}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}
