package removals

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

const owner = int64(7)

// recorded notes what is done once more.
type recorded struct {
	done []string
	fail error
}

func (r *recorded) note(format string, args ...any) error {
	r.done = append(r.done, fmt.Sprintf(format, args...))
	return r.fail
}

func (r *recorded) Leave(_ context.Context, account int64, subject string, at int64) error {
	return r.note("leave %d %s %d", account, subject, at)
}

func (r *recorded) Stay(_ context.Context, account, at int64) error {
	return r.note("stay %d %d", account, at)
}

func (r *recorded) Deletion(_ context.Context, account, id int64, what string, at int64) error {
	return r.note("deletion %d %d %s %d", account, id, what, at)
}

func (r *recorded) Bury(_ context.Context, account, deletion int64, names []string, at int64) error {
	return r.note("bury %d %d %v %d", account, deletion, names, at)
}

func (r *recorded) Forget(_ context.Context, account, deletion, scroll int64) error {
	return r.note("forget %d %d %d", account, deletion, scroll)
}

func (r *recorded) Suppress(_ context.Context, erasure int64, names []string, at int64) error {
	return r.note("suppress %d %v %d", erasure, names, at)
}

func (r *recorded) Lift(_ context.Context, account, deletion int64) error {
	return r.note("lift %d %d", account, deletion)
}

func (r *recorded) Delete(context.Context) (int, error) { return 0, r.note("delete") }

type bundle struct {
	t   *testing.T
	db  *store.DB
	ctx context.Context
	key *secret.Hasher
	log *Log
}

func setup(t *testing.T, db *store.DB) *bundle {
	keys := secret.NewKeys("the key of the tests of removals, which is long", "")
	key, err := keys.Hasher("removals test")
	if err != nil {
		t.Fatal(err)
	}
	b := &bundle{t: t, db: db, ctx: viewer.System(t.Context()), key: key}
	b.log = New(db, func() (*secret.Hasher, error) { return key, nil }, storetest.Log(t))
	b.log.dir = filepath.Join(t.TempDir(), Folder)
	b.write(func(ctx context.Context, tx *store.Tx) error {
		return tx.Ent().Account.Create().SetID(owner).SetCreatedAt(1).Exec(ctx)
	})
	return b
}

func (b *bundle) write(do func(ctx context.Context, tx *store.Tx) error) {
	b.t.Helper()
	if err := b.db.Write(b.ctx, do); err != nil {
		b.t.Fatal(err)
	}
}

// note commits lines and has the file them.
func (b *bundle) note(lines ...Line) {
	b.t.Helper()
	b.write(func(ctx context.Context, tx *store.Tx) error { return Note(ctx, tx, lines...) })
	if err := b.log.Write(b.ctx); err != nil {
		b.t.Fatal(err)
	}
}

// restored has the database know as much of the log as before.
func (b *bundle) restored(position int64) {
	b.t.Helper()
	b.write(func(ctx context.Context, tx *store.Tx) error {
		return tx.Ent().RemovalFile.Update().SetPosition(position).Exec(ctx)
	})
}

func (b *bundle) merge() []string {
	b.t.Helper()
	r := &recorded{}
	if err := b.log.Merge(b.ctx, r); err != nil {
		b.t.Fatal(err)
	}
	return r.done
}

func (b *bundle) size() int64 {
	b.t.Helper()
	f, found, err := look(b.log.path(current), b.key)
	if err != nil || !found {
		b.t.Fatalf("found %v, %v", found, err)
	}
	return f.size
}

