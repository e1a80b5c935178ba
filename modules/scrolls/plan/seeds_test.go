package plan

import (
	"reflect"
	"slices"
	"testing"

	"github.com/scrollery/scrollery/plugins/stage"
)

func TestRival(t *testing.T) {
	t.Parallel()
	cases := map[string]stage.Seed{
		"@rival":                                  {Handle: "rival"},
		" rival.coffee ":                          {Handle: "rival.coffee"},
		"rival_1":                                 {Handle: "rival_1"},
		"tiktok:@rival":                           {Platform: "tiktok", Handle: "rival"},
		"https://www.tiktok.com/@rival?lang=en":   {Platform: "tiktok", Handle: "rival"},
		"tiktok.com/@rival/video/1":               {Platform: "tiktok", Handle: "rival"},
		"https://youtube.com/@Rival":              {Platform: "youtube", Handle: "Rival"},
		"https://m.youtube.com/c/Rival/shorts":    {Platform: "youtube", Handle: "Rival"},
		"https://www.youtube.com/channel/UCabc-1": {Platform: "youtube", Handle: "UCabc-1"},
		"https://www.instagram.com/rival/":        {Platform: "instagram", Handle: "rival"},
		"https://www.instagram.com/p/abc/":        {Term: "instagram"},
		"https://help.instagram.com/1234":         {Term: "instagram"},
		"instagram.com/accounts/login/":           {Term: "instagram"},
		"https://www.youtube.com/feed/trending":   {Term: "youtube"},
		"www.rival.co.uk":                         {Term: "rival"},
		"https://shop.rival.museum/about":         {Term: "rival"},
		"Rival Coffee Roasters":                   {Term: "Rival Coffee Roasters"},
		"コーヒー":                                    {Handle: "コーヒー"},
	}
	for text, want := range cases {
		if got := rival(text); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func FuzzRival(f *testing.F) {
	for _, text := range []string{"@a", "https://tiktok.com/@", "a.co", "youtube:", "//", "https://youtube.com/c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		seed := rival(text)
		if seed.Handle != "" && seed.Term != "" {
			t.Errorf("%q: got %+v, want a handle or a term, not both", text, seed)
		}
	})
}

func TestSeedsOfATemplate(t *testing.T) {
	t.Parallel()
	brief := stage.Brief{
		Name: "Beans", Website: "https://www.tiktok.com/@beans", Description: "Espresso at home",
		Competitors: []string{"@rival", "@Rival", "https://youtube.com/@other"},
	}
	all := Seeds(brief, nil, "", Options{Limit: 30, Terms: 8})
	want := []stage.Seed{
		{Kind: Own, Platform: "tiktok", Handle: "beans", Limit: 30},
		{Kind: Competitor, Handle: "rival", Limit: 30},
		{Kind: Competitor, Platform: "youtube", Handle: "other", Limit: 30},
		{Kind: Niche, Term: "espresso", Limit: 30},
	}
	if !reflect.DeepEqual(all, want) {
		t.Errorf("all: %+v, want %v", all, want)
	}
	some := Seeds(brief, nil, "", Options{Kinds: []string{Competitor}, Terms: 8})
	if len(some) != 2 || some[0].Kind != Competitor {
		t.Errorf("competitors: %+v, want 2 some and Kind %v", some, Competitor)
	}
	brief.Website = ""
	if mine := Seeds(brief, nil, "", Options{Kinds: []string{Own}, Terms: 8}); !reflect.DeepEqual(mine, []stage.Seed{{Kind: Own, Term: "Beans"}}) {
		t.Errorf("own: got %+v, want the name Beans as one term", mine)
	}
}

func TestKeywords(t *testing.T) {
	t.Parallel()
	brief := stage.Brief{Name: "Bean Co", Description: "Bean Co makes espresso machines for small kitchens. Espresso at home! #homebarista"}
	rules := []stage.Rule{{ID: "1", Text: "Prefer latte art"}, {ID: "2", Text: "No giveaways or unboxing"}}
	got := keywords(brief, rules, "cold brew in summer", 7)
	want := []string{"cold brew", "summer", "homebarista", "latte art", "espresso machines", "kitchens", "espresso"}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := keywords(brief, rules, "", 100); slices.Contains(got, "giveaways") || slices.Contains(got, "bean") || !slices.Contains(got, "latte art") {
		t.Errorf("got the keywords %v, want latte art, and neither giveaways nor bean", got)
	}
	if got := keywords(stage.Brief{}, nil, "", 8); len(got) != 0 {
		t.Errorf("of nothing: %v, want 0", got)
	}
}

func TestAttribute(t *testing.T) {
	t.Parallel()
	seeds := []stage.Seed{
		{Kind: Own, Platform: "tiktok", Handle: "beans"}, {Kind: Competitor, Handle: "Rival"}, {Kind: Niche, Term: "espresso"},
	}
	cases := []struct{ in, want stage.Record }{
		{stage.Record{}, stage.Record{}},
		{rec("tiktok", "", "", ""), stage.Record{Ref: stage.Ref{Platform: "tiktok"}}},
		{stage.Record{Seed: "espresso"}, stage.Record{Seed: "espresso", Source: &stage.Source{Kind: Niche, SeededBy: "espresso"}}},
		{rec("tiktok", "", "@Beans", ""), rec("tiktok", Own, "@Beans", "")},
		{rec("youtube", "", "beans", ""), rec("youtube", Niche, "beans", "")},
		{rec("youtube", "", "RIVAL", ""), rec("youtube", Competitor, "RIVAL", "")},
		{rec("youtube", Own, "RIVAL", ""), rec("youtube", Own, "RIVAL", "")},
		{rec("youtube", "", "someone", "espresso"), rec("youtube", Niche, "someone", "espresso")},
	}
	cases[7].in.Seed, cases[7].in.Source.SeededBy, cases[7].want.Seed = "espresso", "", "espresso"
	for _, c := range cases {
		given := c.in
		Attribute(&given, seeds)
		if !reflect.DeepEqual(given, c.want) {
			t.Errorf("%+v of %+v, want %+v", given.Source, c.in, c.want.Source)
		}
	}
}

func rec(platform, kind, handle, seededBy string) stage.Record {
	return stage.Record{Ref: stage.Ref{Platform: platform}, Source: &stage.Source{Kind: kind, Handle: handle, SeededBy: seededBy}}
}
