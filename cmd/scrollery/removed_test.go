package main

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/removals"
	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// oldCopy is a copy of a server's database, and how it takes the database's place again.
type oldCopy func(t *testing.T)

// copyOf copies the database of a server that is not running.
func copyOf(t *testing.T, c *chaos) oldCopy {
	t.Helper()
	if i := slices.IndexFunc(c.env, func(e string) bool { return strings.HasPrefix(e, "SCROLLERY_DATABASE_URL=") }); i >= 0 {
		address := strings.TrimPrefix(c.env[i], "SCROLLERY_DATABASE_URL=")
		at, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(at.Path, "/")
		copied, restored := name+"_copy", 0
		onPostgres(t, at, "CREATE DATABASE "+copied+" TEMPLATE "+name)
		t.Cleanup(func() { onPostgres(t, at, "DROP DATABASE "+copied+" WITH (FORCE)") })
		return func(t *testing.T) {
			restored++
			next := *at
			next.Path = fmt.Sprintf("/%s_%d", name, restored)
			onPostgres(t, at, "CREATE DATABASE "+next.Path[1:]+" TEMPLATE "+copied)
			t.Cleanup(func() { onPostgres(t, at, "DROP DATABASE "+next.Path[1:]+" WITH (FORCE)") })
			c.env[i] = "SCROLLERY_DATABASE_URL=" + next.String()
		}
	}
	dir := filepath.Join(t.TempDir(), "copy")
	c.mustRun(t, exitDone, "admin", "backup", dir)
	return func(t *testing.T) {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(filepath.Join(c.dir, "scrollery.db"+suffix)); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(filepath.Join(dir, "scrollery.db"))
		if err == nil {
			err = os.WriteFile(filepath.Join(c.dir, "scrollery.db"), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func onPostgres(t *testing.T, at *url.URL, statement string) {
	t.Helper()
	server := *at
	server.Path = "/postgres"
	conn, err := pgx.Connect(context.Background(), server.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background()) //nolint:errcheck // it ends with the test
	for try := 0; ; try++ {                // sessions of a process that was killed end a little later
		_, err := conn.Exec(context.Background(), statement)
		if err == nil {
			return
		}
		if try == 100 {
			t.Fatalf("%s: %v", statement, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// TestDeletionsOutliveTheRestoreOfAnOlderCopy deletes what an older copy of the database has, and
// restores the copy.
func TestDeletionsOutliveTheRestoreOfAnOlderCopy(t *testing.T) {
	t.Parallel()
	eachDatabase(t, chaosConfig, func(t *testing.T, c *chaos, _ func(t *testing.T) *store.DB) {
		var file []byte
		for _, v := range [][2]string{{"one", "moka"}, {"two", "moka"}, {"three", "rival"}, {"four", "rival"}, {"five", "brew"}, {"six", "brew"}} {
			file = fmt.Appendf(file, `{"platform":"tiktok","externalId":"%s","source":{"handle":"%s"},"metadata":{"caption":"cup"},"metrics":{"views":100,"observedAt":1760000000000}}`+"\n", v[0], v[1])
		}
		path := filepath.Join(t.TempDir(), "videos.jsonl")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		load := func(email string) {
			t.Helper()
			c.mustRun(t, exitDone, "admin", "import", "--email", email, path)
		}
		leaving := &chaos{served: c.served}
		leaving.key = strings.TrimSpace(c.mustRun(t, exitDone, "admin", "keys", "create", "--email", "leaving@example.com", "--plan", "pro").stdout)
		leaving.mustCall(t, "POST", "/v1/workspace", `{"description":"tea"}`, nil)
		load("chaos@example.com")
		load("leaving@example.com")
		ids := map[string]string{}
		library := func() (names []string) {
			t.Helper()
			var page struct {
				Videos []struct{ ID, ExternalID string }
			}
			c.mustCall(t, "GET", "/v1/library?limit=25", "", &page)
			for _, v := range page.Videos {
				names, ids[v.ExternalID] = append(names, v.ExternalID), v.ID
			}
			slices.Sort(names)
			return names
		}
		if diff := cmp.Diff([]string{"five", "four", "one", "six", "three", "two"}, library()); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
		var deletion struct{ Deletion struct{ ID string } }
		remove := func(body string) string {
			t.Helper()
			c.mustCall(t, "POST", "/v1/library/delete", body, &deletion)
			return deletion.Deletion.ID
		}
		before := remove(fmt.Sprintf(`{"videoId":%q}`, ids["six"]))
		c.kill()
		restore := copyOf(t, c)
		c.start(t)

		one := remove(fmt.Sprintf(`{"videoId":%q}`, ids["one"]))
		undone := remove(fmt.Sprintf(`{"videoId":%q}`, ids["two"]))
		c.mustCall(t, "POST", "/v1/library/undelete", fmt.Sprintf(`{"id":%q}`, undone), nil)
		c.mustCall(t, "POST", "/v1/library/undelete", fmt.Sprintf(`{"id":%q}`, before), nil)
		c.mustRun(t, exitDone, "admin", "creators", "erase", "tiktok", "rival", "--reason", "asked for")
		leave(t, c)
		c.kill()

		for round := range 2 {
			restore(t)
			for range 4 { // killed on the way
				c.server = program(t.Context(), c.dir, "serve")
				c.server.Env = append(c.server.Env, c.env...)
				if err := c.server.Start(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Duration(80+60*round) * time.Millisecond)
				c.kill()
			}
			c.start(t)
			if names := library(); slices.ContainsFunc(names, func(name string) bool { return !slices.Contains([]string{"two", "five", "six"}, name) }) {
				t.Errorf("the first read after a restore: got %v, want nothing that was deleted", names)
			}
			if err := leaving.call(t.Context(), "GET", "/v1/library", "", nil); err == nil || !strings.Contains(err.Error(), "401") {
				t.Errorf("the key of an account that left: got %v, want 401", err)
			}
			deadline := time.Now().Add(2 * time.Minute)
			for !slices.Equal(library(), []string{"five", "six", "two"}) && time.Now().Before(deadline) { // an undo is a job
				time.Sleep(50 * time.Millisecond)
			}
			load("chaos@example.com")
			if diff := cmp.Diff([]string{"five", "six", "two"}, library()); diff != "" {
				t.Errorf("after an import, -want +got:\n%s", diff)
			}
			if got := c.command(t, "admin", "import", "--email", "leaving@example.com", path); got.code == exitDone {
				t.Errorf("an import into an account that left: exit %d, want an error", got.code)
			}
			c.kill()
			c.start(t)
			if log := c.stderr.String(); strings.Contains(log, "log of removals") {
				t.Errorf("the next start does it once more: %s", log)
			}
			c.kill()
		}
		c.start(t)
		c.mustCall(t, "POST", "/v1/library/undelete", fmt.Sprintf(`{"id":%q}`, one), nil)
		if diff := cmp.Diff([]string{"five", "one", "six", "two"}, library()); diff != "" {
			t.Errorf("undone after a restore, -want +got:\n%s", diff)
		}
		canaries(t, filepath.Join(c.dir, removals.Folder), "moka", "rival", "tiktok", "one", "chaos", "acc_")
	})
}

// leave confirms, eight days ago, that the account leaving@example.com is deleted.
func leave(t *testing.T, c *chaos) {
	t.Helper()
	cfg := store.Config{DataDir: c.dir}
	for _, e := range c.env {
		if address, ok := strings.CutPrefix(e, "SCROLLERY_DATABASE_URL="); ok {
			cfg.DatabaseURL = address
		}
	}
	db, err := store.Open(t.Context(), cfg, storetest.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // it ends with the test
	ctx := viewer.System(t.Context())
	email := "leaving@example.com"
	var account int64
	for _, row := range db.Ent().Account.Query().AllX(ctx) {
		if row.Email != nil && *row.Email == email {
			account = row.ID
		}
	}
	if account == 0 {
		t.Fatalf("no account %s", email)
	}
	keys := videos.KeysOf(db, "")
	log := removals.New(db, func() (*secret.Hasher, error) { return keys.Hasher(videos.Names) }, storetest.Log(t))
	at := time.Now().Add(-8 * 24 * time.Hour).UnixMilli()
	err = db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return log.Leaves(ctx, tx, account, "subject-"+publicid.Format(publicid.Key, db.NewID()), at)
	})
	if err == nil {
		err = log.Write(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// canaries looks for words in the files of a folder.
func canaries(t *testing.T, dir string, words ...string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		for _, word := range words {
			if strings.Contains(string(text), word) {
				t.Errorf("%s has %q", path, word)
			}
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%s: %d files, %v, want some", dir, files, err)
	}
}