func (b *bundle) text() string {
	b.t.Helper()
	text, err := os.ReadFile(b.log.path(current))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestMergeDoesWhatTheDatabaseDoesNotKnow(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		want(t, b.merge())
		if _, err := os.Stat(b.log.dir); !os.IsNotExist(err) {
			t.Errorf("without removals: got %v, want no folder", err)
		}
		b.note(Deletion(b.key, owner, 1, "video", 10), Bury(b.key, owner, 1, "old", 10))
		want(t, b.merge())
		old := b.size()
		b.note(
			Bury(b.key, owner, 2, "a", 20), Bury(b.key, owner, 2, "b", 20), Deletion(b.key, owner, 2, "creator", 20),
			Bury(b.key, owner, 3, "c", 30), Deletion(b.key, owner, 3, "import", 30), Forget(b.key, owner, 3, 77, 30),
			Suppress(4, "d", 40), Suppress(4, "e", 40), Bury(b.key, 8, 5, "elsewhere", 50),
			Bury(b.key, owner, 6, "undone", 60), Lift(b.key, owner, 6, 61), Lift(b.key, owner, 1, 62),
		)
		b.write(func(ctx context.Context, tx *store.Tx) error { return b.log.Leaves(ctx, tx, owner, "first", 70) })
		b.write(func(ctx context.Context, tx *store.Tx) error { return b.log.Stays(ctx, tx, owner, 71) })
		b.write(func(ctx context.Context, tx *store.Tx) error { return b.log.Leaves(ctx, tx, owner, "second", 72) })
		b.log.Flush(b.ctx)
		want(t, b.merge())
		all := []string{
			"leave 7 second 72", "bury 7 2 [a b] 20", "deletion 7 2 creator 20", "deletion 7 3 import 30", "forget 7 3 77",
			"bury 7 3 [c] 30", "suppress 4 [d e] 40", "delete", "lift 7 6", "lift 7 1",
		}
		// The names of a deletion wait for those that follow: their order is of no account.
		for range 2 {
			b.restored(old)
			got := b.merge()
			slices.Sort(got)
			slices.Sort(all)
			want(t, got, all...)
			want(t, b.merge())
		}
		t.Run("one that was cut off begins again", func(t *testing.T) {
			b.restored(old)
			away := errors.New("the database is away")
			if err := b.log.Merge(b.ctx, &recorded{fail: away}); !errors.Is(err, away) {
				t.Errorf("got %v, want %v", err, away)
			}
			if got := b.merge(); len(got) != len(all) {
				t.Errorf("got %v, want all of %v", got, all)
			}
		})
		t.Run("a database that knows nothing of the file", func(t *testing.T) {
			b.write(func(ctx context.Context, tx *store.Tx) error {
				_, err := tx.Ent().RemovalFile.Delete().Exec(ctx)
				return err
			})
			if got := b.merge(); len(got) != len(all) || slices.Contains(got, "bury 7 1 [old] 10") {
				t.Errorf("got %v, want the whole file without what was undone", got)
			}
		})
		t.Run("lines of a writer that was killed are written once more", func(t *testing.T) {
			b.write(func(ctx context.Context, tx *store.Tx) error { return Note(ctx, tx, Bury(b.key, owner, 9, "late", 90)) })
			torn := b.text() + Bury(b.key, owner, 9, "late", 90).String()[:20]
			if err := os.WriteFile(b.log.path(current), []byte(torn), 0o600); err != nil {
				t.Fatal(err)
			}
			b.merge()
			if text := b.text(); !strings.HasSuffix(text, Bury(b.key, owner, 9, "late", 90).String()+"\n") || strings.Count(text, " 90 ") != 1 {
				t.Errorf("got %q, want the line once at the end", text)
			}
			if n := storetest.Count(t, db, "SELECT COUNT(*) FROM removal_lines"); n != 0 {
				t.Errorf("%d lines wait, want none", n)
			}
		})
		t.Run("a copy of a backup is taken over", func(t *testing.T) {
			b.merge()
			if err := CopyFile(b.ctx, b.log.dir, b.log.dir); err != nil {
				t.Fatal(err)
			}
			if got := b.merge(); !slices.Contains(got, "bury 7 2 [a b] 20") || slices.Contains(got, "bury 7 1 [old] 10") {
				t.Errorf("got %v, want the copy done without what was undone since", got)
			}
			if others, err := b.log.others(); err != nil || len(others) != 0 {
				t.Errorf("got %v, %v, want the copy gone", others, err)
			}
			want(t, b.merge())
		})
		t.Run("an older file does not take the place of what the database knows", func(t *testing.T) {
			if err := os.Truncate(b.log.path(current), old); err != nil {
				t.Fatal(err)
			}
			b.merge()
			b.note(Suppress(5, "f", 100))
			want(t, b.merge())
			if text := b.text(); !strings.Contains(text, " old ") || !strings.Contains(text, " f ") {
				t.Errorf("got %q, want what the older file had, and a new line", text)
			}
		})
		t.Run("what is of no use any more goes", func(t *testing.T) {
			b.write(func(ctx context.Context, tx *store.Tx) error {
				_, err := tx.Ent().RemovalFile.Delete().Exec(ctx)
				return err
			})
			if err := os.RemoveAll(b.log.dir); err != nil {
				t.Fatal(err)
			}
			recent := b.log.now().UnixMilli()
			lines := []Line{
				Bury(b.key, owner, 1, "kept", 1), Bury(b.key, owner, 1, "kept", 1), Bury(b.key, owner, 2, "undone", 1), Lift(b.key, owner, 2, recent),
				Lift(b.key, owner, 3, 1), Bury(b.key, 8, 4, "left", recent), Bury(b.key, 9, 5, "unknown", recent), Bury(b.key, 9, 6, "old", 1), Suppress(7, "erased", 1),
			}
			b.note(lines...)
			b.write(func(ctx context.Context, tx *store.Tx) error { return b.log.Leaves(ctx, tx, 8, "x", recent) })
			b.log.Flush(b.ctx)
			if err := b.log.Compact(b.ctx); err != nil {
				t.Fatal(err)
			}
			var kept []string
			for _, line := range strings.Split(strings.TrimSpace(b.text()), "\n")[1:] {
				words := strings.Fields(line)
				kept = append(kept, words[0]+" "+words[3])
			}
			want(t, kept, "bury kept", "lift -", "bury unknown", "suppress erased", "leave x")
			want(t, b.merge())
			b.note(Suppress(8, "later", 1))
			want(t, b.merge())
		})
		t.Run("another key is refused, and a damaged line passed over", func(t *testing.T) {
			text := b.text()
			if err := os.WriteFile(b.log.path(current), []byte(strings.Replace(text, " kept ", " kepp ", 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			b.restored(0)
			if got := b.merge(); slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, "kep") }) || !slices.Contains(got, "suppress 7 [erased] 1") {
				t.Errorf("got %v, want all but the damaged line", got)
			}
			other, err := secret.NewKeys("another key of the tests of removals, which is long", "").Hasher("removals test")
			if err != nil {
				t.Fatal(err)
			}
			b.log.key = func() (*secret.Hasher, error) { return other, nil }
			if err := b.log.Merge(b.ctx, &recorded{}); !errors.Is(err, ErrOtherKey) {
				t.Errorf("got %v, want %v", err, ErrOtherKey)
			}
		})
	})
}

// TestLogThatCannotBeWrittenKeepsItsLines: calls go on, and the lines are written later.
func TestLogThatCannotBeWrittenKeepsItsLines(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		if err := os.WriteFile(b.log.dir, nil, 0o600); err != nil { // a file is in the way
			t.Fatal(err)
		}
		b.write(func(ctx context.Context, tx *store.Tx) error { return Note(ctx, tx, Suppress(1, "a", 1)) })
		began := time.Now()
		b.log.Flush(b.ctx)
		if err := b.log.Write(b.ctx); err == nil || time.Since(began) > 2*promptly {
			t.Errorf("got %v after %v, want an error at once", err, time.Since(began))
		}
		want(t, b.merge())
		if err := os.Remove(b.log.dir); err != nil {
			t.Fatal(err)
		}
		b.log.Flush(b.ctx)
		if text := b.text(); !strings.Contains(text, "suppress - 1 a 1 ") {
			t.Errorf("got %q, want the line", text)
		}
	})
}
