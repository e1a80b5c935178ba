package operator

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/platforms"
)

// backtestReading is a record as far as the definitions of scores ask.
type backtestReading struct {
	ref          stage.Ref
	at           int64
	views, likes int64
	facts        videoFacts
}

// videoFacts are what a record says of its video; empty if it does not.
type videoFacts struct {
	creatorID, handle string
	// followers are the creator's, as a record of followersAt has them; 0 if none does.
	followers, followersAt int64
	known                  score.Known
	// hashtags as written; keys are nil if the record has no metadata.
	hashtags []string
	keys     []score.Key
}

func backtestReadingOf(r *stage.Record) backtestReading {
	posted := score.Undated
	if r.PostedAt != nil {
		posted = *r.PostedAt
	}
	one := backtestReading{ref: r.Ref, at: *r.Metrics.ObservedAt, views: countOf(r.Metrics.Views), likes: countOf(r.Metrics.Likes)}
	one.facts = videoFacts{creatorID: strings.TrimSpace(r.CreatorID)}
	if n := r.Metrics.Followers; n != nil {
		one.facts.followers, one.facts.followersAt = *n, one.at
	}
	one.facts.known.PostedAt = score.PostedAt(platforms.PostedAt(r.Platform, r.ExternalID), posted)
	if r.Source != nil {
		one.facts.handle = r.Source.Handle
	}
	one.facts.describe(r)
	return one
}

func countOf(n *int64) int64 {
	if n == nil {
		return score.Unknown
	}
	return *n
}

// describe reads the metadata; a member of another type than expected is left out.
func (f *videoFacts) describe(r *stage.Record) {
	var members map[string]json.RawMessage
	if json.Unmarshal(r.Metadata, &members) == nil {
		f.keys = []score.Key{}
		var seconds float64
		if json.Unmarshal(members["durationSeconds"], &seconds) == nil {
			f.known.Duration = int64(min(seconds, 1e9) * 1000)
		}
		text := func(name string) string { return strings.Trim(string(members[name]), `" `) }
		f.known.Format = score.FormatOf(r.Platform, r.SourceURL, text("formatBasis"), text("mediaType"))
		_ = json.Unmarshal(members["hashtags"], &f.hashtags)
		for _, tag := range f.hashtags {
			if key, ok := score.HashtagKey(tag); ok {
				f.add(key)
			}
		}
		if sound := strings.Trim(string(members["soundId"]), `" `); sound != "" && sound != "null" {
			f.add(score.Key{Key: "sound:" + r.Platform + ":" + sound, Label: sound})
		}
	}
	for _, key := range r.Keys {
		f.add(score.Key{Key: key.Key, Label: key.Label})
	}
}

func (f *videoFacts) add(key score.Key) {
	if !slices.ContainsFunc(f.keys, func(k score.Key) bool { return k.Key == key.Key }) {
		f.keys = append(f.keys, key)
	}
}

// update takes over what later facts say.
func (f *videoFacts) update(later videoFacts) {
	if later.creatorID != "" {
		f.creatorID = later.creatorID
	}
	if later.handle != "" {
		f.handle = later.handle
	}
	if later.followersAt > 0 {
		f.followers, f.followersAt = later.followers, later.followersAt
	}
	f.known = f.known.With(later.known)
	if len(later.keys) > 0 {
		f.hashtags, f.keys = later.hashtags, later.keys
	}
}

// backtestVideo is a video of the library in memory.
type backtestVideo struct {
	id    int64
	ref   stage.Ref
	facts videoFacts
	// newest is the newest usable reading; the newest of all where none is.
	at, views, likes int64
}

func (v *backtestVideo) usable() bool { return score.Usable(v.views, v.likes) == score.Used }

func (v *backtestVideo) read(r *backtestReading) {
	usable := score.Usable(r.views, r.likes) == score.Used
	if usable == v.usable() && r.at >= v.at || usable && !v.usable() {
		v.at, v.views, v.likes = r.at, r.views, r.likes
	}
}

// backtestLibrary grows by a run at a time, and knows nothing of later ones.
type backtestLibrary struct {
	table   *score.Table
	generic func(key string) bool

	// videos by id, which counts from 1.
	videos []*backtestVideo
	known  map[stage.Ref]*backtestVideo
	// observations of all runs so far; a run is a scroll.
	observations []score.Observation
	runs         int64
	creators     score.Creators
	// numbers are those of creators, from 1.
	numbers map[[2]string]int64
	ranked  []rankedRun
	// listed are the outliers after the last run that was scored.
	listed map[int64]bool
}

