package app_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/scrolls"
	"github.com/scrollery/scrollery/plugins/stage"
)

// runsCounter is a source that counts its runs of a seed, by what it keeps of it. The test binary is
// it, under its name.
const runsCounter = "runs"

// runsForgets is the run after which it drops what it kept.
const runsForgets = 3

func runsSource() stage.Spec {
	return stage.Spec{
		ID: runsCounter, Version: "1", Kind: stage.SourceKind, Platforms: []string{"youtube"},
		Collect: func(ctx context.Context, call *stage.Call, seeds []stage.Seed, emit func(stage.Record) error) ([]stage.Outcome, error) {
			var outcomes []stage.Outcome
			for _, seed := range seeds {
				if seed.Handle == "" {
					continue
				}
				kept := string(call.State(seed))
				id := fmt.Sprintf("run%d-%s", call.Number, cmp.Or(kept, "none"))
				if err := emit(stage.Record{Ref: stage.Ref{Platform: "youtube", ExternalID: id}, Seed: seed.Text()}); err != nil {
					return outcomes, err
				}
				runs, _ := strconv.Atoi(kept)
				next := strconv.AppendInt(nil, int64(runs+1), 10)
				if runs+1 == runsForgets {
					next = nil
				}
				if err := call.KeepState(ctx, seed, next); err != nil {
					return outcomes, err
				}
				outcomes = append(outcomes, stage.Outcome{Seed: seed.Text(), Platform: "youtube", Status: stage.OK, Asked: 1, Returned: 1})
			}
			return outcomes, nil
		},
	}
}

// TestAPluginKeepsItsStates: each run is a process of its own, which gets what the run before kept
// for the same account, and nothing of another one.
func TestAPluginKeepsItsStates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sum := copyFile(t, "/proc/self/exe", filepath.Join(dir, runsCounter), 0o700)
	if err := os.WriteFile(filepath.Join(dir, runsCounter+".yaml"), fmt.Appendf(nil, "id: %s\nsha256: %s\n", runsCounter, sum), 0o600); err != nil {
		t.Fatal(err)
	}
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.PluginDir = dir
		template := cfg.Scrolls.Templates["default"]
		template.Sources = []string{runsCounter}
		cfg.Scrolls.Templates = map[string]scrolls.Template{"default": template}
	})
	seen := func(account *apptest.Caller) []string {
		t.Helper()
		if scroll := account.Scroll(t, "{}"); scroll.Status != "completed" {
			t.Fatalf("got %+v, want a completed scroll", scroll)
		}
		var library struct{ Videos []struct{ ExternalID string } }
		account.Get(t, "GET /v1/library?limit=25", &library)
		var ids []string
		for _, v := range library.Videos {
			ids = append(ids, v.ExternalID)
		}
		slices.Sort(ids)
		return ids
	}
	const brief = `POST /v1/workspace {"description":"kettle","competitors":["youtube:kettle.co"]}`
	owner, other := running.Account(t, "pro"), running.Account(t, "pro")
	owner.Get(t, brief, &struct{}{})
	other.Get(t, brief, &struct{}{})
	want := []string{}
	for _, run := range []string{"run1-none", "run2-1", "run3-2", "run4-none"} {
		want = append(want, run)
		if diff := gocmp.Diff(want, seen(owner)); diff != "" {
			t.Fatalf("after %s (-want +got):\n%s", run, diff)
		}
		if run == "run2-1" {
			if diff := gocmp.Diff([]string{"run1-none"}, seen(other)); diff != "" {
				t.Errorf("another account (-want +got):\n%s", diff)
			}
		}
	}
	if diff := gocmp.Diff([]string{"run1-none", "run2-1"}, seen(other)); diff != "" {
		t.Errorf("another account, again (-want +got):\n%s", diff)
	}
}
