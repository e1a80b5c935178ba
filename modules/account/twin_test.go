package account

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// TestHeldTablesAreThoseReadAgain: an export is the same either way.
func TestHeldTablesAreThoseReadAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		_, s := setup(db)
		s.part = 10
		library(t, db, 7, 25, "=a \"caption\",")
		export := func(most int) (Manifest, map[string]string) {
			var out bytes.Buffer
			a := newArchive(&out, 7, "", time.UnixMilli(1))
			a.twin.most = most
			if err := errors.Join(s.export(viewer.As(t.Context(), 7), start{}, a), a.close()); err != nil {
				t.Fatal(err)
			}
			return opened(t, out.Bytes())
		}
		manifest, files := export(twinMost)
		wantManifest, want := export(-1)
		if diff := cmp.Diff(want, files); diff != "" {
			t.Errorf("files, -read again +held:\n%s", diff)
		}
		if diff := cmp.Diff(wantManifest, manifest); diff != "" {
			t.Errorf("manifest, -read again +held:\n%s", diff)
		}
	})
}

// TestALargeTableIsNotHeld: it is read again, from its first row.
func TestALargeTableIsNotHeld(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		most, want int
	}{{"held", twinMost, 1}, {"given up", 10_000, 2}} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			a := newArchive(&out, 7, "", time.UnixMilli(1))
			a.twin.most = c.most
			times, table := 0, "n,text\n"
			e := entity{name: "numbers", columns: []column{"n", "text"}, rows: func(_ context.Context, do func(...any) error) error {
				times++
				for n := range 2000 {
					sum := sha256.Sum256([]byte{byte(n), byte(n >> 8)})
					text := hex.EncodeToString(sum[:])
					if times == 1 {
						table += fmt.Sprintf("%d,%s\n", n, text)
					}
					if err := do(n, text); err != nil {
						return err
					}
				}
				return nil
			}}
			if err := errors.Join(a.add(t.Context(), e.name, e), a.close()); err != nil {
				t.Fatal(err)
			}
			_, files := opened(t, out.Bytes())
			if diff := cmp.Diff(table, files["numbers.csv"]); times != c.want || diff != "" {
				t.Errorf("got the rows read %d times, want %d; the table, -want +got:\n%s", times, c.want, diff)
			}
			if held := a.twin.held.Len(); c.want > 1 && held > c.most+64<<10 {
				t.Errorf("got %d bytes held, want little more than %d", held, c.most)
			}
		})
	}
}

// TestExportReadsBesideReaders: it takes none of the connections that other callers read by.
func TestExportReadsBesideReaders(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	_, s := setup(db)
	library(t, db, 7, 25, "a caption")
	for range db.Stats()[0].Max {
		rows, err := db.HotTenantless("SELECT id FROM videos", "a test").Query(t.Context())
		if err != nil || !rows.Next() {
			t.Fatalf("take a reader: %v, %v", err, rows.Err())
		}
		defer rows.Close() //nolint:errcheck // gives the connection back
	}
	ctx, cancel := context.WithTimeout(viewer.As(t.Context(), 7), time.Minute)
	defer cancel()
	if err := s.Export(ctx, "", io.Discard); err != nil {
		t.Errorf("while all readers are taken: got %v, want none", err)
	}
}
