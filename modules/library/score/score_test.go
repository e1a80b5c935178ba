package score

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// noon is a time of day, far from any rule's date.
const noon = int64(1_900_000_000_000) - int64(1_900_000_000_000)%day + 12*hour

// grown is a TikTok video that has grown up, with unknown likes.
func grown(id, views int64) Reading {
	return Reading{ID: id, Kind: "tiktok", PostedAt: noon - 30*day - id*hour, ObservedAt: noon, Views: views, Likes: Unknown}
}

// aged is a video of an age.
func aged(id int64, kind Kind, age, views int64) Reading {
	return Reading{ID: id, Kind: kind, PostedAt: noon - age, ObservedAt: noon, Views: views, Likes: Unknown}
}

func scoreOf(t *testing.T, niche []Reading, own ...Reading) Outlier {
	t.Helper()
	table := DefaultTable()
	c := table.Creator(own)
	o, err := c.Score(c.Index(own[0].ID), table.NicheOf(niche), nil)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestHandExamplesOfOutliers(t *testing.T) {
	t.Parallel()
	type want struct {
		baseline, score, order string
		samples                int
		basis                  Basis
	}
	four := []Reading{grown(2, 400)}
	others := []Reading{grown(3, 100), grown(4, 100), grown(5, 50)}
	for _, test := range []struct {
		name  string
		niche []Reading
		own   []Reading
		want  want
	}{
		{
			"grown up, 1000 against 100, 200, 300", nil,
			[]Reading{grown(1, 1000), grown(2, 100), grown(3, 200), grown(4, 300)},
			want{"200", "5", "3.4", 3, CreatorBasis},
		},
		{
			"24 hours old with 900, grown-up peers", nil,
			[]Reading{aged(1, "tiktok", 24*hour, 900), grown(2, 1000), grown(3, 1000), grown(4, 1400)},
			want{"750", "1.2", "1.12", 3, CreatorBasis},
		},
		{
			"one own video above the niche", slices.Concat(four, others), slices.Concat([]Reading{grown(1, 600)}, four),
			want{"400", "1.5", "1.1667", 4, NicheBasis},
		},
		{
			"two thirds of the peers too young", nil,
			[]Reading{grown(1, 100), aged(2, "tiktok", hour, 10), aged(3, "tiktok", 3*hour, 10), aged(4, "tiktok", 3*hour, 20), grown(5, 40)},
			want{"40", "2.5", "1", 3, CreatorBasis},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := scoreOf(t, test.niche, test.own...)
			got := want{o.Baseline().String(), o.Score.String(), o.Order.String(), o.SampleCount, o.Basis}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("outlier differs (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("order of 4x on 30 peers, 5x on 3, 50x on niche alone", func(t *testing.T) {
		t.Parallel()
		var got []string
		for _, c := range [][2]int64{{400, 30}, {500, 3}, {5000, 0}} {
			got = append(got, orderValue(c[0], 200, int(c[1])).String())
		}
		if diff := cmp.Diff([]string{"3.8125", "3.4", "1"}, got); diff != "" {
			t.Errorf("order differs (-want +got):\n%s", diff)
		}
	})
	t.Run("100,000 views and 400 likes where peers have 50 per 1,000", func(t *testing.T) {
		t.Parallel()
		bought := scoreOf(t, nil, liked(grown(1, 100_000), 400), liked(grown(2, 1000), 50), liked(grown(3, 2000), 100), liked(grown(4, 3000), 150))
		honest := scoreOf(t, nil, grown(9, 110), grown(2, 100), grown(3, 100), grown(4, 100))
		if !bought.Doubtful || !bought.Listed || bought.Score.String() != "50" {
			t.Errorf("got doubtful %t, listed %t, score %s; want true, true, 50", bought.Doubtful, bought.Listed, bought.Score)
		}
		if got := Compare(&bought, &honest); got <= 0 {
			t.Errorf("a doubtful score of %s beside an honest one of %s: got %d, want more than 0", bought.Score, honest.Score, got)
		}
	})
}

func TestSharesFollowTheTable(t *testing.T) {
	t.Parallel()
	table := DefaultTable()
	for _, test := range []struct {
		kind Kind
		age  int64
		want int64
	}{
		{YouTubeShort, 9 * hour, 205},
		{YouTubeShort, -day, 15},
		{YouTubeShort, hour - 1, 15},
		{YouTubeShort, hour, 15},
		{YouTubeShort, 2 * hour, 32}, // 32.5
		{"tiktok", 3*hour - 1, 499},
		{"tiktok", 3 * hour, 500},
		{"elsewhere", 24 * hour, 750},
		{Instagram, 96 * hour, 930},
		{YouTubeLong, 168*hour - 1, 999},
		{YouTubeLong, 168 * hour, 1000},
		{YouTubeLong, math.MaxInt64, 1000},
		{YouTubeLong, UnknownAge, 1000},
	} {
		t.Run(fmt.Sprintf("%s at %d ms", test.kind, test.age), func(t *testing.T) {
			if got := table.Share(test.kind, test.age); got != test.want {
				t.Errorf("got share %d, want %d", got, test.want)
			}
		})
	}
}

func TestTableIsValidated(t *testing.T) {
	t.Parallel()
	if err := DefaultTable().Validate(); err != nil {
		t.Fatalf("the shipped table: got error %v, want none", err)
	}
	for want, spoil := range map[string]func(*Table){
		"no version":                 func(t *Table) { t.Version = "" },
		"at least 2 are needed":      func(t *Table) { t.Hours = t.Hours[:1] },
		"hours rise from 1":          func(t *Table) { t.Hours[3] = 6 },
		`no row "other"`:             func(t *Table) { delete(t.Rows, OtherRow) },
		"has 8 columns, hours has 9": func(t *Table) { t.Rows[Instagram] = t.Rows[Instagram][:8] },
		"shares rise from 1":         func(t *Table) { t.Rows[Instagram][0] = 0 },
		"ends in 999":                func(t *Table) { t.Rows[YouTubeLong][8] = 999 },
	} {
		t.Run(want, func(t *testing.T) {
			table := DefaultTable()
			spoil(table)
			if err := table.Validate(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v, want one with %q", err, want)
			}
		})
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	const second = 1000
	for _, test := range []struct {
		name     string
		platform string
		posted   int64
		duration int64
		tags     []string
		want     Kind
	}{
		{"other platforms are their own kind", "tiktok", noon, 10 * second, nil, "tiktok"},
		{"three minutes are short", "youtube", noon, 180 * second, nil, YouTubeShort},
		{"more is long, whatever the hashtag", "youtube", noon, 180*second + 1, []string{"shorts"}, YouTubeLong},
		{"before 2024-10-15 a minute was the limit", "youtube", longerShorts - 1, 61 * second, nil, YouTubeLong},
		{"on that day it was three", "youtube", longerShorts, 61 * second, nil, YouTubeShort},
		{"an unknown date counts as late", "youtube", Undated, 180 * second, nil, YouTubeShort},
		{"without a duration the hashtag decides", "youtube", noon, 0, []string{"a", "Shorts"}, YouTubeShort},
		{"in the singular too", "youtube", noon, 0, []string{"SHORT"}, YouTubeShort},
		{"else it is long", "youtube", noon, 0, []string{"shortsfeed"}, YouTubeLong},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := KindOf(test.platform, test.posted, test.duration, test.tags); got != test.want {
				t.Errorf("%s: got %s, want %s", test.name, got, test.want)
			}
		})
	}
}

func TestAges(t *testing.T) {
	t.Parallel()
	midnight := noon - 12*hour
	for _, test := range []struct {
		name       string
		posted, at int64
		want       int64
	}{
		{"a time is a time", noon - hour, noon, hour},
		{"a date counts as its end", midnight - hour, midnight, 25 * hour},
		{"a millisecond later it is a time", midnight, midnight + 1, 1},
		{"posted on the day of the date", midnight + hour, midnight, 23 * hour},
		{"read before it was posted", noon + hour, noon, -hour},
		{"no date", Undated, noon, UnknownAge},
		{"beyond 63 bits", math.MinInt64 + 1, noon, math.MaxInt64},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := (&Reading{PostedAt: test.posted, ObservedAt: test.at}).Age(); got != test.want {
				t.Errorf("%s: got %d, want %d", test.name, got, test.want)
			}
		})
	}
}

