package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	customers "github.com/scrollery/scrollery/cmd/scrollery/customer"
)

// importer is a customer with a workspace, and a folder of files.
func importer(t *testing.T) (c *terminal, write func(name, text string) string) {
	t.Helper()
	running := apptest.Start(t)
	caller := running.Account(t, "pro")
	c = newTerminal(t, map[string]string{"SCROLLERY_KEY": caller.Key, "SCROLLERY_SERVER": running.BaseURL})
	c.must(t, exitDone, "brief", "set", "--name", "Slow bar", "--description", "Coffee at home")
	dir := t.TempDir()
	return c, func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

const importTable = "video link;Aufrufe;Zahl\n" +
	"https://www.tiktok.com/@maker.example/video/7290000000000000001;12.345;7\n" +
	"https://www.tiktok.com/@maker.example/video/7290000000000000002;viele;8\n" +
	"https://www.tiktok.com/@maker.example/video/7290000000000000003;11.000;9\n"

func TestCustomerImports(t *testing.T) {
	t.Parallel()
	c, write := importer(t)
	table := write("mine.csv", importTable)
	empty := write("empty.csv", "link,views\n")
	stored := func(t *testing.T) int {
		t.Helper()
		var videos []struct{ ID string }
		if err := json.Unmarshal([]byte(c.must(t, exitDone, "library", "--json", "id").stdout), &videos); err != nil {
			t.Fatal(err)
		}
		return len(videos)
	}
	t.Run("a dry run stores nothing and shows all", func(t *testing.T) {
		got := c.must(t, exitDone, "import", table, "--dry-run", "--observed-at", "2026-01-31")
		for _, want := range []string{
			"mine.csv: csv; 3 readings", `warning: not understood: Aufrufe in line 3: "viele"`, "Aufrufe\tviews\tnamed", "Zahl\tnot used\tnot known",
			"views 2 of 3, likes 0 of 3", "7290000000000000001\tmaker.example", "else 2026-01-31T00:00:00Z",
		} {
			if !strings.Contains(got.stdout, want) {
				t.Errorf("got\n%s\nwant %q in it", got.stdout, want)
			}
		}
		if warned, columns := strings.Index(got.stdout, "warning"), strings.Index(got.stdout, "COLUMN"); warned > columns {
			t.Errorf("got the warnings at %d, want them before the columns at %d", warned, columns)
		}
		if n := stored(t); n != 0 {
			t.Errorf("got %d videos, want none", n)
		}
	})
	t.Run("without a terminal it does not ask", func(t *testing.T) {
		got := c.must(t, exitWrongUse, "import", table)
		if !strings.Contains(got.stderr, "add --yes") || stored(t) != 0 {
			t.Errorf("got %q and %d videos, want the flag named and none", got.stderr, stored(t))
		}
	})
	t.Run("a file without videos is exit code 1", func(t *testing.T) {
		for _, more := range []string{"--dry-run", "--yes"} {
			if got := c.must(t, exitFailed, "import", empty, more); !strings.Contains(got.stdout, "skipped 1: empty") {
				t.Errorf("%s: got %q, want the reason", more, got.stdout)
			}
		}
	})
	t.Run("what can be read is imported, and the rest is named", func(t *testing.T) {
		got := c.must(t, exitFailed, "import", empty, table, "--yes", "--jq", "[.status, .newVideos, .name] | @csv")
		if got.stdout != "\"completed\",3,\"mine.csv\"\n" || stored(t) != 3 {
			t.Errorf("got %q and %d videos, want one import of 3", got.stdout, stored(t))
		}
	})
	t.Run("stdin, with a map and a key", func(t *testing.T) {
		columns := write("map.json", `{"columns":{"externalId":"x","views":"y"},"constants":{"platform":"tiktok"}}`)
		args := []string{"import", "-", "--yes", "--map", columns, "--idempotency-key", "once", "--json", "id,newVideos"}
		first := c.run(t.Context(), "x,y\n7290000000000000009,5\n", args...)
		again := c.run(t.Context(), "x,y\n7290000000000000009,5\n", args...)
		if first.code != exitDone || !strings.Contains(first.stdout, `"newVideos":1`) || again.stdout != first.stdout {
			t.Errorf("got %+v, then %+v; want one new video, and the same import", first, again)
		}
		got := c.run(t.Context(), "a,b\n7290000000000000009,5\n", "import", "-", "--yes", "--map", columns)
		if got.code != exitFailed || !strings.Contains(got.stdout, `the map names "x" for externalId`) {
			t.Errorf("a map of other columns: got %+v, want a refusal that names them", got)
		}
	})
	t.Run("an undo takes back what an import alone brought", func(t *testing.T) {
		more := write("more.csv", "link,views\nhttps://www.tiktok.com/@maker.example/video/7290000000000000001,20000\n"+
			"https://www.tiktok.com/@maker.example/video/7290000000000000011,5\n")
		made := c.must(t, exitDone, "import", more, "--yes")
		_, id, _ := strings.Cut(made.stderr, "scrollery import undo ")
		id, _, _ = strings.Cut(id, "`")
		if stored(t) != 5 || !strings.HasPrefix(id, "imp_") {
			t.Fatalf("got %d videos and the id %q, want 5 and the command that undoes it", stored(t), id)
		}
		if listed := c.must(t, exitDone, "import", "list", "--limit", "1"); !strings.Contains(listed.stdout, id) || !strings.Contains(listed.stdout, "more.csv") {
			t.Errorf("got the list %q, want the import", listed.stdout)
		}
		for range 2 { // undoing it again changes nothing
			if got := c.must(t, exitDone, "import", "undo", id, "--jq", ".status"); got.stdout != "undone\n" || stored(t) != 4 {
				t.Errorf("got %q and %d videos, want it undone and 4", got.stdout, stored(t))
			}
		}
		if got := c.must(t, exitFailed, "import", "undo", "imp_0"); !strings.Contains(got.stderr, "scrollery import list") {
			t.Errorf("an unknown import: got %q, want what to do", got.stderr)
		}
		c.must(t, exitWrongUse, "import", "undo")
	})
	t.Run("wrong use", func(t *testing.T) {
		for name, args := range map[string][]string{
			"a past day":   {"import", table, "--observed-at", "yesterday"},
			"is a folder":  {"import", filepath.Dir(table)},
			"for one file": {"import", table, empty, "--idempotency-key", "k"},
			"takes files":  {"import", "-", table},
		} {
			if got := c.must(t, exitWrongUse, args...); !strings.Contains(got.stderr, name) {
				t.Errorf("%v: got %q, want %q in it", args, got.stderr, name)
			}
		}
	})
}

// TestImportIsRefused has each refusal of the server in words and as an exit code.
func TestImportIsRefused(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t, func(cfg *app.Config) { cfg.Billing.Pro.MaxImportBytes = 1 << 20 })
	caller := running.Account(t, "pro")
	c := newTerminal(t, map[string]string{"SCROLLERY_KEY": caller.Key, "SCROLLERY_SERVER": running.BaseURL})
	big := filepath.Join(t.TempDir(), "big.csv")
	if err := os.WriteFile(big, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := c.must(t, exitWrongUse, "import", big, "--dry-run"); !strings.Contains(got.stderr, "larger than 1 MiB") {
		t.Errorf("got %q, want the bound", got.stderr)
	}
	delete(c.env, "SCROLLERY_KEY")
	if got := c.must(t, customers.ExitSignIn, "import", big); got.stderr == "" {
		t.Error("got no words, want how to sign in")
	}
}
