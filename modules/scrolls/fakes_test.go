package scrolls

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

const account = 7

// world answers every need of the room. What the room writes through it lies in the
// database, so that it is committed or not with the room's own rows.
type world struct {
	t       testing.TB
	db      *store.DB
	history *History
	service *Service

	mu       sync.Mutex
	frames   map[stage.Ref][]stage.Frame
	framed   []int // how many videos keep frames, as each scroll said at the end of its archive step
	renewed  int   // records that were to renew documents
	repeats  bool  // the library has the texts of all known records
	brief    stage.Brief
	subject  string
	briefed  bool
	rules    []stage.Rule
	limits   Limits
	spent    bool
	erased   atomic.Bool        // maker1 of tiktok is
	buried   string             // the id of a video that was deleted from the library
	evidence map[stage.Ref]bool // known videos that have evidence

	sources map[string]*source
	screen  func(rec stage.Record) stage.Verdict
	look    func(rec stage.Record) *stage.Finding
	// afterEvidence are screens that look at evidence, by id.
	afterEvidence map[string]func(rec stage.Record) stage.Verdict
	watchers      []string            // evidence stages that look at media
	behind        map[string][]string // fallbacks, and the sources that they come after
	unusable      []string
	most          int                                      // of the records of a call
	resting       []string                                 // crashed too often, until the time that their calls fail with
	film          func(ref stage.Ref) (ok bool, err error) // what a source can fetch
	folders       []*folder
	stageErr      map[string]func(number int) error // by stage id; number counts its calls from 1
	calls         map[string]int
	planner       func(seeds []stage.Seed) ([]stage.Seed, error) // nil: there is none
	pages         map[string]stage.Page
	read          []string            // addresses that were asked for
	offline       []string            // sources that take what lies there
	serves        map[string][]string // platforms of a source; missing: any
	scores        []int64
	scoreErr      error
	quotas        map[string]QuotaLeft // of a source
	young         []stage.Ref          // videos that were posted lately, the newest first
	due           []stage.Ref          // videos that the policy deletes soon
}

// quick makes a configuration without waits.
func quick() Config {
	cfg := Defaults()
	cfg.BatchSize = 10
	cfg.RetryAfter = time.Millisecond
	cfg.PollEvery = 20 * time.Millisecond
	cfg.ProgressEvery = 0
	return cfg
}

func setup(t testing.TB, db *store.DB, cfg Config) *world {
	t.Helper()
	w := &world{
		t: t, db: db, history: NewHistory(db), briefed: true, subject: "website:beans.co",
		brief:   stage.Brief{Name: "Beans", Description: "Espresso at home", Competitors: []string{"@rival"}},
		limits:  Limits{Active: true, MaxFeedSize: 250, ActiveScrolls: 1},
		sources: map[string]*source{"feed": {records: videos("tiktok", 1, 25)}},
		calls:   map[string]int{}, stageErr: map[string]func(int) error{}, evidence: map[stage.Ref]bool{},
	}
	w.watchers = []string{"ocr", "vision", "speech"}
	w.exec(`CREATE TABLE fake_videos (account_id bigint, platform text, external_id text, scroll_id bigint, evidence text,
		PRIMARY KEY (account_id, platform, external_id))`)
	w.exec(`CREATE TABLE fake_observations (scroll_id bigint, platform text, external_id text, stage text, observed_at bigint,
		PRIMARY KEY (scroll_id, platform, external_id))`)
	w.exec(`CREATE TABLE fake_charges (units bigint)`)
	w.service = w.another(cfg)
	return w
}

// another is the service of another process: it shares only the database.
func (w *world) another(cfg Config) *Service {
	service, err := New(w.db, cfg, Needs{w, w, w, w, w, w, w, w, w, w}, NewHistory(w.db), storetest.Log(w.t))
	if err != nil {
		w.t.Fatal(err)
	}
	return service
}

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	err := w.db.Write(context.Background(), func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Exec(ctx, query, args...)
		return err
	})
	if err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
}

// number reads one number.
func (w *world) number(query string, args ...any) int {
	w.t.Helper()
	return int(storetest.Count(w.t, w.db, query, args...))
}

func (w *world) count(table string) int { return w.number("SELECT count(*) FROM " + table) }

func tenant() context.Context { return viewer.As(context.Background(), account) }

func (w *world) create(start Start) *Scroll {
	w.t.Helper()
	scroll, created, err := w.service.Create(tenant(), start)
	if err != nil || !created {
		w.t.Fatalf("create: %v, created %v", err, created)
	}
	return scroll
}

func (w *world) load(id int64) *Scroll {
	w.t.Helper()
	scroll, err := w.service.load(tenant(), id)
	if err != nil || scroll == nil {
		w.t.Fatalf("load %d: %v, %v", id, scroll, err)
	}
	return scroll
}

