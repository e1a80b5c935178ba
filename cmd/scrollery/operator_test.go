package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app/apptest"
)

// mustRun runs a command beside the server, and fails the test with another exit code.
func (s *served) mustRun(t *testing.T, code int, args ...string) result {
	t.Helper()
	got := s.command(t, args...)
	if got.code != code {
		t.Fatalf("scrollery %s: exit %d, want %d\n%s%s", strings.Join(args, " "), got.code, code, got.stdout, got.stderr)
	}
	return got
}

func TestBackup(t *testing.T) {
	t.Parallel()
	files := []string{"sandbox/7/files/notes.txt", "sandbox/7/files/deep/er/sum.js", "sandbox/7/lock", "sandbox/7/new", "secret.key", "tokens/meta.token", "tokens/.new-1"}
	served := func(t *testing.T, databaseURL string) (server *served, dir string) {
		s := newServed(t, t.TempDir(), databaseURL, "")
		for _, name := range files {
			path := filepath.Join(s.dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("text of "+name), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s.start(t)
		s.mustRun(t, exitDone, "keys", "create", "--email", "saved@example.com", "--plan", "pro")
		return s, filepath.Join(t.TempDir(), "copy")
	}
	listed := func(t *testing.T, dir string) (names []string) {
		t.Helper()
		err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && filepath.Base(filepath.Dir(path)) != "nodes" { // marks differ from run to run
				name, _ := filepath.Rel(dir, path)
				names = append(names, filepath.ToSlash(name))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	t.Run("the copy of a running SQLite server can be used as a data folder", func(t *testing.T) {
		t.Parallel()
		s, dir := served(t, "")
		if got := s.mustRun(t, exitDone, "backup", dir); got.stdout != dir+"\n" {
			t.Errorf("stdout %q, want the folder", got.stdout)
		}
		want := []string{"sandbox/7/files/deep/er/sum.js", "sandbox/7/files/notes.txt", "scrollery.db", "secret.key", "tokens/meta.token"}
		if diff := cmp.Diff(want, listed(t, dir)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if marks, err := os.ReadDir(filepath.Join(dir, "nodes")); err != nil || len(marks) == 0 {
			t.Errorf("got %d marks of node numbers, %v, want some", len(marks), err)
		}
		text, err := os.ReadFile(filepath.Join(dir, files[0]))
		if err != nil || string(text) != "text of "+files[0] {
			t.Errorf("got %q, %v, want %q", text, err, "text of "+files[0])
		}
		for _, private := range []string{"scrollery.db", "secret.key", "tokens/meta.token"} {
			if info, err := os.Stat(filepath.Join(dir, private)); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v, want the mode 0600", private, info, err)
			}
		}
		if beside := listed(t, filepath.Dir(dir)); len(beside) != len(want) {
			t.Errorf("beside the copy: %q, want %v", beside, len(want))
		}
		got := runProgram(t, dir, "keys", "list", "--email", "saved@example.com")
		if got.code != exitDone || !strings.Contains(got.stdout, "active") {
			t.Errorf("keys of the copy: exit %d\n%s%s, want code %v and stdout with \"active\"", got.code, got.stdout, got.stderr, exitDone)
		}
		s.mustRun(t, exitFailed, "backup", dir)
		s.mustRun(t, exitWrongUse, "backup")
	})
	t.Run("of a PostgreSQL server the files alone are copied", func(t *testing.T) {
		t.Parallel()
		s, dir := served(t, apptest.ScratchPostgres(t))
		if got := s.mustRun(t, exitDone, "backup", dir); !strings.Contains(got.stderr, "pg_dump") {
			t.Errorf(`stderr %q does not name pg_dump, want with "pg_dump"`, got.stderr)
		}
		if diff := cmp.Diff([]string{"sandbox/7/files/deep/er/sum.js", "sandbox/7/files/notes.txt", "secret.key", "tokens/meta.token"}, listed(t, dir)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

func TestSessionKeysLastAsLongAsTheConfigurationAllows(t *testing.T) {
	t.Parallel()
	s := newServed(t, t.TempDir(), "", "keys: {max_session_ttl: 48h}\n")
	s.mustRun(t, exitDone, "migrate")
	create := []string{"keys", "create", "--email", "a@example.com", "--plan", "pro", "--ttl"}
	for ttl, code := range map[string]int{"30h": exitDone, "48h": exitDone, "49h": exitWrongUse, "-1h": exitWrongUse} {
		t.Run(ttl, func(t *testing.T) { s.mustRun(t, code, append(create, ttl)...) })
	}
}

func TestCommandsLogNoMigrations(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, databaseURL string) {
		s := newServed(t, t.TempDir(), databaseURL, "", "SCROLLERY_LOG_LEVEL=info")
		s.mustRun(t, exitDone, "migrate") // other commands never do
		if got := s.mustRun(t, exitDone, "admin", "keys", "create", "--email", "a@example.com", "--plan", "pro"); got.stderr != "" {
			t.Errorf("admin keys create wrote %q to stderr, want empty", got.stderr)
		}
	}
	t.Run("sqlite", func(t *testing.T) { check(t, "") })
	t.Run("postgres", func(t *testing.T) { check(t, apptest.ScratchPostgres(t)) })
}
