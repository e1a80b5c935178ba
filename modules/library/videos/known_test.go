package videos

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	postedAt = int64(1_785_924_037_000) // not on a quarter of an hour
	thatDay  = postedAt - postedAt%86_400_000
)

// sightings are what sources know of one Short of 58.4 seconds: all that they give besides
// numbers.
func sightings() map[string]stage.Record {
	record := func(address, handle string, posted int64, metadata string) stage.Record {
		r := stage.Record{Ref: stage.Ref{Platform: "youtube", ExternalID: "dQw4w9WgXcQ"}, SourceURL: address, Source: &stage.Source{Kind: "niche", Handle: handle}}
		if posted > 0 {
			r.PostedAt = &posted
		}
		if metadata != "" {
			r.Metadata = []byte(metadata)
		}
		return r
	}
	const short, watch = "https://www.youtube.com/shorts/dQw4w9WgXcQ", "https://www.youtube.com/watch?v=dQw4w9WgXcQ"
	return map[string]stage.Record{
		"api of the channel": record(short, "beans", postedAt, `{"caption":"Pour slower, twice","hashtags":["pour"],"durationSeconds":58,"formatBasis":"uush"}`),
		"api of a search":    record(watch, "", postedAt, `{"caption":"Pour slower, twice","durationSeconds":58,"formatBasis":"duration"}`),
		"feed":               record(short, "Beans", postedAt, `{"caption":"Pour slower, twice","description":"How to…","formatBasis":"uush"}`),
		"flat yt-dlp":        record(short, "", 0, `{"caption":"Pour slower…"}`),
		"full yt-dlp":        record(watch, "@beans", postedAt, `{"caption":"Pour slower, twice","description":"How to pour","language":"en","soundId":"s1","soundTitle":"Rain","durationSeconds":58.4,"mediaType":"short"}`),
		"yt-dlp by a day":    record(watch, "Beans and more", thatDay, `{"title":"Pour slower, twice","mediaType":"video"}`),
		"export":             record("", "Beans Coffee", thatDay, `{"durationSeconds":null,"hashtags":[]}`),
		"numbers alone":      record("", "", 0, ""),
	}
}

// outcome is what must not depend on the order.
type outcome struct {
	Kind           score.Kind
	Duration       float64
	PostedAt       int64
	Handle, Origin string
	IsShort        bool
}

func outcomeOf(v *Video) outcome {
	o := outcome{Kind: v.growthKind, PostedAt: v.posted(), Handle: v.identity.handle, IsShort: score.ShortAddress(v.SourceURL)}
	if v.duration != nil {
		o.Duration = float64(*v.duration) / 1000
	}
	if v.Origin != nil && v.Origin.Handle != nil {
		o.Origin = strings.TrimPrefix(*v.Origin.Handle, "@")
	}
	return o
}

// merged is the video after sightings in an order, some of them in one batch.
func merged(order []stage.Record, together func() bool) *Video {
	var batches [][]stage.Record
	for _, r := range order {
		if n := len(batches); n > 0 && together() {
			batches[n-1] = append(batches[n-1], r)
		} else {
			batches = append(batches, []stage.Record{r})
		}
	}
	var v *Video
	for at, batch := range batches {
		b := Batch{ScrollID: int64(at + 1), At: postedAt + int64(at)}
		r := distinct(batch)[0]
		if v == nil {
			v = newVideo(1, r, b)
		} else {
			v.Merge(r, r, b.At)
			v.Observe(r, &b)
		}
	}
	return v
}

// TestOrderOfSightings: kind, length, time and handle are the best known, whichever source
// saw the video first, last, or again.
func TestOrderOfSightings(t *testing.T) {
	t.Parallel()
	var all []stage.Record
	for _, name := range []string{"api of the channel", "api of a search", "feed", "flat yt-dlp", "full yt-dlp", "yt-dlp by a day", "export", "numbers alone"} {
		all = append(all, sightings()[name])
	}
	want := outcome{Kind: score.YouTubeShort, Duration: 58.4, PostedAt: postedAt, Handle: "beans", Origin: "beans", IsShort: true}
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		order := append([]stage.Record(nil), all...)
		for range random.IntN(4) {
			order = append(order, all[random.IntN(len(all))])
		}
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		v := merged(order, func() bool { return random.IntN(3) == 0 })
		if diff := cmp.Diff(want, outcomeOf(v)); diff != "" {
			t.Fatalf("after %s (-want +got):\n%s", addresses(order), diff)
		}
		known := v.facts()
		about, _ := memberOf(v.Metadata, "description")
		got := []string{known.caption, strings.Join(known.Hashtags, " "), plain(about), known.language, known.soundID, known.soundTitle, known.basis, known.mediaType}
		if diff := cmp.Diff([]string{"Pour slower, twice", "pour", "How to pour", "en", "s1", "Rain", "uush", "short"}, got); diff != "" {
			t.Fatalf("after %s: caption, hashtags, description, language, sound, basis and kind of media (-want +got):\n%s", addresses(order), diff)
		}
	}
}

func addresses(order []stage.Record) (all []string) {
	for _, r := range order {
		all = append(all, r.SourceURL+" "+r.Source.Handle+" "+string(r.Metadata))
	}
	return all
}

// TestSubsetsOfSightings: what few sources know does not depend on the order either.
func TestSubsetsOfSightings(t *testing.T) {
	t.Parallel()
	var all []stage.Record
	for _, r := range sightings() {
		all = append(all, r)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 2_000 {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		some := append([]stage.Record(nil), all[:1+random.IntN(4)]...)
		never := func() bool { return false }
		want := outcomeOf(merged(some, never))
		want.Origin = strings.ToLower(want.Origin)
		before := addresses(some)
		random.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		got := outcomeOf(merged(some, never))
		got.Origin = strings.ToLower(got.Origin)
		if got.Handle != want.Handle && !isHandle(got.Handle) && !isHandle(want.Handle) {
			got.Handle, got.Origin = want.Handle, want.Origin // none of them knew one
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("after %s, then %s (-first +second):\n%s", before, addresses(some), diff)
		}
	}
}

// TestShortFoundByItsTab stays one, though a poorer sighting has neither length nor list.
func TestShortFoundByItsTab(t *testing.T) {
	t.Parallel()
	flat := sightings()["flat yt-dlp"]
	v := newVideo(1, &flat, Batch{ScrollID: 1, At: postedAt})
	if v.growthKind != score.YouTubeShort {
		t.Errorf("a Short of the Shorts tab is %s, want %s", v.growthKind, score.YouTubeShort)
	}
	long := stage.Record{Ref: flat.Ref, Metadata: []byte(`{"durationSeconds":1200}`)}
	if v.Merge(&long, &long, postedAt); v.growthKind != score.YouTubeLong {
		t.Errorf("20 minutes at a Short's address are %s, want %s", v.growthKind, score.YouTubeLong)
	}
}
