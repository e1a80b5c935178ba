package insight

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/creator"
	"github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/score"
)

// awaitsNiche is the value of by_niche of a video whose niche is still to be asked.
const awaitsNiche = 2

// row is a video of the tenant, archived or not; nil if there is none.
func (s *Service) row(ctx context.Context, id int64) (*ent.Video, error) {
	row, err := s.DB.Ent().Video.Query().Where(video.ID(id)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read video %d: %w", id, err)
	}
	return row, nil
}

func (s *Service) scoredVideo(ctx context.Context, id int64) (*scoredVideo, error) {
	row, err := s.row(ctx, id)
	if err != nil || row == nil {
		return nil, err
	}
	return &scoredVideo{
		id: row.ID, creator: row.CreatorID, archived: row.Archived == 1, listed: orderOf(row) != nil,
		awaitsNiche: row.ByNiche == awaitsNiche, twiceBaseline: row.TwiceBaseline, samples: row.SampleCount, since: row.OutlierSince,
		early: row.Early, alike: row.Alike, alikeCreators: row.AlikeCreators,
		reading: score.Reading{
			ID: row.ID, Kind: score.Kind(row.GrowthKind), PostedAt: or(row.PostedAt, score.Undated), ObservedAt: or(row.UsableAt, 0),
			Views: or(row.UsableViews, score.Unknown), Likes: or(row.UsableLikes, score.Unknown),
		},
	}, nil
}

// creatorRow is what the row of a creator of the tenant says; nil if there is none.
func (s *Service) creatorRow(ctx context.Context, id int64) (*Creator, error) {
	row, err := s.DB.Ent().Creator.Query().Where(creator.ID(id)).Only(viewer.ByIDs(ctx))
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read creator %d: %w", id, err)
	}
	c := &Creator{Platform: row.Platform, Followers: row.Followers, FollowersAt: row.FollowersAt}
	c.name(row.Key, row.Handle)
	return c, nil
}

// handleOwner is the newest row of a creator whose videos have a handle, one with a
// platform's id before others; 0 if there is none. The ends of index ranges say it.
func (s *Service) handleOwner(ctx context.Context, platform, handle string) (id int64, err error) {
	if handle == "" {
		return 0, nil
	}
	err = s.DB.Hot(`SELECT COALESCE((SELECT MAX(creator_id) FROM videos WHERE {tenant} AND platform = $1 AND handle = $2 AND handle_only = 0),
(SELECT MAX(creator_id) FROM videos WHERE {tenant} AND platform = $1 AND handle = $2 AND handle_only = 1), 0)`).
		Each(ctx, func(row store.Row) (bool, error) {
			id, _ = row[0].(int64)
			return false, nil
		}, platform, handle)
	if err != nil {
		return 0, fmt.Errorf("find the creator of a handle: %w", err)
	}
	return id, nil
}

// creatorVideos are the newest videos of a creator by posting time, at most
// mostCreatorVideos, and how many there are.
func (s *Service) creatorVideos(ctx context.Context, id int64) (videos []scoredVideo, total int, err error) {
	rows, err := s.DB.Hot(`SELECT id, growth_kind, posted_at, usable_at, usable_views, usable_likes, archived, outlier_order IS NOT NULL,
COUNT(*) OVER () FROM videos WHERE {tenant} AND creator_id = $1 ORDER BY posted_at IS NULL, posted_at DESC, id LIMIT `+strconv.Itoa(mostCreatorVideos)).Query(ctx, id)
	err = store.Scan(rows, err)(func(rows *sql.Rows) error {
		var v scoredVideo
		var kind string
		var posted, at, views, likes sql.NullInt64
		r := &v.reading
		err := rows.Scan(&r.ID, &kind, &posted, &at, &views, &likes, &v.archived, &v.listed, &total)
		r.Kind, r.PostedAt, r.ObservedAt = score.Kind(kind), known(posted, score.Undated), at.Int64
		r.Views, r.Likes = known(views, score.Unknown), known(likes, score.Unknown)
		videos = append(videos, v)
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read the videos of creator %d: %w", id, err)
	}
	return videos, total, nil
}

// orderOf is the sort key of a listed video, nil for any other.
func orderOf(row *ent.Video) []byte {
	if row.OutlierOrder == nil || len(*row.OutlierOrder) == 0 {
		return nil
	}
	return *row.OutlierOrder
}

func or(value *int64, absent int64) int64 {
	if value == nil {
		return absent
	}
	return *value
}

// creatorReadings are the videos of the video's creator as scoring sees them, itself among
// them; those that cannot be used by their newest reading, so that the reason shows.
func (s *Service) creatorReadings(ctx context.Context, v *scoredVideo) ([]score.Reading, error) {
	readings := []score.Reading{v.reading}
	if v.creator != nil {
		readings = nil
		rows, err := s.DB.Hot(`SELECT id, growth_kind, posted_at, usable_at, usable_views, usable_likes FROM videos
WHERE {tenant} AND creator_id = $1`).Query(ctx, *v.creator)
		err = store.Scan(rows, err)(func(rows *sql.Rows) error {
			var r score.Reading
			var kind string
			var posted, at, views, likes sql.NullInt64
			err := rows.Scan(&r.ID, &kind, &posted, &at, &views, &likes)
			r.Kind, r.PostedAt, r.ObservedAt = score.Kind(kind), known(posted, score.Undated), at.Int64
			r.Views, r.Likes = known(views, score.Unknown), known(likes, score.Unknown)
			readings = append(readings, r)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read the videos of creator %d: %w", *v.creator, err)
		}
	}
	if !slices.ContainsFunc(readings, func(r score.Reading) bool { return r.Views == score.Unknown }) {
		return readings, nil
	}
	where, arg := "v.id = $1", v.id
	if v.creator != nil {
		where, arg = "v.creator_id = $1", *v.creator
	}
	refused := map[int64]score.Reading{}
	rows, err := s.DB.Hot(`SELECT v.id, o.observed_at, o.views, o.likes FROM videos v
JOIN observations o ON {tenant:o} AND o.video_id = v.id AND o.observed_at = v.observed_at
WHERE {tenant:v} AND v.usable_views IS NULL AND `+where).Query(ctx, arg)
	err = store.Scan(rows, err)(func(rows *sql.Rows) error {
		var r score.Reading
		var views, likes sql.NullInt64
		err := rows.Scan(&r.ID, &r.ObservedAt, &views, &likes)
		r.Views, r.Likes = known(views, score.Unknown), known(likes, score.Unknown)
		refused[r.ID] = r
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read refused readings: %w", err)
	}
	for i := range readings {
		if r, ok := refused[readings[i].ID]; ok {
			readings[i].ObservedAt, readings[i].Views, readings[i].Likes = r.ObservedAt, r.Views, r.Likes
		}
	}
	return readings, nil
}

func known(value sql.NullInt64, absent int64) int64 {
	if !value.Valid {
		return absent
	}
	return value.Int64
}
