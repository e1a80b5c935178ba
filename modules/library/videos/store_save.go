package videos

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/plugins/stage"
)

// loadedState is what scoring and hooks knew of a video when it was loaded.
type loadedState struct {
	creatorID     int64
	handle        string
	handleOnly    bool
	posted        int64
	growthKind    score.Kind
	hookChangedAt int64
	opening       string
	hookVersion   int
	views         *int64
}

func (v *Video) loadedState() loadedState {
	return loadedState{
		v.creator(), v.identity.handle, v.identity.handleOnly, v.posted(), v.growthKind, v.hookChangedAt, v.opening, v.Hook.Version, v.Metrics.Views,
	}
}

// creator is the row of the video's creator, 0 if unknown.
func (v *Video) creator() int64 {
	if v.identity.creatorID == nil {
		return 0
	}
	return *v.identity.creatorID
}

// movesCreator reports whether what identifies the creator changed.
func (v *Video) movesCreator() bool {
	return v.isNew || v.before.creatorID != v.creator() || v.before.handle != v.identity.handle || v.before.handleOnly != v.identity.handleOnly
}

// isRescored reports whether the video counts otherwise than before.
func (v *Video) isRescored() bool {
	return v.isNew || v.hasNewReading || v.before.posted != v.posted() || v.before.growthKind != v.growthKind || v.before.creatorID != v.creator()
}

// The values of by_niche.
const (
	ByCreator   = 0
	ByNiche     = 1
	AwaitsNiche = 2
)

// byNiche is the column of that name. A video of an unknown creator has no other peers.
// A new one has none until scoring finds some: most creators have few videos, and what
// the row says already is not written again.
func (v *Video) byNiche() int {
	if v.usableViews != nil && (v.isNew || v.identity.creatorID == nil && v.isRescored()) {
		return AwaitsNiche
	}
	return 0
}

// save writes videos, new and known, with their documents and the observations
// that they got, and marks what has to be scored.
func (s *Service) save(ctx context.Context, tx *store.Tx, batch Batch, changed []*Video) error {
	if len(changed) == 0 {
		return nil
	}
	written := write(batch, changed)
	if err := feed.Append(ctx, tx, changesOf(changed, batch.ScrollID)...); err != nil {
		return err
	}
	unsettled, added, err := s.creators.saveCreators(ctx, tx, changed)
	if err != nil {
		return err
	}
	if err := s.saveFollowers(ctx, tx, changed); err != nil {
		return err
	}
	if err := s.saveRows(ctx, tx, batch, changed, written); err != nil {
		return err
	}
	groups, err := s.creators.settle(ctx, tx, unsettled)
	if err != nil {
		return err
	}
	if err := (Deletions{s}).deleteCreators(ctx, tx, leftCreators(changed, groups)); err != nil {
		return err
	}
	groups = append(groups, groupsOf(changed, added)...)
	niches := map[score.Kind]int64{}
	for _, v := range changed {
		if v.isRescored() {
			Touch(niches, v.growthKind, v.posted())
			if !v.isNew {
				Touch(niches, v.before.growthKind, v.before.posted)
			}
		}
	}
	if err := s.rankHooks(ctx, tx, groups); err != nil {
		return err
	}
	return s.MarkNiches(ctx, tx, niches)
}

