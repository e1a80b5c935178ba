package videos

import "github.com/scrollery/scrollery/modules/kernel/store"

// hot holds the hot statements; everything else goes through Ent. The number at a statement
// that was measured is how many times the processor time Ent takes for the same work, on
// SQLite with 10,000 videos, by BenchmarkHot; below 1.3 it moves to Ent.
type hot struct {
	revision, raise, annotated, annotate, load, saveVideos, saveDocs, addObservations, creators, addCreators, markCreators, owners, groups, markNiches, archived, archive, addUncounted, anyTombstone, anySuppression, tombstones *store.Hot
}

func newHot(db *store.DB) hot {
	return hot{
		// 3.0
		revision: db.Hot(`SELECT revision FROM libraries WHERE {tenant}`),
		// 2.0
		raise: db.Hot(`INSERT INTO libraries (id, {owner}, revision, videos, method) VALUES ($1, {account}, 1, 0, $2)
ON CONFLICT ({owner}) DO UPDATE SET revision = libraries.revision + 1`),
		annotated: db.Hot(`SELECT v.handle, d.doc, d.hook, d.language FROM videos v CROSS JOIN video_docs d WHERE v.id = $1 AND +{tenant:v} AND d.id = v.id AND {tenant:d}`),
		annotate:  db.Hot(`UPDATE video_docs SET doc = $2 WHERE id = $1 AND +{tenant}`),
		// 1.8
		load: db.Hot(`SELECT v.id, v.creator_id, v.handle, v.handle_only, v.scroll_id, v.usable_views, v.usable_at, v.usable_likes, v.growth_kind, v.doubtful,
v.duration, v.gone_at, v.digest, v.hook_order, v.hook_changed_at, v.opening,
EXISTS (SELECT 1 FROM observations o WHERE {tenant:o} AND o.scroll_id = $1 AND o.video_id = v.id), d.doc, d.hook, d.hook_text, d.language, d.keys
FROM videos v CROSS JOIN video_docs d WHERE {tenant:v} AND v.platform = $2 AND v.external_id IN ({list:3}) AND d.id = v.id AND {tenant:d}`),
		// 1.5
		saveVideos: db.Hot(`INSERT INTO videos ({owner}, id, platform, external_id, creator_id, kind, growth_kind, duration, handle, handle_only,
subject, scroll_id, posted_at, first_seen_at, observed_at, usable_views, usable_at, usable_likes, by_niche, gone_at, digest, archived, hook_archived,
hook_hidden, seen_order, hook_order, hook_changed_at, opening, posted_week, rising_order) VALUES {rows:1}
ON CONFLICT ({owner}, platform, external_id) DO UPDATE SET creator_id = excluded.creator_id, kind = excluded.kind, growth_kind = excluded.growth_kind,
duration = excluded.duration, handle = excluded.handle, handle_only = excluded.handle_only, posted_at = excluded.posted_at,
observed_at = excluded.observed_at, usable_views = excluded.usable_views, usable_at = excluded.usable_at, usable_likes = excluded.usable_likes,
by_niche = CASE WHEN excluded.by_niche > 0 THEN excluded.by_niche ELSE videos.by_niche END, gone_at = excluded.gone_at,
digest = excluded.digest, hook_order = excluded.hook_order, hook_changed_at = excluded.hook_changed_at, opening = excluded.opening,
posted_week = excluded.posted_week, rising_order = excluded.rising_order`),
		// 2.5
		saveDocs: db.Hot(`INSERT INTO video_docs ({owner}, id, doc, hook, hook_text, language, keys) VALUES {rows:1}
ON CONFLICT ({key}) DO UPDATE SET doc = excluded.doc, hook = excluded.hook, hook_text = excluded.hook_text, language = excluded.language, keys = excluded.keys
WHERE {tenant:video_docs}`),
		// 2.1
		addObservations: db.Hot(`INSERT INTO observations ({owner}, id, video_id, scroll_id, stage, views, likes, comments, shares, saves, observed_at, semantics)
VALUES {rows:1}`),
		creators: db.Hot(`SELECT id, key, handle, dirty FROM creators WHERE {tenant} AND platform = $1 AND key IN ({list:2})`),
		// 2.4
		addCreators: db.Hot(`INSERT INTO creators ({owner}, id, platform, key, handle, dirty) VALUES {rows:1}`),
		// 6.0
		markCreators: db.Hot(`UPDATE creators SET dirty = 1, handle = $2 WHERE id = $1 AND +{tenant}`),
		owners: db.Hot(`SELECT h.column1 AS handle,
COALESCE((SELECT MIN(v.creator_id) FROM videos v WHERE {tenant:v} AND v.platform = $1 AND v.handle = h.column1 AND v.handle_only = 0), 0) AS id_low,
COALESCE((SELECT MAX(v.creator_id) FROM videos v WHERE {tenant:v} AND v.platform = $1 AND v.handle = h.column1 AND v.handle_only = 0), 0) AS id_high,
COALESCE((SELECT MIN(v.creator_id) FROM videos v WHERE {tenant:v} AND v.platform = $1 AND v.handle = h.column1 AND v.handle_only = 1), 0) AS only_low,
COALESCE((SELECT MAX(v.creator_id) FROM videos v WHERE {tenant:v} AND v.platform = $1 AND v.handle = h.column1 AND v.handle_only = 1), 0) AS only_high
FROM (VALUES {values:2 TEXT}) AS h
WHERE EXISTS (SELECT 1 FROM videos v WHERE {tenant:v} AND v.platform = $1 AND v.handle = h.column1)`),
		// Pairs: two lists would be looked up each with each.
		groups: db.Hot(`SELECT v.id, v.creator_id, v.opening, v.hook_changed_at, v.hook_order
FROM (VALUES {values:1 BIGINT,TEXT}) AS n CROSS JOIN videos v WHERE {tenant:v} AND v.creator_id = n.column1 AND v.opening = n.column2`),
		markNiches: db.Hot(`INSERT INTO niches ({owner}, id, kind, dirty, dirty_from) VALUES {rows:1}
ON CONFLICT ({owner}, kind) DO UPDATE SET dirty = niches.dirty + 1, dirty_from = CASE
WHEN niches.dirty > 0 AND niches.dirty_from < excluded.dirty_from THEN niches.dirty_from ELSE excluded.dirty_from END`),
		// 5.7, the three together.
		archived:       db.Hot(`SELECT archived, hook_archived FROM videos WHERE +{tenant} AND id = $1`),
		archive:        db.Hot(`UPDATE videos SET archived = $2, hook_archived = $3, hook_hidden = $4 WHERE +{tenant} AND id = $1`),
		addUncounted:   db.Hot(`INSERT INTO uncounted_videos ({owner}, id, video_id) VALUES ({account}, $1, $2)`),
		anyTombstone:   db.Hot(`SELECT hash FROM tombstones WHERE {tenant} ORDER BY hash LIMIT 1`),
		anySuppression: db.HotTenantless(`SELECT hash FROM suppressions LIMIT 1`, "an erased creator stays out of the libraries of all tenants"),
		tombstones:     db.Hot(`SELECT hash FROM tombstones WHERE {tenant} AND hash IN ({list:1})`),
	}
}