// start does what the queue does with the job of a scroll.
func (w *world) start(service *Service, id int64) error {
	return service.work(tenant(), jobArgs{account, id, w.load(id).Attempts + 1})
}

// complete starts the scroll until no one wants it any more.
func (w *world) complete(id int64) *Scroll {
	w.t.Helper()
	for range 5 {
		if err := w.start(w.service, id); err != nil {
			w.t.Fatalf("start: %v", err)
		}
		if scroll := w.load(id); scroll.Ended() {
			return scroll
		}
	}
	w.t.Fatalf("scroll does not end: %+v", w.load(id))
	return nil
}

// videos makes n records, whose rank is their number.
func videos(platform string, from, n int) []stage.Record {
	records := make([]stage.Record, n)
	for i := range records {
		views := int64(1000 + i)
		records[i] = stage.Record{
			Ref: stage.Ref{Platform: platform, ExternalID: fmt.Sprintf("v%04d", from+i)}, Seed: "maker" + strconv.Itoa((from+i)%3),
			Source: &stage.Source{Handle: "maker" + strconv.Itoa((from+i)%3)}, Metrics: stage.Metrics{Views: &views},
		}
	}
	return records
}

func (w *world) Brief(context.Context) (stage.Brief, string, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.brief, w.subject, w.briefed, nil
}

func (w *world) Subject(context.Context) (string, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.subject, w.briefed, nil
}

func (w *world) Active(context.Context) (int, []stage.Rule, error) { return 3, w.rules, nil }

func (w *world) Limits(context.Context) (Limits, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.limits, nil
}

func (w *world) BudgetLeft(context.Context) (Budget, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.spent {
		return Budget{Monthly: 500, Wait: time.Hour}, nil
	}
	return Budget{Daily: 400, Monthly: 900}, nil
}

func (w *world) Left(_ context.Context, source string, handles, terms int) ([]QuotaLeft, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	q, known := w.quotas[source]
	if !known {
		return nil, nil
	}
	q.Needed = int64(handles + 10*terms)
	return []QuotaLeft{q}, nil
}

func (w *world) setSpent(spent bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spent = spent
}

func (w *world) setLimits(limits Limits) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limits = limits
}

func (w *world) Charge(ctx context.Context, tx *store.Tx, _ int64, units int) error {
	_, err := tx.Exec(ctx, "INSERT INTO fake_charges VALUES ($1)", units)
	return err
}

func (w *world) Known(ctx context.Context, refs []stage.Ref) (map[stage.Ref]bool, error) {
	rows, err := w.db.HotTenantless("SELECT platform, external_id, evidence FROM fake_videos", "a table of the test").Query(ctx)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	known := map[stage.Ref]bool{}
	for rows.Next() {
		var ref stage.Ref
		var evidence string
		if err := rows.Scan(&ref.Platform, &ref.ExternalID, &evidence); err != nil {
			return nil, err
		}
		if slices.Contains(refs, ref) {
			known[ref] = evidence != ""
		}
	}
	return known, rows.Err()
}

func observedAt(rec stage.Record, at int64) int64 {
	if rec.Metrics.ObservedAt != nil {
		return *rec.Metrics.ObservedAt
	}
	return at
}

// LastObserved says of all records what w.repeats is.
func (w *world) LastObserved(ctx context.Context, records []*stage.Record) (last map[stage.Ref]int64, repeats []bool, err error) {
	var refs []stage.Ref
	for _, rec := range records {
		refs, repeats = append(refs, rec.Ref), append(repeats, w.repeats)
	}
	all, err := w.ObservedIn(ctx, nil, refs)
	last = map[stage.Ref]int64{}
	for ref, times := range all {
		for _, at := range times {
			last[ref] = max(last[ref], at)
		}
	}
	return last, repeats, err
}

// ObservedIn with no scrolls is about all of them.
func (w *world) ObservedIn(ctx context.Context, scrolls []int64, refs []stage.Ref) (map[stage.Ref]map[int64]int64, error) {
	rows, err := w.db.HotTenantless("SELECT scroll_id, platform, external_id, observed_at FROM fake_observations", "a table of the test").Query(ctx)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := map[stage.Ref]map[int64]int64{}
	for rows.Next() {
		var scroll, at int64
		var ref stage.Ref
		if err := rows.Scan(&scroll, &ref.Platform, &ref.ExternalID, &at); err != nil {
			return nil, err
		}
		if slices.Contains(refs, ref) && (scrolls == nil || slices.Contains(scrolls, scroll)) {
			if found[ref] == nil {
				found[ref] = map[int64]int64{}
			}
			found[ref][scroll] = at
		}
	}
	return found, rows.Err()
}