func TestRefusedPeersSayWhy(t *testing.T) {
	t.Parallel()
	short := func(id, posted, views, likes int64) Reading {
		return Reading{ID: id, Kind: YouTubeShort, PostedAt: posted, ObservedAt: shortsViews + 60*day + hour, Views: views, Likes: likes}
	}
	target := short(1, shortsViews+40*day, 1000, Unknown)
	own := []Reading{
		target,
		short(2, shortsViews, 100, Unknown),
		short(3, shortsViews-1, 100, Unknown),
		short(4, target.PostedAt-apart, 100, Unknown),
		short(5, target.PostedAt+apart+1, 100, Unknown),
		short(6, Undated, 100, Unknown),
		short(7, target.PostedAt, 0, Unknown),
		short(8, target.PostedAt, 5, 6),
		short(9, target.ObservedAt-24*hour, 100, Unknown),
		short(10, target.ObservedAt-48*hour, 100, Unknown),
		short(11, target.PostedAt, MaxViews+1, Unknown),
	}
	long := target
	long.ID, long.Kind = 12, YouTubeLong
	own = append(own, long)
	for id := int64(13); id < 43; id++ {
		own = append(own, short(id, target.PostedAt+id, 100, Unknown))
	}
	c := DefaultTable().Creator(own)
	why := &Explanation{}
	if _, err := c.Score(c.Index(1), nil, why); err != nil {
		t.Fatal(err)
	}
	got := map[int64]string{}
	for _, d := range why.Peers.All {
		if d.ID < 13 {
			got[d.ID] = d.Reason.String()
		}
	}
	want := map[int64]string{
		2: "beyond_nearest", 3: "counted_differently", 4: "counted_differently", 5: "over_a_year_apart", 6: "beyond_nearest",
		7: "no_views", 8: "fewer_views_than_likes", 9: "too_young", 10: "beyond_nearest", 11: "too_many_views", 12: "other_kind",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reasons differ (-want +got):\n%s", diff)
	}
	if got := why.Peers.Counts[Used]; got != 30 {
		t.Errorf("got %d peers used, want 30", got)
	}
	bounded := &Explanation{Most: 3}
	if _, err := c.Score(c.Index(1), nil, bounded); err != nil {
		t.Fatal(err)
	}
	if len(bounded.Peers.All) != 33 || bounded.Peers.Counts != why.Peers.Counts {
		t.Errorf("bounded to 3 refused: got %d decisions and counts %v, want 33 and %v", len(bounded.Peers.All), bounded.Peers.Counts, why.Peers.Counts)
	}
}

