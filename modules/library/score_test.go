package library

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/scoring"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	hour = int64(3600_000)
	day  = 24 * hour
	// shortsChange is 2025-03-31, when views of Shorts changed their meaning.
	shortsChange = int64(1743379200_000)
)

// model is a library as the rules state it, kept in plain maps.
type model struct {
	videos    map[stage.Ref]*modelVideo
	completed map[int64]bool
	generic   []string
	// isBehind: the last scroll did not complete.
	isBehind bool
}

type modelVideo struct {
	ref               stage.Ref
	id                int64 // of the library's row
	creatorID, handle string
	known             score.Known
	tags              []string
	keys              []score.Key
	archived          bool
	seen              []score.Observation
}

func newModel() *model {
	return &model{videos: map[stage.Ref]*modelVideo{}, completed: map[int64]bool{}, generic: []string{"fyp", "shorts"}}
}

// take adds what a scroll archived; a video of one scroll is observed once.
func (m *model) take(scroll, at int64, records []stage.Record) {
	for _, r := range records {
		v := m.videos[r.Ref]
		if v == nil {
			v = &modelVideo{ref: r.Ref, known: score.Known{PostedAt: score.Undated}}
			m.videos[r.Ref] = v
		}
		if r.CreatorID != "" {
			v.creatorID = r.CreatorID
		}
		if r.Source != nil && r.Source.Handle != "" {
			v.handle = strings.ToLower(strings.TrimPrefix(r.Source.Handle, "@"))
		}
		if r.PostedAt != nil {
			v.known = v.known.With(score.Known{PostedAt: *r.PostedAt})
		}
		if facts := videos.FactsOf(r.Metadata); r.Metadata != nil {
			v.known = v.known.With(score.Known{PostedAt: score.Undated, Duration: facts.Duration})
		}
		if facts := videos.FactsOf(r.Metadata); len(facts.Hashtags) > 0 { // the records have no captions
			v.tags, v.keys = facts.Hashtags, nil
			for _, tag := range facts.Hashtags {
				key := score.Key{Key: "hashtag:" + strings.ToLower(tag), Label: "#" + tag}
				if !slices.ContainsFunc(v.keys, func(k score.Key) bool { return k.Key == key.Key }) {
					v.keys = append(v.keys, key)
				}
			}
		}
		if slices.ContainsFunc(v.seen, func(o score.Observation) bool { return o.Scroll == scroll }) {
			continue
		}
		o := score.Observation{Scroll: scroll, At: at, Views: videos.Count(r.Metrics.Views), Likes: videos.Count(r.Metrics.Likes)}
		if r.Metrics.ObservedAt != nil {
			o.At = *r.Metrics.ObservedAt
		}
		v.seen = append(v.seen, o)
	}
}

// identify takes over the ids of the library's rows.
func (m *model) identify(b *bundle) {
	b.t.Helper()
	rows, err := b.db.Ent().Video.Query().All(b.ctx)
	if err != nil || len(rows) != len(m.videos) {
		b.t.Fatalf("got %d videos, error %v; want %d", len(rows), err, len(m.videos))
	}
	for _, row := range rows {
		m.videos[stage.Ref{Platform: row.Platform, ExternalID: row.ExternalID}].id = row.ID
	}
}

// creators names who made each video: its creator id, else the one id that comes with its
// handle, else the handle.
func (m *model) creators() map[stage.Ref]string {
	type account struct{ platform, handle string }
	ids := map[account]map[string]bool{}
	for _, v := range m.videos {
		who := account{v.ref.Platform, v.handle}
		if ids[who] == nil {
			ids[who] = map[string]bool{}
		}
		if v.creatorID != "" {
			ids[who][v.creatorID] = true
		}
	}
	names := map[stage.Ref]string{}
	for _, v := range m.videos {
		name := v.ref.Platform + " handle " + v.handle
		known := ids[account{v.ref.Platform, v.handle}]
		switch {
		case v.creatorID != "":
			name = v.ref.Platform + " id " + v.creatorID
		case v.handle == "":
			name = ""
		case len(known) == 1:
			for id := range known {
				name = v.ref.Platform + " id " + id
			}
		}
		names[v.ref] = name
	}
	return names
}

