package insight

import (
	"context"
	"fmt"
	"slices"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/observation"
	"github.com/scrollery/scrollery/ent/scorepoint"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// Flag says what a scroll did to a video.
type Flag int

// The flags.
const (
	Same Flag = iota
	// Entered: the scroll moved it into the outliers.
	Entered
	// Left: out of them.
	Left
)

// Point is the score of a video after a scroll.
type Point struct {
	Scroll, Video int64
	Method        string
	Outlier       score.Outlier
	PostedAt      int64
	// Early are its early views, 0 without any.
	Early int64
	Flag  Flag
}

// pointsAtOnce keeps a statement within the placeholders that SQLite takes.
const pointsAtOnce = 500

// SavePoints stores points of a scroll, in the caller's transaction. A point that is
// there already is replaced, but keeps its flag where the new one has none.
func SavePoints(ctx context.Context, tx *store.Tx, db *store.DB, points []Point) error {
	for _, flagged := range []bool{false, true} {
		var rows [][]any
		for i := range points {
			p := &points[i]
			if o := &p.Outlier; (p.Flag != Same) == flagged {
				var posted any
				if p.PostedAt != score.Undated {
					posted = p.PostedAt
				}
				rows = append(rows, []any{
					db.NewID(), p.Scroll, p.Video, p.Method, string(o.Kind), posted, o.ObservedAt, o.Views, o.TwiceBaseline, o.SampleCount,
					o.CreatorPeers, bit(o.Basis == score.NicheBasis), bit(o.Doubtful), bit(o.Listed), int(p.Flag), p.Early,
				})
			}
		}
		save := pointsText
		if flagged {
			save += ", flag = excluded.flag"
		}
		for part := range slices.Chunk(rows, pointsAtOnce) {
			if _, err := db.Hot(save).ExecIn(ctx, tx, part); err != nil {
				return fmt.Errorf("save scores of a scroll: %w", err)
			}
		}
	}
	return nil
}

// pointsText is hot: 3 times as fast as Ent.
const pointsText = `INSERT INTO score_points ({owner}, id, scroll_id, video_id, method, growth_kind, posted_at, observed_at, views, twice_baseline,
sample_count, peers, by_niche, doubtful, listed, flag, early) VALUES {rows:1}
ON CONFLICT ({owner}, scroll_id, video_id) DO UPDATE SET method = excluded.method, growth_kind = excluded.growth_kind,
posted_at = excluded.posted_at, observed_at = excluded.observed_at, views = excluded.views, twice_baseline = excluded.twice_baseline,
sample_count = excluded.sample_count, peers = excluded.peers, by_niche = excluded.by_niche, doubtful = excluded.doubtful, listed = excluded.listed,
early = excluded.early`

func bit(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// flags are the newest of a video.
func (s *Service) flags(ctx context.Context, id int64) (flags []Point, err error) {
	rows, err := s.DB.Ent().ScorePoint.Query().Where(scorepoint.VideoID(id), scorepoint.FlagGT(0)).
		Order(scorepoint.ByScrollID(entsql.OrderDesc())).Limit(mostFlags).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the flags of video %d: %w", id, err)
	}
	for _, row := range rows {
		flags = append(flags, point(row))
	}
	return flags, nil
}

func point(row *ent.ScorePoint) Point {
	p := Point{Scroll: row.ScrollID, Video: row.VideoID, Method: row.Method, PostedAt: videos.Or(row.PostedAt, score.Undated), Early: row.Early, Flag: Flag(row.Flag)}
	r := score.Reading{PostedAt: p.PostedAt, ObservedAt: row.ObservedAt}
	p.Outlier = score.Outlier{
		ID: row.VideoID, Kind: score.Kind(row.GrowthKind), Views: row.Views, ObservedAt: row.ObservedAt, Age: r.Age(),
		TwiceBaseline: row.TwiceBaseline, SampleCount: row.SampleCount, CreatorPeers: row.Peers,
		Doubtful: row.Doubtful == 1, Listed: row.Listed == 1,
	}
	if row.TwiceBaseline > 0 {
		p.Outlier.Basis = score.CreatorBasis
		if row.ByNiche == 1 {
			p.Outlier.Basis = score.NicheBasis
		}
		p.Outlier.Score = score.Ratio(2*row.Views, row.TwiceBaseline)
	}
	return p
}

// run is a completed scroll of a subject with what it scored.
type run struct {
	scroll, observedAt int64
	points             []Point
	// read has the readings that the scroll made of the videos.
	read map[reading]bool
}

// reading names a reading by its video and its time.
type reading struct{ VideoID, ObservedAt int64 }

// scoredRuns are the newest scrolls of a subject with their points, newest first: at most
// MostRuns, and as many as have at most mostRunPoints together.
func (s *Service) scoredRuns(ctx context.Context, subject string) (runs []run, err error) {
	scrolls, err := s.Runs(ctx, subject)
	if err != nil {
		return nil, err
	}
	left := mostRunPoints
	for _, scroll := range scrolls[:min(len(scrolls), MostRuns)] {
		found, err := s.DB.Ent().ScorePoint.Query().Where(scorepoint.ScrollID(scroll)).
			Order(scorepoint.ByVideoID()).Limit(left + 1).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the scores of scroll %d: %w", scroll, err)
		}
		if left -= len(found); left < 0 {
			break
		}
		r := run{scroll: scroll, points: make([]Point, len(found))}
		for i, p := range found {
			r.points[i] = point(p)
			r.observedAt = max(r.observedAt, p.ObservedAt)
		}
		if r.read, err = s.readBy(ctx, scroll, found); err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// readBy are the readings that a scroll made of the videos of its points, which are by video.
func (s *Service) readBy(ctx context.Context, scroll int64, points []*ent.ScorePoint) (map[reading]bool, error) {
	if len(points) == 0 {
		return nil, nil
	}
	var made []struct {
		VideoID    int64 `json:"video_id"`
		ObservedAt int64 `json:"observed_at"`
	}
	err := s.DB.Ent().Observation.Query().
		Where(observation.ScrollID(scroll), observation.VideoIDLTE(points[len(points)-1].VideoID)).
		Select(observation.FieldVideoID, observation.FieldObservedAt).Scan(ctx, &made)
	if err != nil {
		return nil, fmt.Errorf("read the readings of scroll %d: %w", scroll, err)
	}
	read := make(map[reading]bool, len(made))
	for _, one := range made {
		read[reading(one)] = true
	}
	return read, nil
}
