package library

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/removal"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

// yearly are the shipped rules of the three kinds: all that was read goes, sooner or later, or texts
// alone.
var yearly = []videos.Retention{
	{Source: "api", Platform: "tiktok", Keep: 30 * 24 * time.Hour, Refresh: 25 * 24 * time.Hour},
	{Source: "research", Platform: "instagram", Keep: 15 * 24 * time.Hour, Refresh: 10 * 24 * time.Hour},
	{Source: "amended", Platform: "youtube", Keep: 30 * 24 * time.Hour, Refresh: 25 * 24 * time.Hour, Texts: true},
}

// away says on which days a source cannot be reached: for weeks, once or twice a year.
func away(source string, onDay int64) bool {
	return map[string]bool{
		"api":      onDay >= 95 && onDay < 130,
		"research": onDay >= 30 && onDay < 52 || onDay >= 210 && onDay < 230,
		"amended":  onDay >= 290 && onDay < 335,
	}[source]
}

// held is what the year knows of a video of the library.
type held struct {
	source string
	read   int64 // the day on which the source read it last
	feed   bool  // a folder has it too
}

// wordOf is a word that the video alone has.
func wordOf(id string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(id)))[:20]
}

// due says whether what the source of a video read goes on a day, and whether it is to be
// refreshed before: on that day too, until it is swept.
func (h held) due(onDay int64) (over, refresh bool) {
	for _, r := range yearly {
		if r.Source == h.source {
			age := time.Duration(onDay-h.read) * 24 * time.Hour
			return age >= r.Keep, age >= r.Refresh && age <= r.Keep
		}
	}
	return false, false
}

// year is a library over a year, beside a plain model of it.
type year struct {
	*bundle
	second *bundle // the same library in another process
	cfg    store.Config
	r      *rand.Rand
	model  map[string]held
	buried map[string]bool
	made   int
	log    []string
}

// begin opens the database in two processes.
func (y *year) begin(t *testing.T) {
	t.Helper()
	one := func() *bundle {
		db, err := store.Open(t.Context(), y.cfg, storetest.Log(t))
		if err != nil {
			t.Fatal(err)
		}
		b := &bundle{t: t, db: db, ctx: viewer.As(t.Context(), account), retention: yearly, runs: &runs{subject: "website:a.com", subjects: map[int64]string{}}}
		b.open(Defaults())
		return b
	}
	y.bundle, y.second = one(), one()
}

func (y *year) end() {
	y.t.Helper()
	for _, b := range []*bundle{y.bundle, y.second} {
		if err := b.db.Close(); err != nil {
			y.t.Error(err)
		}
	}
}

// reads has a source read videos on a day, new ones too.
func (y *year) reads(source string, onDay int64, ids ...string) {
	y.t.Helper()
	scroll := 100 + onDay
	y.runs.subjects[scroll] = y.runs.subject
	platforms := map[byte]string{'a': "tiktok", 'r': "instagram", 'y': "youtube", 'f': "tiktok"}
	var records []stage.Record
	for _, id := range ids {
		r := clip(id, "maker"+id[:1], 1000+onDay)
		r.Platform = platforms[id[0]]
		r.Metrics.ObservedAt = ptr(now + onDay*day)
		r.Metadata = fmt.Appendf(nil, `{"caption":"%s said","hashtags":["%[1]s"],"durationSeconds":9}`, wordOf(id))
		r.Evidence = &stage.Evidence{Spoken: ptr("a " + wordOf(id) + " hooked")}
		records = append(records, r)
	}
	err := y.db.Write(y.ctx, func(ctx context.Context, tx *store.Tx) error {
		_, _, err := y.Archive(ctx, tx, videos.Batch{ScrollID: scroll, Subject: y.runs.subject, Stage: source, At: now + onDay*day, Records: records})
		return err
	})
	if err != nil {
		y.t.Fatalf("day %d: %v", onDay, err)
	}
	for _, id := range ids {
		h, known := y.model[id]
		switch {
		case y.buried[id]:
			continue
		case source != "feed":
			h.source, h.read = source, onDay
		default:
			h.feed = true
			if !known {
				h.source = "feed"
			}
		}
		y.model[id] = h
	}
}

