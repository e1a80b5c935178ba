package account

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/creator"
	"github.com/scrollery/scrollery/ent/observation"
	"github.com/scrollery/scrollery/ent/scorepoint"
	"github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/ent/videodoc"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// docsAtOnce is how many documents are in memory at once: one can have hundreds of
// kilobytes.
const docsAtOnce = 50

// videoPart are some videos, in the order of platform and external id.
type videoPart struct {
	of   *exporter
	rows []*ent.Video
	// creators are the platform's ids of the creators that have one.
	creators map[int64]string
	// followers are those of the creators of which they are known.
	followers map[int64]*ent.Creator
}

// videoPart reads the part that follows a video; 0 is the first one.
func (e *exporter) videoPart(ctx context.Context, after int64) (*videoPart, error) {
	var last *ent.Video
	if after != 0 {
		var err error
		last, err = e.db.Ent().Video.Query().Where(video.ID(after)).Only(viewer.ByIDs(ctx))
		if ent.IsNotFound(err) {
			return &videoPart{}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read videos: %w", err)
		}
	}
	p := &videoPart{of: e, creators: map[int64]string{}, followers: map[int64]*ent.Creator{}}
	for more := true; more; {
		query, most := e.db.Ent().Video.Query(), min(e.part-len(p.rows), rowsAtOnce)
		if last != nil {
			query.Where(afterRef(last.Platform, last.ExternalID))
		}
		rows, err := query.Order(video.ByPlatform(), video.ByExternalID()).Limit(most).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("read videos: %w", err)
		}
		if p.rows = append(p.rows, rows...); len(rows) > 0 {
			last = rows[len(rows)-1]
		}
		more = len(rows) == most && len(p.rows) < e.part
	}
	var ids []int64
	for _, row := range p.rows {
		if row.CreatorID != nil {
			ids = append(ids, *row.CreatorID)
		}
	}
	slices.Sort(ids)
	for some := range slices.Chunk(slices.Compact(ids), rowsAtOnce) {
		found, err := e.db.Ent().Creator.Query().Where(creator.IDIn(some...)).All(viewer.ByIDs(ctx))
		if err != nil {
			return nil, fmt.Errorf("read creators: %w", err)
		}
		for _, one := range found {
			if one.Followers != nil {
				p.followers[one.ID] = one
			}
			if id, ok := strings.CutPrefix(one.Key, "id:"); ok {
				p.creators[one.ID] = id
			}
		}
	}
	return p, nil
}

// entities are the files of a part.
func (p *videoPart) entities() []entity {
	return []entity{p.videos(), p.hooks(), p.observations(), p.scores()}
}

// chunks calls do with some videos and their ids.
func (p *videoPart) chunks(ctx context.Context, do func(rows []*ent.Video, ids []int64) error) error {
	for rows := range slices.Chunk(p.rows, docsAtOnce) {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		ids := make([]int64, len(rows))
		for i, row := range rows {
			ids[i] = row.ID
		}
		if err := do(rows, ids); err != nil {
			return err
		}
	}
	return nil
}

