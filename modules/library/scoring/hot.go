package scoring

import (
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// hot holds the hot statements; everything else goes through Ent. The number at a statement
// that was measured is how many times the processor time Ent takes for the same work, on
// SQLite with 10,000 videos, by BenchmarkHot; below 1.3 it moves to Ent.
type hot struct {
	unmark, byCreators, standings, byNiche, nichePeers, observed, carriers, posted *store.Hot
}

func newHot(db *store.DB) hot {
	return hot{
		// As many as creatorsAtOnce.
		unmark: db.Hot(`UPDATE creators SET dirty = 0 WHERE +{tenant} AND id IN
(SELECT c.id FROM creators c WHERE {tenant:c} AND c.dirty = 1 ORDER BY c.id LIMIT 250) RETURNING id`),
		byCreators: db.Hot(`SELECT id, ` + videos.ReadingColumns + `, creator_id, ` + scoreColumns + ` FROM videos WHERE {tenant} AND creator_id IN ({list:1})`),
		standings:  db.Hot(`SELECT id, followers, standings FROM creators WHERE +{tenant} AND id IN ({list:1})`),
		// The greatest id first, so that an index with by_niche has the order: another
		// order reads the whole kind.
		byNiche: db.Hot(`SELECT id, ` + videos.ReadingColumns + `, creator_id, ` + scoreColumns + ` FROM videos
WHERE {tenant} AND growth_kind = $1 AND by_niche = $2 AND posted_at >= $3 AND posted_at <= $4 AND (posted_at < $4 OR id < $5)
ORDER BY posted_at DESC, id DESC LIMIT 2000`),
		nichePeers: db.Hot(`SELECT id, ` + videos.ReadingColumns + ` FROM videos
WHERE {tenant} AND growth_kind = $1 AND posted_at <= $2 AND (posted_at < $2 OR id > $3) AND usable_views IS NOT NULL ORDER BY posted_at DESC, id LIMIT 300`),
		// 1.9
		observed: db.Hot(`SELECT ` + videos.ObservedColumns + ` FROM observations
WHERE {tenant} AND scroll_id IN ({list:1}) AND observed_at > $2 AND observed_at <= $3`),
		// 1.5
		carriers: db.Hot(`SELECT v.id, v.creator_id, v.posted_at, v.archived, d.keys FROM videos v CROSS JOIN video_docs d
WHERE +{tenant:v} AND v.id IN ({list:1}) AND d.id = v.id AND {tenant:d}`),
		posted: db.Hot(`SELECT id, creator_id, posted_at, archived, '' AS keys FROM videos WHERE +{tenant} AND id IN ({list:1})`),
	}
}

// scoreColumns are those of a video's score.
const scoreColumns = "peers, own_views, by_niche, twice_baseline, sample_count, doubtful, score, outlier_order, outlier_since, rising_order, " +
	"early, alike, alike_creators"
