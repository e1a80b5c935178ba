package library

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/ent/migrate"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/removal"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

// sharedRuns are the runs of several accounts, whose scrolls have numbers of their own.
type sharedRuns struct {
	runs
	mu        sync.Mutex
	completed map[int64]bool
	imported  map[int64]map[int64]int64 // scroll by import, by account
	undone    map[int64]bool            // scrolls of imports that were undone
}

func (r *sharedRuns) SubjectOf(context.Context, int64) (subject string, found bool, err error) {
	return r.subject, true, nil
}

func (r *sharedRuns) ScrollsOf(ctx context.Context, id int64) (scrolls []int64, found, ended bool, err error) {
	account, err := videos.Account(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	scroll, found := r.imported[account][id]
	return []int64{scroll}, found, true, err
}

func (r *sharedRuns) CompletedOf(_ context.Context, ids []int64) (completed []int64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return !r.completed[id] }), nil
}

func (r *sharedRuns) Completed(context.Context, string) (int, error) { return 2, nil }

// ran is what a scroll read.
type ran struct {
	scroll, at int64
	source     string
	records    []stage.Record
}

// crowd is a database on which two processes work at once, for three accounts.
type crowd struct {
	t         *testing.T
	db        *store.DB
	runs      *sharedRuns
	processes []*Library
	accounts  []int64
	steps     int

	mu  sync.Mutex
	ran map[int64][]ran // by account, in their order
}

// erasedMakers are the creators that are erased from all libraries, each by one process.
func erasedMakers() []string { return []string{"maker1", "maker4"} }

// stressSteps is how many steps each of the workers of a stress test takes: SCROLLERY_TEST_STEPS,
// else few.
func stressSteps(few int) int {
	if n, err := strconv.Atoi(os.Getenv("SCROLLERY_TEST_STEPS")); err == nil {
		return n
	}
	if storetest.Long() {
		return 10 * few
	}
	return few
}

// TestDeletionsMeetWork deletes and undoes, erases, sweeps, collects, imports, annotates and scores
// at once, by two processes. In the end each library is one that never had what is not in it, and
// nothing refers to what is gone. SCROLLERY_TEST_STEPS makes it longer.
func TestDeletionsMeetWork(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		seed := uint64(1)
		if n, err := strconv.ParseUint(os.Getenv("SCROLLERY_TEST_SEED"), 10, 64); err == nil {
			seed = n
		}
		c := newCrowd(t, db, stressSteps(20))
		c.work(seed)
		c.settle()
		c.check()
	})
}

func newCrowd(t *testing.T, db *store.DB, steps int) *crowd {
	c := &crowd{
		t: t, db: db, steps: steps, accounts: []int64{7, 8, 9}, ran: map[int64][]ran{},
		runs: &sharedRuns{runs: runs{subject: "website:a.com"}, completed: map[int64]bool{}, imported: map[int64]map[int64]int64{7: {}, 8: {}, 9: {}}, undone: map[int64]bool{}},
	}
	b := &bundle{t: t, db: db}
	for range 2 {
		l, err := New(Defaults(), db, c.runs, c.runs, c.runs, c.runs, b.kept(), retention, videos.Thinning{})
		if err != nil {
			t.Fatal(err)
		}
		l.Removal.Patience = 30 * time.Millisecond // jobs do the rest
		c.processes = append(c.processes, l)
	}
	return c
}

// as is the context of an account, or of none.
func (c *crowd) as(account int64) context.Context { return viewer.As(c.t.Context(), account) }

// try reports an error that no caller should get.
func (c *crowd) try(what string, err error) bool {
	if err == nil {
		return true
	}
	if refused := apierr.As(err); refused == nil || refused.Kind != apierr.OperationError {
		c.t.Errorf("%s: got %v, want no error", what, err)
	}
	return false
}

// work has all workers take their steps.
func (c *crowd) work(seed uint64) {
	var workers, background sync.WaitGroup
	done := make(chan struct{})
	begin := func(of *sync.WaitGroup, number uint64, do func(r *rand.Rand)) {
		of.Go(func() { do(rand.New(rand.NewPCG(seed, number))) })
	}
	for i, account := range c.accounts {
		n := 10 * uint64(i)
		begin(&workers, n, func(r *rand.Rand) { c.collects(r, account) })
		for one := range uint64(2) {
			begin(&workers, n+one+1, func(r *rand.Rand) {
				for range c.steps {
					c.removes(r, account)
				}
			})
		}
		begin(&workers, n+3, func(r *rand.Rand) {
			for range c.steps {
				c.edits(r, account)
			}
		})
		begin(&background, n+4, func(*rand.Rand) { c.follows(account, done) })
	}
	begin(&workers, 100, func(*rand.Rand) { c.erases() })
	for i, l := range c.processes {
		begin(&background, 200+uint64(i), func(r *rand.Rand) {
			for step := 0; ; step++ {
				select {
				case <-done:
					return
				default:
				}
				c.try("score", l.Scoring.ScoreAllUnscored(c.t.Context()))
				c.try("count", l.Scoring.Trends.CountAll(c.t.Context()))
				if step%4 == i {
					c.try("sweep", l.Removal.Sweep(c.t.Context(), time.UnixMilli(now+int64(r.IntN(40))*day)))
				}
			}
		})
	}
	workers.Wait()
	close(done)
	background.Wait()
}

