package library

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/removals"
	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/insight"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/removal"
	"github.com/scrollery/scrollery/modules/library/scoring"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

// now is when the tests' first scroll runs: 2026-06-01.
const now = int64(1780272000_000)

// runs stands in for the workspace and its scrolls.
type runs struct {
	subject   string
	none      bool
	subjects  map[int64]string
	gone      []int64 // scrolls that were deleted since
	completed []int64
	imports   map[int64][]int64
}

func (r *runs) Subject(context.Context) (string, bool, error) { return r.subject, !r.none, nil }

func (r *runs) SubjectOf(_ context.Context, id int64) (subject string, found bool, err error) {
	return r.subjects[id], !slices.Contains(r.gone, id), nil
}

func (r *runs) DeleteVideos(context.Context, *store.Tx, []stage.Ref) error { return nil }

func (r *runs) Forget(context.Context, *store.Tx, []int64) error { return nil }

func (r *runs) Copy(context.Context, *store.Tx, []int64) (map[int64]json.RawMessage, error) {
	return nil, nil
}

func (r *runs) Restore(context.Context, *store.Tx, map[int64]json.RawMessage) error { return nil }

func (r *runs) EraseHandle(context.Context, string, func(string) bool) error { return nil }

func (r *runs) ScrollsOf(_ context.Context, id int64) (scrolls []int64, found, ended bool, err error) {
	scrolls, found = r.imports[id]
	return scrolls, found, true, nil
}

func (r *runs) Completed(_ context.Context, subject string) (total int, err error) {
	for _, id := range r.completed {
		if r.subjects[id] == subject {
			total++
		}
	}
	return total, nil
}

// The parts of a library, as a bundle has them.
type (
	reader    = lists.Service
	scorer    = scoring.Service
	windows   = scoring.Windows
	trends    = scoring.Trends
	explainer = insight.Service
	remover   = removal.Service
)

// keeper is what keeps videos, and deletes them.
type keeper struct {
	*videos.Service
	videos.Catalog
	videos.Deletions
	videos.Sweeps
}

// bundle is a library of one account.
type bundle struct {
	keeper
	*reader
	*scorer
	*windows
	*trends
	*explainer
	removal *remover
	edits   videos.Edits
	t       testing.TB
	db      *store.DB
	ctx     context.Context
	runs    *runs
	// retention is what the policy says of sources.
	retention []videos.Retention
}

const account = int64(7)

// retention is the policy of the tests: what the source api reads is kept for 30 days.
var retention = []videos.Retention{{Source: "api", Platform: "tiktok", Keep: 30 * 24 * time.Hour, Refresh: 25 * 24 * time.Hour}}

// thinning is that of the shipped policy.
var thinning = videos.Thinning{All: 90 * 24 * time.Hour, Daily: 365 * 24 * time.Hour, Except: []string{"import"}}

func setup(t testing.TB, db *store.DB) *bundle {
	t.Helper()
	b := &bundle{t: t, db: db, ctx: viewer.As(t.Context(), account), runs: &runs{subject: "website:a.com", subjects: map[int64]string{}}, retention: retention}
	b.open(Defaults())
	return b
}

// open makes the parts of the library anew.
func (b *bundle) open(cfg Config) {
	b.t.Helper()
	l, err := New(cfg, b.db, b.runs, b.runs, b.runs, b.runs, b.kept(), b.retention, thinning)
	if err != nil {
		b.t.Fatal(err)
	}
	deletions := videos.NewDeletions(l.Videos)
	b.keeper, b.reader, b.scorer, b.explainer, b.removal = keeper{l.Videos, l.Videos.Catalog, deletions, deletions.Sweeps()}, l.Lists, l.Scoring, l.Insight, l.Removal
	b.removal.Patience = time.Minute // on a busy machine too, a call deletes to the end
	b.windows, b.trends, b.edits = l.Scoring.Windows, l.Scoring.Trends, videos.Edits{Service: l.Videos}
}

// kept is the log of removals of the bundle's data folder.
func (b *bundle) kept() *removals.Log {
	keys := videos.KeysOf(b.db, "")
	return removals.New(b.db, func() (*secret.Hasher, error) { return keys.Hasher(videos.Names) }, slog.New(slog.DiscardHandler))
}

// as is the same library seen by another account.
func (b *bundle) as(account int64) *bundle {
	other := *b
	other.ctx = viewer.As(b.t.Context(), account)
	other.runs = &runs{subject: "website:b.com", subjects: map[int64]string{}}
	other.open(Defaults())
	return &other
}

// archive puts records into the library as a batch of the scroll.
func (b *bundle) archive(scroll, at int64, records ...stage.Record) (added, reobserved int) {
	b.t.Helper()
	if b.runs.subjects[scroll] == "" {
		b.runs.subjects[scroll] = b.runs.subject
	}
	for part := range slices.Chunk(records, 150) {
		err := b.db.Write(b.ctx, func(ctx context.Context, tx *store.Tx) error {
			a, r, err := b.Archive(ctx, tx, videos.Batch{ScrollID: scroll, Subject: b.runs.subject, Stage: "feed", At: at, Records: part})
			added, reobserved = added+len(a), reobserved+r
			return err
		})
		if err != nil {
			b.t.Fatal(err)
		}
	}
	return added, reobserved
}

// complete scores the scroll and completes it.
func (b *bundle) complete(scroll int64) {
	b.t.Helper()
	if err := b.Score(b.ctx, scroll); err != nil {
		b.t.Fatal(err)
	}
	b.runs.completed = append(b.runs.completed, scroll)
}

