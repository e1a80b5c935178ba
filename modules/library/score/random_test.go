package score

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// randomVideos is a library in which every rule has its cases: several kinds and
// creators, unknown dates, equal posting times, all ages, unusable and bought views.
func randomVideos(r *rand.Rand, size int) []*naiveVideo {
	kinds := []Kind{"tiktok", YouTubeShort, YouTubeLong, Instagram}[:1+r.IntN(4)]
	creators := 1 + r.IntN(1+size/2)
	base := []int64{noon, shortsViews + 3*day, shortsViews + 200*day, 1787529600000 + 3*day}[r.IntN(4)]
	spread := []int64{2 * day, 20 * day, 500 * day}[r.IntN(3)]
	grid := []int64{1, hour, day}[r.IntN(3)]
	var videos []*naiveVideo
	for i := range size {
		v := &naiveVideo{Reading: Reading{ID: int64(i + 1), Kind: kinds[r.IntN(len(kinds))], PostedAt: Undated, Likes: Unknown}}
		if n := r.IntN(creators + 1); n > 0 {
			v.creator = fmt.Sprint(n)
		}
		if r.IntN(10) > 0 {
			v.PostedAt = (base - r.Int64N(spread)) / grid * grid
		}
		v.ObservedAt = base + r.Int64N(day)
		if r.IntN(4) == 0 {
			v.ObservedAt = base / day * day
		}
		v.Views = 1 + r.Int64N(1<<uint(1+r.IntN(14)))
		switch r.IntN(30) {
		case 0:
			v.Views = Unknown
		case 1:
			v.Views = 0
		case 2:
			v.Views = MaxViews - r.Int64N(5)
		}
		if v.Views > 0 && r.IntN(5) > 0 {
			v.Likes = v.Views / int64(2+r.IntN(20))
			switch r.IntN(12) {
			case 0:
				v.Likes = v.Views / 5000
			case 1:
				v.Likes = v.Views + 1
			}
		}
		videos = append(videos, v)
	}
	return videos
}

// long asks for every real video: SCROLLERY_TEST_LONG=1.
var long = os.Getenv("SCROLLERY_TEST_LONG") != ""

// asked is how many cases each property has: SCROLLERY_TEST_CASES, 0 for the few of a quick run.
var asked, _ = strconv.Atoi(os.Getenv("SCROLLERY_TEST_CASES"))

// property runs so many random cases, or as many as asked for, each from a seed of its own.
// Parts of them run side by side, as the cases of one property share nothing.
func property(t *testing.T, few int, holds func(t *testing.T, seed int)) {
	t.Helper()
	all := max(few, asked)
	parts := min(all/1000+1, 2*runtime.GOMAXPROCS(0))
	t.Run("cases", func(t *testing.T) {
		for part := range parts {
			t.Run(fmt.Sprint(part+1, " of ", parts), func(t *testing.T) {
				t.Parallel()
				for seed := part; seed < all && !t.Failed(); seed += parts {
					holds(t, seed)
				}
			})
		}
	})
	t.Logf("%d cases", all)
}

// someOf is how many of all random cases are run: a sixth, unless the tests are long.
func someOf(all int) int {
	if long {
		return all
	}
	return all / 6
}

// compareScores compares every outlier, its explanation and the list's order with naive code.
// It looks at one video in every, by id.
func compareScores(t *testing.T, name string, videos []*naiveVideo, every int64) []Outlier {
	t.Helper()
	want := naiveScores(videos, every)
	all, explained, err := scoreAll(videos, 0, every)
	if err != nil {
		t.Fatal(err)
	}
	_, bounded, err := scoreAll(videos, 5, every)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(videos) {
		t.Fatalf("%s: got %d scores, want %d", name, len(all), len(videos))
	}
	for i := range all {
		if all[i].ID%every != 0 {
			continue
		}
		got := naiveOf(&all[i])
		if got != want[got.ID] {
			t.Fatalf("%s: score differs (-want +got):\n%s", name, cmp.Diff(want[got.ID], got))
		}
		if all[i] != explained[i].Outlier {
			t.Fatalf("%s: the explained outlier differs (-scored +explained):\n%s", name, cmp.Diff(all[i], explained[i].Outlier))
		}
		if all[i] != bounded[i].Outlier {
			t.Fatalf("%s: a bounded explanation has another outlier (-scored +explained):\n%s", name, cmp.Diff(all[i], bounded[i].Outlier))
		}
		if again := recompute(&bounded[i]); again != got {
			t.Fatalf("%s: a bounded explanation gives another score (-want +got):\n%s", name, cmp.Diff(got, again))
		}
		again := recompute(&explained[i])
		if again != got {
			t.Fatalf("%s: the explanation gives another score (-want +got):\n%s", name, cmp.Diff(got, again))
		}
		for _, of := range []*Decisions{&explained[i].Peers, &explained[i].Niche, &explained[i].Likes} {
			sum := 0
			for _, n := range of.Counts {
				sum += n
			}
			if sum != len(of.All) {
				t.Fatalf("%s: got counts that sum to %d, want the %d decisions", name, sum, len(of.All))
			}
		}
	}
	return all
}