// process is one of the two.
func (c *crowd) process(r *rand.Rand) *Library { return c.processes[r.IntN(len(c.processes))] }

// collects runs scrolls and imports of an account, one after another.
func (c *crowd) collects(r *rand.Rand, account int64) {
	ctx := c.as(account)
	for run := range int64(max(3, c.steps/3)) {
		scroll := c.db.NewID()
		one := ran{scroll, now + run*day/2, []string{"feed", "api", "import"}[run%3], nil}
		for _, rec := range watched(rand.New(rand.NewPCG(uint64(account), uint64(run))), run) {
			rec.Metrics.ObservedAt = &one.at
			if r.IntN(4) > 0 {
				one.records = append(one.records, rec)
			}
		}
		c.mu.Lock()
		c.ran[account] = append(c.ran[account], one)
		c.mu.Unlock()
		l := c.process(r)
		for part := range slices.Chunk(one.records, 1+r.IntN(20)) {
			c.try("archive", c.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				_, _, err := l.Videos.Archive(ctx, tx, one.batch(part))
				return err
			}))
		}
		c.try("score a scroll", l.Scoring.Score(ctx, scroll))
		c.runs.mu.Lock()
		c.runs.completed[scroll] = true
		if one.source == "import" {
			c.runs.imported[account][c.db.NewID()] = scroll
		}
		c.runs.mu.Unlock()
	}
}

func (r ran) batch(records []stage.Record) videos.Batch {
	return videos.Batch{ScrollID: r.scroll, Subject: "website:a.com", Stage: r.source, At: r.at, Once: r.source == "import", Records: records}
}

// any returns one of the account's ids that a query selects, 0 for none.
func (c *crowd) any(r *rand.Rand, account int64, query string) (id int64) {
	ids, err := store.Query[int64](c.as(account), c.db.Hot(query))
	if c.try("look", err) && len(ids) > 0 {
		id = ids[r.IntN(len(ids))]
	}
	return id
}

const anyVideo = `SELECT id FROM videos WHERE {tenant} ORDER BY id LIMIT 1000`

// removes deletes something of an account, or undoes that.
func (c *crowd) removes(r *rand.Rand, account int64) {
	ctx, l := c.as(account), c.process(r)
	var order removal.Order
	switch r.IntN(12) {
	case 0, 1, 2:
		order.VideoID = publicid.Format(publicid.Video, c.any(r, account, anyVideo))
	case 3:
		order.Platform, order.Handle = "tiktok", fmt.Sprintf("maker%d", r.IntN(6))
	case 4:
		order.Platform, order.CreatorID = "tiktok", fmt.Sprintf("id-%d", 2*r.IntN(3))
	case 5:
		order.SourceID = []string{"feed", "api"}[r.IntN(2)]
	case 6, 7:
		c.runs.mu.Lock()
		imports := slices.Sorted(maps.Keys(c.runs.imported[account]))
		if len(imports) == 0 {
			c.runs.mu.Unlock()
			return
		}
		id := imports[r.IntN(len(imports))]
		scroll := c.runs.imported[account][id]
		c.runs.mu.Unlock()
		if r.IntN(2) == 0 {
			order.ImportID = publicid.Format(publicid.Import, id)
			break
		}
		deletions := videos.NewDeletions(l.Videos)
		c.try("undo an import", deletions.Forget(ctx, []int64{scroll}, func(context.Context, *store.Tx, int, int) error { return nil }))
		c.runs.mu.Lock()
		c.runs.undone[scroll] = true
		c.runs.mu.Unlock()
		return
	case 8, 9:
		c.finish(l, account, c.any(r, account, `SELECT id FROM deletions WHERE {tenant} AND status IN ('running', 'undoing') ORDER BY id`))
		return
	default:
		if id := c.any(r, account, `SELECT id FROM deletions WHERE {tenant} AND status <> 'undone' ORDER BY id`); id != 0 {
			_, err := l.Removal.Undo(ctx, publicid.Format(publicid.Deletion, id))
			c.try("undo", err)
		}
		return
	}
	_, err := l.Removal.Delete(ctx, order)
	c.try("delete", err)
}

