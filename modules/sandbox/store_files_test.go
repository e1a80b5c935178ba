package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/files"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// eachRows runs a test on rows, on each database: SQLite has the table too.
func eachRows(t *testing.T, limits files.Limits, test func(t *testing.T, ctx context.Context, r rows)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		test(t, viewer.As(t.Context(), 7), rows{db: db, limits: limits, scratch: scratch(t)})
	})
}

// lendTo lends the files to a program that does something with its folder.
func lendTo(t *testing.T, ctx context.Context, r rows, program func(dir string)) error {
	t.Helper()
	borrowed, err := r.lend(ctx)
	if err != nil {
		t.Fatal(err)
	}
	program(filepath.Join(borrowed.path(), "files"))
	err = borrowed.giveBack(ctx)
	if _, gone := os.Stat(borrowed.path()); !errors.Is(gone, os.ErrNotExist) {
		t.Errorf("the program's folder is left: %v, want %v", gone, os.ErrNotExist)
	}
	return err
}

func put(t *testing.T, dir, name, data string) {
	t.Helper()
	at := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(data), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// contents reads all files of the account.
func contents(t *testing.T, ctx context.Context, r rows) map[string]string {
	t.Helper()
	list, err := r.list(ctx)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, file := range list {
		if all[file.Path], err = r.read(ctx, file.Path); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestRowsOfAnAccount(t *testing.T) {
	t.Parallel()
	eachRows(t, files.Defaults(), func(t *testing.T, ctx context.Context, r rows) {
		other := viewer.As(ctx, 8)
		want := map[string]string{"a/b.js": "second", "empty": "", "bytes": "a\x00\xff\xed\xa0\x80"}
		if err := r.write(ctx, "a/b.js", "first"); err != nil {
			t.Fatal(err)
		}
		for name, data := range want {
			if err := r.write(ctx, name, data); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.write(other, "a/b.js", "of the other"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, contents(t, ctx, r)); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]string{"a/b.js": "of the other"}, contents(t, other, r)); diff != "" {
			t.Errorf("files of the other account (-want +got):\n%s", diff)
		}
		for name, field := range map[string]string{"none": "path", "../x": "path", "a": "path"} {
			t.Run(name, func(t *testing.T) {
				var refused *files.Error
				if _, err := r.read(ctx, name); !errors.As(err, &refused) || refused.Field != field {
					t.Errorf("read %q: got %v, want a refusal of %s", name, err, field)
				}
			})
		}
		for _, ctx := range []context.Context{context.Background(), viewer.System(ctx)} {
			if err := r.write(ctx, "x", ""); !errors.Is(err, errNoCaller) {
				t.Errorf("write without an account: %v, want %v", err, errNoCaller)
			}
			if _, err := r.lend(ctx); !errors.Is(err, errNoCaller) {
				t.Errorf("lend without an account: %v, want %v", err, errNoCaller)
			}
		}
	})
}

func TestWhatAProgramChangedIsStored(t *testing.T) {
	t.Parallel()
	eachRows(t, files.Defaults(), func(t *testing.T, ctx context.Context, r rows) {
		for _, name := range []string{"stays", "changes", "goes", "meanwhile", "becomes"} {
			if err := r.write(ctx, name, name); err != nil {
				t.Fatal(err)
			}
		}
		err := lendTo(t, ctx, r, func(dir string) {
			text, err := os.ReadFile(filepath.Join(dir, "stays"))
			if string(text) != "stays" || err != nil {
				t.Errorf(`the program reads %q, %v, want text "stays" and no error`, text, err)
			}
			put(t, dir, "changes", "changed")
			put(t, dir, "new/deep/file", "new")
			if err := errors.Join(os.Remove(filepath.Join(dir, "goes")), os.Remove(filepath.Join(dir, "becomes"))); err != nil {
				t.Error(err)
			}
			put(t, dir, "becomes/a/folder", "")
			if err := errors.Join(r.write(ctx, "meanwhile", "of another call"), r.write(ctx, "beside", "the run")); err != nil {
				t.Error(err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{
			"stays": "stays", "changes": "changed", "new/deep/file": "new", "becomes/a/folder": "",
			"meanwhile": "of another call", "beside": "the run",
		}
		if diff := cmp.Diff(want, contents(t, ctx, r)); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
	})
}

// TestAFullSandbox has a program swap the sizes of two files when there is no byte to
// spare, and another that writes more than fits.
func TestAFullSandbox(t *testing.T) {
	t.Parallel()
	limits := files.Limits{File: 800, Total: 1000, Entries: 4}
	eachRows(t, limits, func(t *testing.T, ctx context.Context, r rows) {
		long, short := strings.Repeat("l", 800), strings.Repeat("s", 200)
		if err := errors.Join(r.write(ctx, "a", short), r.write(ctx, "b", long)); err != nil {
			t.Fatal(err)
		}
		if err := lendTo(t, ctx, r, func(dir string) { put(t, dir, "a", long); put(t, dir, "b", short) }); err != nil {
			t.Errorf("swap the sizes: %v", err)
		}
		for name, c := range map[string]struct {
			field   string
			program func(dir string)
		}{
			"more bytes than are left":   {files.DataField, func(dir string) { put(t, dir, "c", "x") }},
			"a file that is too long":    {files.DataField, func(dir string) { put(t, dir, "a", ""); put(t, dir, "b", long+"x") }},
			"more entries than are left": {files.PathField, func(dir string) { put(t, dir, "c/d/e", "") }},
		} {
			t.Run(name, func(t *testing.T) {
				var refused *files.Error
				err := lendTo(t, ctx, r, func(dir string) { put(t, dir, "first", ""); c.program(dir) })
				if !errors.As(err, &refused) || refused.Field != c.field {
					t.Errorf("got %v, want a refusal of %s", err, c.field)
				}
			})
		}
		if diff := cmp.Diff(map[string]string{"a": long, "b": short}, contents(t, ctx, r)); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
	})
}

// TestTwoServers has two services on one database, each with a data folder of its own.
// A file is written on one and run on the other.
func TestTwoServers(t *testing.T) {
	t.Parallel()
	cfg := storetest.PostgresConfig(t)
	one, ctx := setupOn(t, storetest.Open(t, cfg), nil)
	cfg.DataDir = t.TempDir()
	db := storetest.Open(t, cfg)
	two, _ := setupOn(t, db, nil)
	two.ledger.balance = 1000
	if err := one.WriteFile(ctx, "deep/program.js", "print(1)"); err != nil {
		t.Fatal(err)
	}
	two.runner.use = func(dir string) { put(t, filepath.Join(dir, "files"), "out/sum", "42") }
	answer, err := two.RunAgent(ctx, "run deep/program.js")
	if err != nil || answer.Output != "ran print(1)" {
		t.Fatalf("the agent on the other server: %q, %v, want the program that was written", answer.Output, err)
	}
	if got, err := one.readFile(ctx, "out/sum"); got != "42" || err != nil {
		t.Errorf("the first server reads %q, %v, want what the program wrote on the other", got, err)
	}
	for _, b := range []*bench{one, two} {
		if entries, err := os.ReadDir(b.config.Dir); err != nil || len(entries) != 0 {
			t.Errorf("files of another machine: got %v, error %v; want none", entries, err)
		}
	}

	t.Run("files that no longer fit are the program's failure", func(t *testing.T) {
		two.config.Files.Total = 1 << 20
		two.files = rows{db, two.config.Files, scratch(t)}
		two.runner.use = func(dir string) { put(t, filepath.Join(dir, "files"), "out/big", strings.Repeat("x", 1<<20)) }
		answer, err := two.RunAgent(ctx, "run deep/program.js")
		if err != nil || !strings.Contains(answer.Output, "The program failed (files): The files that the program wrote are not stored: the sandbox holds at most") {
			t.Errorf("got %q, %v, want a failure: the sandbox is full", answer.Output, err)
		}
		if _, err := one.readFile(ctx, "out/big"); err == nil {
			t.Error("the file was stored, want an error")
		}
	})
}

// TestNoServerExceedsTheQuota lets calls and programs on two servers race for the last
// bytes.
func TestNoServerExceedsTheQuota(t *testing.T) {
	t.Parallel()
	limits := files.Limits{File: 1000, Total: 20_000, Entries: 100}
	cfg := storetest.PostgresConfig(t)
	var stores []rows
	for range 2 {
		stores = append(stores, rows{storetest.Open(t, cfg), limits, scratch(t)})
	}
	ctx := viewer.As(t.Context(), 7)
	data := strings.Repeat("x", 1000)
	var mu sync.Mutex
	var stored []string
	var race sync.WaitGroup
	for n := range 30 {
		race.Go(func() {
			r, names := stores[n%2], []string{fmt.Sprintf("call-%d", n)}
			var err error
			if n%3 == 0 {
				names = []string{fmt.Sprintf("run-%d-a", n), fmt.Sprintf("run-%d-b", n)}
				err = lendTo(t, ctx, r, func(dir string) { put(t, dir, names[0], data); put(t, dir, names[1], data) })
			} else {
				err = r.write(ctx, names[0], data)
			}
			var refused *files.Error
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				stored = append(stored, names...)
			} else if !errors.As(err, &refused) {
				t.Errorf("%v: got %v, want no error or a refusal of files", names, err)
			}
		})
	}
	race.Wait()
	got := contents(t, ctx, stores[0])
	want := map[string]string{}
	for _, name := range stored {
		want[name] = data
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the files differ from those that were answered as stored (-want +got):\n%s", diff)
	}
	if len(got) < 19 || len(got) > 20 {
		t.Errorf("%d files of 1,000 bytes are stored, want 19 or 20 of 20,000 bytes", len(got))
	}
}