func TestHiddenLikesAreUnknown(t *testing.T) {
	t.Parallel()
	reel := func(id, views, likes int64) Reading {
		r := grown(id, views)
		r.Kind, r.Likes = Instagram, likes
		return r
	}
	peers := []Reading{reel(2, 1000, 100), reel(3, 1000, 100), reel(4, 1000, 100), reel(5, 1000, 3)}
	if o := scoreOf(t, nil, append([]Reading{reel(1, 90_000, 3)}, peers...)...); o.Doubtful {
		t.Error("3 likes of 90,000 views on Instagram: got doubtful, want likes that are unknown")
	}
	if o := scoreOf(t, nil, append([]Reading{reel(1, 90_000, 4)}, peers...)...); !o.Doubtful {
		t.Error("4 likes of 90,000 views on Instagram: got not doubtful, want doubtful")
	}
	t.Run("fewer than 30 usual likes prove nothing", func(t *testing.T) {
		for views, want := range map[int64]bool{299: false, 300: true} {
			t.Run(fmt.Sprintf("%d views without likes", views), func(t *testing.T) {
				o := scoreOf(t, nil, liked(grown(1, views), 0), liked(grown(2, 100), 10), liked(grown(3, 100), 10), liked(grown(4, 100), 10))
				if o.Doubtful != want {
					t.Errorf("got doubtful %t, want %t", o.Doubtful, want)
				}
			})
		}
	})
	t.Run("a tenth is enough", func(t *testing.T) {
		for likes, want := range map[int64]bool{9: true, 10: false} {
			t.Run(fmt.Sprintf("%d likes where 100 are usual", likes), func(t *testing.T) {
				o := scoreOf(t, nil, liked(grown(1, 1000), likes), liked(grown(2, 100), 10), liked(grown(3, 100), 10), liked(grown(4, 100), 10))
				if o.Doubtful != want {
					t.Errorf("got doubtful %t, want %t", o.Doubtful, want)
				}
			})
		}
	})
}

