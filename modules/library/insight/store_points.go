package insight

import (
	"context"
	"fmt"
	"slices"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/scorepoint"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/score"
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
	Flag          Flag
}

// pointsAtOnce keeps a statement within the placeholders that SQLite takes.
const pointsAtOnce = 500

// SavePoints stores points of a scroll, in the caller's transaction. A point that is
// there already is replaced, but keeps its flag where the new one has none.
func (s *Service) SavePoints(ctx context.Context, tx *store.Tx, account int64, points []Point) error {
	for _, flagged := range []bool{false, true} {
		var creates []*ent.ScorePointCreate
		for i := range points {
			p := &points[i]
			if o := &p.Outlier; (p.Flag != Same) == flagged {
				create := tx.Ent().ScorePoint.Create().SetID(s.DB.NewID()).SetAccountID(account).SetScrollID(p.Scroll).SetVideoID(p.Video).
					SetMethod(p.Method).SetGrowthKind(string(o.Kind)).SetObservedAt(o.ObservedAt).SetViews(o.Views).
					SetTwiceBaseline(o.TwiceBaseline).SetSampleCount(o.SampleCount).SetPeers(o.CreatorPeers).
					SetByNiche(bit(o.Basis == score.NicheBasis)).SetDoubtful(bit(o.Doubtful)).SetListed(bit(o.Listed)).SetFlag(int(p.Flag))
				if p.PostedAt != score.Undated {
					create.SetPostedAt(p.PostedAt)
				}
				creates = append(creates, create)
			}
		}
		for part := range slices.Chunk(creates, pointsAtOnce) {
			err := tx.Ent().ScorePoint.CreateBulk(part...).
				OnConflictColumns(scorepoint.FieldAccountID, scorepoint.FieldScrollID, scorepoint.FieldVideoID).
				Update(func(u *ent.ScorePointUpsert) {
					u.UpdateMethod().UpdateGrowthKind().UpdatePostedAt().UpdateObservedAt().UpdateViews().UpdateTwiceBaseline().
						UpdateSampleCount().UpdatePeers().UpdateByNiche().UpdateDoubtful().UpdateListed()
					if flagged {
						u.UpdateFlag()
					}
				}).Exec(ctx)
			if err != nil {
				return fmt.Errorf("save scores of a scroll: %w", err)
			}
		}
	}
	return nil
}

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
	p := Point{Scroll: row.ScrollID, Video: row.VideoID, Method: row.Method, PostedAt: or(row.PostedAt, score.Undated), Flag: Flag(row.Flag)}
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
}

// scoredRuns are the newest scrolls of a subject with their points, newest first: at most
// mostRuns, and as many as have at most mostRunPoints together.
func (s *Service) scoredRuns(ctx context.Context, subject string) (runs []run, err error) {
	scrolls, err := s.Runs(ctx, subject)
	if err != nil {
		return nil, err
	}
	left := mostRunPoints
	for _, scroll := range scrolls[:min(len(scrolls), mostRuns)] {
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
		runs = append(runs, r)
	}
	return runs, nil
}
