package library

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// row is a video on its way into the database.
type row struct {
	record *stage.Record
	key    string // of the creator; empty where unknown

	id          int64
	isNew       bool
	observed    bool // this batch brought an observation
	docChanged  bool
	creatorID   *int64
	kind        string
	scrollID    int64
	postedAt    *int64
	firstSeenAt int64
	observedAt  int64
	usableViews *int64
	usableAt    *int64
	goneAt      *int64
	digest      int64
	facts       string
	hookOrder   []byte
	doc         string
	hook        *string
	keys        string
}

// Archive puts a batch into the library, in the caller's transaction: new videos,
// and an observation for each video of the batch. It returns how many videos are
// new and how many, known before this scroll, were seen again. The same batch
// again changes nothing and counts nothing.
func (s *Service) Archive(ctx context.Context, tx *store.Tx, batch Batch) (added, reobserved int, err error) {
	added, reobserved, err = s.ingest(ctx, tx, batch, true)
	if err != nil {
		return 0, 0, fmt.Errorf("archive %d videos of scroll %d: %w", len(batch.Records), batch.ScrollID, err)
	}
	return added, reobserved, nil
}

// Observe keeps an observation of each video of the batch that the library
// already has, and leaves out the others. It returns how many there were.
func (s *Service) Observe(ctx context.Context, tx *store.Tx, batch Batch) (observed int, err error) {
	_, observed, err = s.ingest(ctx, tx, batch, false)
	if err != nil {
		return 0, fmt.Errorf("observe %d videos of scroll %d: %w", len(batch.Records), batch.ScrollID, err)
	}
	return observed, nil
}

// ingestAtOnce keeps a batch's statements within the number of placeholders that SQLite takes.
const ingestAtOnce = 500

func (s *Service) ingest(ctx context.Context, tx *store.Tx, batch Batch, create bool) (added, reobserved int, err error) {
	account, err := tenant(ctx)
	if err != nil {
		return 0, 0, err
	}
	records := merge(batch.Records)
	for len(records) > 0 {
		n := min(len(records), ingestAtOnce)
		a, r, err := s.ingestRows(ctx, tx, account, batch, records[:n], create)
		if err != nil {
			return 0, 0, err
		}
		added, reobserved, records = added+a, reobserved+r, records[n:]
	}
	return added, reobserved, nil
}

func (s *Service) ingestRows(ctx context.Context, tx *store.Tx, account int64, batch Batch, records []*stage.Record, create bool) (added, reobserved int, err error) {
	if err := s.raise(ctx, tx, account, 0); err != nil {
		return 0, 0, err
	}
	known, err := s.lookUp(ctx, tx, account, records)
	if err != nil {
		return 0, 0, err
	}
	var fresh, old, all []*row
	for _, r := range records {
		v := known[r.Ref]
		switch {
		case v != nil:
			v.record = r
			old = append(old, v)
		case create:
			v = &row{record: r, isNew: true, id: s.db.NewID(), scrollID: batch.ScrollID, firstSeenAt: batch.At}
			fresh = append(fresh, v)
		default:
			continue
		}
		v.key = creatorKey(r)
		all = append(all, v)
	}
	if len(all) == 0 {
		return 0, 0, nil
	}
	if err := s.insertObservations(ctx, tx, account, batch, all); err != nil {
		return 0, 0, err
	}
	if err := s.creators(ctx, tx, account, all); err != nil {
		return 0, 0, err
	}
	for _, v := range fresh {
		v.begin(batch.At)
	}
	if err := s.insertVideos(ctx, tx, account, batch.Subject, fresh); err != nil {
		return 0, 0, err
	}
	if err := s.updateVideos(ctx, tx, account, batch, old); err != nil {
		return 0, 0, err
	}
	for _, v := range old {
		if v.observed && v.scrollID != batch.ScrollID {
			reobserved++
		}
	}
	if len(fresh) > 0 {
		err = s.write("UPDATE libraries SET videos = videos + ", arg{len(fresh)}, " WHERE account_id = ", arg{account}).exec(ctx, tx)
	}
	return len(fresh), reobserved, err
}