// docs calls do with each video and its documents.
func (p *videoPart) docs(ctx context.Context, do func(*ent.Video, *ent.VideoDoc) error) error {
	return p.chunks(ctx, func(rows []*ent.Video, ids []int64) error {
		found, err := p.of.db.Ent().VideoDoc.Query().Where(videodoc.IDIn(ids...)).All(viewer.ByIDs(ctx))
		if err != nil {
			return fmt.Errorf("read documents: %w", err)
		}
		byID := make(map[int64]*ent.VideoDoc, len(found))
		for _, doc := range found {
			byID[doc.ID] = doc
		}
		for _, row := range rows {
			if doc := byID[row.ID]; doc != nil {
				if err := do(row, doc); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (p *videoPart) videos() entity {
	return entity{
		name: videosName,
		columns: []column{
			"id", "platform", "externalId", "creatorId", "handle", "kind", "subject", "scrollId", "postedAt", "firstSeenAt", "observedAt",
			"goneAt", "archived", "hookArchived", "usableViews", "score", "baselineViews", "sampleCount", "byNiche", "doubtful", "video", "keys",
			"followers", "followersAt", "early", "ownVideos", "alikeViews", "alikeCreators",
		},
		rows: func(ctx context.Context, do func(...any) error) error {
			return p.docs(ctx, func(v *ent.Video, doc *ent.VideoDoc) error {
				var creatorID *string
				if v.CreatorID != nil && v.HandleOnly == 0 {
					if id, ok := p.creators[*v.CreatorID]; ok {
						creatorID = &id
					}
				}
				var followers, followersAt *int64
				if v.CreatorID != nil {
					if known := p.followers[*v.CreatorID]; known != nil {
						followers, followersAt = known.Followers, known.FollowersAt
					}
				}
				early := make([]any, 4)
				if v.Early > 0 {
					early = []any{v.Early, v.Peers, v.Alike, v.AlikeCreators}
				}
				return do(append([]any{
					publicid.Format(publicid.Video, v.ID), v.Platform, v.ExternalID, creatorID, v.Handle, v.Kind, v.Subject,
					publicid.Format(publicid.Scroll, v.ScrollID), v.PostedAt, v.FirstSeenAt, v.ObservedAt, v.GoneAt, v.Archived == 1, v.HookArchived == 1,
					v.UsableViews, v.Score, float64(v.TwiceBaseline) / 2, v.SampleCount, v.ByNiche == 1, v.Doubtful == 1, jsontext.Value(doc.Doc), keyList(doc.Keys),
					followers, followersAt,
				}, early...)...)
			})
		},
	}
}

// keyList is the JSON of stored trend keys.
func keyList(stored string) jsontext.Value {
	list := []byte{'['}
	for line := range strings.Lines(stored) {
		key, label, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if key == "" {
			continue
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(appendValue(append(list, `{"key":`...), key), `,"label":`...)
		list = append(appendValue(list, label), '}')
	}
	return append(list, ']')
}

func (p *videoPart) hooks() entity {
	return entity{
		name:    "hooks",
		columns: []column{"videoId", "platform", "externalId", "changedAt", "archived", "hook", "hookText", "language"},
		rows: func(ctx context.Context, do func(...any) error) error {
			return p.docs(ctx, func(v *ent.Video, doc *ent.VideoDoc) error {
				if doc.Hook == nil {
					return nil
				}
				return do(publicid.Format(publicid.Video, v.ID), v.Platform, v.ExternalID, v.HookChangedAt, v.HookArchived == 1,
					jsontext.Value("{"+strings.TrimPrefix(*doc.Hook, ",")), doc.HookText, doc.Language)
			})
		},
	}
}

func (p *videoPart) observations() entity {
	return entity{
		name: "observations",
		columns: []column{
			"videoId", "platform", "externalId", "scrollId", "stage", "observedAt", "views", "likes", "comments", "shares", "saves", "semantics",
		},
		rows: func(ctx context.Context, do func(...any) error) error {
			return p.chunks(ctx, func(rows []*ent.Video, ids []int64) error {
				found, err := p.of.db.Ent().Observation.Query().Where(observation.VideoIDIn(ids...)).
					Order(observation.ByVideoID(), observation.ByObservedAt(), observation.ByID()).All(ctx)
				if err != nil {
					return fmt.Errorf("read observations: %w", err)
				}
				of := byID(rows)
				for _, o := range found {
					v := of[o.VideoID]
					err := do(publicid.Format(publicid.Video, v.ID), v.Platform, v.ExternalID, publicid.Format(publicid.Scroll, o.ScrollID), o.Stage,
						o.ObservedAt, o.Views, o.Likes, o.Comments, o.Shares, o.Saves, o.Semantics)
					if err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

// scores are the scores of each scroll; the newest score of a video is in its own line.
func (p *videoPart) scores() entity {
	return entity{
		name: "scores",
		columns: []column{
			"videoId", "platform", "externalId", "scrollId", "method", "growthKind", "postedAt", "observedAt", "views", "baselineViews", "sampleCount",
			"peers", "byNiche", "doubtful", "listed", "change", "early",
		},
		rows: func(ctx context.Context, do func(...any) error) error {
			return p.chunks(ctx, func(rows []*ent.Video, ids []int64) error {
				found, err := p.of.db.Ent().ScorePoint.Query().Where(scorepoint.VideoIDIn(ids...)).
					Order(scorepoint.ByVideoID(), scorepoint.ByScrollID()).All(ctx)
				if err != nil {
					return fmt.Errorf("read scores: %w", err)
				}
				of := byID(rows)
				for _, o := range found {
					v := of[o.VideoID]
					err := do(publicid.Format(publicid.Video, v.ID), v.Platform, v.ExternalID, publicid.Format(publicid.Scroll, o.ScrollID), o.Method, o.GrowthKind,
						o.PostedAt, o.ObservedAt, o.Views, float64(o.TwiceBaseline)/2, o.SampleCount, o.Peers, o.ByNiche == 1, o.Doubtful == 1, o.Listed == 1,
						[]string{"", "entered", "left"}[min(max(o.Flag, 0), 2)], o.Early)
					if err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

func byID(rows []*ent.Video) map[int64]*ent.Video {
	of := make(map[int64]*ent.Video, len(rows))
	for _, row := range rows {
		of[row.ID] = row
	}
	return of
}