// leftCreators are the creators that videos have left: those of a batch, and those that were moved,
// whose groups of hooks changed by it.
func leftCreators(changed []*Video, moved []hookGroup) (ids []int64) {
	for _, v := range changed {
		if was := v.before.creatorID; was != 0 && was != v.creator() {
			ids = append(ids, was)
		}
	}
	for _, g := range moved {
		ids = append(ids, g.creator)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// changesOf are the entries in the account's feed: new videos, with or without evidence, new
// readings with other views, and new evidence of known videos.
func changesOf(videos []*Video, scroll int64) []feed.Change {
	changes := make([]feed.Change, 0, 2*len(videos))
	for _, v := range videos {
		switch {
		case v.isNew:
			changes = append(changes, feed.Change{Kind: feed.VideoAdded, Video: v.id, Scroll: scroll, New: views(v.Metrics.Views)})
		case len(v.readings) > 0 && views(v.before.views) != views(v.Metrics.Views):
			changes = append(changes, feed.Change{Kind: feed.VideoReobserved, Video: v.id, Scroll: scroll, Old: views(v.before.views), New: views(v.Metrics.Views)})
		}
		if !v.isNew && v.Hook.Version != v.before.hookVersion {
			changes = append(changes, feed.Change{
				Kind: feed.HookChanged, Video: v.id, Scroll: scroll, Old: feed.Number(v.before.hookVersion), New: feed.Number(v.Hook.Version),
			})
		}
	}
	return changes
}

// views is a count as the feed has it.
func views(n *int64) sql.NullFloat64 {
	if n == nil {
		return sql.NullFloat64{}
	}
	return feed.Number(*n)
}

// saveFollowers stores the followers that the batch read, unless newer ones are stored.
func (s *Service) saveFollowers(ctx context.Context, tx *store.Tx, videos []*Video) error {
	newest := map[int64]*followers{}
	for _, v := range videos {
		id := v.creator()
		if f := v.followers; f != nil && id != 0 && (newest[id] == nil || f.at > newest[id].at) {
			newest[id] = f
		}
	}
	if len(newest) == 0 {
		return nil
	}
	rows := make([][]any, 0, len(newest))
	for _, id := range slices.Sorted(maps.Keys(newest)) { // in one order, or two transactions wait for each other
		rows = append(rows, []any{id, newest[id].count, newest[id].at})
	}
	_, err := s.db.Hot(`UPDATE creators SET followers = $2, followers_at = $3
WHERE id = $1 AND +{tenant} AND (followers_at IS NULL OR followers_at < $3)`).ExecRows(ctx, tx, rows)
	if err != nil {
		return fmt.Errorf("save followers: %w", err)
	}
	return nil
}

// writing is what is written of videos: their documents as rows, and what searches find
// them by.
type writing struct {
	docs  [][]any
	terms []Terms
}

// write returns the texts of videos once they are made; where the batch may have two
// processors, beside the caller. The videos may get a creator meanwhile, and nothing else.
func write(batch Batch, videos []*Video) func() writing {
	made := sync.OnceValue(func() (w writing) {
		w.docs = make([][]any, len(videos))
		for i, v := range videos {
			t := v.Render()
			w.docs[i] = []any{v.id, t.doc, t.hook, v.Hook.Text, t.language, t.keys}
			if v.hasNewWords {
				w.terms = append(w.terms, Terms{Video: v.id, Terms: v.terms()})
			}
		}
		return w
	})
	if batch.threads() > 1 {
		go func() {
			defer func() { _ = recover() }() // the caller meets the same panic
			made()
		}()
	}
	return made
}

// saveRows writes the rows of videos.
func (s *Service) saveRows(ctx context.Context, tx *store.Tx, batch Batch, changed []*Video, written func() writing) error {
	videos := make([][]any, len(changed))
	var readings [][]any
	added := 0
	for i, v := range changed {
		videos[i] = []any{
			v.id, v.Platform, v.ExternalID, v.identity.creatorID, v.Kind(), string(v.growthKind), v.duration, v.identity.handle, Flag(v.identity.handleOnly),
			batch.Subject, v.scrollID, v.PostedAt, v.FirstSeenAt, *v.Metrics.ObservedAt, v.usableViews, v.usableAt, v.usableLikes, v.byNiche(),
			v.goneAt, v.digest, 0, 0, 0, seenOrder(v.FirstSeenAt, v.id), Nullable(v.hookOrder), v.hookChangedAt, v.opening,
			v.postedWeek(), v.risingOrder(s.growth),
		}
		for _, m := range v.readings {
			readings = append(readings, []any{
				s.db.NewID(), v.id, batch.ScrollID, m.source, m.Views, m.Likes, m.Comments, m.Shares, m.Saves, *m.ObservedAt, m.semantics,
			})
		}
		if v.isNew {
			added++
		}
	}
	if _, err := s.hot.saveVideos.ExecIn(ctx, tx, videos); err != nil {
		return fmt.Errorf("save videos: %w", err)
	}
	texts := written()
	if _, err := s.hot.saveDocs.ExecIn(ctx, tx, texts.docs); err != nil {
		return fmt.Errorf("save documents: %w", err)
	}
	if err := Save(ctx, tx, s.db, texts.terms); err != nil {
		return err
	}
	if err := s.addReadings(ctx, tx, readings); err != nil {
		return err
	}
	if added > 0 {
		if err := tx.Ent().Library.Update().AddVideos(int64(added)).Exec(ctx); err != nil {
			return fmt.Errorf("count videos: %w", err)
		}
	}
	return nil
}

// addReadings stores rows of observations, and counts them by source.
func (s *Service) addReadings(ctx context.Context, tx *store.Tx, rows [][]any) error {
	of := map[string]int{}
	for part := range slices.Chunk(rows, readingsAtOnce) {
		if _, err := s.hot.addObservations.ExecIn(ctx, tx, part); err != nil {
			return fmt.Errorf("add observations: %w", err)
		}
		for _, row := range part {
			source, _ := row[3].(string)
			of[source]++
		}
	}
	return s.countReadings(ctx, tx, of)
}

// countReadings adds to the counts of observations by source.
func (s *Service) countReadings(ctx context.Context, tx *store.Tx, of map[string]int) error {
	rows := make([][]any, 0, len(of))
	for _, source := range slices.Sorted(maps.Keys(of)) {
		rows = append(rows, []any{s.db.NewID(), source, of[source]})
	}
	if len(rows) == 0 {
		return nil
	}
	_, err := s.db.Hot(`INSERT INTO source_counts ({owner}, id, source, readings) VALUES {rows:1}
ON CONFLICT ({owner}, source) DO UPDATE SET readings = source_counts.readings + excluded.readings`).ExecIn(ctx, tx, rows)
	if err != nil {
		return fmt.Errorf("count observations: %w", err)
	}
	return nil
}

// uncountReadings takes observations that are deleted from the counts.
func (s *Service) uncountReadings(ctx context.Context, tx *store.Tx, observed []*ent.Observation) error {
	of := map[string]int{}
	for _, o := range observed {
		of[o.Stage]--
	}
	return s.countReadings(ctx, tx, of)
}

// readingsAtOnce keeps a statement within the number of placeholders that SQLite takes.
const readingsAtOnce = 1000

// Flag is a truth as a column keeps it.
func Flag(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// Nullable keeps nil from becoming an empty value.
func Nullable(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

// load returns the videos that the library has, one query a platform. Which of
// them the scroll has observed is in their field seen.
func (s *Service) load(ctx context.Context, tx *store.Tx, scroll int64, refs []stage.Ref) (map[stage.Ref]*Video, error) {
	known := make(map[stage.Ref]*Video, len(refs))
	platforms := byPlatform(refs)
	for _, platform := range slices.Sorted(maps.Keys(platforms)) {
		rows, err := s.hot.load.QueryIn(ctx, tx, scroll, platform, platforms[platform])
		err = store.Scan(rows, err)(func(rows *sql.Rows) error {
			v, t := &Video{}, texts{}
			i := &v.identity
			err := rows.Scan(&v.id, &i.creatorID, &i.handle, &i.handleOnly, &v.scrollID, &v.usableViews, &v.usableAt, &v.usableLikes,
				&v.growthKind, &v.doubtful, &v.duration, &v.goneAt, &v.digest, &v.hookOrder, &v.hookChangedAt, &v.opening, &v.seen, &t.doc, &t.hook, &v.Hook.Text, &t.language, &t.keys)
			if err != nil {
				return err
			}
			if err := v.parse(t); err != nil {
				return err
			}
			v.before = v.loadedState()
			if v.growthKind == "" { // as an earlier version left it
				known := FactsOf(v.Metadata)
				v.derive(&known)
			}
			known[v.Ref] = v
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("load videos: %w", err)
		}
	}
	return known, nil
}

// byPlatform sorts the ids of videos by their platform, fit for columns.
func byPlatform(refs []stage.Ref) map[string][]string {
	platforms := map[string][]string{}
	for _, ref := range refs {
		ref = cleanRef(ref)
		platforms[ref.Platform] = append(platforms[ref.Platform], ref.ExternalID)
	}
	return platforms
}
