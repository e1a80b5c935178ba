package rules

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNegationsReachNounsAndNoBounds goes through what a negation may be followed by.
// The readings are checks as people read them; `?` marks what is unclear: all of that rule
// drops nothing.
func TestNegationsReachNounsAndNoBounds(t *testing.T) {
	t.Parallel()
	const giveaways = "\tdrop if text mentions \"giveaways\"\n"
	const views = "\trequire views >= 500\n"
	for _, tt := range []struct{ name, rule, want string }{
		// The negation goes on.
		{"a noun behind and", "no giveaways and unboxings", giveaways + "\tdrop if text mentions \"unboxings\"\n"},
		{"a noun behind or", "without giveaways or unboxings", giveaways + "\tdrop if text mentions \"unboxings\"\n"},
		{"a list of nouns", "no giveaways, unboxings, or #ad", giveaways + "\tdrop if text mentions \"unboxings\"\n\tdrop if hashtag is #ad\n"},
		{"a noun that has a bound", "skip giveaways and videos under 500 views", giveaways + "\tdrop if views < 500\n"},
		{"anything with a bound", "never giveaways or anything under 500 views", giveaways + "\tdrop if views < 500\n"},
		{"two bounds of one length", "no videos under 15 or over 60 seconds", "\tdrop if duration < 15 s\n\tdrop if duration > 60 s\n"},
		{"bounds behind a bound", "nothing older than a year or longer than 2 minutes", "\tdrop if age > 1 years\n\tdrop if duration > 120 s\n"},
		{"a noun behind a bound", "nothing under 500 views or about crypto", "\tdrop if views < 500\n\tdrop if text mentions \"crypto\"\n"},
		{"descriptions of videos behind or", "skip videos about crypto or longer than 3 minutes", "\tdrop if text mentions \"crypto\"\n\tdrop if duration > 180 s\n"},
		{"what videos have, behind or", "nothing with giveaways or fewer than 500 views", giveaways + "\tdrop if views < 500\n"},
		{"the objects of a verb behind or", "skip giveaways or under 500 views", giveaways + "\tdrop if views < 500\n"},
		{"one thing with a bound", "no giveaways under 500 views", "\tdrop if views < 500 and text mentions \"giveaways\"\n"},
		{"the bounds of an exception", "no giveaways unless they have at least 500 views", "\tdrop if text mentions \"giveaways\" unless views >= 500\n"},
		// A bound is a rule of its own.
		{"at least behind a comma and and", "no giveaways, and at least 500 views", giveaways + views},
		{"at least behind a comma", "no giveaways, at least 500 views", giveaways + views},
		{"at least behind and", "no giveaways and at least 500 views", giveaways + views},
		{"at least behind with", "no giveaways, and with at least 500 views", giveaways + views},
		{"at least behind a verb", "skip giveaways, at least 500 views", giveaways + views},
		{"at least behind without", "without giveaways and at least 500 views", giveaways + views},
		{"at least behind never", "never giveaways, at least 500 views", giveaways + views},
		{"at least behind nothing", "nothing about giveaways, at least 500 views", giveaways + views},
		{"at least behind must not", "must not mention giveaways and have at least 500 views", giveaways + views},
		{"at most behind a bound", "no fewer than 500 views and at most 60 seconds", "\tdrop if views < 500\n\trequire duration <= 60 s\n"},
		{"a plus", "no giveaways, 500+ views", giveaways + views},
		{"or more", "no giveaways, 500 views or more", giveaways + views},
		{"a sign", "no giveaways, views >= 500", giveaways + views},
		{"a name with at least", "no giveaways, views at least 500", giveaways + views},
		{"two bounds", "no giveaways, at least 500 views and at most 60 seconds", giveaways + views + "\trequire duration <= 60 s\n"},
		{"two bounds with one unit", "no giveaways, at least 15 and at most 60 seconds", giveaways + "\trequire duration >= 15 s\n\trequire duration <= 60 s\n"},
		{"under", "no giveaways, under 60 seconds", giveaways + "\trequire duration < 60 s\n"},
		{"more than", "no giveaways and more than 500 views", giveaways + "\trequire views > 500\n"},
		{"from the last days", "no giveaways, from the last 30 days", giveaways + "\trequire age <= 30 days\n"},
		{"nouns, then a bound", "no giveaways, unboxings, and at least 500 views", giveaways + "\tdrop if text mentions \"unboxings\"\n" + views},
		{"a word of courtesy behind the bound", "no giveaways and at least 500 views, please.", giveaways + views},
		{"a bound, then a negation", "no giveaways, at least 500 views, no unboxings", giveaways + views + "\tdrop if text mentions \"unboxings\"\n"},
		{"only before", "no giveaways and only English", giveaways + "\trequire language is en\n"},
		{"only behind", "no giveaways, English only", giveaways + "\trequire language is en\n"},
		{"only behind a bound", "no giveaways, at least 500 views, English only", giveaways + views + "\trequire language is en\n"},
		{"must", "no giveaways and must have at least 500 views", giveaways + views},
		{"must with a subject", "no giveaways and YouTube videos must be under 60 seconds", giveaways + "\tdrop if platform is youtube and not duration < 60 s\n"},
		// It may mean either.
		{"or at least", "no giveaways or at least 500 views", "\t? no giveaways or at least 500 views\n"},
		{"or under, behind a noun", "no giveaways or under 500 views", "\t? no giveaways or under 500 views\n"},
		{"under, behind a verb", "skip giveaways, under 60 seconds", "\t? skip giveaways, under 60 seconds\n"},
		{"a list with or", "no giveaways, over 3 minutes or in French", "\t? no giveaways, over 3 minutes or in French\n"},
		{"a noun behind the bound", "no giveaways, at least 500 views and unboxings", "\t? no giveaways, at least 500 views and unboxings\n"},
		{"both or each", "skip videos that mention giveaways and have at least 500 views", "\t? skip videos that mention giveaways and have at least 500 views\n"},
		{"a bound behind an exception", "no giveaways except from @foo, and at least 500 views", "\t? no giveaways except from @foo, and at least 500 views\n"},
		{"what only is of", "no giveaways, politics and English only", "\t? no giveaways, politics and English only\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, explained(compiled("", tt.rule))); diff != "" {
				t.Errorf("%q is compiled to, want - got +:\n%s", tt.rule, diff)
			}
		})
	}
}
