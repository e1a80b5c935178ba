package library

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

// TestTombstonesOfTheLogDeleteOnceMore gives a library, as an older copy has it, the tombstones that
// another one got: both are the same afterwards.
func TestTombstonesOfTheLogDeleteOnceMore(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := never(t, db, func(string) bool { return false })
		other := b.as(8)
		other.scroll(9, now, watched(rand.New(rand.NewPCG(1, 0)), 0)...)
		theirs := other.count("videos WHERE account_id = 8")
		names := func(platform, handle, id string) []string {
			c, err := videos.CreatorNamed(platform, handle, id)
			if err != nil {
				t.Fatal(err)
			}
			hashes, err := b.Vault.HashesOf(c)
			if err != nil {
				t.Fatal(err)
			}
			return hashes
		}
		again := b.removal.Again()
		recent, long := time.Now().Add(-time.Hour).UnixMilli(), time.Now().Add(-48*time.Hour).UnixMilli()
		by := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		by(again.Deletion(t.Context(), account, 91, "creator", recent))
		by(again.Bury(t.Context(), account, 91, names("tiktok", "maker1", ""), recent))
		by(again.Deletion(t.Context(), account, 92, "creator", long))
		by(again.Bury(t.Context(), account, 92, names("tiktok", "", "id-2"), long))
		n, err := again.Delete(t.Context())
		by(err)
		gone := func(id string) bool { return id[0] == '1' || id[0] == '2' }
		all := watched(rand.New(rand.NewPCG(1, 0)), 0)
		count := 0
		for i := range all {
			if gone(all[i].ExternalID) {
				count++
			}
		}
		if n != count {
			t.Errorf("deleted %d videos, want %d", n, count)
		}
		if got := other.count("videos WHERE account_id = 8"); got != theirs {
			t.Errorf("another account has %d videos, want %d", got, theirs)
		}
		b.settled()
		if diff := cmp.Diff(never(t, another(t, db), gone).whole(), b.whole()); diff != "" {
			t.Errorf("-never had them +deleted once more:\n%s", diff)
		}
		b.scroll(4, now+4*day, slices.DeleteFunc(all, func(r stage.Record) bool { return !gone(r.ExternalID) })...)
		if got := b.count("videos WHERE account_id = 7"); got != len(all)-count {
			t.Errorf("after a scroll: %d videos, want %d", got, len(all)-count)
		}
		t.Run("what was deleted less than a day ago can be brought back", func(t *testing.T) {
			for id, back := range map[int64]bool{91: true, 92: false} {
				if d := b.undo(id); d == nil {
					t.Fatalf("undo %d: got none of that number, want one", id)
				}
				got := b.count(fmt.Sprintf("videos WHERE account_id = 7 AND external_id LIKE '%d-%%'", id-90)) > 0
				if got != back {
					t.Errorf("deletion %d brought videos back: %v, want %v", id, got, back)
				}
			}
		})
		t.Run("twice changes nothing", func(t *testing.T) {
			again := b.removal.Again()
			by(again.Bury(t.Context(), account, 91, names("tiktok", "maker1", ""), recent)) // undone by now
			if n, err := again.Delete(t.Context()); n != 0 || err != nil {
				t.Errorf("got %d, %v, want none deleted of an undone deletion", n, err)
			}
		})
		t.Run("what a scroll read is taken back", func(t *testing.T) {
			again := b.removal.Again()
			by(again.Deletion(t.Context(), account, 93, "import", recent))
			by(again.Forget(t.Context(), account, 93, 2))
			if got := b.count("observations WHERE account_id = 7 AND scroll_id = 2"); got != 0 {
				t.Errorf("%d readings are left, want none", got)
			}
		})
	})
}
