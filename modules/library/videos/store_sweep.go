package videos

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/frame"
	"github.com/scrollery/scrollery/ent/library"
	"github.com/scrollery/scrollery/ent/observation"
	"github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Retention is how long what a source read is kept.
type Retention struct {
	// Source is the id of the source, and Platform that of its videos.
	Source, Platform string
	// Keep is how long after the source has read a video last what it read is deleted: its
	// readings, and the video unless another source or an import has read it too.
	Keep time.Duration
	// Texts says that only texts go: captions, titles, hashtags, hooks and frames of videos that
	// nothing else has read. Handles stay, by which scores find peers.
	Texts bool
	// Refresh is how long after that a scroll reads the video again before others.
	Refresh time.Duration
}

// name is that of the sweep's place.
func (r Retention) name() string {
	if r.Texts {
		return r.Source + " texts"
	}
	return r.Source
}

const (
	// SweptAtOnce is how many videos one transaction of a sweep deletes: fewer than a
	// customer's deletion, since no one waits for it.
	SweptAtOnce = 10
	// lookedAtOnce is how many readings a sweep looks at in one statement.
	lookedAtOnce = 500
)

// reached is a place among the readings of a source: their time, then the video.
type reached [2]int64

// dueText is the statement of the readings of a source after a place, the oldest first, and
// whether the source has read the video again since. That is looked up among the readings of the
// video: || keeps planners from those of the source, which are all of the library's.
var dueText = fmt.Sprintf(`SELECT o.observed_at, o.video_id,
EXISTS (SELECT 1 FROM observations l WHERE {tenant:l} AND l.video_id = o.video_id AND l.stage || '' = $1 AND l.observed_at > o.observed_at) AS again
FROM observations o WHERE {tenant:o} AND o.stage = $1 AND (o.observed_at, o.video_id) > ($2, $3) AND o.observed_at <= $4
ORDER BY o.observed_at, o.video_id LIMIT %d`, lookedAtOnce)

// look returns at most limit videos that a source read last after a place and not after a time,
// the oldest first, and the place of the last reading that was looked at; done if there are no more.
func (c Catalog) look(ctx context.Context, source string, after reached, until int64, limit int) (ids []int64, at reached, done bool, err error) {
	at = after
	for len(ids) < limit {
		rows := 0
		err = store.Each(ctx, c.db.Hot(dueText), func(row *struct {
			ObservedAt, VideoID int64
			Again               bool
		},
		) (bool, error) {
			rows++
			at = reached{row.ObservedAt, row.VideoID}
			if !row.Again {
				ids = append(ids, row.VideoID)
			}
			return len(ids) < limit, nil
		}, source, at[0], at[1], until)
		if err != nil {
			return nil, at, false, fmt.Errorf("find what %s read last: %w", source, err)
		}
		if rows == 0 {
			return ids, at, true, nil
		}
	}
	return ids, at, false, nil
}

// Sweep deletes some of what a source read and has not read again in time, of the tenant's
// videos at most SweptAtOnce, the oldest first, in one transaction. It leaves no tombstone:
// what is seen again comes back. done is true once nothing is due. It goes on where the last
// call ended, so that it looks at each reading once.
func (s Sweeps) Sweep(ctx context.Context, r Retention, now time.Time) (videos, readings int, done bool, err error) {
	swept, places, err := s.places(ctx)
	if err != nil || places == nil {
		return 0, 0, true, err
	}
	name, forget := r.name(), s.forgetSource
	if r.Texts {
		forget = s.forgetTexts
	}
	until := now.Add(-r.Keep).UnixMilli()
	ids, at, done, err := s.deletions.videos.Catalog.look(ctx, r.Source, places[name], until, SweptAtOnce)
	if err != nil || at == places[name] {
		return 0, 0, done, err
	}
	places[name] = at
	write := s.deletions.videos.Hold
	if len(ids) == 0 { // no list changes
		write = s.db.Write
	}
	err = write(WithMore(ctx, !done), func(ctx context.Context, tx *store.Tx) error {
		if videos, readings, err = forget(ctx, tx, r.Source, ids, until); err != nil {
			return err
		}
		return s.savePlaces(ctx, tx, swept, places)
	})
	if err != nil {
		return 0, 0, false, fmt.Errorf("sweep what %s read: %w", r.Source, err)
	}
	return videos, readings, done, nil
}

// places are how far the sweeps of the tenant's library came, by what they delete, and as they are
// stored; nil if there is no library.
func (s Sweeps) places(ctx context.Context) (stored string, places map[string]reached, err error) {
	row, err := s.db.Ent().Library.Query().Select(library.FieldSwept).Only(ctx)
	if ent.IsNotFound(err) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, fmt.Errorf("read how far sweeps came: %w", err)
	}
	places = map[string]reached{}
	if row.Swept != "" {
		if err := json.Unmarshal([]byte(row.Swept), &places); err != nil {
			return "", nil, fmt.Errorf("read how far sweeps came: %w", err)
		}
	}
	return row.Swept, places, nil
}