func TestScoresAreThoseOfNaiveCode(t *testing.T) {
	t.Parallel()
	property(t, 50, func(t *testing.T, seed int) {
		r := rand.New(rand.NewPCG(uint64(seed), 12))
		size := 1 + r.IntN(60)
		if seed%50 == 0 && seed < 1000 {
			size = 450 // past the niche's 200, and blocks of it
		}
		compareScores(t, fmt.Sprintf("seed %d", seed), randomVideos(r, size), 1)
	})
}

// Enough videos for the niche's 200, blocks of it and what is over a year apart, in stretches
// of one age: at 3 hours a TikTok video has exactly half of its views.
func TestNicheIsThatOfNaiveCode(t *testing.T) {
	t.Parallel()
	for seed := range 6 {
		r := rand.New(rand.NewPCG(uint64(seed), 22))
		spread := []int64{200, 500, 900}[seed%3] * day
		stretch := []int{150, 1, 30}[(seed+seed/3)%3]
		kind := []Kind{"tiktok", YouTubeShort}[seed%2]
		var videos []*naiveVideo
		var age int64
		for i := range 500 {
			if i%stretch == 0 {
				age = []int64{hour, 3 * hour, 3 * hour, 40 * hour, 9 * day}[r.IntN(5)]
			}
			posted := noon - int64(i)*spread/500
			if seed%4 == 3 {
				posted = shortsViews + 100*day - int64(i)*spread/500
			}
			v := &naiveVideo{Reading: Reading{ID: int64(r.IntN(10))*1000 + int64(i), Kind: kind, PostedAt: posted, ObservedAt: posted + age, Views: 1 + r.Int64N(5000), Likes: Unknown}}
			if r.IntN(20) == 0 {
				v.PostedAt = Undated
			}
			videos = append(videos, v)
		}
		compareScores(t, fmt.Sprintf("seed %d", seed), videos, int64(6/someOf(6)))
	}
}

func TestNearestComeFirst(t *testing.T) {
	t.Parallel()
	property(t, 50, func(t *testing.T, seed int) {
		r := rand.New(rand.NewPCG(uint64(seed), 23))
		videos := randomVideos(r, 1+r.IntN(40))
		var readings []Reading
		for _, v := range videos {
			v.PostedAt = []int64{noon - r.Int64N(6)*day, noon - r.Int64N(6)*day, Undated}[r.IntN(3)]
			readings = append(readings, v.Reading)
		}
		c := DefaultTable().Creator(readings)
		for i := range c.Len() {
			var got, want []int64
			for w := c.walk(i); ; {
				j := w.next()
				if j < 0 {
					break
				}
				got = append(got, c.At(j).ID)
			}
			target := &naiveVideo{Reading: c.At(i)}
			others := slices.DeleteFunc(slices.Clone(videos), func(v *naiveVideo) bool { return v.ID == target.ID })
			slices.SortFunc(others, naiveNearest(target))
			for _, v := range others {
				want = append(want, v.ID)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d: videos nearest to %d (-want +got):\n%s", seed, target.ID, diff)
			}
		}
	})
}

func TestOrderOfArrivalChangesNothing(t *testing.T) {
	t.Parallel()
	property(t, 100, func(t *testing.T, seed int) {
		r := rand.New(rand.NewPCG(uint64(seed), 13))
		videos := randomVideos(r, 1+r.IntN(80))
		sorted := func() []Outlier {
			all, _, err := scoreAll(videos, -1, 1)
			if err != nil {
				t.Fatal(err)
			}
			slices.SortFunc(all, func(a, b Outlier) int { return Compare(&a, &b) })
			return all
		}
		want := sorted()
		r.Shuffle(len(videos), func(i, j int) { videos[i], videos[j] = videos[j], videos[i] })
		if diff := cmp.Diff(want, sorted()); diff != "" {
			t.Fatalf("seed %d: another order gives other outliers (-want +got):\n%s", seed, diff)
		}
	})
}