// Readings are those of no queued import.
func (w *world) Readings(context.Context, int64) (*Source, error) { return nil, nil }

func (w *world) Renew(_ context.Context, _ *store.Tx, batch Batch) (int, error) {
	w.renewed += len(batch.Records)
	return 0, nil
}

func (w *world) Welcome(_ context.Context, records []*stage.Record) ([]*stage.Record, error) {
	return slices.DeleteFunc(slices.Clone(records), func(r *stage.Record) bool { return r.ExternalID == w.buried }), nil
}

func (w *world) Erased(_ context.Context, _ *store.Tx, platform string, handles []string) (map[string]bool, error) {
	erased := map[string]bool{}
	for _, handle := range handles {
		if w.erased.Load() && platform == "tiktok" && handle == "maker1" {
			erased[handle] = true
		}
	}
	return erased, nil
}

func (w *world) Gone(ctx context.Context, tx *store.Tx, refs []stage.Ref, _ int64) (int, error) {
	for _, ref := range refs {
		if _, err := tx.Exec(ctx, "DELETE FROM fake_videos WHERE platform = $1 AND external_id = $2", ref.Platform, ref.ExternalID); err != nil {
			return 0, err
		}
	}
	return len(refs), nil
}

// KeepFrames notes how many videos keep theirs.
func (w *world) KeepFrames(_ context.Context, videos int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.framed = append(w.framed, videos)
	return nil
}

// Due are the known ones of w.due that the library has, in their order.
func (w *world) Due(ctx context.Context, platform string, _ time.Time, limit int) (refs []stage.Ref, err error) {
	return w.knownOf(ctx, w.due, platform, limit)
}

// Young are the known ones of w.young that the library has, in their order.
func (w *world) Young(ctx context.Context, platform string, _ int64, limit int) (refs []stage.Ref, err error) {
	return w.knownOf(ctx, w.young, platform, limit)
}

func (w *world) knownOf(ctx context.Context, all []stage.Ref, platform string, limit int) (refs []stage.Ref, err error) {
	known, err := w.Known(ctx, all)
	for _, ref := range all {
		if _, ok := known[ref]; ok && ref.Platform == platform && len(refs) < limit {
			refs = append(refs, ref)
		}
	}
	return refs, err
}

func (w *world) Tracked(ctx context.Context, platform string, after int64, limit int) (refs []stage.Ref, next int64, err error) {
	rows, err := w.db.HotTenantless("SELECT external_id FROM fake_videos WHERE platform = $1 ORDER BY external_id", "a table of the test").Query(ctx, platform)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for n := int64(0); rows.Next(); n++ {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, 0, err
		}
		if n >= after && len(refs) < limit {
			refs = append(refs, stage.Ref{Platform: platform, ExternalID: id})
			next = n + 1
		}
	}
	return refs, next, rows.Err()
}

func (w *world) Archive(ctx context.Context, tx *store.Tx, batch Batch) (added []stage.Ref, reobserved int, err error) {
	if batch.Subject == "" || batch.At == 0 {
		return nil, 0, errors.New("the batch does not say for what and when")
	}
	w.mu.Lock()
	if w.frames == nil {
		w.frames = map[stage.Ref][]stage.Frame{}
	}
	maps.Copy(w.frames, batch.Frames)
	w.mu.Unlock()
	for _, rec := range batch.Records {
		evidence := ""
		if rec.Evidence != nil && rec.Evidence.Spoken != nil {
			evidence = *rec.Evidence.Spoken
		}
		result, err := tx.Exec(ctx, "INSERT INTO fake_videos VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
			account, rec.Platform, rec.ExternalID, batch.ScrollID, evidence)
		if err != nil {
			return nil, 0, err
		}
		fresh, _ := result.RowsAffected()
		if fresh > 0 {
			added = append(added, rec.Ref)
		} else if evidence != "" {
			_, err = tx.Exec(ctx, "UPDATE fake_videos SET evidence = $1 WHERE platform = $2 AND external_id = $3", evidence, rec.Platform, rec.ExternalID)
			if err != nil {
				return nil, 0, err
			}
		}
		result, err = tx.Exec(ctx, "INSERT INTO fake_observations VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
			batch.ScrollID, rec.Platform, rec.ExternalID, cmp.Or(batch.Stages[rec.Ref], batch.Stage), observedAt(rec, batch.At))
		if err != nil {
			return nil, 0, err
		}
		if observed, _ := result.RowsAffected(); fresh == 0 {
			reobserved += int(observed)
		}
	}
	return added, reobserved, nil
}

func (w *world) Score(_ context.Context, scroll int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.scores = append(w.scores, scroll)
	return w.scoreErr
}