// savePlaces stores how far the sweeps came, unless that changed since it was read: what came back
// meanwhile is older than these places.
func (s Sweeps) savePlaces(ctx context.Context, tx *store.Tx, stored string, places map[string]reached) error {
	text, err := json.Marshal(places)
	if err != nil {
		return err
	}
	return tx.Ent().Library.Update().Where(library.Swept(stored)).SetSwept(string(text)).Exec(ctx)
}

// dueRows reads the readings of videos that a source has not read again after a time: its own,
// and for each video those of others, in the order of their times.
func dueRows(ctx context.Context, tx *store.Tx, source string, ids []int64, until int64) (rows []*ent.Observation, left map[int64][]*ent.Observation, err error) {
	if len(ids) == 0 {
		return nil, nil, nil
	}
	observed, err := tx.Ent().Observation.Query().Where(observation.VideoIDIn(ids...)).
		Order(ent.Asc(observation.FieldObservedAt), ent.Asc(observation.FieldID)).All(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("read observations: %w", err)
	}
	left = map[int64][]*ent.Observation{}
	again := map[int64]bool{}
	for _, o := range observed {
		if o.Stage == source {
			rows = append(rows, o)
			again[o.VideoID] = again[o.VideoID] || o.ObservedAt > until
		}
	}
	rows = slices.DeleteFunc(rows, func(o *ent.Observation) bool { return again[o.VideoID] })
	for _, o := range rows {
		left[o.VideoID] = nil
	}
	for _, o := range observed {
		if _, due := left[o.VideoID]; due && o.Stage != source {
			left[o.VideoID] = append(left[o.VideoID], o)
		}
	}
	return rows, left, nil
}

// forgetSource deletes what a source has read of videos, but for those that it has read again
// after a time.
func (s Sweeps) forgetSource(ctx context.Context, tx *store.Tx, source string, ids []int64, until int64) (videos, readings int, err error) {
	rows, left, err := dueRows(ctx, tx, source, ids, until)
	if err != nil {
		return 0, 0, err
	}
	return s.deletions.forget(ctx, tx, rows, left, Removal{})
}

// forgetTexts deletes the texts and the frames of videos that only the source has read, and not again after a
// time. It returns how many lost theirs.
func (s Sweeps) forgetTexts(ctx context.Context, tx *store.Tx, source string, ids []int64, until int64) (videos, readings int, err error) {
	rows, left, err := dueRows(ctx, tx, source, ids, until)
	if err != nil {
		return 0, 0, err
	}
	maps.DeleteFunc(left, func(_ int64, others []*ent.Observation) bool { return len(others) > 0 })
	rows = slices.DeleteFunc(rows, func(o *ent.Observation) bool { _, due := left[o.VideoID]; return !due })
	if len(rows) == 0 {
		return 0, 0, nil
	}
	if err := s.deletions.change(ctx, tx, left, (*Video).forgetTexts); err != nil {
		return 0, 0, err
	}
	if _, err := tx.Ent().Frame.Delete().Where(frame.VideoIDIn(slices.Collect(maps.Keys(left))...)).Exec(ctx); err != nil {
		return 0, 0, fmt.Errorf("delete frames: %w", err)
	}
	return len(left), 0, s.deletions.unscored(ctx, tx, rows) // for their trends
}

// forgetTexts leaves of the video its numbers, what kind it is, and what the caller wrote.
func (v *Video) forgetTexts() {
	kept := jsontext.Value("{}")
	for _, name := range []string{durationMember, basisMember, mediaMember, goneMember} {
		if value, has := memberOf(v.Metadata, name); has {
			kept = withMember(kept, name, value)
		}
	}
	v.Metadata, v.known, v.Keys, v.hasNewWords, v.digest = kept, nil, nil, true, 0
	v.Hook, v.hookChangedAt, v.hookOrder, v.opening = Hook{}, 0, nil, ""
}

// Due returns videos of a platform that the policy deletes soon unless they are read again, the
// oldest first; archived ones too, but none that is gone.
func (c Catalog) Due(ctx context.Context, platform string, now time.Time, limit int) (refs []stage.Ref, err error) {
	for _, r := range c.retention {
		if r.Platform != platform || r.Refresh == 0 {
			continue
		}
		at := reached{now.Add(-r.Keep).UnixMilli(), 0}
		for done := false; !done && len(refs) < limit; {
			var ids []int64
			if ids, at, done, err = c.look(ctx, r.Source, at, now.Add(-r.Refresh).UnixMilli(), min(limit-len(refs), knownAtOnce)); err != nil {
				return nil, err
			}
			rows, err := c.db.Ent().Video.Query().Where(video.IDIn(ids...), video.GoneAtIsNil()).
				Select(video.FieldID, video.FieldExternalID).All(viewer.ByIDs(ctx))
			if err != nil {
				return nil, fmt.Errorf("read what is due: %w", err)
			}
			slices.SortFunc(rows, func(a, b *ent.Video) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
			for _, row := range rows {
				refs = append(refs, stage.Ref{Platform: platform, ExternalID: row.ExternalID})
			}
		}
	}
	return refs, nil
}