func newBacktestLibrary(table *score.Table, generic func(key string) bool) *backtestLibrary {
	return &backtestLibrary{table: table, generic: generic, known: map[stage.Ref]*backtestVideo{}, numbers: map[[2]string]int64{}}
}

// add adds the readings of a run, oldest first.
func (l *backtestLibrary) add(run []backtestReading) {
	l.runs++
	for i := range run {
		r := &run[i]
		v := l.known[r.ref]
		if v == nil {
			v = &backtestVideo{id: int64(len(l.videos) + 1), ref: r.ref, facts: r.facts, at: r.at, views: r.views, likes: r.likes}
			l.known[r.ref], l.videos = v, append(l.videos, v)
		} else {
			v.facts.update(r.facts)
			v.read(r)
		}
		l.creators.Add(r.ref.Platform, r.facts.creatorID, r.facts.handle)
		l.observations = append(l.observations, score.Observation{Video: v.id, Scroll: l.runs, At: r.at, Views: r.views, Likes: r.likes})
	}
}

// creator is the number of a video's creator, as it is known so far; 0 if it is not.
func (l *backtestLibrary) creator(v *backtestVideo) int64 {
	key := l.creators.Key(v.ref.Platform, v.facts.creatorID, v.facts.handle)
	if key == "" {
		return 0
	}
	at := [2]string{v.ref.Platform, key}
	if l.numbers[at] == 0 {
		l.numbers[at] = int64(len(l.numbers) + 1)
	}
	return l.numbers[at]
}

// gathered are the videos of a creator.
type gathered struct {
	readings []score.Reading
	*score.Creator
	// followers of the newest record that has them, which is of followersAt; 0 if none has.
	followers, followersAt int64
	stands                 map[score.Kind]*score.Standing
}

// score scores every video after a run; one of no known creator has no peers of its own.
// Entered are the outliers that were none before.
func (l *backtestLibrary) score(run []backtestReading) ([]score.Tested, error) {
	creators, kinds := map[int64]*gathered{}, map[score.Kind][]score.Reading{}
	var order []*gathered
	for _, v := range l.videos {
		r := score.Reading{
			ID: v.id, Kind: v.facts.known.Kind(v.ref.Platform, v.facts.hashtags),
			PostedAt: v.facts.known.PostedAt, ObservedAt: v.at, Views: v.views, Likes: v.likes,
		}
		creator := l.creator(v)
		if creator == 0 {
			creator = -v.id
		}
		c := creators[creator]
		if c == nil {
			c = &gathered{stands: map[score.Kind]*score.Standing{}}
			creators[creator], order = c, append(order, c)
		}
		if c.readings = append(c.readings, r); v.facts.followersAt > c.followersAt {
			c.followers, c.followersAt = v.facts.followers, v.facts.followersAt
		}
		kinds[r.Kind] = append(kinds[r.Kind], r)
	}
	niches, standings := make(map[score.Kind]*score.Niche, len(kinds)), make(map[score.Kind]score.Standings, len(kinds))
	for kind, readings := range kinds {
		niches[kind], standings[kind] = l.table.NicheOf(readings), score.Standings{}
	}
	for _, c := range order {
		c.Creator = l.table.Creator(c.readings)
		c.Standings(c.followers, func(kind score.Kind, at score.Standing) {
			c.stands[kind] = &at
			standings[kind].Add(at, 1)
		})
	}
	read := make(map[[2]int64]bool, len(run))
	for i := range run {
		read[[2]int64{l.known[run[i].ref].id, run[i].at}] = true
	}
	all, listed := make([]score.Tested, 0, len(l.videos)), map[int64]bool{}
	for _, c := range order {
		for i := range c.Len() {
			kind := c.At(i).Kind
			o, err := c.Score(i, niches[kind], nil)
			if err != nil {
				return nil, err
			}
			one := score.Tested{Outlier: o, Read: read[[2]int64{o.ID, o.ObservedAt}], Entered: o.Listed && !l.listed[o.ID]}
			if o.OwnViews > 0 {
				alike, _ := standings[kind].Alike(c.followers, c.stands[kind])
				one.Early = o.Early(alike)
			}
			listed[o.ID] = o.Listed
			all = append(all, one)
		}
	}
	l.listed = listed
	return all, nil
}