func liked(r Reading, likes int64) Reading { r.Likes = likes; return r }

func TestNumbersHoldAtTheirBounds(t *testing.T) {
	t.Parallel()
	own := []Reading{liked(grown(1, MaxViews), MaxViews/1000), liked(aged(2, "tiktok", 3*hour, MaxViews), MaxViews)}
	for id := int64(3); id < 33; id++ {
		own = append(own, liked(aged(id, "tiktok", 3*hour, MaxViews), MaxViews))
	}
	o := scoreOf(t, nil, own...)
	if got, want := fmt.Sprint(o.Baseline(), " ", o.Score, " ", o.Order, " ", o.Doubtful), "18014398509481984 0.5 0.5313 true"; got != want {
		t.Errorf("baseline, score, order, doubtful: got %s, want %s", got, want)
	}
	o = scoreOf(t, nil, grown(1, MaxViews), grown(2, 1), grown(3, 1), grown(4, 1))
	if got, want := fmt.Sprint(o.Baseline(), " ", o.Score, " ", o.Order), "1 9007199254740992 54043195528446.352"; got != want {
		t.Errorf("baseline, score, order: got %s, want %s", got, want)
	}
	m := medianFraction([]fraction{{MaxViews, 100}, {MaxViews, 100}, {MaxViews - 1, MaxViews}, {1, MaxViews}})
	if got, want := m.String(), "45035996273705.46"; got != want {
		t.Errorf("median: got %s, want %s", got, want)
	}
	if got, want := strength(1<<31-1, 1<<31-1, 1<<31-1, 1<<31-1).String(), "2147483644"; got != want {
		t.Errorf("strength: got %s, want %s", got, want)
	}
}

func TestDecimals(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		num, den uint64
		want     string
	}{
		{5, 1, "5"}, {1, 2, "0.5"}, {7, 6, "1.1667"}, {1, 20000, "0.0001"}, {1, 20001, "0"}, {99995, 100000, "1"}, {3, 20000, "0.0002"}, {0, 7, "0"},
	} {
		t.Run(fmt.Sprintf("%d by %d", test.num, test.den), func(t *testing.T) {
			if got := ratio(test.num, test.den).String(); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	if got := (Decimal{9007199254740992, 5000}).Float64(); got != 9007199254740992 {
		t.Errorf("as a double: got %v, want the nearest, 9007199254740992", got)
	}
}

func TestCreatorsHaveOneIdentity(t *testing.T) {
	t.Parallel()
	var c Creators
	c.Add("tiktok", "17", "@Anna")
	c.Add("tiktok", "", "anna")
	c.Add("tiktok", "18", "bo")
	c.Add("tiktok", "19", "BO")
	for _, test := range []struct{ platform, id, handle, want string }{
		{"tiktok", "17", "renamed", "id:17"},
		{"tiktok", "", "ANNA", "id:17"},
		{"youtube", "", "anna", "handle:anna"},
		{"tiktok", "", "@bo", "handle:bo"},
		{"tiktok", "", "17", "handle:17"},
		{"tiktok", "", " ", ""},
	} {
		t.Run(fmt.Sprintf("%s id %q handle %q", test.platform, test.id, test.handle), func(t *testing.T) {
			if got := c.Key(test.platform, test.id, test.handle); got != test.want {
				t.Errorf("got creator %q, want %q", got, test.want)
			}
		})
	}
}

func TestAnIDGivesThePostingTimeBesideADateAlone(t *testing.T) {
	t.Parallel()
	const byID = int64(7620034020465855766>>32) * 1000
	for name, c := range map[string]struct{ byID, given, want int64 }{
		"no time":                 {byID, Undated, byID},
		"a date":                  {byID, byID - byID%day, byID},
		"a time":                  {byID, byID - 1000, byID - 1000},
		"an id that says nothing": {0, Undated, Undated},
		"such an id and a date":   {0, day, day},
	} {
		t.Run(name, func(t *testing.T) {
			if got := PostedAt(c.byID, c.given); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}