// collects is a day of a source: what is due first, as far as the platform is there and the quota
// lasts, then new videos, and now and then one that was there before.
func (y *year) collects(r videos.Retention, onDay int64) {
	y.t.Helper()
	var due []string
	for id, h := range y.model {
		if _, refresh := h.due(onDay); refresh && h.source == r.Source {
			due = append(due, id)
		}
	}
	slices.Sort(due)
	spent := y.r.IntN(2) == 0
	again := fmt.Sprintf("%c%d", r.Source[0], y.r.IntN(y.made+1))
	if r.Source == "amended" {
		again = "y" + again[1:]
	}
	if spent || away(r.Source, onDay) {
		return
	}
	refs, err := y.Due(y.ctx, r.Platform, time.UnixMilli(now+onDay*day), 1000)
	if err != nil {
		y.t.Fatal(err)
	}
	var got []string
	for _, ref := range refs {
		got = append(got, ref.ExternalID)
	}
	slices.Sort(got)
	if diff := gocmp.Diff(due, got); diff != "" {
		y.t.Fatalf("day %d: what %s is to refresh (-want +got):\n%s", onDay, r.Source, diff)
	}
	if y.r.IntN(3) == 0 { // the platform has none of them on this day
		got = nil
	}
	if y.r.IntN(4) == 0 {
		y.made++
		got = append(got, again[:1]+fmt.Sprint(y.made))
	}
	if y.r.IntN(10) == 0 && !slices.Contains(got, again) {
		got = append(got, again)
	}
	if len(got) > 0 {
		y.reads(r.Source, onDay, got...)
	}
}

// deletes has the account delete one of its videos, and sometimes undo that.
func (y *year) deletes(onDay int64) {
	y.t.Helper()
	ids := slices.Sorted(maps.Keys(y.model))
	if len(ids) == 0 {
		return
	}
	id := ids[y.r.IntN(len(ids))]
	d := y.remove(removal.Order{VideoID: y.idOf(id)})
	y.buried[id] = true
	y.reads("feed", onDay, id) // it stays out
	if y.r.IntN(3) == 0 {
		y.undo(d.ID)
		delete(y.buried, id)
		return
	}
	delete(y.model, id)
}

// sweeps has both processes sweep at once.
func (y *year) sweeps(onDay int64) {
	y.t.Helper()
	at, done := time.UnixMilli(now+onDay*day), make(chan error, 1)
	go func() { done <- y.second.removal.Sweep(y.t.Context(), at) }()
	if err := cmp.Or(y.bundle.removal.Sweep(y.t.Context(), at), <-done); err != nil {
		y.t.Fatalf("day %d: %v", onDay, err)
	}
	for id, h := range y.model {
		over, _ := h.due(onDay)
		if !over || h.feed || h.source == "amended" {
			continue
		}
		delete(y.model, id)
	}
}

// shows compares the library with the model, texts too.
func (y *year) shows(onDay int64) {
	y.t.Helper()
	want := map[string]bool{} // whether it has its texts
	for id, h := range y.model {
		over, _ := h.due(onDay)
		want[id] = !over || h.feed
	}
	got := map[string]bool{}
	for _, v := range y.all(lists.Page{List: lists.Videos, WithArchived: true}).Videos {
		got[v.ExternalID] = strings.Contains(string(v.Metadata), wordOf(v.ExternalID))
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		y.t.Fatalf("day %d: videos, and whether they have texts (-want +got):\n%s", onDay, diff)
	}
	y.log = append(y.log, fmt.Sprint(onDay, got))
}

// nothingIsLeft looks for words of what is gone in everything that the database has.
func (y *year) nothingIsLeft(onDay int64) {
	y.t.Helper()
	text := y.everything()
	seen := 0
	for id := range y.made + 1 {
		for _, of := range "arfy" {
			id := fmt.Sprintf("%c%d", of, id)
			h, has := y.model[id]
			over, _ := h.due(onDay)
			found := strings.Contains(text, wordOf(id)[4:]) // an index has the beginning of words once
			if has && (!over || h.feed) && found {
				seen++
			} else if found {
				y.t.Errorf("day %d: got words of %s in the database, want none", onDay, id)
			}
		}
	}
	if seen == 0 {
		y.t.Errorf("day %d: got no words of what is there: the test sees nothing", onDay)
	}
}