// latest is a video by its newest usable reading; of one time the one that came last.
func (m *model) latest() (all []*naiveVideo) {
	creators := m.creators()
	for _, v := range m.videos {
		r := score.Reading{
			ID: v.id, Kind: v.known.Kind(v.ref.Platform, v.tags), PostedAt: v.known.PostedAt, Views: score.Unknown, Likes: score.Unknown,
		}
		for _, o := range v.seen {
			if o.Views > 0 && o.Likes <= o.Views && (r.Views < 0 || o.At >= r.ObservedAt) {
				r.ObservedAt, r.Views, r.Likes = o.At, o.Views, o.Likes
			}
		}
		all = append(all, &naiveVideo{Reading: r, creator: creators[v.ref]})
	}
	slices.SortFunc(all, func(a, b *naiveVideo) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// shownOutlier is an outlier as a list shows it.
type shownOutlier struct {
	ID, Score, Baseline string
	Samples             int
	ObservedAt          int64
}

// outliers are the listed ones in their order, without the archived ones and with them.
func (m *model) outliers() map[bool][]shownOutlier {
	videos := m.latest()
	scores := naiveScores(videos, 1)
	archived := map[int64]bool{}
	for _, v := range m.videos {
		archived[v.id] = v.archived
	}
	videos = slices.DeleteFunc(videos, func(v *naiveVideo) bool { return !scores[v.ID].Listed })
	slices.SortFunc(videos, func(a, b *naiveVideo) int {
		x, y := scores[a.ID], scores[b.ID]
		if x.Doubtful != y.Doubtful {
			if y.Doubtful {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(mustFloat(y.Order), mustFloat(x.Order)), cmp.Compare(mustFloat(y.Score), mustFloat(x.Score)),
			cmp.Compare(b.Views, a.Views), cmp.Compare(b.ObservedAt, a.ObservedAt), cmp.Compare(a.ID, b.ID))
	})
	lists := map[bool][]shownOutlier{}
	for _, v := range videos {
		s := scores[v.ID]
		one := shownOutlier{publicid.Format(publicid.Video, v.ID), s.Score, s.Baseline, s.Samples, v.ObservedAt}
		lists[true] = append(lists[true], one)
		if !archived[v.ID] {
			lists[false] = append(lists[false], one)
		}
	}
	return lists
}

func mustFloat(text string) float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return f
}

// shownTrend is a trend as a list shows it.
type shownTrend struct {
	Key, Median string
	Videos      int
	Examples    []string
	// Lately is empty in the contract's list.
	Lately string
}

func (m *model) trends(withArchived bool) (list []shownTrend) {
	var observations []score.Observation
	var carriers []score.Carrier
	creators, numbers := m.creators(), map[string]int64{"": 0}
	for _, ref := range slices.SortedFunc(mapKeys(m.videos), func(a, b stage.Ref) int {
		return strings.Compare(a.Platform+a.ExternalID, b.Platform+b.ExternalID)
	}) {
		v := m.videos[ref]
		who := creators[ref]
		if _, known := numbers[who]; !known {
			numbers[who] = int64(len(numbers))
		}
		carriers = append(carriers, score.Carrier{ID: v.id, Creator: numbers[who], PostedAt: v.known.PostedAt, Archived: v.archived, Keys: v.keys})
		for _, o := range v.seen {
			if o.Video = v.id; m.completed[o.Scroll] {
				observations = append(observations, o)
			}
		}
	}
	newest := int64(0)
	for _, o := range observations {
		if o.Views > 0 && o.Likes <= o.Views {
			newest = max(newest, o.At)
		}
	}
	for _, t := range naiveTrends(newest, observations, carriers, m.generic, withArchived) {
		one := shownTrend{Key: t.Key, Median: t.Median, Videos: t.Videos, Lately: t.Lately}
		for _, id := range t.Examples {
			one.Examples = append(one.Examples, publicid.Format(publicid.Video, id))
		}
		list = append(list, one)
	}
	return list
}

func mapKeys[K comparable, V any](m map[K]V) func(func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// listed is what the library lists: outliers, the contract's trends, and ours.
func listed(b *bundle, withArchived bool, limit int) (o []shownOutlier, t, moving []shownTrend) {
	b.t.Helper()
	number := func(f float64) string { return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.4f", f), "0"), ".") }
	for _, one := range b.all(lists.Page{List: lists.Outliers, Limit: limit, WithArchived: withArchived}).Outliers {
		o = append(o, shownOutlier{one.Video.ID, number(one.Score), number(one.BaselineViews), one.SampleCount, one.ObservedAt})
	}
	trends := func(p lists.Page) (t []shownTrend) {
		for _, one := range b.all(p).Trends {
			made := shownTrend{Key: one.Key, Median: number(one.Metrics.MedianGrowthMultiple), Videos: one.Metrics.VideoCount}
			for _, v := range one.Examples {
				made.Examples = append(made.Examples, v.ID)
			}
			if one.Direction != nil && one.NewCreators != nil && one.CreatorsPerDay != nil {
				made.Lately = fmt.Sprintf("%s %d %s", *one.Direction, *one.NewCreators, number(*one.CreatorsPerDay))
			}
			t = append(t, made)
		}
		return t
	}
	return o, trends(lists.Page{List: lists.Trends, Limit: limit, WithArchived: withArchived}),
		trends(lists.Page{List: lists.MovingTrends, Limit: limit, WithArchived: withArchived, Paged: true})
}

// compare has the lists equal what the rules make of the model.
func (m *model) compare(b *bundle, when string, limit int) {
	b.t.Helper()
	m.identify(b)
	wantOutliers := m.outliers()
	for _, withArchived := range []bool{false, true} {
		gotOutliers, gotTrends, gotMoving := listed(b, withArchived, limit)
		if diff := gocmp.Diff(wantOutliers[withArchived], gotOutliers); diff != "" {
			b.t.Errorf("%s: outliers, archived ones too %v (-want +got):\n%.3000s", when, withArchived, diff)
		}
		if m.isBehind {
			continue // trends are as of the last completed scroll
		}
		wantTrends := m.trends(withArchived)
		if len(m.completed) < 2 {
			wantTrends = nil
		}
		wantMoving := slices.Clone(wantTrends)
		slices.SortStableFunc(wantMoving, func(a, b shownTrend) int {
			rank := map[byte]int{'r': 1, 'h': 2, 'f': 3}
			return rank[a.Lately[0]] - rank[b.Lately[0]]
		})
		for i := range wantTrends {
			wantTrends[i].Lately = ""
		}
		if diff := gocmp.Diff(wantTrends, gotTrends); diff != "" {
			b.t.Errorf("%s: trends, archived ones too %v (-want +got):\n%.3000s", when, withArchived, diff)
		}
		if diff := gocmp.Diff(wantMoving, gotMoving); diff != "" {
			b.t.Errorf("%s: trends with rising ones first, archived ones too %v (-want +got):\n%.3000s", when, withArchived, diff)
		}
	}
}

// TestListsFollowTheRules has random scrolls and archiving done by the library, and
// compares every list with what plain code makes of the rules.
func TestListsFollowTheRules(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		worlds := 4
		if storetest.Long() && db.Dialect() == store.SQLite {
			worlds = 12
		}
		for seed := range worlds {
			b := setup(t, db).as(int64(100 + seed))
			b.runs.subject = "website:a.com"
			w := world{
				model: newModel(), rand: rand.New(rand.NewPCG(uint64(seed), 7)),
				size: []int{15, 60, 300}[seed%3], creators: []int{3, 150, 12}[(seed+seed/3)%3], apart: []int64{36 * hour, 30 * day, 6 * hour}[seed/2%3],
			}
			for run := range 6 {
				scroll := int64(1000*(seed+1) + run)
				at := now + int64(run)*w.apart
				records := w.records(run, at)
				b.archive(scroll, at, records...)
				w.take(scroll, at, records)
				if w.isBehind = run == 3; !w.isBehind { // one scroll fails
					b.complete(scroll)
					w.completed[scroll] = true
				} else if err := b.ScoreMarked(b.ctx, scoring.NicheInScroll); err != nil {
					t.Fatal(err)
				}
				when := fmt.Sprintf("seed %d, run %d", seed, run)
				w.compare(b, when, 1+w.rand.IntN(25))
				w.shelve(b)
				w.compare(b, when+", after archiving", 25)
				if t.Failed() {
					return
				}
			}
		}
	})
}

type world struct {
	*model
	rand           *rand.Rand
	size, creators int
	apart          int64
}

func (w *world) records(run int, at int64) (records []stage.Record) {
	r := w.rand
	for i := range w.size {
		if r.IntN(3) == 0 || run < 2 && i > w.size/2 {
			continue // not every video is seen in every run
		}
		// What belongs to the video is the same in every run.
		own := rand.New(rand.NewPCG(uint64(i), uint64(w.size)))
		one := stage.Record{Ref: stage.Ref{Platform: []string{"youtube", "tiktok", "instagram"}[own.IntN(3)], ExternalID: fmt.Sprint("v", i)}}
		switch own.IntN(7) {
		case 0:
		case 1: // around the change of YouTube's views, days apart
			one.PostedAt = ptr(shortsChange + int64(own.IntN(10)-5)*day)
		case 2: // about a year ago, to the day
			one.PostedAt = ptr(now - int64(360+own.IntN(10))*day)
		case 3: // two years ago
			one.PostedAt = ptr(now - int64(720+own.IntN(30))*day)
		default: // fresh, some at the same time
			one.PostedAt = ptr(now + int64(own.IntN(40)-24)*12*hour)
		}
		who := own.IntN(w.creators + 1)
		switch {
		case who == 0:
		case who%3 == 0:
			one.CreatorID = fmt.Sprint("id", who)
		case who%3 == 1: // the id is known of some videos alone, and of some handles two
			one.Source = &stage.Source{Kind: videos.Niche, Handle: fmt.Sprint("@Handle", who/3)}
			if r.IntN(12) == 0 {
				one.CreatorID = fmt.Sprint("channel", who/3, "-", own.IntN(8)/7)
			}
			if r.IntN(30) == 0 { // handles change hands
				one.Source.Handle = fmt.Sprint("HANDLE", who/3+1)
			}
		default:
			one.Source = &stage.Source{Kind: videos.Niche, Handle: fmt.Sprint("@Handle", who)}
		}
		tags := []string{`"x"`}
		for range own.IntN(4) {
			tags = append(tags, fmt.Sprintf("%q", []string{"fyp", "A", "b", "c", "d", "e", "shorts"}[min(own.IntN(7), own.IntN(7))]))
		}
		if own.IntN(4) > 0 {
			one.Metadata = fmt.Appendf(nil, `{"hashtags":[%s],"durationSeconds":%d}`, strings.Join(tags[1:], ","), own.IntN(4)*70)
		}
		if r.IntN(10) > 0 {
			one.Metrics.Views = ptr(int64(r.IntN(5) * r.IntN(3000)))
		}
		if r.IntN(4) > 0 {
			one.Metrics.Likes = ptr(int64(r.IntN(60)))
		}
		if r.IntN(3) == 0 {
			one.Metrics.ObservedAt = ptr(at - int64(r.IntN(60))*hour)
		}
		records = append(records, one)
	}
	r.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	return records
}

// shelve archives and restores some videos.
func (w *world) shelve(b *bundle) {
	b.t.Helper()
	for _, v := range b.all(lists.Page{List: lists.Videos, WithArchived: true}).Videos {
		if w.rand.IntN(6) > 0 {
			continue
		}
		m := w.videos[stage.Ref{Platform: v.Platform, ExternalID: v.ExternalID}]
		m.archived = w.rand.IntN(2) == 0
		if _, err := b.edits.ArchiveVideo(b.ctx, v.ID, false, m.archived); err != nil {
			b.t.Fatal(err)
		}
	}
}