// finish does what the jobs of a deletion do.
func (c *crowd) finish(l *Library, account, deletion int64) {
	if deletion == 0 {
		return
	}
	for _, w := range l.Removal.Workers() {
		err := w.Work(c.t.Context(), json.RawMessage(fmt.Sprintf(`{"account":%d,"deletion":%d}`, account, deletion)))
		c.try("a job", err)
	}
}

func (c *crowd) edits(r *rand.Rand, account int64) {
	edits := videos.Edits{Service: c.process(r).Videos}
	id := publicid.Format(publicid.Video, c.any(r, account, anyVideo))
	var err error
	switch r.IntN(3) {
	case 0:
		_, _, err = edits.Annotate(c.as(account), id, json.RawMessage(`{"note":"mine"}`))
	case 1:
		_, err = edits.ArchiveVideo(c.as(account), id, false, r.IntN(2) == 0)
	default:
		_, err = edits.ArchiveVideo(c.as(account), id, true, r.IntN(2) == 0)
	}
	c.try("edit", err)
}

// erases a creator from all libraries, while the others work.
func (c *crowd) erases() {
	for { // some scrolls first
		c.mu.Lock()
		n := len(c.ran[c.accounts[0]])
		c.mu.Unlock()
		if n >= max(2, c.steps/6) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	var both sync.WaitGroup
	for i, l := range c.processes {
		both.Go(func() {
			maker := erasedMakers()[i]
			receipt, err := l.Removal.Erase(c.t.Context(), "tiktok", maker, "", "a request")
			if c.try("erase", err) && receipt.Accounts > len(c.accounts) {
				c.t.Errorf("got a receipt of %d accounts, want at most %d", receipt.Accounts, len(c.accounts))
			}
			if n := storetest.Count(c.t, c.db, `SELECT count(*) FROM videos WHERE handle = $1`, maker); n > 0 {
				c.t.Errorf("after the receipt: got %d videos of the erased creator, want none", n)
			}
		})
	}
	both.Wait()
}

// follows reads the feed of an account by its numbers, and compares what it saw with the library in
// the end.
func (c *crowd) follows(account int64, done chan struct{}) {
	ctx := c.as(account)
	next := c.db.Hot(`SELECT seq, kind, COALESCE(video_id, 0) AS video FROM changes WHERE {tenant} AND seq > $1 ORDER BY seq LIMIT 200`)
	seen, last, ended := map[int64]bool{}, int64(0), false
	for {
		rows, err := store.Query[struct {
			Seq   int64
			Kind  string
			Video int64
		}](ctx, next, last)
		if !c.try("follow", err) {
			return
		}
		for _, row := range rows {
			if row.Seq != last+1 {
				c.t.Errorf("the feed of account %d: got change %d after %d", account, row.Seq, last)
			}
			last = row.Seq
			switch row.Kind {
			case "video.added", "video.restored":
				seen[row.Video] = true
			case "video.deleted":
				if !seen[row.Video] {
					c.t.Errorf("the feed of account %d has the deletion of a video that was not there", account)
				}
				delete(seen, row.Video)
			}
		}
		if len(rows) > 0 {
			continue
		}
		if ended {
			break
		}
		select {
		case <-done:
			ended = true // once more, for the last ones
		case <-time.After(time.Millisecond):
		}
	}
	ids, err := store.Query[int64](ctx, c.db.Hot(`SELECT id FROM videos WHERE {tenant}`))
	c.try("list", err)
	for _, id := range ids {
		if !seen[id] {
			c.t.Errorf("the feed of account %d lacks a video of the library", account)
		}
		delete(seen, id)
	}
	if len(seen) > 0 {
		c.t.Errorf("the feed of account %d has %d videos that the library has not", account, len(seen))
	}
}

// settle ends what was left to jobs.
func (c *crowd) settle() {
	c.t.Helper()
	l := c.processes[0]
	for _, account := range c.accounts {
		for try := 0; ; try++ {
			ids, err := store.Query[int64](c.as(account), c.db.Hot(`SELECT id FROM deletions WHERE {tenant} AND status IN ('running', 'undoing') ORDER BY id`))
			c.try("look", err)
			if len(ids) == 0 {
				break
			}
			if try == 20 {
				c.t.Fatalf("got %d deletions that do not end", len(ids))
			}
			for _, id := range ids {
				c.finish(l, account, id)
			}
		}
		c.try("score", videos.NewDeletions(l.Videos).ScoreNow(c.as(account)))
	}
	c.try("count", l.Scoring.Trends.CountAll(c.t.Context()))
	c.try("score", l.Scoring.ScoreAllUnscored(c.t.Context()))
	c.try("count", l.Scoring.Trends.CountAll(c.t.Context()))
	for table, query := range map[string]string{
		"unscored_libraries": "", "uncounted_videos": "", "creators": " WHERE dirty > 0", "niches": " WHERE dirty > 0",
	} {
		if n := storetest.Count(c.t, c.db, "SELECT count(*) FROM "+table+query); n > 0 {
			c.t.Errorf("after all was scored: got %d rows of %s that wait, want none", n, table)
		}
	}
}

// check compares what is left with what should be.
func (c *crowd) check() {
	for _, table := range migrate.Tables {
		columns := map[string]bool{}
		for _, column := range table.Columns {
			columns[column.Name] = true
		}
		if columns["account_id"] && columns["video_id"] {
			c.none(table.Name+" of a video that is gone", "SELECT count(*) FROM "+table.Name+
				" x WHERE x.video_id <> 0 AND NOT EXISTS (SELECT 1 FROM videos v WHERE v.account_id = x.account_id AND v.id = x.video_id)")
		}
	}
	for what, query := range map[string]string{
		"documents without a video": `video_docs d WHERE NOT EXISTS (SELECT 1 FROM videos v WHERE v.id = d.id AND v.account_id = d.account_id)`,
		"videos without a document": `videos v WHERE NOT EXISTS (SELECT 1 FROM video_docs d WHERE v.id = d.id AND v.account_id = d.account_id)`,
		"words without a video":     `video_terms d WHERE NOT EXISTS (SELECT 1 FROM videos v WHERE v.id = d.id AND v.account_id = d.account_id)`,
		"videos without words":      `videos v WHERE NOT EXISTS (SELECT 1 FROM video_terms d WHERE v.id = d.id AND v.account_id = d.account_id)`,
		"videos without a reading":  `videos v WHERE NOT EXISTS (SELECT 1 FROM observations o WHERE v.id = o.video_id AND v.account_id = o.account_id)`,
		"videos of a creator that is gone": `videos v WHERE v.creator_id IS NOT NULL
AND NOT EXISTS (SELECT 1 FROM creators k WHERE k.id = v.creator_id AND k.account_id = v.account_id)`,
		"creators without a video":      `creators k WHERE NOT EXISTS (SELECT 1 FROM videos v WHERE v.creator_id = k.id AND v.account_id = k.account_id)`,
		"videos both there and deleted": `videos v WHERE EXISTS (SELECT 1 FROM deleted_videos d WHERE d.id = v.id)`,
		"copies that no undo brings back": `deleted_videos d WHERE NOT EXISTS (SELECT 1 FROM deletions k
WHERE k.id = d.deletion_id AND k.account_id = d.account_id AND k.status = 'deleted' AND k.undo_until > 0)`,
		"tombstones of what was undone": `tombstones s WHERE EXISTS (SELECT 1 FROM deletions k WHERE k.id = s.deletion_id AND k.status = 'undone')`,
		"libraries that count others":   `libraries l WHERE l.videos <> (SELECT count(*) FROM videos v WHERE v.account_id = l.account_id)`,
		"sources that count others": `source_counts s WHERE s.readings <>
(SELECT count(*) FROM observations o WHERE o.account_id = s.account_id AND o.stage = s.source)`,
		"trends with an example that is gone": `trends x WHERE EXISTS (SELECT 1 FROM (SELECT x.example1 AS id UNION SELECT x.example2 UNION SELECT x.example3) e
WHERE e.id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM videos v WHERE v.id = e.id AND v.account_id = x.account_id))`,
		"runs without a reading": `library_runs k WHERE NOT EXISTS (SELECT 1 FROM observations o WHERE o.account_id = k.account_id AND o.scroll_id = k.scroll_id)`,
	} {
		c.none(what, "SELECT count(*) FROM "+query)
	}
	for scroll := range c.runs.undone {
		c.none("readings of an import that was undone", fmt.Sprintf("SELECT count(*) FROM observations WHERE scroll_id = %d", scroll))
	}
	for _, account := range c.accounts {
		ctx, v := c.as(account), c.processes[0].Videos
		for _, maker := range erasedMakers() {
			kept, err := v.Tombstones.KeptOf(ctx, videos.CreatorName{Platform: "tiktok", Keys: []string{"handle:" + maker}})
			if err != nil || kept {
				c.t.Errorf("account %d: got kept %t, %v of the erased %s, want none", account, kept, err, maker)
			}
			c.none("videos of "+maker, "SELECT count(*) FROM videos WHERE handle = '"+maker+"'")
			c.none("rows of "+maker, "SELECT count(*) FROM creators WHERE key = 'handle:"+maker+"' OR handle = '"+maker+"'")
		}
		banned, _, _, err := v.Tombstones.Banned(ctx, stage.Ref{})
		c.try("look for what is kept out", err)
		for by, ids := range banned {
			c.t.Errorf("account %d: got %d videos that %+v keeps out, want none", account, len(ids), by)
		}
		got := c.state(c.db, account)
		if diff := cmp.Diff(c.replayed(account), got); diff != "" {
			c.t.Errorf("account %d: its library (-never had the rest +got):\n%s", account, diff)
		}
	}
}

func (c *crowd) none(what, query string) {
	c.t.Helper()
	if n := storetest.Count(c.t, c.db, query); n > 0 {
		c.t.Errorf("got %d %s, want none", n, what)
	}
}

// state is what a library says, by the videos' own ids.
func (c *crowd) state(db *store.DB, account int64) (lines []string) {
	b := &bundle{t: c.t, db: db, ctx: c.as(account)}
	for _, query := range []string{
		`SELECT 'video', v.external_id, v.peers, v.own_views, v.by_niche, v.twice_baseline, v.sample_count, v.doubtful, v.score, k.key,
v.handle, v.observed_at, v.usable_views, v.archived, v.hook_hidden, CASE WHEN v.outlier_order IS NULL THEN 0 ELSE 1 END
FROM videos v LEFT JOIN creators k ON k.id = v.creator_id WHERE v.account_id = %d ORDER BY v.external_id`,
		`SELECT 'creator', key, dirty FROM creators WHERE account_id = %d ORDER BY key`,
		`SELECT 'run', subject, scroll_id, first_at, last_at, usable_at, CASE WHEN repeats IS NULL THEN 1 ELSE 0 END FROM library_runs WHERE account_id = %d ORDER BY scroll_id`,
		`SELECT 'window', subject, newest_at, span, videos, recent, earlier FROM trend_windows WHERE account_id = %d ORDER BY subject`,
		`SELECT 'trend', with_archived, key, label, listed, head, video_count FROM trends WHERE account_id = %d ORDER BY with_archived, key`,
	} {
		b.rows(fmt.Sprintf(query, account), func(line string) { lines = append(lines, line) })
	}
	return lines
}

// replayed is the state of a library that never had what an account's has not.
func (c *crowd) replayed(account int64) []string {
	has := map[string]bool{}
	storetest.Rows(c.t, c.db, func(rows *sql.Rows) error {
		var id string
		var scroll int64
		err := rows.Scan(&id, &scroll)
		has[fmt.Sprint(id, " ", scroll)] = true
		return err
	}, `SELECT v.external_id, o.scroll_id FROM observations o JOIN videos v ON v.id = o.video_id AND v.account_id = o.account_id WHERE o.account_id = $1`, account)
	db := another(c.t, c.db)
	other := newCrowd(c.t, db, 0)
	l, ctx := other.processes[0], c.as(account)
	for _, one := range c.ran[account] {
		records := slices.DeleteFunc(slices.Clone(one.records), func(r stage.Record) bool { return !has[fmt.Sprint(r.ExternalID, " ", one.scroll)] })
		if len(records) == 0 {
			continue
		}
		c.try("archive", db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			_, _, err := l.Videos.Archive(ctx, tx, one.batch(records))
			return err
		}))
		c.try("score", l.Scoring.Score(ctx, one.scroll))
		other.runs.completed[one.scroll] = true
	}
	archived := map[string][2]bool{}
	storetest.Rows(c.t, c.db, func(rows *sql.Rows) error {
		var id string
		var whole, hook int64
		err := rows.Scan(&id, &whole, &hook)
		archived[id] = [2]bool{whole == 1, hook == 1}
		return err
	}, `SELECT external_id, archived, hook_archived FROM videos WHERE account_id = $1`, account)
	edits := videos.Edits{Service: l.Videos}
	for id, how := range archived {
		video, found, err := l.Videos.Catalog.IDOf(ctx, stage.Ref{Platform: "tiktok", ExternalID: id})
		if !c.try("find", err) || !found {
			c.t.Errorf("account %d: got no %s in the other library, want it", account, id)
			continue
		}
		for i, is := range how {
			if !is {
				continue
			}
			_, err := edits.ArchiveVideo(ctx, video, i == 1, true)
			c.try("archive", err)
		}
	}
	other.settle()
	return other.state(db, account)
}