// scroll is archive and complete.
func (b *bundle) scroll(scroll, at int64, records ...stage.Record) {
	b.t.Helper()
	b.archive(scroll, at, records...)
	b.complete(scroll)
}

// CompletedOf returns those of the ids that were completed.
func (r *runs) CompletedOf(_ context.Context, ids []int64) (completed []int64, err error) {
	for _, id := range ids {
		if slices.Contains(r.completed, id) {
			completed = append(completed, id)
		}
	}
	return completed, nil
}

type shown struct {
	ID            string                     `json:"id"`
	Platform      string                     `json:"platform"`
	ExternalID    string                     `json:"externalId"`
	SourceURL     string                     `json:"sourceUrl"`
	PostedAt      *int64                     `json:"postedAt"`
	FirstSeenAt   int64                      `json:"firstSeenAt"`
	LastSeenAt    int64                      `json:"lastSeenAt"`
	Source        map[string]string          `json:"source"`
	AgentMetadata json.RawMessage            `json:"agentMetadata"`
	Metadata      json.RawMessage            `json:"metadata"`
	Metrics       map[string]json.RawMessage `json:"metrics"`
}

type shownHook struct {
	Video        shown           `json:"video"`
	Visual       json.RawMessage `json:"visual"`
	Spoken       *string         `json:"spoken"`
	OnScreenText *string         `json:"onScreenText"`
	Version      int             `json:"version"`
	// Of our lists alone.
	HookText *string  `json:"hookText"`
	Language *string  `json:"language"`
	Score    *float64 `json:"score"`
	Baseline *float64 `json:"baselineViews"`
	Early    *early   `json:"early"`
}

type answer struct {
	Hooks    []shownHook `json:"hooks"`
	Outliers []struct {
		Video         shown   `json:"video"`
		Score         float64 `json:"score"`
		BaselineViews float64 `json:"baselineViews"`
		SampleCount   int     `json:"sampleCount"`
		ObservedAt    int64   `json:"observedAt"`
		// Of our lists alone.
		OutlierSince  *int64   `json:"outlierSince"`
		SevenDayViews *int64   `json:"sevenDayViews"`
		ViewsPerHour  *float64 `json:"viewsPerHour"`
		Doubtful      *bool    `json:"doubtful"`
		Early         *early   `json:"early"`
	} `json:"outliers"`
	Status           string `json:"status"`
	CompletedScrolls int    `json:"completedScrolls"`
	Trends           []struct {
		Key     string `json:"key"`
		Label   string `json:"label"`
		Metrics struct {
			VideoCount           int     `json:"videoCount"`
			MedianGrowthMultiple float64 `json:"medianGrowthMultiple"`
		} `json:"metrics"`
		Examples []shown `json:"examples"`
		// Ours; nil in the contract's list.
		NewCreators    *int     `json:"newCreators"`
		CreatorsPerDay *float64 `json:"creatorsPerDay"`
		Direction      *string  `json:"direction"`
	} `json:"trends"`
	Videos     []shown `json:"videos"`
	NextCursor *string `json:"nextCursor"`
}

// read reads one page and decodes it strictly.
func (b *bundle) read(p lists.Page) (a answer, next string) {
	b.t.Helper()
	if p.Limit == 0 {
		p.Limit = 25
	}
	made, err := b.reader.Read(b.ctx, p)
	if err != nil {
		b.t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(made.Body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&a); err != nil {
		b.t.Fatalf("decode %s: %v", made.Body, err)
	}
	if made.Done != nil {
		made.Done()
	}
	return a, made.NextPageToken
}

// all reads every page of a list.
func (b *bundle) all(p lists.Page) (whole answer) {
	b.t.Helper()
	for pages := 0; pages < 10_000; pages++ {
		a, next := b.read(p)
		whole.Hooks, whole.Outliers = append(whole.Hooks, a.Hooks...), append(whole.Outliers, a.Outliers...)
		whole.Trends, whole.Videos = append(whole.Trends, a.Trends...), append(whole.Videos, a.Videos...)
		whole.Status, whole.CompletedScrolls = a.Status, a.CompletedScrolls
		if p.Token = next; next == "" {
			return whole
		}
	}
	b.t.Fatal("got 10,000 pages, want the last one before")
	return whole
}

func ptr[T any](v T) *T { return &v }

// clip is a record with what most tests need.
func clip(id, handle string, views int64) stage.Record {
	return stage.Record{
		Ref:      stage.Ref{Platform: "tiktok", ExternalID: id},
		PostedAt: ptr(now - 30*24*3600_000),
		Source:   &stage.Source{Kind: "competitor", Handle: handle},
		Metrics:  stage.Metrics{Views: &views, Likes: ptr(min(views, 1)), ObservedAt: ptr(now)},
	}
}

func clips(n int, handle string, views int64) (records []stage.Record) {
	for i := range n {
		records = append(records, clip(fmt.Sprintf("%s-%d", handle, i), handle, views))
	}
	return records
}

// check fails the test unless got looks like want.
func check[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	switch g, w := look(got), look(want); {
	case g == w:
	case len(g)+len(w) > 500:
		t.Errorf("%s (-want +got):\n%s", what, cmp.Diff(w, g))
	default:
		t.Errorf("%s: got %s, want %s", what, g, w)
	}
}

func look(v any) string {
	if err, ok := v.(error); ok {
		return err.Error()
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%+v", v)
	}
	return string(text)
}