// everything is all text of the database: of SQLite its file without free pages, of PostgreSQL
// all rows of all tables.
func (y *year) everything() string {
	y.t.Helper()
	if y.db.Dialect() == store.SQLite {
		if err := y.CleanWords(y.ctx); err != nil {
			y.t.Fatal(err)
		}
		path := filepath.Join(y.t.TempDir(), "copy.db")
		if err := y.db.Backup(y.t.Context(), path); err != nil {
			y.t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			y.t.Fatal(err)
		}
		return string(text)
	}
	var tables []string
	y.rows(`SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'`, func(line string) { tables = append(tables, line) })
	var text strings.Builder
	for _, table := range tables {
		y.rows(fmt.Sprintf(`SELECT to_jsonb(t)::text FROM %q t`, table), func(line string) { text.WriteString(line + "\n") })
	}
	return text.String()
}

// copied is the state of a day, in a copy of the database and in the model.
type copied struct {
	cfg   store.Config
	model map[string]held
}

func (y *year) copies(t *testing.T) copied {
	t.Helper()
	y.end()
	c := copied{storetest.Copy(t, y.cfg), maps.Clone(y.model)}
	y.begin(t)
	return c
}

// restores goes on with the copy of an older day: what was read since is not there any more, and
// what was deleted since goes again, by the log beside the database.
func (y *year) restores(t *testing.T, from copied) {
	t.Helper()
	y.end()
	if y.cfg.DatabaseURL == "" {
		file, err := os.ReadFile(filepath.Join(from.cfg.DataDir, "scrollery.db"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(y.cfg.DataDir, "scrollery.db"), file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	y.cfg.DatabaseURL = from.cfg.DatabaseURL
	y.begin(t)
	if err := y.kept().Merge(t.Context(), owners{y.bundle.removal.Again()}); err != nil {
		t.Fatal(err)
	}
	y.model = from.model
	for id := range y.buried {
		delete(y.model, id)
	}
}

// owners are no part of this: no account leaves.
type owners struct{ *removal.Again }

func (owners) Leave(context.Context, int64, string, int64) error { return nil }
func (owners) Stay(context.Context, int64, int64) error          { return nil }

// TestAYearByTheClock moves the clock by 400 days. Sources are away for weeks, quotas are spent on
// half of the days, the account deletes and undoes, older copies are restored, and two processes
// sweep. Each day the library has what a plain model of the policy says, and both databases have
// the same. Words of what is gone are nowhere.
func TestAYearByTheClock(t *testing.T) {
	t.Parallel()
	days := int64(140)
	if storetest.Long() {
		days = 400
	}
	logs := map[string][]string{}
	for _, of := range []struct {
		name string
		cfg  func(testing.TB) store.Config
	}{{store.SQLite, storetest.SQLiteConfig}, {store.Postgres, storetest.PostgresConfig}} {
		t.Run(of.name, func(t *testing.T) {
			y := &year{cfg: of.cfg(t), r: rand.New(rand.NewPCG(400, 42)), model: map[string]held{}, buried: map[string]bool{}}
			y.begin(t)
			defer func() { y.end() }()
			if err := y.db.Write(viewer.System(t.Context()), func(ctx context.Context, tx *store.Tx) error {
				return tx.Ent().Account.Create().SetID(account).SetCreatedAt(1).Exec(ctx)
			}); err != nil {
				t.Fatal(err)
			}
			var older copied
			for onDay := int64(1); onDay <= days; onDay++ {
				switch onDay {
				case 70, 300:
					older = y.copies(t)
				case 100, 345:
					y.restores(t, older)
				}
				for _, r := range yearly {
					y.collects(r, onDay)
				}
				if onDay%9 == 0 {
					y.made++
					ids := []string{fmt.Sprint("f", y.made)}
					if known := slices.Sorted(maps.Keys(y.model)); len(known) > 0 && y.r.IntN(4) == 0 {
						ids = append(ids, known[y.r.IntN(len(known))])
					}
					y.reads("feed", onDay, ids...)
				}
				if onDay%11 == 0 {
					y.deletes(onDay)
				}
				y.sweeps(onDay)
				y.shows(onDay)
				if onDay%65 == 0 || onDay == days || onDay == 101 {
					y.nothingIsLeft(onDay)
				}
			}
			if gone := y.made - len(y.model); len(y.buried) < 5 || gone < 10 {
				t.Errorf("%d videos were deleted and %d are gone: the year tests nothing", len(y.buried), gone)
			}
			logs[of.name] = y.log
		})
	}
	if a, b := logs[store.SQLite], logs[store.Postgres]; b != nil {
		if diff := gocmp.Diff(a, b); diff != "" {
			t.Errorf("days of the databases differ (-sqlite +postgres):\n%s", diff)
		}
	}
}
