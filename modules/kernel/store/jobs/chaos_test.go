package jobs_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// chaosChild makes a process of the tests the child; with holdChild its jobs wait.
const (
	chaosChild = "SCROLLERY_TEST_CHAOS_CHILD"
	holdChild  = "SCROLLERY_TEST_CHAOS_HOLD"
)

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
			const count = 24
			cfg := config(t)
			db := storetest.Open(t, cfg)
			for i := range count {
				enqueue(t, db, store.Job{Kind: "test", Args: i + 1, MaxAttempts: 5, UniqueKey: fmt.Sprint(i)})
			}
			for kill := range 3 {
				killAfter(t, cfg, 3+2*kill)
			}
			var last jobs.Worker
			last.Concurrency, last.Work = 4, func(ctx context.Context, args json.RawMessage) error { return record(ctx, db, args) }
			start(t, db, last)
			if failed := settled(t, db); failed != 0 {
				t.Errorf("%d jobs failed, want 0", failed)
			}
			if done := scan(t, db, "SELECT count(*) FROM accounts WHERE created_at = 1"); done != count {
				t.Errorf("got %d jobs done, want %d", done, count)
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

// child starts a process that works on the database, and returns it with the lines that it prints.
// With hold, its jobs end when it reads the end of its input.
func child(t *testing.T, cfg store.Config, hold bool) (process *exec.Cmd, input io.Closer, lines *bufio.Scanner) {
	t.Helper()
	text, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	process = exec.Command(os.Args[0], "-test.run=^TestKilledProcess$")
	process.Env = append(os.Environ(), chaosChild+"="+string(text))
	if hold {
		process.Env = append(process.Env, holdChild+"=1")
	}
	input, err = process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	})
	return process, input, bufio.NewScanner(output)
}

// read reads lines until one has been there so many times.
func read(t *testing.T, lines *bufio.Scanner, line string, times int) {
	t.Helper()
	for times > 0 {
		if !lines.Scan() {
			t.Fatalf("the child ended before it printed %q", line)
		}
		if lines.Text() == line {
			times--
		}
	}
}

// killAfter lets a child process begin so many jobs, and kills it.
func killAfter(t *testing.T, cfg store.Config, count int) {
	t.Helper()
	process, _, lines := child(t, cfg, false)
	read(t, lines, "begun", count)
	if err := process.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = process.Wait()
}

// workUntilKilled is the child: it prints when it begins a job and when it has ended it.
func workUntilKilled(t *testing.T, text string) {
	var cfg store.Config
	if err := json.Unmarshal([]byte(text), &cfg); err != nil {
		t.Fatal(err)
	}
	db := storetest.Open(t, cfg)
	start(t, db, jobs.Worker{Concurrency: 3, Timeout: time.Hour, Work: func(ctx context.Context, args json.RawMessage) error {
		fmt.Println("begun")
		if os.Getenv(holdChild) != "" {
			_, _ = io.ReadAll(os.Stdin)
		}
		time.Sleep(5 * time.Millisecond)
		err := record(ctx, db, args)
		fmt.Println("ended")
		return err
	}})
	select {}
}

// TestStoppedProcess stops a worker in the middle of its job. On PostgreSQL another one does the
// job within seconds, and what the first does when it goes on changes nothing. On SQLite the folder
// is its own as long as it lives.
func TestStoppedProcess(t *testing.T) {
	t.Parallel()
	for dialect, config := range map[string]func(testing.TB) store.Config{
		store.SQLite: storetest.SQLiteConfig, store.Postgres: storetest.PostgresConfig,
	} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			cfg := config(t)
			db := storetest.Open(t, cfg)
			enqueue(t, db, store.Job{Kind: "test", Args: 1})
			process, input, lines := child(t, cfg, true)
			read(t, lines, "begun", 1)
			if err := process.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			work := jobs.Worker{Kind: "test", Work: func(ctx context.Context, args json.RawMessage) error { return record(ctx, db, args) }}
			if dialect == store.SQLite {
				queue, err := jobs.NewQueue(db, []jobs.Worker{work}, nil, storetest.Log(t))
				if err != nil {
					t.Fatal(err)
				}
				short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
				if err := queue.Start(short); err == nil {
					t.Fatal("a second process works on the folder of one that is stopped, want an error")
				}
				if err := process.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				_ = process.Wait()
			}
			b := start(t, db, work)
			receive(t, b.calls)
			if failed := settled(t, db); failed != 0 {
				t.Errorf("%d jobs failed, want 0", failed)
			}
			if dialect == store.Postgres {
				if err := process.Process.Signal(syscall.SIGCONT); err != nil {
					t.Fatal(err)
				}
				if err := input.Close(); err != nil {
					t.Fatal(err)
				}
				read(t, lines, "ended", 1)
				// It works again under its own name.
				enqueue(t, db, store.Job{Kind: "test", Args: 2})
				if failed := settled(t, db); failed != 0 {
					t.Errorf("after it went on %d jobs failed, want 0", failed)
				}
			}
			if done := scan(t, db, "SELECT count(*) FROM accounts WHERE created_at = 1 AND id = 1"); done != 1 {
				t.Errorf("got the effect of the job %d times, want once", done)
			}
		})
	}
}
