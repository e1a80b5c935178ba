package main

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/scrollery/scrollery/app/apptest"
)

// TestProcessesStartAtOnceOnAnEmptyDatabase starts three servers before there is any
// schema: each of them serves.
func TestProcessesStartAtOnceOnAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	for range 3 {
		database := apptest.EmptyPostgres(t)
		var all sync.WaitGroup
		for range 3 {
			server := newServed(t, t.TempDir(), database, "", "SCROLLERY_FEED_DIR="+t.TempDir())
			all.Go(func() {
				if err := server.launch(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if got := runProgramWith(t, []string{"SCROLLERY_DATABASE_URL=" + database}, "keys", "create", "--email", "a@example.com", "--plan", "pro"); got.code != exitDone {
			t.Errorf("keys create: exit %d, want %v: %s", got.code, exitDone, got.stderr)
		}
	}
}

func TestCommandsNeverMigrate(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(testing.TB) string{
		"sqlite":   func(testing.TB) string { return "" },
		"postgres": apptest.EmptyPostgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := []string{"SCROLLERY_DATABASE_URL=" + database(t), "SCROLLERY_DATA_DIR=" + t.TempDir()}
			create := func() result {
				return runProgramWith(t, env, "keys", "create", "--email", "a@example.com", "--plan", "pro")
			}
			for _, try := range []string{"first", "second"} {
				t.Run(try+" try", func(t *testing.T) {
					got := create()
					if got.code != exitFailed || !strings.Contains(got.stderr, "run `scrollery migrate`") || got.stdout != "" {
						t.Errorf("%s try on an empty database: exit %d, stdout %q, stderr %q; want a failure that names the command", try, got.code, got.stdout, got.stderr)
					}
				})
			}
			if got := runProgramWith(t, env, "migrate"); got.code != exitDone {
				t.Fatalf("migrate: exit %d, want %v: %s", got.code, exitDone, got.stderr)
			}
			if got := create(); got.code != exitDone {
				t.Errorf("after migrate: exit %d, want %v: %s", got.code, exitDone, got.stderr)
			}
		})
	}
}

func TestOlderReleaseRefusesANewerSchema(t *testing.T) {
	t.Parallel()
	database := apptest.ScratchPostgres(t)
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)"); err != nil {
		t.Fatal(err)
	}
	env := []string{"SCROLLERY_DATABASE_URL=" + database}
	for _, args := range []string{"serve", "migrate", "keys list --email a@example.com"} {
		t.Run(args, func(t *testing.T) {
			got := runProgramWith(t, env, strings.Fields(args)...)
			if got.code != exitFailed || !strings.Contains(got.stderr, "version 9999") || !strings.Contains(got.stderr, "install the newer release") {
				t.Errorf("%s: exit %d, stderr %q; want a refusal with the versions", args, got.code, got.stderr)
			}
		})
	}
}

// runProgramWith is runProgram with settings of the environment, in a folder of its own.
func runProgramWith(t *testing.T, env []string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := program(ctx, t.TempDir(), args...)
	command.Env = append(command.Env, env...)
	var stdout, stderr strings.Builder
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); command.ProcessState == nil {
		t.Fatal(err)
	}
	return result{command.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}
