package sources

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// TestMemory: one caller at a time reads a page anew, and the others get what it remembered.
func TestMemory(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		now := time.Date(2026, 9, 1, 16, 0, 0, 0, time.UTC)
		m := NewMemory(db)
		m.now = func() time.Time { return now }
		recall := func(plugin string, since time.Time) string {
			page, renew, busy, err := m.Recall(t.Context(), plugin, "feed x", since)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("%q renew %t busy %t", page, renew, busy.After(now))
		}
		remember := func(page string) {
			if err := m.Remember(t.Context(), "feeds", "feed x", []byte(page)); err != nil {
				t.Fatal(err)
			}
		}
		release := func() {
			if err := m.Release(t.Context(), "feeds", "feed x"); err != nil {
				t.Fatal(err)
			}
		}
		hourAgo := func() time.Time { return now.Add(-time.Hour) }
		for i, step := range []struct {
			do   func() string
			want string
		}{
			{func() string { return recall("feeds", time.Time{}) }, `"" renew false busy false`},
			{func() string { return recall("feeds", hourAgo()) }, `"" renew true busy false`},
			{func() string { return recall("feeds", hourAgo()) }, `"" renew false busy true`},
			{func() string { return recall("other", hourAgo()) }, `"" renew true busy false`},
			{func() string { now = now.Add(claimed); return recall("feeds", hourAgo()) }, `"" renew true busy false`}, // the first was lost
			{func() string { remember("one"); return recall("feeds", hourAgo()) }, `"one" renew false busy false`},
			{func() string { now = now.Add(2 * time.Hour); return recall("feeds", hourAgo()) }, `"one" renew true busy false`},
			{func() string { return recall("feeds", time.Time{}) }, `"one" renew false busy false`},
			{func() string { return recall("feeds", hourAgo()) }, `"one" renew false busy true`},
			{func() string { release(); return recall("feeds", hourAgo()) }, `"one" renew true busy false`},
			{func() string { release(); return recall("feeds", time.Time{}) }, `"one" renew false busy false`},
			{func() string { remember("two"); return recall("feeds", hourAgo()) }, `"two" renew false busy false`},
			{func() string {
				now = now.Add(Kept + time.Second)
				_ = m.Sweep(t.Context())
				return recall("feeds", time.Time{})
			}, `"" renew false busy false`},
		} {
			if got := step.do(); got != step.want {
				t.Errorf("step %d: %s, want %s", i, got, step.want)
			}
		}
	})
}

// TestOneReaderOfMany: of callers at once, one alone is to read the page.
func TestOneReaderOfMany(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		m := NewMemory(db)
		var all sync.WaitGroup
		renews := make([]bool, 12)
		for i := range renews {
			all.Go(func() {
				_, renew, _, err := m.Recall(t.Context(), "feeds", "feed x", time.Now().Add(-time.Hour))
				if err != nil {
					t.Error(err)
				}
				renews[i] = renew
			})
		}
		all.Wait()
		if at := slices.Index(renews, true); at < 0 || slices.Contains(renews[at+1:], true) {
			t.Errorf("renew %v, want one", renews)
		}
	})
}
