package videos

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/observation"
	"github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/ent/videodoc"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/plugins/stage"
)

// knownAtOnce is how many videos one look-up asks for.
const knownAtOnce = 100

// Catalog answers which videos the tenant's library has, and what was read of them last.
type Catalog struct {
	db        *store.DB
	retention []Retention
}

// Known returns an entry for each of the videos that the library has: whether it
// has evidence too.
func (c Catalog) Known(ctx context.Context, refs []stage.Ref) (map[stage.Ref]bool, error) {
	known := make(map[stage.Ref]bool, len(refs))
	err := eachKnown(refs, func(platform string, ids []string) error {
		rows, err := c.db.Ent().Video.Query().Where(video.Platform(platform), video.ExternalIDIn(ids...)).
			Select(video.FieldExternalID, video.FieldHookOrder).All(ctx)
		for _, row := range rows {
			known[stage.Ref{Platform: platform, ExternalID: row.ExternalID}] = row.HookOrder != nil && len(*row.HookOrder) > 0
		}
		return err
	})
	return known, err
}

// LastObserved returns when each of the videos of some records that the library has was
// observed last, in Unix milliseconds. repeats has an entry for each record: true where
// the library has the video, and [Service.Renew] would change nothing by the record.
func (c Catalog) LastObserved(ctx context.Context, records []*stage.Record) (last map[stage.Ref]int64, repeats []bool, err error) {
	refs := refsOf(records)
	last, digests := make(map[stage.Ref]int64, len(refs)), make(map[stage.Ref]int64, len(refs))
	err = eachKnown(refs, func(platform string, ids []string) error {
		rows, err := c.db.Ent().Video.Query().Where(video.Platform(platform), video.ExternalIDIn(ids...)).
			Select(video.FieldExternalID, video.FieldObservedAt, video.FieldDigest).All(ctx)
		for _, row := range rows {
			ref := stage.Ref{Platform: platform, ExternalID: row.ExternalID}
			last[ref], digests[ref] = row.ObservedAt, row.Digest
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	repeats = make([]bool, len(records))
	for i, r := range records {
		digest, known := digests[r.Ref]
		repeats[i] = known && (numbersOnly(r) || digestOf(r) == digest)
	}
	return last, repeats, nil
}

// LastRead returns what is known of those of some videos that the library has, as records:
// the time of the post, and the views of the newest reading that has them.
func (c Catalog) LastRead(ctx context.Context, refs []stage.Ref) (map[stage.Ref]stage.Record, error) {
	known := make(map[stage.Ref]stage.Record, len(refs))
	err := eachKnown(refs, func(platform string, ids []string) error {
		rows, err := c.db.Ent().Video.Query().Where(video.Platform(platform), video.ExternalIDIn(ids...)).
			Select(video.FieldExternalID, video.FieldPostedAt, video.FieldUsableViews, video.FieldUsableAt).All(ctx)
		for _, row := range rows {
			ref := stage.Ref{Platform: platform, ExternalID: row.ExternalID}
			known[ref] = stage.Record{Ref: ref, PostedAt: row.PostedAt, Metrics: stage.Metrics{Views: row.UsableViews, ObservedAt: row.UsableAt}}
		}
		return err
	})
	return known, err
}

// ObservedIn returns when some scrolls, nil for all, observed videos: for each video that
// has an observation by one of them, the scroll and the time.
func (c Catalog) ObservedIn(ctx context.Context, scrolls []int64, refs []stage.Ref) (map[stage.Ref]map[int64]int64, error) {
	found := map[stage.Ref]map[int64]int64{}
	if scrolls != nil && len(scrolls) == 0 {
		return found, nil
	}
	err := eachKnown(refs, func(platform string, ids []string) error {
		rows, err := c.db.Ent().Video.Query().Where(video.Platform(platform), video.ExternalIDIn(ids...)).Select(video.FieldExternalID).All(ctx)
		if err != nil {
			return err
		}
		of := make(map[int64]stage.Ref, len(rows))
		for _, row := range rows {
			of[row.ID] = stage.Ref{Platform: platform, ExternalID: row.ExternalID}
		}
		query := c.db.Ent().Observation.Query().Where(observation.VideoIDIn(slices.Sorted(maps.Keys(of))...))
		if scrolls != nil {
			query.Where(observation.ScrollIDIn(scrolls...))
		}
		seen, err := query.Select(observation.FieldVideoID, observation.FieldScrollID, observation.FieldObservedAt).All(ctx)
		for _, o := range seen {
			ref := of[o.VideoID]
			if found[ref] == nil {
				found[ref] = map[int64]int64{}
			}
			found[ref][o.ScrollID] = o.ObservedAt
		}
		return err
	})
	return found, err
}

// eachKnown calls do with the ids of each platform, knownAtOnce at a time.
func eachKnown(refs []stage.Ref, do func(platform string, ids []string) error) error {
	platforms := byPlatform(refs)
	for _, platform := range slices.Sorted(maps.Keys(platforms)) {
		for ids := range slices.Chunk(platforms[platform], knownAtOnce) {
			if err := do(platform, ids); err != nil {
				return fmt.Errorf("look up known videos: %w", err)
			}
		}
	}
	return nil
}

// readBefore returns the videos that a batch has a reading of which the library has too:
// of the same time. It asks only for batches that are to be kept once.
func (s *Service) readBefore(ctx context.Context, tx *store.Tx, batch Batch, records []*stage.Record, known map[stage.Ref]*Video) (read map[int64]bool, err error) {
	read = map[int64]bool{}
	if !batch.Once {
		return read, nil
	}
	var pairs [][]any
	for _, r := range records {
		if v := known[r.Ref]; v != nil && r.Metrics.ObservedAt != nil {
			pairs = append(pairs, []any{v.id, *r.Metrics.ObservedAt})
		}
	}
	if len(pairs) == 0 {
		return read, nil
	}
	err = store.EachIn(ctx, tx, s.db.Hot(`SELECT n.column1 FROM (VALUES {values:1 BIGINT,BIGINT}) AS n
WHERE EXISTS (SELECT 1 FROM observations o WHERE {tenant:o} AND o.video_id = n.column1 AND o.observed_at = n.column2)`), func(id *int64) (bool, error) {
		read[*id] = true
		return true, nil
	}, pairs)
	if err != nil {
		return nil, fmt.Errorf("find readings: %w", err)
	}
	return read, nil
}

// storedCreator is what a creator's row says. The writers of a library write one after
// another, so it holds until the end of the transaction.
type storedCreator struct {
	id     int64
	handle string
	// marked for the next scoring.
	marked bool
}

// stored looks up the rows of creators.
func (c *creators) stored(ctx context.Context, tx *store.Tx, handles map[name]string) (map[name]storedCreator, error) {
	keys := map[string][]string{}
	for n := range handles {
		keys[n.platform] = append(keys[n.platform], n.key)
	}
	stored := make(map[name]storedCreator, len(handles))
	for _, platform := range slices.Sorted(maps.Keys(keys)) {
		slices.Sort(keys[platform])
		err := store.EachIn(ctx, tx, c.hot.creators, func(row *struct {
			ID          int64
			Key, Handle string
			Dirty       bool
		},
		) (bool, error) {
			stored[name{platform, row.Key}] = storedCreator{row.ID, row.Handle, row.Dirty}
			return true, nil
		}, platform, keys[platform])
		if err != nil {
			return nil, fmt.Errorf("find creators: %w", err)
		}
	}
	return stored, nil
}

// seenLast is the statement of the ids and places of the videos that were first seen last,
// after the place $1, where one of the conditions holds: each is a range of an index, of
// each kind.
func (c Catalog) seenLast(conditions []string, limit int) string {
	var ranges []string
	for _, where := range conditions {
		for _, kind := range Kinds() {
			ranges = append(ranges, "SELECT id, seen_order AS place FROM videos WHERE {tenant} AND "+where+" AND kind = '"+kind+"' AND seen_order > $1")
		}
	}
	return c.db.Merged(ranges, limit)
}

// trackedText is the statement of Tracked; $2 is the platform.
func (c Catalog) trackedText(limit int) string {
	first := c.seenLast([]string{"archived = 0 AND platform = $2 AND gone_at IS NULL"}, limit)
	return fmt.Sprintf(`SELECT v.id, v.external_id FROM (%s) k CROSS JOIN videos v WHERE v.id = k.id AND +{tenant:v} ORDER BY k.place LIMIT %d`, first, limit)
}

// Tracked returns videos of a platform that are neither archived nor gone, those
// that were first seen last at the beginning. after is 0 for the first call, then
// the next of the call before; next is 0 at the end.
func (c Catalog) Tracked(ctx context.Context, platform string, after int64, limit int) (refs []stage.Ref, next int64, err error) {
	from := []byte{0}
	if after != 0 {
		switch row, err := c.db.Ent().Video.Get(ctx, after); {
		case err == nil:
			from = row.SeenOrder
		case !ent.IsNotFound(err):
			return nil, 0, fmt.Errorf("find tracked videos: %w", err)
		}
	}
	rows, err := c.db.Hot(c.trackedText(limit)).Query(ctx, from, platform)
	err = store.Scan(rows, err)(func(rows *sql.Rows) error {
		ref := stage.Ref{Platform: platform}
		err := rows.Scan(&next, &ref.ExternalID)
		refs = append(refs, ref)
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list tracked videos: %w", err)
	}
	if len(refs) < limit {
		next = 0
	}
	return refs, next, nil
}

// Young returns videos of a platform that were posted after a time, in Unix milliseconds,
// and are neither archived nor gone, the newest first.
func (c Catalog) Young(ctx context.Context, platform string, after int64, limit int) ([]stage.Ref, error) {
	var found []*ent.Video
	for _, kind := range score.KindsOf(platform) { // each is one range of an index
		rows, err := c.db.Ent().Video.Query().
			Where(video.GrowthKind(string(kind)), video.PostedAtGT(after), video.GoneAtIsNil(), video.Archived(0)).
			Order(video.ByPostedAt(entsql.OrderDesc()), video.ByID()).Limit(limit).
			Select(video.FieldExternalID, video.FieldPostedAt).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("list young videos: %w", err)
		}
		found = append(found, rows...)
	}
	slices.SortStableFunc(found, func(a, b *ent.Video) int { return cmp.Compare(*b.PostedAt, *a.PostedAt) })
	refs := make([]stage.Ref, 0, min(len(found), limit))
	for _, row := range found[:min(len(found), limit)] {
		refs = append(refs, stage.Ref{Platform: platform, ExternalID: row.ExternalID})
	}
	return refs, nil
}

// IDOf returns the public id of a video; ok is false if the library does not have it.
func (c Catalog) IDOf(ctx context.Context, ref stage.Ref) (id string, ok bool, err error) {
	found, err := c.db.Ent().Video.Query().Where(video.Platform(ref.Platform), video.ExternalID(ref.ExternalID)).OnlyID(ctx)
	if ent.IsNotFound(err) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("find a video: %w", err)
	}
	return publicid.Format(publicid.Video, found), true, nil
}

// MaxNewest is the most videos that Newest returns.
const MaxNewest = 2000

// Newest returns the ids of at most so many videos, archived ones too, those that were
// first seen last at the beginning.
func (c Catalog) Newest(ctx context.Context, limit int) (ids []int64, err error) {
	first := c.seenLast([]string{"archived = 0", "archived = 1"}, MaxNewest) // one statement for every limit
	ids, err = store.Query[int64](ctx, c.db.Hot(`SELECT k.id FROM (`+first+`) k ORDER BY k.place`), []byte{0})
	if err != nil {
		return nil, fmt.Errorf("list the newest videos: %w", err)
	}
	return ids[:min(len(ids), limit)], nil
}

// Records returns some videos, by id, as a source would deliver them, as far as the library
// keeps it: without the creator's id, and of cues and stickers only the evidence that
// came of them. The keys are those of stages; the others follow from the rest.
func (c Catalog) Records(ctx context.Context, ids []int64) (map[int64]stage.Record, error) {
	byIDs := viewer.ByIDs(ctx)
	docs, err := c.db.Ent().VideoDoc.Query().Where(videodoc.IDIn(ids...)).All(byIDs)
	if err != nil {
		return nil, fmt.Errorf("read videos: %w", err)
	}
	gone, err := c.db.Ent().Video.Query().Where(video.IDIn(ids...), video.GoneAtNotNil()).Select(video.FieldGoneAt).All(byIDs)
	if err != nil {
		return nil, fmt.Errorf("read videos: %w", err)
	}
	goneAt := make(map[int64]*int64, len(gone))
	for _, row := range gone {
		goneAt[row.ID] = row.GoneAt
	}
	records := make(map[int64]stage.Record, len(docs))
	for _, doc := range docs {
		v := &Video{id: doc.ID, goneAt: goneAt[doc.ID]}
		if err := v.parse(texts{doc: doc.Doc, hook: doc.Hook, language: doc.Language, keys: doc.Keys}); err != nil {
			return nil, err
		}
		v.restore()
		records[doc.ID] = v.record()
	}
	return records, nil
}

// record is the video as a source would deliver it.
func (v *Video) record() stage.Record {
	r := stage.Record{
		Ref: v.Ref, SourceURL: v.SourceURL, PostedAt: v.PostedAt, Metadata: json.RawMessage(v.Metadata),
		Metrics: stage.Metrics{
			Views: v.Metrics.Views, Likes: v.Metrics.Likes, Comments: v.Metrics.Comments, Shares: v.Metrics.Shares,
			Saves: v.Metrics.Saves, ObservedAt: v.Metrics.ObservedAt,
		},
	}
	if o := v.Origin; o != nil {
		r.Source = &stage.Source{Kind: o.Kind}
		if o.Handle != nil {
			r.Source.Handle = *o.Handle
		}
		if o.SeededBy != nil {
			r.Source.SeededBy = *o.SeededBy
		}
	}
	if h := v.Hook; h.Version > 0 {
		r.Evidence = &stage.Evidence{Spoken: h.Spoken, OnScreenText: h.OnScreenText}
		if h.Language != nil {
			r.Evidence.Language = *h.Language
		}
		if h.Visual.Kind() != 'n' {
			r.Evidence.Visual = json.RawMessage(h.Visual)
		}
	}
	known := FactsOf(v.Metadata)
	derived := known.TrendKeys(v.Platform)
	for _, key := range v.Keys {
		if !fromHook(key) && !slices.Contains(derived, key) {
			r.Keys = append(r.Keys, key)
		}
	}
	return r
}