// lookUp finds which of the records the library has, in one query a platform.
func (s *Service) lookUp(ctx context.Context, tx *store.Tx, account int64, records []*stage.Record) (map[stage.Ref]*row, error) {
	platforms := map[string][]string{}
	for _, r := range records {
		platforms[r.Platform] = append(platforms[r.Platform], r.ExternalID)
	}
	known := make(map[stage.Ref]*row, len(records))
	for _, platform := range names(platforms) {
		q := s.write("SELECT id, external_id, creator_id, kind, scroll_id, posted_at, first_seen_at, observed_at, usable_views, usable_at, gone_at, digest, hook_order"+
			" FROM videos WHERE account_id = ", arg{account}, " AND platform = ", arg{platform}, " AND external_id IN (")
		for i, id := range platforms[platform] {
			if i > 0 {
				q.add(",")
			}
			q.add(arg{id})
		}
		err := q.add(")").query(ctx, tx, func(rows *sql.Rows) error {
			var v row
			var external string
			err := rows.Scan(&v.id, &external, &v.creatorID, &v.kind, &v.scrollID, &v.postedAt, &v.firstSeenAt, &v.observedAt,
				&v.usableViews, &v.usableAt, &v.goneAt, &v.digest, &v.hookOrder)
			known[stage.Ref{Platform: platform, ExternalID: external}] = &v
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("look up videos: %w", err)
		}
	}
	return known, nil
}

// insertObservations adds one observation a video and marks the rows that got one:
// a video has at most one in each scroll, the first.
func (s *Service) insertObservations(ctx context.Context, tx *store.Tx, account int64, batch Batch, all []*row) error {
	values := make([][]any, 0, len(all))
	byID := make(map[int64]*row, len(all))
	for _, v := range all {
		m := v.record.Metrics
		if batch.Once && !v.isNew && m.ObservedAt != nil && *m.ObservedAt == v.observedAt {
			continue
		}
		values = append(values, []any{s.db.NewID(), account, v.id, batch.ScrollID, batch.Stage, m.Views, m.Likes, m.Comments, m.Shares, m.Saves, observedAt(v.record, batch.At)})
		byID[v.id] = v
	}
	if len(values) == 0 {
		return nil
	}
	err := s.write("INSERT INTO observations (id, account_id, video_id, scroll_id, stage, views, likes, comments, shares, saves, observed_at) VALUES ").
		rows(values).add(" ON CONFLICT (scroll_id, video_id) DO NOTHING RETURNING video_id").
		query(ctx, tx, func(rows *sql.Rows) error {
			var id int64
			if err := rows.Scan(&id); err != nil {
				return err
			}
			byID[id].observed = true
			return nil
		})
	if err != nil {
		return fmt.Errorf("insert observations: %w", err)
	}
	return nil
}

// creators finds or makes the creators of the rows, and marks all of them for the next scoring.
func (s *Service) creators(ctx context.Context, tx *store.Tx, account int64, all []*row) error {
	type name struct{ platform, key string }
	handles := map[name]string{}
	var order []name
	var stored []int64
	for _, v := range all {
		if v.creatorID != nil {
			stored = append(stored, *v.creatorID)
		}
		if v.key == "" {
			continue
		}
		n := name{v.record.Platform, v.key}
		if _, seen := handles[n]; !seen {
			order = append(order, n)
			handles[n] = ""
		}
		if v.record.Source != nil && v.record.Source.Handle != "" {
			handles[n] = clean(v.record.Source.Handle)
		}
	}
	if len(stored) > 0 { // also those whose video is about to change hands
		err := s.write("UPDATE creators SET dirty = 1 WHERE account_id = ", arg{account}, " AND dirty = 0 AND id IN (").numbers(stored).add(")").exec(ctx, tx)
		if err != nil {
			return fmt.Errorf("mark creators: %w", err)
		}
	}
	if len(order) == 0 {
		return nil
	}
	values := make([][]any, len(order))
	for i, n := range order {
		values[i] = []any{s.db.NewID(), account, n.platform, n.key, handles[n], 1, 0}
	}
	ids := make(map[name]int64, len(order))
	err := s.write("INSERT INTO creators (id, account_id, platform, key, handle, dirty, thin) VALUES ").rows(values).
		add(" ON CONFLICT (account_id, platform, key) DO UPDATE SET dirty = 1,"+
			" handle = CASE WHEN excluded.handle = '' THEN creators.handle ELSE excluded.handle END RETURNING id, platform, key").
		query(ctx, tx, func(rows *sql.Rows) error {
			var id int64
			var n name
			err := rows.Scan(&id, &n.platform, &n.key)
			ids[n] = id
			return err
		})
	if err != nil {
		return fmt.Errorf("insert creators: %w", err)
	}
	for _, v := range all {
		if id, ok := ids[name{v.record.Platform, v.key}]; ok && v.key != "" {
			v.docChanged = v.docChanged || v.creatorID != nil && *v.creatorID != id
			v.creatorID = &id
		}
	}
	return nil
}

func (s *Service) insertVideos(ctx context.Context, tx *store.Tx, account int64, subject string, fresh []*row) error {
	if len(fresh) == 0 {
		return nil
	}
	values, docs := make([][]any, len(fresh)), make([][]any, len(fresh))
	for i, v := range fresh {
		values[i] = []any{
			v.id, account, v.record.Platform, v.record.ExternalID, v.creatorID, v.kind, subject, v.scrollID, v.postedAt, v.firstSeenAt,
			v.observedAt, v.usableViews, v.usableAt, v.digest, 0, 0, 0, seenOrder(v.firstSeenAt, v.id), nullable(v.hookOrder),
		}
		docs[i] = []any{v.id, account, v.doc + v.facts, v.hook, v.keys}
	}
	err := s.write("INSERT INTO videos (id, account_id, platform, external_id, creator_id, kind, subject, scroll_id, posted_at, first_seen_at,"+
		" observed_at, usable_views, usable_at, digest, archived, hook_archived, hook_hidden, seen_order, hook_order) VALUES ").
		rows(values).exec(ctx, tx)
	if err != nil {
		return fmt.Errorf("insert videos: %w", err)
	}
	if err := s.write("INSERT INTO video_docs (id, account_id, doc, hook, keys) VALUES ").rows(docs).exec(ctx, tx); err != nil {
		return fmt.Errorf("insert documents: %w", err)
	}
	return nil
}

// updateVideos brings what was known up to date: numbers where this batch brought
// an observation, the rest where the source says something new.
func (s *Service) updateVideos(ctx context.Context, tx *store.Tx, account int64, batch Batch, old []*row) error {
	byID := map[int64]*row{}
	for _, v := range old {
		if digest := digestOf(v.record); digest != v.digest && !silent(v.record) {
			v.digest, v.docChanged = digest, true
		}
		v.docChanged = v.docChanged || v.isBack()
		if v.observed || v.docChanged {
			byID[v.id] = v
		}
	}
	if len(byID) == 0 {
		return nil
	}
	docs, err := s.renewDocs(ctx, tx, account, batch.At, byID)
	if err != nil {
		return fmt.Errorf("renew documents: %w", err)
	}
	if len(docs) > 0 {
		err := s.write("UPDATE video_docs SET doc = n.column2, hook = n.column3, keys = n.column4 FROM (VALUES ").
			rows(docs, "BIGINT", "TEXT", "TEXT", "TEXT").add(") AS n WHERE video_docs.id = n.column1 AND video_docs.account_id = ", arg{account}).exec(ctx, tx)
		if err != nil {
			return fmt.Errorf("update documents: %w", err)
		}
	}
	var values [][]any
	for _, id := range names(byID) {
		v := byID[id]
		values = append(values, []any{v.id, v.creatorID, v.kind, v.postedAt, v.observedAt, v.usableViews, v.usableAt, v.goneAt, v.digest, nullable(v.hookOrder)})
	}
	err = s.write("UPDATE videos SET creator_id = n.column2, kind = n.column3, posted_at = n.column4, observed_at = n.column5, usable_views = n.column6,"+
		" usable_at = n.column7, gone_at = n.column8, digest = n.column9, hook_order = n.column10 FROM (VALUES ").
		rows(values, "BIGINT", "BIGINT", "TEXT", "BIGINT", "BIGINT", "BIGINT", "BIGINT", "BIGINT", "BIGINT", s.bytesType()).
		add(") AS n WHERE videos.id = n.column1 AND videos.account_id = ", arg{account}).exec(ctx, tx)
	if err != nil {
		return fmt.Errorf("update videos: %w", err)
	}
	return nil
}

// renewDocs brings the rows up to date with their records and returns the
// documents that differ from then on.
func (s *Service) renewDocs(ctx context.Context, tx *store.Tx, account, now int64, byID map[int64]*row) (docs [][]any, err error) {
	err = s.write("SELECT id, doc, hook, keys FROM video_docs WHERE account_id = ", arg{account}, " AND id IN (").numbers(names(byID)).add(")").
		query(ctx, tx, func(rows *sql.Rows) error {
			var id int64
			var doc, keys string
			var hook *string
			if err := rows.Scan(&id, &doc, &hook, &keys); err != nil {
				return err
			}
			v := byID[id]
			v.doc, v.facts = halves(doc)
			v.hook, v.keys = hook, keys
			if v.docChanged {
				if err := v.renew(now); err != nil {
					return err
				}
			}
			if v.observed {
				if err := v.observe(now); err != nil {
					return err
				}
			}
			if v.doc+v.facts != doc || v.hook != hook || v.keys != keys {
				docs = append(docs, []any{id, v.doc + v.facts, v.hook, v.keys})
			}
			return nil
		})
	return docs, err
}
