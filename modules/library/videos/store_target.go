package videos

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/creator"
	"github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/plugins/stage"
)

// CreatorNamed is a creator by handle, with or without its sign, by the platform's id, or by both.
func CreatorNamed(platform, handle, id string) (CreatorName, error) {
	if issues := CheckPlatform(platform); len(issues) > 0 || platform == "" {
		return CreatorName{}, fmt.Errorf("%q is no name of a platform, as tiktok, youtube or instagram", platform)
	}
	c := CreatorName{Platform: platform}
	if id = strings.TrimSpace(clean(id)); id != "" {
		c.Asked = append(c.Asked, "id:"+id)
	}
	if handle = score.Handle(clean(handle)); handle != "" {
		c.Asked = append(c.Asked, "handle:"+handle)
	}
	c.Keys = slices.Clone(c.Asked)
	return c, nil
}

// Ids returns the creator by the names of the request and by ids alone: what it is called in the
// libraries of other tenants, where a handle may be another's.
func (c CreatorName) Ids() CreatorName {
	c.Keys = slices.DeleteFunc(slices.Clone(c.Keys), func(key string) bool {
		return !strings.HasPrefix(key, "id:") && !slices.Contains(c.Asked, key)
	})
	return c
}

// WithNames adds the names that the tenant's library has for a creator: those of all whose videos
// had an asked handle. In a transaction that holds the library no other comes until its end; tx may
// be nil.
func (s Targets) WithNames(ctx context.Context, tx *store.Tx, c CreatorName) (CreatorName, error) {
	client := s.db.Ent()
	if tx != nil {
		client = tx.Ent()
	}
	rows, err := rowsOf(ctx, client, c)
	if err != nil {
		return c, err
	}
	for _, key := range c.Asked {
		handle, isHandle := strings.CutPrefix(key, "handle:")
		if !isHandle {
			continue
		}
		ids, err := client.Video.Query().Where(video.Platform(c.Platform), video.Handle(handle), video.CreatorIDNotNil()).
			Unique(true).Select(video.FieldCreatorID).Ints(ctx)
		if err != nil {
			return c, fmt.Errorf("find creators by handle: %w", err)
		}
		for _, id := range ids {
			rows = append(rows, int64(id))
		}
	}
	return c, addNames(ctx, client, &c, rows)
}

// EraseHandles takes a creator out of what the tenant's scrolls say of their seeds.
func (s Deletions) EraseHandles(ctx context.Context, c CreatorName) error {
	return s.videos.scrolls.EraseHandle(ctx, c.Platform, func(handle string) bool {
		return slices.Contains(c.Keys, "handle:"+score.Handle(clean(handle)))
	})
}

// addNames adds the keys and all handles of creators.
func addNames(ctx context.Context, client *ent.Client, c *CreatorName, rows []int64) error {
	keys, err := client.Creator.Query().Where(creator.IDIn(rows...)).Select(creator.FieldKey).Strings(viewer.ByIDs(ctx))
	if err != nil {
		return fmt.Errorf("read creators: %w", err)
	}
	handles, err := client.Video.Query().Where(video.CreatorIDIn(rows...), video.HandleNEQ("")).Unique(true).Select(video.FieldHandle).Strings(ctx)
	if err != nil {
		return fmt.Errorf("read handles: %w", err)
	}
	for _, handle := range handles {
		keys = append(keys, "handle:"+handle)
	}
	c.Keys = append(slices.Clone(c.Keys), keys...)
	slices.Sort(c.Keys)
	c.Keys = slices.Compact(c.Keys)
	return nil
}

// Known reports whether the library has a row of a creator, with videos or without.
func (s Targets) Known(ctx context.Context, c CreatorName) (bool, error) {
	rows, err := s.rowsOf(ctx, c)
	return len(rows) > 0, err
}

// rowsOf are the rows of a creator.
func (s Targets) rowsOf(ctx context.Context, c CreatorName) ([]int64, error) {
	return rowsOf(ctx, s.db.Ent(), c)
}

func rowsOf(ctx context.Context, client *ent.Client, c CreatorName) ([]int64, error) {
	rows, err := client.Creator.Query().Where(creator.Platform(c.Platform), creator.KeyIn(c.Keys...)).IDs(ctx)
	if err != nil {
		return nil, fmt.Errorf("find creators: %w", err)
	}
	return rows, nil
}

// OfCreator are some videos of a creator, one more than DeletedAtOnce if there are more.
func (s Targets) OfCreator(ctx context.Context, c CreatorName) ([]int64, error) {
	rows, err := s.rowsOf(ctx, c)
	if err != nil {
		return nil, err
	}
	ids, err := s.db.Ent().Video.Query().Where(video.CreatorIDIn(rows...)).Limit(DeletedAtOnce + 1).IDs(ctx)
	if err != nil {
		return nil, fmt.Errorf("find videos of a creator: %w", err)
	}
	return ids, nil
}

