package changes_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// The environment of a process that writes until it is killed.
const (
	childDir = "SCROLLERY_CHANGES_TEST_DIR"
	childURL = "SCROLLERY_CHANGES_TEST_URL"
	childRun = "SCROLLERY_CHANGES_TEST_RUN"
	// killsSetting is how many processes are killed on each database.
	killsSetting = "SCROLLERY_KILLS"
)

func TestMain(m *testing.M) {
	if os.Getenv(childDir) != "" {
		if err := child(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// child writes until it is killed, by writers of their own for each run. It prints what
// was committed.
func child() error {
	ctx := viewer.As(context.Background(), account)
	db, err := store.Open(ctx, store.Config{DataDir: os.Getenv(childDir), DatabaseURL: os.Getenv(childURL), MaxConns: 12}, storetest.Log(nil))
	if err != nil {
		return err
	}
	run, err := strconv.ParseInt(os.Getenv(childRun), 10, 64)
	if err != nil {
		return err
	}
	faults := make(chan error, writers)
	for w := range int64(writers) {
		go func() {
			for count := int64(1); ; count++ {
				err := db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
					return feed.Append(ctx, tx, feed.Change{Kind: feed.VideoAdded, Scroll: run*writers + w + 1, Video: count})
				})
				if err != nil {
					faults <- err
					return
				}
				fmt.Println(run*writers+w+1, count)
			}
		}()
	}
	return <-faults
}

// TestKilledWritersSkipNothing kills a process of 8 writers again and again. A reader by
// cursor sees every change that was acknowledged, once and in order. SCROLLERY_KILLS sets
// how often.
func TestKilledWritersSkipNothing(t *testing.T) {
	t.Parallel()
	kills := 3
	if text := os.Getenv(killsSetting); text != "" {
		kills, _ = strconv.Atoi(text)
	}
	for name, where := range map[string]func(testing.TB) store.Config{store.SQLite: storetest.SQLiteConfig, store.Postgres: storetest.PostgresConfig} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := where(t)
			db := storetest.Open(t, cfg)
			s, ctx := open(t, db)
			r := reader{last: map[int64]int64{}}
			total := 0
			for run := range kills {
				acknowledged := killed(t, cfg, run)
				for {
					page, err := s.Read(ctx, r.seq, nil, 50)
					if err != nil {
						t.Fatal(err)
					}
					if err := r.take(page.Changes); err != nil {
						t.Fatalf("after %d kills: %v", run+1, err)
					}
					if !page.More {
						break
					}
				}
				for writer, count := range acknowledged {
					if total += int(count); r.last[writer] < count {
						t.Fatalf("after %d kills: got up to change %d of writer %d, want the %d that it committed", run+1, r.last[writer], writer, count)
					}
				}
			}
			t.Logf("%d kills, %d changes acknowledged, %d read", kills, total, r.seq)
			if total < kills {
				t.Errorf("got %d changes in %d processes, want at least one each", total, kills)
			}
		})
	}
}

// killed runs a process and kills it while it writes; it returns the last count that each
// writer reported.
func killed(t *testing.T, cfg store.Config, run int) map[int64]int64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+cfg.DataDir, childURL+"="+cfg.DatabaseURL, childRun+"="+strconv.Itoa(run))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	acknowledged := map[int64]int64{}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var writer, count int64
		if n, _ := fmt.Sscan(lines.Text(), &writer, &count); n != 2 {
			continue // cut off by the kill
		}
		if len(acknowledged) == 0 { // from its first commit on, some time
			time.AfterFunc(time.Duration(rand.N(100))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		}
		acknowledged[writer] = max(acknowledged[writer], count)
	}
	_ = cmd.Wait() // it was killed
	return acknowledged
}
