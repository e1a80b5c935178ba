package scrolls

import (
	"database/sql"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// TestCompletedScrollsAreCounted: a scroll is counted with its end, and the migration counts
// those that ended before it alike.
func TestCompletedScrollsAreCounted(t *testing.T) {
	t.Parallel()
	type count struct {
		Account         int64
		Subject         string
		Completed, Runs int
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		counts := func() (all []count) {
			storetest.Rows(t, db, func(rows *sql.Rows) error {
				var one count
				err := rows.Scan(&one.Account, &one.Subject, &one.Completed, &one.Runs)
				all = append(all, one)
				return err
			}, "SELECT account_id, subject, completed, runs FROM scroll_counts ORDER BY account_id, subject")
			return all
		}
		first := w.subject
		w.complete(w.create(Start{}).ID)
		w.complete(w.create(Start{Schedule: ptr(1)}).ID)
		if _, err := w.service.Import(tenant(), feed(videos("tiktok", 100, 5))); err != nil {
			t.Fatal(err)
		}
		w.subject = "website:tea.co"
		w.complete(w.create(Start{}).ID)
		delete(w.sources, "feed")
		if failed := w.complete(w.create(Start{}).ID); failed.Status != Failed {
			t.Fatalf("a scroll without a source: got %s, want it %s", failed.Status, Failed)
		}
		want := []count{{account, first, 3, 2}, {account, w.subject, 1, 1}}
		if diff := cmp.Diff(want, counts()); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
		for subject, want := range map[string]int{first: 3, w.subject: 1, "website:none.co": 0} {
			if got, err := w.history.Completed(tenant(), subject); err != nil || got != want {
				t.Errorf("completed scrolls of %s: got %d, error %v; want %d", subject, got, err, want)
			}
		}
		if got, err := w.service.runNumber(tenant()); err != nil || got != 4 {
			t.Errorf("number of the next run: got %d, error %v; want 4", got, err)
		}
		migrations, err := ent.Migrations(db.Dialect())
		if err != nil {
			t.Fatal(err)
		}
		text, err := fs.ReadFile(migrations, "0019_scroll_counts.sql")
		if err != nil {
			t.Fatal(err)
		}
		w.exec("DELETE FROM scroll_counts")
		w.exec(string(text)[strings.Index(string(text), "INSERT INTO"):])
		if diff := cmp.Diff(want, counts()); diff != "" {
			t.Errorf("counts of the migration (-want +got):\n%s", diff)
		}
	})
}
