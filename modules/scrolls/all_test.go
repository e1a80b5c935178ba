package scrolls

import (
	"context"
	"slices"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// TestOperatorsStartScrollsAgain: of every tenant, with what the first one was asked for, only
// where it failed or was cancelled, and not beyond what the account may have.
func TestOperatorsStartScrollsAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		all, system := All{w.service}, viewer.System(t.Context())
		prompt, template := "hand grinders", "niche"
		first := w.create(Start{Prompt: &prompt, Template: &template})
		list := func(status string) (found []int64) {
			t.Helper()
			held, err := all.Newest(system, status, 10)
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range held {
				if one.Account != account {
					t.Errorf("got account %d, want %d", one.Account, account)
				}
				found = append(found, one.ID)
			}
			return found
		}
		again := func(refused string, id string) *Scroll {
			t.Helper()
			got, err := all.Again(system, id)
			if (err != nil) != (refused != "") || (got == nil) != (refused != "") {
				t.Fatalf("%s: got %+v, error %v", refused, got, err)
			}
			return got
		}
		again("it waits still", publicID(first.ID))
		if _, err := w.service.Cancel(system, publicID(first.ID)); err != nil {
			t.Fatal(err)
		}
		limits := w.limits
		w.setLimits(Limits{ActiveScrolls: 1})
		again("no subscription", publicID(first.ID))
		w.setLimits(limits)
		second := again("", publicID(first.ID))
		var kept struct{ prompt, template string }
		row := w.db.Ent().Scroll.GetX(tenant(), second.ID)
		if row.Prompt != nil && row.Template != nil {
			kept.prompt, kept.template = *row.Prompt, *row.Template
		}
		if kept.prompt != prompt || kept.template != template || row.Status != Queued {
			t.Errorf("got %+v, %s; want the prompt and template of the first, queued", kept, row.Status)
		}
		again("the account has as many as it may", publicID(first.ID))
		if done := w.complete(second.ID); done.Status != Completed {
			t.Fatalf("got %+v, want it completed", done)
		}
		again("it completed", publicID(second.ID))
		for _, unknown := range []string{"scr_0000000000000", "nonsense"} {
			if got, err := all.Again(system, unknown); err != nil || got != nil {
				t.Errorf("%s: got %+v, error %v, want none", unknown, got, err)
			}
		}
		if got := list(""); !slices.Equal(got, []int64{second.ID, first.ID}) {
			t.Errorf("all: got %v, want %v", got, []int64{second.ID, first.ID})
		}
		if got := list(Cancelled); !slices.Equal(got, []int64{first.ID}) {
			t.Errorf("cancelled ones: got %v, want %v", got, []int64{first.ID})
		}
	})
}

// TestNothingOfABlockedAccountRuns: what its account ordered before is cancelled before it begins,
// an import too, and all that has not ended can be stopped.
func TestNothingOfABlockedAccountRuns(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		w.limits.ActiveScrolls = 9
		limits := w.limits
		var imported int64
		err := db.Write(tenant(), func(ctx context.Context, tx *store.Tx) (err error) {
			imported, err = w.service.QueueImport(ctx, tx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		scroll := w.create(Start{})
		limits.Blocked = true
		w.setLimits(limits)
		for _, id := range []int64{scroll.ID, imported} {
			if done := w.complete(id); done.Status != Cancelled {
				t.Errorf("scroll %d: got %s, want %s", id, done.Status, Cancelled)
			}
		}
		limits.Blocked = false
		w.setLimits(limits)
		first, second := w.create(Start{}), w.create(Start{})
		if err := (All{w.service}).Stop(viewer.System(t.Context()), account); err != nil {
			t.Fatal(err)
		}
		for _, id := range []int64{first.ID, second.ID} {
			if row := db.Ent().Scroll.GetX(tenant(), id); row.Status != Cancelled {
				t.Errorf("scroll %d: got %s, want %s", id, row.Status, Cancelled)
			}
		}
	})
}
