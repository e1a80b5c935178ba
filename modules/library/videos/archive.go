package videos

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// videosAtOnce bounds the videos of a statement that names them.
const videosAtOnce = 500

// archiveAtOnce keeps a batch's statements within the number of placeholders that
// SQLite takes.
const archiveAtOnce = 500

// Archive adds a batch to the library, in the caller's transaction: new videos,
// and an observation for each video of the batch. It returns the
// videos that are new, and how many, known before this scroll, were observed again.
// Archiving the same batch twice changes nothing and returns nothing. What was deleted and
// has a tombstone is left out.
func (s *Service) Archive(ctx context.Context, tx *store.Tx, batch Batch) (added []stage.Ref, reobserved int, err error) {
	for part := range slices.Chunk(distinct(batch.Records), archiveAtOnce) {
		a, r, err := s.archive(ctx, tx, batch, part)
		if err != nil {
			return nil, 0, fmt.Errorf("archive %d videos of scroll %d: %w", len(batch.Records), batch.ScrollID, err)
		}
		added, reobserved = append(added, a...), reobserved+r
	}
	return added, reobserved, nil
}

func (s *Service) archive(ctx context.Context, tx *store.Tx, batch Batch, records []*stage.Record) (added []stage.Ref, reobserved int, err error) {
	if err := s.Raise(ctx, tx); err != nil {
		return nil, 0, err
	}
	records, err = s.Tombstones.Welcome(ctx, tx, records)
	if err != nil {
		return nil, 0, err
	}
	known, err := s.load(ctx, tx, batch.ScrollID, refsOf(records))
	if err != nil {
		return nil, 0, err
	}
	read, err := s.readBefore(ctx, tx, batch, records, known)
	if err != nil {
		return nil, 0, err
	}
	made := make([]*Video, len(records)) // nil if nothing changes
	ids := make([]int64, len(records))
	for i, r := range records {
		switch v := known[r.Ref]; {
		case v == nil:
			ids[i], added = s.db.NewID(), append(added, r.Ref)
		case !v.seen && !read[v.id] && !r.Unread && v.scrollID != batch.ScrollID:
			reobserved++
		}
	}
	eachOn(batch.threads(), len(records), func(i int) {
		r := records[i]
		switch v := known[r.Ref]; {
		case v == nil:
			made[i] = newVideo(ids[i], r, batch)
		case v.seen || read[v.id]:
			if v.Merge(r, batch.said(r), batch.At) {
				made[i] = v
			}
		case r.Unread:
			v.Merge(r, batch.said(r), batch.At)
			v.see(batch.At)
			made[i] = v
		default:
			v.Merge(r, batch.said(r), batch.At)
			v.Observe(r, &batch)
			made[i] = v
		}
	})
	changed := slices.DeleteFunc(made, func(v *Video) bool { return v == nil })
	if err := s.save(ctx, tx, batch, changed); err != nil {
		return nil, 0, err
	}
	for i, r := range records {
		if v := known[r.Ref]; v != nil {
			ids[i] = v.id
		}
	}
	return added, reobserved, s.saveFrames(ctx, tx, batch, records, ids)
}

// eachOn calls do with the numbers below n, on so many threads at once; on one in their
// order. A panic of do is the caller's.
func eachOn(threads, n int, do func(i int)) {
	if threads < 2 {
		for i := range n {
			do(i)
		}
		return
	}
	const atOnce = 16
	var next atomic.Int64
	var all sync.WaitGroup
	var fault atomic.Pointer[any]
	for range threads {
		all.Go(func() {
			defer func() {
				if cause := recover(); cause != nil {
					fault.Store(&cause)
				}
			}()
			for end := int(next.Add(atOnce)); end-atOnce < n; end = int(next.Add(atOnce)) {
				for i := end - atOnce; i < min(end, n); i++ {
					do(i)
				}
			}
		})
	}
	all.Wait()
	if cause := fault.Load(); cause != nil {
		panic(*cause)
	}
}

// Renew updates known videos from records that bring no new reading of their
// numbers, such as a file that is read again with a better column map. It adds
// neither videos nor observations and returns how many videos changed.
func (s *Service) Renew(ctx context.Context, tx *store.Tx, batch Batch) (changed int, err error) {
	for part := range slices.Chunk(distinct(batch.Records), archiveAtOnce) {
		n, err := s.renew(ctx, tx, batch, part)
		if err != nil {
			return 0, fmt.Errorf("renew %d videos: %w", len(batch.Records), err)
		}
		changed += n
	}
	return changed, nil
}

