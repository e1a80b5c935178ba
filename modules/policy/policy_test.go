package policy

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/retention.md")

func TestFaultsOfATable(t *testing.T) {
	t.Parallel()
	const row = "version: 1\nkept: [{data: a, days: 2, description: A.}"
	for text, want := range map[string]string{
		row + "]":                             "",
		"kept: []":                            "policy: version 0: want 1 or more",
		row + ", {data: a, description: A.}]": "policy: a has two rows",
		row + ", {data: b}]":                  "no description",
		row + ", {data: b, days: -1, description: B.}]": "policy: b: days and hours must not be negative",
		row + ", {data: b, weeks: 1, description: B.}]": "weeks",
		row + "]\nsources: [{source: x, asks: X.}]":     `policy: source "x": a member is empty`,
	} {
		if _, err := Read([]byte(text)); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got error %v, want %q", text, err, want)
		}
	}
}

// TestTheTableIsWhatTheServerDoes: a row that nothing keeps, another life and a kind of data
// without a row are refused; with a setting, the server's life counts.
func TestTheTableIsWhatTheServerDoes(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	table := &Table{Version: 1, Kept: []Kept{{Data: "a", Days: 2}, {Data: "b", Hours: 1, Setting: "b.keep"}}}
	for _, c := range []struct {
		lives map[string]time.Duration
		want  string
	}{
		{map[string]time.Duration{"a": 2 * day, "b": time.Hour}, ""},
		{map[string]time.Duration{"a": 2 * day, "b": 0}, ""},
		{map[string]time.Duration{"a": 3 * day, "b": 0}, "policy: a is kept for 72h0m0s, not for 48h0m0s"},
		{map[string]time.Duration{"a": 2 * day}, "policy: nothing keeps b"},
		{map[string]time.Duration{"a": 2 * day, "b": 0, "c": 0}, "policy: c is kept and has no row"},
	} {
		got := ""
		if err := (Config{Lives: c.lives}).check(table); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: got %q, want %q", c.lives, got, c.want)
		}
	}
}

// TestThePageIsTheTable makes docs/retention.md with -update.
func TestThePageIsTheTable(t *testing.T) {
	t.Parallel()
	const path = "../../docs/retention.md"
	table, err := Read(shipped)
	if err != nil {
		t.Fatal(err)
	}
	want := page(table)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("got another page than the table makes; go test ./modules/policy -update writes it (-want +got):\n%s", diff)
	}
}

func page(table *Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# What is kept, and for how long

Version %d of the table `+"`modules/policy/policy.yaml`"+`, which makes this page. `+"`GET /v1/policy`"+` shows what the server
itself does. A server whose table says anything else does not start.

What has reached its age goes with the next housekeeping, which runs at least once a day while a process with the role
`+"`worker`"+` runs. The hashes and receipts of creators that the operator erased stay for good. Backups keep their copies until
they are replaced. On SQLite, the words of deleted videos leave the index of searches within a day, and freed pages of the
file keep old text until [it is cleaned](operations.md#erase-a-creator).

| Data | Kept | What |
|---|---|---|
`, table.Version)
	for _, k := range table.Kept {
		life := "as long as the account"
		switch {
		case k.Days > 0:
			life = fmt.Sprintf("%d days", k.Days)
		case k.Hours > 0:
			life = fmt.Sprintf("%d hours", k.Hours)
		}
		if k.Days+k.Hours == 1 {
			life = strings.TrimSuffix(life, "s")
		}
		if k.Setting != "" {
			life += fmt.Sprintf(", or `%s`", k.Setting)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Data, life, k.Description)
	}
	b.WriteString(`
## By source

The server does not delete videos for their age. These are demands that an operator meets with the commands below.

| Source | What is asked | What is refreshed | What is deleted by itself | Command |
|---|---|---|---|---|
`)
	for _, s := range table.Sources {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | `%s` |\n", s.Source, s.Asks, s.Refreshed, s.Deleted, s.Command)
	}
	return b.String()
}
