package insight

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/creator"
	"github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/videos"
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
			ID: row.ID, Kind: score.Kind(row.GrowthKind), PostedAt: videos.Or(row.PostedAt, score.Undated), ObservedAt: videos.Or(row.UsableAt, 0),
			Views: videos.Or(row.UsableViews, score.Unknown), Likes: videos.Or(row.UsableLikes, score.Unknown),
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
	id, _, err = store.One[int64](ctx, s.DB.Hot(`SELECT COALESCE((SELECT MAX(creator_id) FROM videos WHERE {tenant} AND platform = $1 AND handle = $2 AND handle_only = 0),
(SELECT MAX(creator_id) FROM videos WHERE {tenant} AND platform = $1 AND handle = $2 AND handle_only = 1), 0)`), platform, handle)
	if err != nil {
		return 0, fmt.Errorf("find the creator of a handle: %w", err)
	}
	return id, nil
}

// creatorVideos are the newest videos of a creator by posting time, at most
// mostCreatorVideos, and how many there are.
func (s *Service) creatorVideos(ctx context.Context, id int64) (all []scoredVideo, total int, err error) {
	newest := s.DB.Hot(`SELECT id, ` + videos.ReadingColumns + `, archived, outlier_order IS NOT NULL AS listed, COUNT(*) OVER () AS total
FROM videos WHERE {tenant} AND creator_id = $1 ORDER BY posted_at IS NULL, posted_at DESC, id LIMIT ` + strconv.Itoa(mostCreatorVideos))
	err = store.Each(ctx, newest, func(row *struct {
		videos.ReadingRow
		Archived, Listed bool
		Total            int
	},
	) (bool, error) {
		all, total = append(all, scoredVideo{reading: row.Reading(), archived: row.Archived, listed: row.Listed}), row.Total
		return true, nil
	}, id)
	if err != nil {
		return nil, 0, fmt.Errorf("read the videos of creator %d: %w", id, err)
	}
	return all, total, nil
}

// orderOf is the sort key of a listed video, nil for any other.
func orderOf(row *ent.Video) []byte {
	if row.OutlierOrder == nil || len(*row.OutlierOrder) == 0 {
		return nil
	}
	return *row.OutlierOrder
}

// creatorReadings are the videos of the video's creator as scoring sees them, itself among
// them; those that cannot be used by their newest reading, so that the reason shows.
func (s *Service) creatorReadings(ctx context.Context, v *scoredVideo) ([]score.Reading, error) {
	readings := []score.Reading{v.reading}
	if v.creator != nil {
		readings = nil
		all := s.DB.Hot(`SELECT id, ` + videos.ReadingColumns + ` FROM videos WHERE {tenant} AND creator_id = $1`)
		err := store.Each(ctx, all, func(row *videos.ReadingRow) (bool, error) {
			readings = append(readings, row.Reading())
			return true, nil
		}, *v.creator)
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
	refused := map[int64]score.Observation{}
	err := store.Each(ctx, s.DB.Hot(`SELECT v.id AS video_id, o.scroll_id, o.observed_at, o.views, o.likes FROM videos v
JOIN observations o ON {tenant:o} AND o.video_id = v.id AND o.observed_at = v.observed_at
WHERE {tenant:v} AND v.usable_views IS NULL AND `+where), func(row *videos.ObservedRow) (bool, error) {
		refused[row.VideoID] = row.Observation()
		return true, nil
	}, arg)
	if err != nil {
		return nil, fmt.Errorf("read refused readings: %w", err)
	}
	for i := range readings {
		if r, ok := refused[readings[i].ID]; ok {
			readings[i].ObservedAt, readings[i].Views, readings[i].Likes = r.At, r.Views, r.Likes
		}
	}
	return readings, nil
}