func (s *Service) renew(ctx context.Context, tx *store.Tx, batch Batch, records []*stage.Record) (int, error) {
	differing := func() (differ []*Video, err error) {
		known, err := s.load(ctx, tx, batch.ScrollID, refsOf(records))
		for _, r := range records {
			if v := known[r.Ref]; v != nil && v.Merge(r, batch.said(r), batch.At) {
				differ = append(differ, v)
			}
		}
		return differ, err
	}
	differ, err := differing()
	if err != nil || len(differ) == 0 {
		return 0, err
	}
	if err := s.Raise(ctx, tx); err != nil {
		return 0, err
	}
	if differ, err = differing(); err != nil { // again, as other writers wait from now on
		return 0, err
	}
	return len(differ), s.save(ctx, tx, batch, differ)
}

// Gone marks videos that their platform removed, in the caller's transaction:
// their numbers stay, and no scroll refreshes them again. A video that is observed
// again is no longer gone. Gone returns how many were not marked before.
func (s *Service) Gone(ctx context.Context, tx *store.Tx, refs []stage.Ref, at int64) (marked int, err error) {
	if err := s.Raise(ctx, tx); err != nil {
		return 0, err
	}
	for part := range slices.Chunk(refs, archiveAtOnce) {
		known, err := s.load(ctx, tx, 0, part)
		if err != nil {
			return 0, err
		}
		var gone []*Video
		var changes []feed.Change
		for _, ref := range part {
			if v := known[cleanRef(ref)]; v != nil && v.goneAt == nil {
				v.markGone(at)
				gone = append(gone, v)
				changes = append(changes, feed.Change{Kind: feed.VideoGone, Video: v.id})
			}
		}
		if err := feed.Append(ctx, tx, changes...); err != nil {
			return 0, err
		}
		if err := s.save(ctx, tx, Batch{}, gone); err != nil {
			return 0, fmt.Errorf("mark %d videos as gone: %w", len(part), err)
		}
		marked += len(gone)
	}
	return marked, nil
}

func refsOf(records []*stage.Record) []stage.Ref {
	refs := make([]stage.Ref, len(records))
	for i, r := range records {
		refs[i] = r.Ref
	}
	return refs
}

// Kinds of a video's origin; empty for videos without one.
const (
	Own        = "own"
	Competitor = "competitor"
	Niche      = "niche"
)

// Kinds returns every value of the kind column, each a range of the lists' indexes.
func Kinds() []string { return []string{Own, Competitor, Niche, ""} }

// Batch is a part of what a scroll gathered.
type Batch struct {
	// ScrollID is the scroll; 0 for none.
	ScrollID int64
	// Subject is the canonicalId of the brief that the scroll works for; empty for none.
	Subject string
	// Stage is the source that delivered the records, as observations keep it, but for those of
	// Stages; empty if an earlier version collected them.
	Stage  string
	Stages map[stage.Ref]string
	// At is the time of the run in Unix milliseconds.
	At int64
	// Once leaves out an observation of the very time at which a video was observed
	// before, by whichever scroll: it is the same reading again.
	Once bool
	// Bulk says that nothing else waits for this process: it may work on two processors.
	Bulk bool
	// Records may be of any number; 100 to 200 make a good transaction. A video
	// that occurs twice counts once; the earlier record fills the gaps of the later.
	Records []stage.Record
	// Said is what sources said of videos to whose records stages have added something.
	Said map[stage.Ref]stage.Record
	// Frames are pictures of videos of the records, whose header was checked; they replace
	// earlier ones. FramedVideos is how many videos of the library keep theirs.
	Frames       map[stage.Ref][]stage.Frame
	FramedVideos int
}

// threads is on how many processors the batch may be worked on.
func (b *Batch) threads() int {
	if b.Bulk {
		return min(2, runtime.GOMAXPROCS(0))
	}
	return 1
}

// source delivered a record of the batch.
func (b *Batch) source(r *stage.Record) string {
	if other := b.Stages[r.Ref]; other != "" {
		return other
	}
	return b.Stage
}

// said is what a source said by a record of the batch.
func (b *Batch) said(r *stage.Record) *stage.Record {
	if said, found := b.Said[r.Ref]; found {
		return &said
	}
	return r
}
