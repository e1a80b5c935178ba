package videos

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/modules/library/score"
)

// Item is a row of a list of videos. What only our lists show is zero in the contract's.
type Item struct {
	// Place is the sort key.
	Place []byte
	Doc   string
	// Hook is nil in lists of other items.
	Hook *string
	// HookText is nil if nothing is spoken.
	HookText *string
	// Language is that of the speech; nil if unknown.
	Language *string
	// The rest is of the newest usable reading and its score.
	Score         float64
	TwiceBaseline int64
	SampleCount   int
	Doubtful      int
	GrowthKind    string
	UsableViews   int64
	UsableAt      int64
	PostedAt      *int64
	// Early views, of so many own peers; 0 if nothing can be said.
	Early, Alike         int64
	Peers, AlikeCreators int
	// OutlierSince is nil if it never was an outlier.
	OutlierSince *int64
}

// NoScore are the columns of an [Item] for lists that show none.
const NoScore = "0 AS score, 0 AS twice_baseline, 0 AS sample_count, 0 AS doubtful, '' AS growth_kind, 0 AS usable_views, 0 AS usable_at, " +
	"CAST(NULL AS BIGINT) AS posted_at, 0 AS early, 0 AS alike, 0 AS peers, 0 AS alike_creators, CAST(NULL AS BIGINT) AS outlier_since"

// ScoreOf are the columns of an [Item] of videos by their alias.
func ScoreOf(alias string) string {
	return strings.ReplaceAll("x.score, x.twice_baseline, x.sample_count, x.doubtful, x.growth_kind, COALESCE(x.usable_views, 0) AS usable_views, "+
		"COALESCE(x.usable_at, 0) AS usable_at, x.posted_at, x.early, x.alike, x.peers, x.alike_creators, x.outlier_since", "x.", alias+".")
}

// reading is the reading that the score is of.
func (s *Item) reading() score.Reading {
	r := score.Reading{Kind: score.Kind(s.GrowthKind), PostedAt: score.Undated, ObservedAt: s.UsableAt, Views: s.UsableViews}
	if s.PostedAt != nil {
		r.PostedAt = *s.PostedAt
	}
	return r
}

// ShowScored appends what an outlier or a rising video has after its video, as our lists
// show it.
func (s *Service) ShowScored(b []byte, v *Item) []byte {
	b = jsontext.AppendFloat(append(b, `,"score":`...), v.Score, 64)
	if b = append(b, `,"baselineViews":`...); v.TwiceBaseline > 0 {
		b = jsontext.AppendFloat(b, float64(v.TwiceBaseline)/2, 64)
	} else {
		b = append(b, "null"...)
	}
	b = strconv.AppendInt(append(b, `,"sampleCount":`...), int64(v.SampleCount), 10)
	b = strconv.AppendInt(append(b, `,"observedAt":`...), v.UsableAt, 10)
	if v.OutlierSince != nil {
		b = strconv.AppendInt(append(b, `,"outlierSince":`...), *v.OutlierSince, 10)
	}
	if r := v.reading(); r.PostedAt != score.Undated && r.Age() <= score.RisingAge {
		b = strconv.AppendInt(append(b, `,"sevenDayViews":`...), s.growth.SevenDayViews(&r), 10)
		b = jsontext.AppendFloat(append(b, `,"viewsPerHour":`...), score.ViewsPerHour(&r).Float64(), 64)
	}
	b = strconv.AppendBool(append(b, `,"doubtful":`...), v.Doubtful == 1)
	if v.Early > 0 {
		b = ShowEarly(append(b, `,"early":`...), v.Early, v.Alike, v.Peers, v.AlikeCreators)
	}
	return append(b, '}')
}

// ShowEarly appends early views that rest on so many own peers, and on what so many creators
// of as many followers usually have.
func ShowEarly(b []byte, views, alike int64, own, creators int) []byte {
	early := score.EarlyAround(views, own)
	b = strconv.AppendInt(append(b, `{"views":`...), views, 10)
	b = strconv.AppendInt(append(b, `,"low":`...), early.Low, 10)
	b = strconv.AppendInt(append(b, `,"high":`...), early.High, 10)
	b = strconv.AppendInt(append(b, `,"ownVideos":`...), int64(own), 10)
	b = strconv.AppendInt(append(b, `,"alikeViews":`...), alike, 10)
	return append(strconv.AppendInt(append(b, `,"alikeCreators":`...), int64(creators), 10), '}')
}
