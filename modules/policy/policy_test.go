package policy

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
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
		row + ", {data: b, days: -1, description: B.}]":                          "policy: b: days and hours must not be negative",
		row + ", {data: b, weeks: 1, description: B.}]":                          "weeks",
		row + "]\nsources: [{source: x, asks: X.}]":                              `policy: source "x": a member is empty`,
		row + "]\nsources: [{source: x, days: 3}]":                               `policy: source "x": want days of 0 or more with a platform`,
		row + "]\nsources: [{source: x, platform: y, days: 3, refresh_from: 4}]": "refresh_from not after them",
		row + "]\nreadings: {all: 9, daily: 3}":                                  "readings: want days of 0 or more, and daily not before all",
		row + "]\nsources: [{source: x, deletes: y}]":                            "deletes and with are all, texts or nothing",
		row + "]\nsources: [{source: x, with: texts}]":                           "with goes with accepted",
		row + "]\nsources: [{source: x}, {source: x}]":                           `policy: source "x" has two rows`,
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
	table := &Table{Version: 1, Readings: &Readings{}, Kept: []Kept{{Data: "a", Days: 2}, {Data: "b", Hours: 1, Setting: "b.keep"}}}
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

// TestWhatHasAnEnd: the shipped table ends what the APIs of YouTube and TikTok read, and an
// operator's own table takes its place.
func TestWhatHasAnEnd(t *testing.T) {
	t.Parallel()
	shippedLives := livesAsShipped(t)
	own := filepath.Join(t.TempDir(), "policy.yaml")
	text := "version: 7\nsources: [{source: api, platform: x, days: 9, refresh_from: 3, deletes: texts, asks: A., refreshed: R., deleted: D., command: c}]"
	if err := os.WriteFile(own, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		cfg  Config
		want string
	}{
		"as shipped": {Config{Lives: shippedLives}, "youtube 30 25  tiktok 15 10  "},
		"with the amendment": {
			Config{Lives: shippedLives, Accepted: map[string]bool{"YOUTUBE_DERIVED_METRICS_ACCEPTED": true}},
			"youtube 30 25 texts tiktok 15 10  ",
		},
		"by an own table": {Config{Lives: shippedLives, File: own}, "api 9 3 texts "},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := New(c.cfg, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, end := range s.Ends() {
				got += fmt.Sprint(end.Source, " ", end.Days, " ", end.RefreshFrom, " ", end.Deletes, " ")
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if _, err := New(Config{File: own + "x"}, nil); err == nil {
		t.Error("a file that is not there: got no error")
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
	fmt.Fprintf(&b, `
## Observations grow fewer

All observations of the last %d days are kept. Of older ones a day of each video and source has one: the last that scoring can
use, and the last if it can not. Days are those of UTC. Once they are older than %d days, so has a week, which begins on
Monday. A table of your own says otherwise with `+"`readings: {all: 90, daily: 365, except: [import]}`"+`; 0 is no end, and what is
read by a source of `+"`except`"+` all stays, as imports do.

These stay whatever their age: the first and the newest observation of a video by each source; one with which a video entered
or left the outliers; those of the newest 60 scrolls of each brief; those of scrolls in the window of its trends; and those of
scrolls that failed before they were scored. What is needed when its day is 90 days old stays until its week is 365 days old. So nothing listed changes: outliers, trends, plots, their explanations and the
backtest are the same before and after, to the last digit. Scores of a scroll for observations that went go with them. Two
things notice later: `+"`listObservations`"+` and the export have what is left, and if no one scrolls for months, so that the window of
trends grows beyond %[1]d days, growth in it counts from the observation that is left of a day: up to a day less of it.

`, table.Readings.All, table.Readings.Daily)
	b.WriteString(`## By source

What a source read and did not read again in time is deleted by housekeeping, every hour, the oldest first: its readings, and
the video with its annotations unless another source or an import has read it too. It leaves no tombstone: a video that is seen
again comes back. Imports, files and sources without a row have no end. Readings from before version 2 of this table do not say
which source they came from, and stay.

Only a scroll reads again: at most ` + "`scrolls.max_refresh`" + ` videos, first those that are due soon. Where scrolls are rarer than the days
between ` + "`refresh_from` and `days`" + `, or more videos fall due between two of them, set ` + "`refresh_from`" + ` lower in a table of your own or
` + "`max_refresh`" + ` higher; the rest is deleted and comes back when it is seen again. The other demands an operator meets with the commands below. A table of your own takes the
place of this one: name its file, with ` + "`version` and `sources`" + ` as in the shipped one, in ` + "`SCROLLERY_POLICY_FILE`" + `.

| Source | What is asked | What is refreshed | What is deleted by itself | Command |
|---|---|---|---|---|
`)
	for _, s := range table.Sources {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | `%s` |\n", s.Source, s.Asks, s.Refreshed, s.Deleted, s.Command)
	}
	return b.String()
}

// livesAsShipped is a server that does what the shipped table says.
func livesAsShipped(t *testing.T) map[string]time.Duration {
	t.Helper()
	table, err := Read(shipped)
	if err != nil {
		t.Fatal(err)
	}
	lives := map[string]time.Duration{}
	for _, k := range table.Kept {
		lives[k.Data] = k.For()
	}
	return lives
}

// holdings are what a library has.
type holdings []Held

func (h holdings) Held(context.Context) ([]Held, error) { return h, nil }

// TestPolicyShowsWhatIsHeld: with the end of what has one.
func TestPolicyShowsWhatIsHeld(t *testing.T) {
	t.Parallel()
	s, err := New(Config{Lives: livesAsShipped(t)}, holdings{{"youtube", 3, 1_000}, {"import", 7, 2_000}})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.getPolicy(t.Context(), &pb.GetPolicyRequest{})
	if err != nil {
		t.Fatal(err)
	}
	days, due, all := 30.0, 1_000+30*24*3600*1000.0, All
	want := []*pb.HeldSource{
		{Source: "youtube", Observations: 3, OldestAt: 1_000, Days: &days, Deletes: &all, NextDueAt: &due},
		{Source: "import", Observations: 7, OldestAt: 2_000},
	}
	if diff := cmp.Diff(want, answer.GetSources(), protocmp.Transform()); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
}