// Counted is how much a deletion would delete.
type Counted struct {
	Videos, Readings int
	// AtLeast: there may be more.
	AtLeast bool
}

// countedAtMost bounds the videos or readings that a count looks at, as its statements say.
const countedAtMost = 10_000

// looked is how many readings a count looked at, of a list of videos with the alias v.
const looked = `CAST(COALESCE(SUM(v.looked), 0) AS BIGINT)`

// readingsOfVideos is the count of readings of videos, by an index, of a list of ids with the alias v.
const readingsOfVideos = `CAST(COALESCE(SUM((SELECT COUNT(*) FROM observations o WHERE {tenant:o} AND o.video_id = v.id)), 0) AS BIGINT)`

// CountOfCreator counts the videos of a creator, and their readings.
func (s Targets) CountOfCreator(ctx context.Context, c CreatorName) (Counted, error) {
	rows, err := s.rowsOf(ctx, c)
	if err != nil {
		return Counted{}, err
	}
	return s.count(ctx, `SELECT COUNT(*) AS videos, `+readingsOfVideos+` AS readings, COUNT(*) AS looked
FROM (SELECT a.id FROM videos a WHERE {tenant:a} AND a.creator_id IN ({list:1}) LIMIT 10000) v`, rows)
}

// CountVideo is 1 and the readings of a video, 0 if the library does not have it.
func (s Targets) CountVideo(ctx context.Context, id int64) (Counted, error) {
	return s.count(ctx, `SELECT COUNT(*) AS videos, `+readingsOfVideos+` AS readings, 0 AS looked FROM videos v WHERE +{tenant:v} AND v.id = $1`, id)
}

// CountOfScrolls counts the videos that only the scrolls read, and all that they read.
func (s Targets) CountOfScrolls(ctx context.Context, scrolls []int64) (Counted, error) {
	return s.count(ctx, `SELECT COALESCE(SUM(CASE WHEN (SELECT COUNT(*) FROM observations a WHERE {tenant:a} AND a.video_id = v.id) = v.looked
THEN 1 ELSE 0 END), 0) AS videos, `+looked+` AS readings, `+looked+` AS looked
FROM (SELECT r.video_id AS id, COUNT(*) AS looked FROM (SELECT o.video_id FROM observations o WHERE {tenant:o} AND o.scroll_id IN ({list:1})
LIMIT 10000) r GROUP BY r.video_id) v`, scrolls)
}

// CountReadBy counts the videos that a source has read, and all readings of them.
func (s Targets) CountReadBy(ctx context.Context, source string) (Counted, error) {
	return s.count(ctx, `SELECT COUNT(*) AS videos, `+readingsOfVideos+` AS readings, `+looked+` AS looked
FROM (SELECT r.video_id AS id, COUNT(*) AS looked FROM (SELECT o.video_id FROM observations o WHERE {tenant:o} AND o.stage = $1
ORDER BY o.observed_at, o.video_id LIMIT 10000) r GROUP BY r.video_id) v`, source)
}

func (s Targets) count(ctx context.Context, text string, arg any) (Counted, error) {
	counts, _, err := store.One[struct{ Videos, Readings, Looked int }](ctx, s.db.Hot(text), arg)
	if err != nil {
		return Counted{}, fmt.Errorf("count videos: %w", err)
	}
	return Counted{counts.Videos, counts.Readings, counts.Looked >= countedAtMost}, nil
}

// HasRead reports whether a source has read a video of the library.
func (s Targets) HasRead(ctx context.Context, source string) (found bool, err error) {
	_, found, err = store.One[int64](ctx, s.db.Hot(`SELECT id FROM observations WHERE {tenant} AND stage = $1 LIMIT 1`), source)
	if err != nil {
		return false, fmt.Errorf("look for what a source read: %w", err)
	}
	return found, nil
}

// ReadBy are the videos that a source has read, among the next ones of the library after a
// video; the zero Ref begins. next is the last one that was looked at; done at the end.
func (s Targets) ReadBy(ctx context.Context, source string, after stage.Ref) (ids []int64, next stage.Ref, done bool, err error) {
	rows, err := store.Query[struct {
		ID                   int64
		Platform, ExternalID string
		IsRead               bool
	}](ctx, s.db.Hot(`SELECT v.id, v.platform, v.external_id,
EXISTS (SELECT 1 FROM observations o WHERE {tenant:o} AND o.video_id = v.id AND o.stage || '' = $1) AS is_read
FROM videos v WHERE {tenant:v} AND (v.platform, v.external_id) > ($2, $3) ORDER BY v.platform, v.external_id LIMIT 500`), source, after.Platform, after.ExternalID)
	if err != nil {
		return nil, after, false, fmt.Errorf("find videos of a source: %w", err)
	}
	next = after
	for _, row := range rows {
		next = stage.Ref{Platform: row.Platform, ExternalID: row.ExternalID}
		if row.IsRead {
			ids = append(ids, row.ID)
		}
	}
	return ids, next, len(rows) == 0, nil
}
