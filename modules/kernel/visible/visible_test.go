package visible

import "testing"

func TestClean(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in, want string
		hidden   int
	}{
		"plain text":             {"Moka – how? ½ тест 日本 #espresso\n", "Moka – how? ½ тест 日本 #espresso\n", 0},
		"pictures":               {"❤️ 👩‍🍳 1️⃣ ☕️", "❤️ 👩‍🍳 1️⃣ ☕️", 0},
		"a zero-width space":     {"a\u200Bb", "a\uFFFDb", 1},
		"a bidi override":        {"\u202Eevil\u202C", "\uFFFDevil\uFFFD", 2},
		"the tag block":          {"x\U000E0041\U000E0042", "x\uFFFD\uFFFD", 2},
		"a row of selectors":     {"❤\uFE0F\uFE0F\uFE01", "❤\uFE0F\uFFFD\uFFFD", 2},
		"a joiner among words":   {"a\u200Db", "a\uFFFDb", 1},
		"joiners of Persian":     {"می\u200Cخواهم", "می\u200Cخواهم", 0},
		"a joiner after Persian": {"می\u200C x", "می\uFFFD x", 1},
		"a row of joiners":       {"می\u200C\u200Dخ", "می\uFFFD\uFFFDخ", 2},
		"a control":              {"\x1b[31m", "\uFFFD[31m", 1},
		"a line separator":       {"a\u2028b", "a\uFFFDb", 1},
		"a Hangul filler":        {"\u3164", "\uFFFD", 1},
		"a soft hyphen":          {"a\u00ADb", "a\uFFFDb", 1},
		"a byte that is no text": {"a\xffb", "a\uFFFDb", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, hidden := Clean(c.in); got != c.want || hidden != c.hidden {
				t.Errorf("got %+q and %d hidden, want %+q and %d", got, hidden, c.want, c.hidden)
			}
		})
	}
}
