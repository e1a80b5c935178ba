package library

import "github.com/scrollery/scrollery/modules/kernel/store"

// hot holds the library's hot statements; everything else goes through Ent. The
// number at each is how many times the processor time Ent takes for the same work,
// on SQLite with 10,000 videos, by BenchmarkHot; below 1.3 a statement moves to
// Ent. The texts of pages are in page.go: hooks 2.5, outliers 3.1, trends 1.8,
// the library 30, tracked videos 6.8.
type hot struct {
	revision, raise, platforms *store.Hot

	load, saveVideos, saveDocs, addObservations, saveCreators *store.Hot

	fewPeers, saveScores, observed, carriers *store.Hot
}

func newHot(db *store.DB) hot {
	return hot{
		// 3.0
		revision: db.Hot(`SELECT revision FROM libraries WHERE {tenant}`),
		// 2.0
		raise: db.Hot(`INSERT INTO libraries (id, {owner}, revision, videos) VALUES ($1, {account}, 1, 0)
ON CONFLICT ({owner}) DO UPDATE SET revision = libraries.revision + 1`),

		// 2.4
		platforms: db.Hot(`SELECT DISTINCT platform FROM creators WHERE {tenant} AND dirty = 1
UNION SELECT DISTINCT v.platform FROM observations o CROSS JOIN videos v WHERE {tenant:o} AND o.scroll_id = $1 AND v.id = o.video_id
ORDER BY 1`),

		// 1.8
		load: db.Hot(`SELECT v.id, v.creator_id, v.scroll_id, v.usable_views, v.usable_at, v.gone_at, v.digest, v.hook_order,
EXISTS (SELECT 1 FROM observations o WHERE o.scroll_id = $1 AND o.video_id = v.id), d.doc, d.hook, d.keys
FROM videos v CROSS JOIN video_docs d WHERE {tenant:v} AND v.platform = $2 AND v.external_id IN ({list:3}) AND d.id = v.id`),
		// 1.5
		saveVideos: db.Hot(`INSERT INTO videos ({owner}, id, platform, external_id, creator_id, kind, subject, scroll_id, posted_at, first_seen_at,
observed_at, usable_views, usable_at, gone_at, digest, archived, hook_archived, hook_hidden, seen_order, hook_order) VALUES {rows:1}
ON CONFLICT ({owner}, platform, external_id) DO UPDATE SET creator_id = excluded.creator_id, kind = excluded.kind, posted_at = excluded.posted_at,
observed_at = excluded.observed_at, usable_views = excluded.usable_views, usable_at = excluded.usable_at, gone_at = excluded.gone_at,
digest = excluded.digest, hook_order = excluded.hook_order`),
		// 2.5
		saveDocs: db.Hot(`INSERT INTO video_docs ({owner}, id, doc, hook, keys) VALUES {rows:1}
ON CONFLICT (id) DO UPDATE SET doc = excluded.doc, hook = excluded.hook, keys = excluded.keys
WHERE {tenant:video_docs}`),
		// 2.1
		addObservations: db.Hot(`INSERT INTO observations ({owner}, id, video_id, scroll_id, stage, views, likes, comments, shares, saves, observed_at)
VALUES {rows:1}`),
		// 1.8
		saveCreators: db.Hot(`INSERT INTO creators ({owner}, id, platform, key, handle, dirty, thin) VALUES {rows:1}
ON CONFLICT ({owner}, platform, key) DO UPDATE SET dirty = 1,
handle = CASE WHEN excluded.handle = '' THEN creators.handle ELSE excluded.handle END RETURNING id, platform, key`),

		// 2.1
		fewPeers: db.Hot(`SELECT v.id, v.creator_id, v.posted_at, v.usable_at, v.usable_views, v.outlier_order FROM creators c CROSS JOIN videos v
WHERE {tenant:c} AND c.platform = $1 AND c.thin = 1 AND {tenant:v} AND v.creator_id = c.id AND v.usable_views IS NOT NULL`),
		// 4.3
		saveScores: db.Hot(`UPDATE videos SET outlier_order = n.column2 FROM (VALUES {values:1 BIGINT,BYTES}) AS n
WHERE videos.id = n.column1 AND {tenant:videos}`),

		// 1.9
		observed: db.Hot(`SELECT video_id, scroll_id, views, likes, observed_at FROM observations WHERE {tenant} AND scroll_id IN ({list:1})`),
		// 1.5
		carriers: db.Hot(`SELECT v.id, v.creator_id, v.archived, d.keys FROM videos v CROSS JOIN video_docs d
WHERE {tenant:v} AND d.id = v.id AND v.id IN (SELECT video_id FROM observations WHERE scroll_id IN ({list:1})) ORDER BY v.id`),
	}
}
