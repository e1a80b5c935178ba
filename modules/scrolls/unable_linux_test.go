package scrolls

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/plugins/stage"
)

// TestAFullDiskPasses: whatever a scroll was about to write, it is completed soon after there
// is room, at its first start, with nothing stored twice.
func TestAFullDiskPasses(t *testing.T) {
	t.Parallel()
	eachThatFills(t, func(t *testing.T, db *store.DB, fill func() (room func())) {
		w, from := setup(t, db, quick()), 1
		for _, c := range []struct{ name, step, point string }{
			{"its plan", Plan, "end"}, {"what it collects", Collect, "begin"}, {"its verdicts", Screen, "end"}, {"videos", Archive, "begin"}, {"its end", Score, "begin"},
		} {
			t.Run(c.name, func(t *testing.T) {
				cfg := quick()
				full, roomy := make(chan struct{}), make(chan time.Time, 1)
				cfg.Pause = func(_ context.Context, step, point string) {
					if step != c.step || point != c.point {
						return
					}
					select {
					case <-full:
					default:
						close(full)
						room := fill()
						time.AfterFunc(time.Second, func() { room(); roomy <- time.Now() })
					}
				}
				w.t, w.service = t, w.another(cfg)
				w.sources["feed"].records = videos("tiktok", from, 25)
				queue, before := w.queue(w.service), w.count("fake_videos")
				from += 25
				done := w.await(w.create(Start{}).ID)
				if took := time.Since(<-roomy); done.Status != Completed || done.Attempts != 1 || done.NewVideos != 25 || took > time.Minute {
					t.Errorf("got %+v, %v after there was room; want it %s at the first start with 25 videos within a minute", done, took, Completed)
				}
				if n := w.count("fake_videos") - before; n != 25 {
					t.Errorf("got %d videos, want 25", n)
				}
				stop(t, queue, time.Second)
			})
		}
	})
}

// TestTheEndOfAFailedScrollIsWrittenOnceThereIsRoom: a plugin fails while the disk is full.
func TestTheEndOfAFailedScrollIsWrittenOnceThereIsRoom(t *testing.T) {
	t.Parallel()
	eachThatFills(t, func(t *testing.T, db *store.DB, fill func() (room func())) {
		w := setup(t, db, quick())
		roomy := make(chan time.Time, 1)
		w.stageErr["feed"] = func(n int) error {
			if n == 1 {
				room := fill()
				time.AfterFunc(time.Second, func() { room(); roomy <- time.Now() })
			}
			return &stage.CallError{Stage: "feed", Failure: stage.StageProtocol, Cause: errors.New("nonsense")}
		}
		w.queue(w.service)
		done := w.await(w.create(Start{}).ID)
		if took := time.Since(<-roomy); done.Status != Failed || done.FailureCode == nil || took > time.Minute {
			t.Errorf("got %+v, %v after there was room; want it %s within a minute", done, took, Failed)
		}
	})
}

// eachThatFills runs a test on PostgreSQL, where scrolls cannot be written while it is filled,
// and on SQLite in a file system of its own that is really full.
func eachThatFills(t *testing.T, test func(t *testing.T, db *store.DB, fill func() (room func()))) {
	t.Helper()
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		db := storetest.Postgres(t)
		storetest.Exec(t, db, `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`)
		test(t, db, func() func() {
			storetest.Exec(t, db, "CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON scrolls EXECUTE FUNCTION full_disk()")
			return func() { storetest.Exec(t, db, "DROP TRIGGER full_disk ON scrolls") }
		})
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		dir, made := smallDisk(t), storetest.SQLiteConfig(t)
		file, err := os.ReadFile(filepath.Join(made.DataDir, "scrollery.db"))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "scrollery.db"), file, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		test(t, storetest.Open(t, store.Config{DataDir: dir}), func() func() { return fillDisk(t, dir) })
	})
}

// smallDisk is a file system of 24 MiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=24m"); err != nil {
		t.Skipf("a file system that can be filled needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fillDisk leaves no byte free until room is called.
func fillDisk(t *testing.T, dir string) (room func()) {
	t.Helper()
	path := filepath.Join(dir, "ballast")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("fill the disk: got error %v, want no space", err)
	}
	_ = file.Close()
	return func() {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}