// One more reading of a video changes its creator's rows and, of other creators, only
// those on a niche baseline.
func TestAReadingChangesItsCreatorAndNicheAlone(t *testing.T) {
	t.Parallel()
	property(t, 100, func(t *testing.T, seed int) {
		r := rand.New(rand.NewPCG(uint64(seed), 14))
		videos := randomVideos(r, 2+r.IntN(80))
		before, _, err := scoreAll(videos, -1, 1)
		if err != nil {
			t.Fatal(err)
		}
		byID := map[int64]Outlier{}
		for _, o := range before {
			byID[o.ID] = o
		}
		changed := videos[r.IntN(len(videos))]
		changed.Views, changed.ObservedAt = 1+r.Int64N(1000), changed.ObservedAt+day/3
		after, _, err := scoreAll(videos, -1, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range after {
			i := slices.IndexFunc(videos, func(v *naiveVideo) bool { return v.ID == o.ID })
			if videos[i].creator == changed.creator && changed.creator != "" || o.ID == changed.ID {
				continue
			}
			if o.Basis == CreatorBasis && o != byID[o.ID] {
				t.Fatalf("seed %d: a reading of video %d changed video %d of another creator (-before +after):\n%s", seed, changed.ID, o.ID, cmp.Diff(byID[o.ID], o))
			}
			if o.Basis != CreatorBasis && o != byID[o.ID] && o.Kind != changed.Kind {
				t.Fatalf("seed %d: a reading of a %s changed a %s (-before +after):\n%s", seed, changed.Kind, o.Kind, cmp.Diff(byID[o.ID], o))
			}
		}
	})
}

// A niche that loads in pages is the niche in memory.
func TestNicheLoadsAsFarAsAsked(t *testing.T) {
	t.Parallel()
	table := DefaultTable()
	for seed := range 60 {
		r := rand.New(rand.NewPCG(uint64(seed), 15))
		var readings []Reading
		for _, v := range randomVideos(r, 600) {
			v.Kind = YouTubeShort
			readings = append(readings, v.Reading)
		}
		whole := table.NicheOf(readings)
		sorted := table.Creator(readings)
		page, loaded := 1+r.IntN(100), 0
		paged := table.Niche(func(undated bool, last *Reading) (next []Reading, err error) {
			from := 0
			if undated {
				from = sorted.dated
			}
			if last != nil {
				from = sorted.Index(last.ID) + 1
			}
			for i := from; i < sorted.Len() && len(next) < page && (undated || i < sorted.dated); i++ {
				next = append(next, sorted.At(i))
			}
			loaded += len(next)
			return next, nil
		})
		for _, reading := range readings[:60] {
			alone := table.Creator([]Reading{reading})
			want, err := alone.Score(0, whole, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := alone.Score(0, paged, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d: a paged niche scores otherwise (-want +got):\n%s", seed, diff)
			}
		}
		if loaded > len(readings) {
			t.Errorf("seed %d: got %d videos loaded, want at most %d", seed, loaded, len(readings))
		}
	}
}

func randomTrends(r *rand.Rand, size int) (observations []Observation, carriers []Carrier) {
	gap := []int64{day, 9 * day, 40 * day}[r.IntN(3)]
	scrolls := 1 + r.IntN(6)
	for i := range size {
		c := Carrier{ID: int64(i + 1), Creator: r.Int64N(int64(2 + size/3)), PostedAt: noon - r.Int64N(3*gap*int64(scrolls)) + day, Archived: r.IntN(8) == 0}
		if r.IntN(10) == 0 {
			c.PostedAt = Undated
		}
		for k := range 8 {
			if r.IntN(4) == 0 || k == 0 && r.IntN(5) > 0 {
				c.Keys = append(c.Keys, Key{fmt.Sprint("hashtag:", k), fmt.Sprint([]string{"#", "＃", "#0"}[r.IntN(3)], k)})
			}
		}
		carriers = append(carriers, c)
		views := 1 + r.Int64N(2000)
		for scroll := range scrolls {
			if r.IntN(3) == 0 {
				continue
			}
			o := Observation{Video: c.ID, Scroll: int64(scroll + 1), At: noon - int64(scroll)*gap - r.Int64N(2)*hour, Views: views * int64(1+r.IntN(4)), Likes: Unknown}
			switch r.IntN(12) {
			case 0:
				o.Views = Unknown
			case 1:
				o.Likes = o.Views + 1
			}
			observations = append(observations, o)
		}
	}
	return observations, carriers
}

func ranked(observations []Observation, carriers []Carrier, generic []string, withArchived bool) (int64, []line) {
	t, ok := Newest(observations)
	if !ok {
		return 0, nil
	}
	listed, _ := NewWindow(t, Span(observations, t), observations, carriers, Generic(generic)).Rank(withArchived)
	return t, lines(listed)
}

func TestTrendsAreThoseOfNaiveCode(t *testing.T) {
	t.Parallel()
	const worlds = 133
	var listed atomic.Int64
	property(t, worlds, func(t *testing.T, seed int) {
		r := rand.New(rand.NewPCG(uint64(seed), 16))
		observations, carriers := randomTrends(r, 1+r.IntN(60))
		for _, withArchived := range []bool{false, true} {
			at, got := ranked(observations, carriers, []string{"3"}, withArchived)
			want := naiveTrends(at, observations, carriers, []string{"3"}, withArchived)
			if at == 0 {
				want = nil
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, archived %v: trends differ (-want +got):\n%s", seed, withArchived, diff)
			}
			listed.Add(int64(len(got)))
			r.Shuffle(len(observations), func(i, j int) { observations[i], observations[j] = observations[j], observations[i] })
			r.Shuffle(len(carriers), func(i, j int) { carriers[i], carriers[j] = carriers[j], carriers[i] })
			if _, again := ranked(observations, carriers, []string{"3"}, withArchived); !cmp.Equal(got, again) {
				t.Fatalf("seed %d: another order gives other trends (-want +got):\n%s", seed, cmp.Diff(got, again))
			}
		}
	})
	if n := listed.Load(); n < worlds/2 {
		t.Errorf("the test tests little: got %d trends, want at least %d", n, worlds/2)
	}
}

// Splitting a scroll's videos over several scrolls, as imports do, changes no trend as
// long as no video is read again.
func TestScrollsThatReadNothingAgainChangeNoTrend(t *testing.T) {
	t.Parallel()
	property(t, 200, func(t *testing.T, seed int) {
		r := rand.New(rand.NewPCG(uint64(seed), 17))
		observations, carriers := randomTrends(r, 40)
		_, want := ranked(observations, carriers, nil, true)
		for i := range observations {
			observations[i].Scroll = observations[i].Scroll*100 + observations[i].Video%7
		}
		if _, got := ranked(observations, carriers, nil, true); !cmp.Equal(want, got) {
			t.Fatalf("seed %d: trends differ once scrolls are split (-want +got):\n%s", seed, cmp.Diff(want, got))
		}
	})
}

// Archiving a video moves the numbers of the keys that it carries and of no other key.
func TestArchivingMovesNoOtherKey(t *testing.T) {
	t.Parallel()
	var moved atomic.Int64
	property(t, 300, func(t *testing.T, seed int) {
		r := rand.New(rand.NewPCG(uint64(seed), 18))
		observations, carriers := randomTrends(r, 40)
		at, ok := Newest(observations)
		if !ok {
			return
		}
		numbers := func() map[string]line {
			w := NewWindow(at, Span(observations, at), observations, carriers, nil)
			all := map[string]line{}
			for key := range w.keys {
				all[key] = lines([]Trend{w.Measure(key, false)})[0]
			}
			return all
		}
		before := numbers()
		one := &carriers[r.IntN(len(carriers))]
		one.Archived = !one.Archived
		for key, after := range numbers() {
			if cmp.Equal(before[key], after) {
				continue
			}
			moved.Add(1)
			if !slices.ContainsFunc(one.Keys, func(k Key) bool { return k.Key == key }) {
				t.Fatalf("seed %d: %s moved, which the archived video has not (-before +after):\n%s", seed, key, cmp.Diff(before[key], after))
			}
		}
	})
	if n := moved.Load(); n < 100 {
		t.Errorf("the test tests little: got %d keys moved, want at least 100", n)
	}
}

func TestHookOrderIsThatOfNaiveCode(t *testing.T) {
	t.Parallel()
	property(t, 300, func(t *testing.T, seed int) {
		r := rand.New(rand.NewPCG(uint64(seed), 19))
		var hooks []Hook
		for i := range 1 + r.IntN(20) {
			hooks = append(hooks, Hook{ID: int64(i + 1), Creator: r.Int64N(3), ChangedAt: r.Int64N(4), Opening: []string{"", "a", "b"}[r.IntN(3)]})
		}
		r.Shuffle(len(hooks), func(i, j int) { hooks[i], hooks[j] = hooks[j], hooks[i] })
		repeats := func(h Hook) bool {
			return h.Opening != "" && h.Creator != 0 && slices.ContainsFunc(hooks, func(o Hook) bool {
				return o.Creator == h.Creator && o.Opening == h.Opening && (o.ChangedAt > h.ChangedAt || o.ChangedAt == h.ChangedAt && o.ID < h.ID)
			})
		}
		var want []Hook
		for _, wanted := range []bool{false, true} {
			for at := int64(3); at >= 0; at-- {
				for id := int64(1); id <= 20; id++ {
					for _, h := range hooks {
						if h.ID == id && h.ChangedAt == at && repeats(h) == wanted {
							want = append(want, h)
						}
					}
				}
			}
		}
		got := slices.Clone(hooks)
		SortHooks(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: order differs (-want +got):\n%s", seed, diff)
		}
	})
}
