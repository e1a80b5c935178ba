package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/ent/migrate"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/operator"
)

// town is a server, or two on PostgreSQL, with customers who do all at once.
type town struct {
	t       *testing.T
	servers []*apptest.Running
	steps   int
	db      *store.DB
}

// TestCustomersDeleteWhileAllElseRuns has customers collect, import, delete, undo, annotate, share and
// export at once, an operator erase a creator, and an account deleted. No call fails, nothing waits
// for ever, and nothing refers to what is gone. SCROLLERY_TEST_STEPS makes it longer.
func TestCustomersDeleteWhileAllElseRuns(t *testing.T) {
	t.Parallel()
	apptest.OnEach(t, func(t *testing.T, address string) {
		w := &town{t: t, steps: 8}
		if n, err := strconv.Atoi(os.Getenv("SCROLLERY_TEST_STEPS")); err == nil {
			w.steps = n
		}
		feed := t.TempDir()
		for run := range 3 {
			dir := filepath.Join(feed, strconv.Itoa(run+1))
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			lines := feedLines(0, 40+10*run, time.Now().Add(time.Duration(run-4)*24*time.Hour).UnixMilli())
			if err := os.WriteFile(filepath.Join(dir, "videos.jsonl"), []byte(lines), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		start := func() {
			w.servers = append(w.servers, apptest.StartBy(t, w.listening, quickImports, func(cfg *app.Config) {
				cfg.DatabaseURL, cfg.SecretKey = address, "the key of the tests of deletions, which is long enough"
				cfg.SetStage("FEED_DIR", feed)
				cfg.Library.PageCacheBytes = 1 << 20
			}))
		}
		if start(); address != "" {
			start()
		}
		part := store.Defaults()
		part.DatabaseURL, part.DataDir = w.servers[0].Config.DatabaseURL, w.servers[0].Config.DataDir
		w.db = storetest.Open(t, part)
		customers := []*customer{w.moves("first"), w.moves("second"), w.moves("leaver")}
		w.work(customers)
		w.waits(customers)
		w.checks(customers[:2])
	})
}

// listening starts a server whose errors are the test's.
func (w *town) listening(ctx context.Context, cfg app.Config, log *slog.Logger) (*app.Service, error) {
	return app.Start(ctx, cfg, slog.New(errorsOf{log.Handler(), w.t}))
}

type errorsOf struct {
	slog.Handler
	t *testing.T
}

func (h errorsOf) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError && h.t.Context().Err() == nil {
		text, hasCause := r.Message, r.Message != "request" // such as a deletion that is under way
		r.Attrs(func(a slog.Attr) bool {
			text, hasCause = text+" "+a.String(), hasCause || a.Key == "error"
			return true
		})
		if hasCause {
			h.t.Errorf("the server logged %s", text)
		}
	}
	return h.Handler.Handle(ctx, r)
}

func (h errorsOf) WithAttrs(attrs []slog.Attr) slog.Handler {
	return errorsOf{h.Handler.WithAttrs(attrs), h.t}
}

func (h errorsOf) WithGroup(name string) slog.Handler {
	return errorsOf{h.Handler.WithGroup(name), h.t}
}

// customer calls whichever server.
type customer struct {
	*town
	name    string
	callers []*apptest.Caller
	account int64
	leaves  bool
	ended   chan struct{} // once all its workers have

	mu         sync.Mutex
	imports    []string
	deletions  []string
	collection string
}

func (w *town) moves(name string) *customer {
	owner := w.servers[0].Account(w.t, "pro")
	c := &customer{town: w, name: name, leaves: name == "leaver", ended: make(chan struct{})}
	for _, s := range w.servers {
		c.callers = append(c.callers, apptest.CallerOf(s.BaseURL, owner.Key))
	}
	c.callers[0].Email = owner.Email
	owner.Get(w.t, setBrief, &struct{}{})
	owner.Get(w.t, setRules, &struct{}{})
	var made struct {
		Collection struct{ ID string }
	}
	owner.Get(w.t, `POST /v1/collections/create {"name":"kept"}`, &made)
	c.collection = made.Collection.ID
	c.account = storetest.Count(w.t, w.db, "SELECT max(id) FROM accounts")
	owner.Scroll(w.t, "{}")
	return c
}

// call makes a call that no server may fail, and decodes the answer. A server that is busy may say so,
// or give no answer if it can not say what was done, and the account may be gone.
func (c *customer) call(r *rand.Rand, call string, out any) (ok bool) {
	method, rest, _ := strings.Cut(call, " ")
	path, text, _ := strings.Cut(rest, " ")
	caller := c.callers[r.IntN(len(c.callers))]
	request, err := http.NewRequestWithContext(c.t.Context(), method, caller.Address()+path, strings.NewReader(text))
	if err != nil {
		c.t.Error(err)
		return false
	}
	request.Header.Set("Authorization", "Bearer "+caller.Key)
	if text != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	status := answer.StatusCode
	switch {
	case err != nil, status == http.StatusServiceUnavailable:
		return false
	case status >= 500, !c.leaves && (status == http.StatusUnauthorized || strings.Contains(string(body), "The operation failed. Try again")):
		c.t.Errorf("%s: %s answered %d: %.300s", c.name, call, status, body)
		return false
	case status >= 300:
		return false
	case out == nil:
		return true
	}
	if err := json.Unmarshal(body, out); err != nil {
		c.t.Errorf("%s: %s: %v: %.300s", c.name, call, err, body)
	}
	return true
}

func (w *town) work(customers []*customer) {
	var all, readers sync.WaitGroup
	for i, c := range customers {
		var own sync.WaitGroup
		for n, do := range []func(*rand.Rand){c.scrolls, c.brings, c.deletes, c.deletes, c.edits, c.exports} {
			r := rand.New(rand.NewPCG(1, uint64(10*i+n)))
			own.Go(func() {
				for range c.steps {
					do(r)
				}
			})
		}
		all.Go(func() { own.Wait(); close(c.ended) })
		if !c.leaves {
			readers.Go(func() { c.follows() })
		}
	}
	all.Go(func() { w.erases(customers) })
	all.Wait()
	readers.Wait()
}

func (c *customer) scrolls(r *rand.Rand) {
	var started struct{ Scroll struct{ ID string } }
	if !c.call(r, "POST /v1/scrolls {}", &started) {
		time.Sleep(20 * time.Millisecond)
		return
	}
	for range 3000 {
		var got struct{ Scroll *struct{ Status string } }
		switch {
		case c.call(r, "GET /v1/scrolls?id="+started.Scroll.ID, &got) && got.Scroll != nil:
			if got.Scroll.Status == "failed" && !c.leaves {
				c.t.Errorf("%s: a scroll failed", c.name)
			}
			if got.Scroll.Status != "queued" && got.Scroll.Status != "running" {
				return
			}
		case c.leaves:
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	c.t.Errorf("%s: a scroll did not end", c.name)
}

func (c *customer) brings(r *rand.Rand) {
	from := r.IntN(60)
	lines := feedLines(from, 5+r.IntN(25), time.Now().UnixMilli()-int64(r.IntN(1000))*1000)
	body, err := json.Marshal(map[string]any{"text": lines})
	if err != nil {
		c.t.Fatal(err)
	}
	var made struct{ Import struct{ ID string } }
	if c.call(r, "POST /v1/imports/text "+string(body), &made) {
		c.mu.Lock()
		c.imports = append(c.imports, made.Import.ID)
		c.mu.Unlock()
	}
	if id := c.one(r, &c.imports); id != "" && r.IntN(2) == 0 {
		c.call(r, fmt.Sprintf(`POST /v1/imports/undo {"id":%q}`, id), nil)
	}
	time.Sleep(50 * time.Millisecond)
}

// one of some ids; empty for none.
func (c *customer) one(r *rand.Rand, of *[]string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(*of) == 0 {
		return ""
	}
	return (*of)[r.IntN(len(*of))]
}

// video is one of the library; empty for none.
func (c *customer) video(r *rand.Rand) string {
	var page struct{ Videos []struct{ ID string } }
	if !c.call(r, "GET /v1/library?limit=100&includeArchived=true", &page) || len(page.Videos) == 0 {
		return ""
	}
	return page.Videos[r.IntN(len(page.Videos))].ID
}

func (c *customer) deletes(r *rand.Rand) {
	order := ""
	switch r.IntN(9) {
	case 0, 1, 2:
		order = fmt.Sprintf(`{"videoId":%q}`, c.video(r))
	case 3:
		order = fmt.Sprintf(`{"platform":"tiktok","creator":"maker%d"}`, r.IntN(4))
	case 4:
		order = `{"sourceId":"feed"}`
	case 5:
		order = fmt.Sprintf(`{"importId":%q}`, c.one(r, &c.imports))
	default:
		if id := c.one(r, &c.deletions); id != "" {
			c.call(r, fmt.Sprintf(`POST /v1/library/undelete {"id":%q}`, id), nil)
		}
		return
	}
	var deleted struct{ Deletion *struct{ ID string } }
	if c.call(r, "POST /v1/library/delete "+order, &deleted) && deleted.Deletion != nil {
		c.mu.Lock()
		c.deletions = append(c.deletions, deleted.Deletion.ID)
		c.mu.Unlock()
	}
}

func (c *customer) edits(r *rand.Rand) {
	video := c.video(r)
	c.call(r, fmt.Sprintf(`POST /v1/library/annotate {"videoId":%q,"agentMetadata":{"n":%d}}`, video, r.IntN(9)), nil)
	c.call(r, fmt.Sprintf(`POST /v1/library/archive {"videoId":%q,"archived":%t}`, video, r.IntN(2) == 0), nil)
	c.call(r, fmt.Sprintf(`POST /v1/collections/add {"id":%q,"videoIds":[%q]}`, c.collection, video), nil)
	if video := c.video(r); r.IntN(3) == 0 {
		c.call(r, fmt.Sprintf(`POST /v1/collections/remove {"id":%q,"videoIds":[%q]}`, c.collection, video), nil)
	}
	var made struct{ Share struct{ ID string } }
	if c.call(r, fmt.Sprintf(`POST /v1/shares/create {"kind":"collection","id":%q,"title":"One"}`, c.collection), &made) && r.IntN(3) == 0 {
		c.call(r, fmt.Sprintf(`POST /v1/shares/revoke {"id":%q}`, made.Share.ID), nil)
	}
	if r.IntN(3) == 0 {
		c.call(r, fmt.Sprintf(`PUT /v1/rules {"text":"Nothing under %d views."}`, 1000+r.IntN(20)), nil)
	}
}

func (c *customer) exports(r *rand.Rand) {
	c.call(r, "GET /v1/account/export", nil)
	for _, view := range views {
		c.call(r, view, nil)
	}
	if video := c.video(r); video != "" {
		c.call(r, "GET /v1/outliers/explain?videoId="+video, nil)
		c.call(r, "GET /v1/library/observations?videoId="+video, nil)
	}
	c.call(r, "GET /v1/library/deletions", nil)
}

// follows reads the feed until it is quiet, and compares what it saw with the library.
func (c *customer) follows() {
	r := rand.New(rand.NewPCG(2, uint64(c.account)))
	seen, cursor := map[string]bool{}, ""
	quiet, failed := 0, 0
	for quiet < 3 {
		var page feedPage
		if !c.call(r, "GET /v1/changes?limit=50&cursor="+cursor, &page) {
			if failed++; failed == 100 {
				c.t.Errorf("%s: got no feed in %d calls", c.name, failed)
				return
			}
			time.Sleep(20 * time.Millisecond)
			continue
		}
		for _, change := range page.Changes {
			video, _ := change["videoId"].(string)
			switch change["type"] {
			case "video.added", "video.restored":
				seen[video] = true
			case "video.deleted":
				if !seen[video] {
					c.t.Errorf("%s: got the deletion of a video that was not there", c.name)
				}
				delete(seen, video)
			}
		}
		cursor = page.NextCursor
		if len(page.Changes) > 0 {
			quiet = 0
			continue
		}
		select {
		case <-c.ended:
			if c.isIdle() {
				quiet++
			}
		default:
		}
		time.Sleep(20 * time.Millisecond)
	}
	cursor = ""
	for {
		var page struct {
			Videos     []struct{ ID string }
			NextCursor *string
		}
		if !c.call(r, "GET /v1/library?limit=100&includeArchived=true"+cursor, &page) {
			c.t.Errorf("%s: got no list of the library", c.name)
			return
		}
		for _, v := range page.Videos {
			if !seen[v.ID] {
				c.t.Errorf("%s: the feed lacks %s, which the library has", c.name, v.ID)
			}
			delete(seen, v.ID)
		}
		if page.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + *page.NextCursor
	}
	if len(seen) > 0 {
		c.t.Errorf("%s: the feed has %d videos that the library has not", c.name, len(seen))
	}
}

// isIdle reports whether nothing of the account is under way.
func (c *customer) isIdle() bool {
	for _, query := range []string{
		`scrolls WHERE account_id = $1 AND status IN ('queued', 'running')`,
		`imports WHERE account_id = $1 AND status NOT IN ('completed', 'failed', 'undone')`,
		`deletions WHERE account_id = $1 AND status IN ('running', 'undoing')`,
		`unscored_libraries WHERE account_id = $1`,
		`uncounted_videos WHERE account_id = $1`,
	} {
		if storetest.Count(c.t, c.db, "SELECT count(*) FROM "+query, c.account) > 0 {
			return false
		}
	}
	return true
}

// erases a creator from all libraries, and an account, while the others work.
func (w *town) erases(customers []*customer) {
	time.Sleep(300 * time.Millisecond)
	if _, err := w.servers[0].Operator().EraseCreator(w.t.Context(), operator.EraseOrder{Platform: "tiktok", Handle: "maker4", Reason: "a request"}); err != nil {
		w.t.Errorf("erase a creator: %v", err)
	}
	w.none("videos of an erased creator", `videos WHERE handle = 'maker4'`)
	for _, c := range customers {
		if !c.leaves {
			continue
		}
		if _, err := w.servers[0].Operator().DeleteAccount(w.t.Context(), c.callers[0].Email, false); err != nil {
			w.t.Errorf("delete an account: %v", err)
		}
		storetest.Exec(w.t, w.db, `UPDATE audit_entries SET created_at = created_at - 864000000 WHERE account_id = $1 AND action = 'account.erase_confirmed'`, c.account)
		w.due("account.erase")
	}
}

// due has a job run now.
func (w *town) due(kind string) {
	if w.db.Dialect() == store.SQLite {
		storetest.Exec(w.t, w.db, `UPDATE jobs SET run_at = 0 WHERE kind = $1`, kind)
		return
	}
	storetest.Exec(w.t, w.db, `UPDATE river_job SET state = 'available', scheduled_at = now() WHERE kind = $1 AND state IN ('scheduled', 'available')`, kind)
}

func (w *town) none(what, query string) {
	w.t.Helper()
	if n := storetest.Count(w.t, w.db, "SELECT count(*) FROM "+query); n > 0 {
		w.t.Errorf("got %d %s, want none", n, what)
	}
}

// until waits for a condition.
func (w *town) until(what string, done func() bool) {
	w.t.Helper()
	for end := time.Now().Add(3 * time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("got no end of %s", what)
		}
	}
}

// waits until the jobs have ended, and the account is gone.
func (w *town) waits(customers []*customer) {
	for _, c := range customers {
		if !c.leaves {
			w.until("the work of "+c.name, c.isIdle)
			continue
		}
		w.until("the account", func() bool {
			return storetest.Count(w.t, w.db, "SELECT count(*) FROM accounts WHERE id = $1", c.account) == 0
		})
		jobs := `SELECT count(*) FROM jobs WHERE kind = $1 AND lease_until >= 0`
		if w.db.Dialect() == store.Postgres {
			jobs = `SELECT count(*) FROM river_job WHERE kind = $1 AND finalized_at IS NULL`
		}
		w.until("the account's rest", func() bool {
			w.due("account.erase_rest")
			return storetest.Count(w.t, w.db, jobs, "account.erase_rest") == 0
		})
		for _, table := range migrate.Tables {
			for _, column := range table.Columns {
				if column.Name != "account_id" {
					continue
				}
				if n := storetest.Count(w.t, w.db, "SELECT count(*) FROM "+table.Name+" WHERE account_id = $1", c.account); n > 0 {
					w.t.Errorf("got %d rows of %s of the account that left, want none", n, table.Name)
				}
			}
		}
		if c.db.Dialect() == store.SQLite {
			if _, err := os.Stat(filepath.Join(w.servers[0].Config.DataDir, "sandbox", publicid.Format(publicid.Account, c.account))); err == nil {
				w.t.Error("got the folder of the account that left, want none")
			}
		}
	}
}

// checks compares what is left with what should be.
func (w *town) checks(customers []*customer) {
	for _, table := range migrate.Tables {
		columns := map[string]bool{}
		for _, column := range table.Columns {
			columns[column.Name] = true
		}
		if columns["account_id"] && columns["video_id"] {
			w.none(table.Name+" of a video that is gone", table.Name+
				" x WHERE x.video_id <> 0 AND NOT EXISTS (SELECT 1 FROM videos v WHERE v.account_id = x.account_id AND v.id = x.video_id)")
		}
	}
	for what, query := range map[string]string{
		"documents without a video": `video_docs d WHERE NOT EXISTS (SELECT 1 FROM videos v WHERE v.id = d.id AND v.account_id = d.account_id)`,
		"words without a video":     `video_terms d WHERE NOT EXISTS (SELECT 1 FROM videos v WHERE v.id = d.id AND v.account_id = d.account_id)`,
		"creators without a video":  `creators k WHERE NOT EXISTS (SELECT 1 FROM videos v WHERE v.creator_id = k.id AND v.account_id = k.account_id)`,
		"rows of an erased creator": `creators WHERE key = 'handle:maker4'`,
		"copies that no undo brings back": `deleted_videos d WHERE NOT EXISTS (SELECT 1 FROM deletions k
WHERE k.id = d.deletion_id AND k.account_id = d.account_id AND k.status = 'deleted' AND k.undo_until > 0)`,
		"tombstones of what was undone": `tombstones s WHERE EXISTS (SELECT 1 FROM deletions k WHERE k.id = s.deletion_id AND k.status = 'undone')`,
		"libraries that count others":   `libraries l WHERE l.videos <> (SELECT count(*) FROM videos v WHERE v.account_id = l.account_id)`,
		"sources that count others": `source_counts s WHERE s.readings <>
(SELECT count(*) FROM observations o WHERE o.account_id = s.account_id AND o.stage = s.source)`,
		"collections that count others": `collections k WHERE k.videos <>
(SELECT count(*) FROM collection_videos v WHERE v.account_id = k.account_id AND v.collection_id = k.id)`,
		"records of scrolls that have ended": `scroll_records r WHERE NOT EXISTS (SELECT 1 FROM scrolls s WHERE s.id = r.scroll_id AND s.status IN ('queued', 'running'))`,
		"runs without a reading":             `library_runs k WHERE NOT EXISTS (SELECT 1 FROM observations o WHERE o.account_id = k.account_id AND o.scroll_id = k.scroll_id)`,
		"imports with readings after an undo": `imports i WHERE i.status = 'undone' AND i.scroll_id <> 0 AND EXISTS
(SELECT 1 FROM observations o WHERE o.account_id = i.account_id AND o.scroll_id = i.scroll_id)`,
	} {
		w.none(what, query)
	}
	if w.db.Dialect() == store.SQLite {
		w.none("jobs that failed for good", `jobs WHERE lease_until = -1`)
		w.none("jobs that failed", `jobs WHERE last_error <> ''`)
		return
	}
	w.none("jobs that failed for good", `river_job WHERE state = 'discarded'`)
	w.none("jobs that failed", `river_job WHERE array_length(errors, 1) > 0`)
	w.none("deadlocks", `pg_stat_database WHERE datname = current_database() AND deadlocks > 0`)
}
