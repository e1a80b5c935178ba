package store_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

const chaosChild = "SCROLLERY_TEST_CHAOS_CHILD"

// TestKilledProcess kills workers in the middle of their jobs, three times over.
// Every job is done in the end, and its effect stands once.
func TestKilledProcess(t *testing.T) {
	if cfg := os.Getenv(chaosChild); cfg != "" {
		workUntilKilled(t, cfg)
	}
	t.Parallel()
	for dialect, config := range map[string]func(testing.TB) store.Config{
		store.SQLite: storetest.SQLiteConfig, store.Postgres: storetest.PostgresConfig,
	} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			const jobs = 24
			cfg := config(t)
			db := storetest.Open(t, cfg)
			for i := range jobs {
				enqueue(t, db, store.Job{Kind: "test", Args: i + 1, MaxAttempts: 5, UniqueKey: fmt.Sprint(i)})
			}
			for kill := range 3 {
				killAfter(t, cfg, 3+2*kill)
			}
			var last store.Worker
			last.Concurrency, last.Work = 4, func(ctx context.Context, args json.RawMessage) error { return record(ctx, db, args) }
			start(t, db, last)
			if failed := settled(t, db); failed != 0 {
				t.Errorf("%d jobs failed, want 0", failed)
			}
			if done := scan(t, db, "SELECT count(*) FROM accounts WHERE created_at = 1"); done != jobs {
				t.Errorf("got %d jobs done, want %d", done, jobs)
			}
		})
	}
}

// record is the work: an effect that shows when it happens twice.
func record(ctx context.Context, db *store.DB, args json.RawMessage) error {
	return db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Exec(ctx, "INSERT INTO accounts (id, created_at) VALUES (CAST($1 AS bigint), 1) ON CONFLICT (id) DO NOTHING", string(args))
		return err
	})
}

// killAfter lets a child process begin so many jobs, and kills it.
func killAfter(t *testing.T, cfg store.Config, jobs int) {
	t.Helper()
	text, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestKilledProcess$")
	child.Env = append(os.Environ(), chaosChild+"="+string(text))
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	for begun := 0; begun < jobs && lines.Scan(); {
		if lines.Text() == "begun" {
			begun++
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = child.Wait()
}

// workUntilKilled is the child: it tells of each job that it begins.
func workUntilKilled(t *testing.T, text string) {
	var cfg store.Config
	if err := json.Unmarshal([]byte(text), &cfg); err != nil {
		t.Fatal(err)
	}
	db := storetest.Open(t, cfg)
	start(t, db, store.Worker{Concurrency: 3, Timeout: time.Hour, Work: func(ctx context.Context, args json.RawMessage) error {
		fmt.Println("begun")
		time.Sleep(5 * time.Millisecond)
		return record(ctx, db, args)
	}})
	select {}
}
