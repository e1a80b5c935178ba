package host_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

// noted are what a run of the probe finds kept of seeds, by what it keeps.
func (b *bundle) noted(t *testing.T, id string, states stage.SeedStates, terms ...string) map[string]string {
	t.Helper()
	var seeds []stage.Seed
	for _, term := range terms {
		seeds = append(seeds, stage.Seed{Kind: "niche", Term: "note:" + term, Limit: 7})
	}
	all := map[string]string{}
	_, err := b.Collect(t.Context(), id, stage.Run{States: states}, seeds, func(batch []stage.Record) error {
		for _, r := range batch {
			all[strings.TrimPrefix(r.ExternalID, "note:")] = found(t, r)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestStatesCrossTheProcess: what a call keeps of a seed, the next process gets with it.
func TestStatesCrossTheProcess(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	states := &stagetest.States{}
	seed := stage.Seed{Kind: "niche", Term: "note:Kept"}
	if got := b.noted(t, "probe", states, "Kept", ""); !cmp.Equal(got, map[string]string{"Kept": "", "": ""}) {
		t.Errorf("the first run got %v, want nothing kept", got)
	}
	if got := string(states.State(seed)); got != "Kept" {
		t.Errorf("the host was given %q, want Kept", got)
	}
	if got := b.noted(t, "probe", states, "Kept"); got["Kept"] != "Kept" {
		t.Errorf("the second run got %v, want what the first kept", got)
	}
	t.Run("a call without states keeps none", func(t *testing.T) {
		if got := b.noted(t, "probe", nil, "Kept"); got["Kept"] != "" {
			t.Errorf("got %v, want nothing", got)
		}
	})
	t.Run("the largest states of many seeds cross", func(t *testing.T) {
		large := &stagetest.States{}
		var terms []string
		for i := range 150 {
			term := fmt.Sprint(i)
			terms = append(terms, term)
			if err := large.Keep(t.Context(), stage.Seed{Kind: "niche", Term: "note:" + term}, []byte(strings.Repeat("x", stage.MaxState))); err != nil {
				t.Fatal(err)
			}
		}
		got := b.noted(t, "probe", large, terms...)
		for _, term := range terms {
			if n := len(got[term]); n != stage.MaxState {
				t.Fatalf("seed %s got %d bytes, want %d", term, n, stage.MaxState)
			}
		}
	})
}

// orderly fails for a state that comes before the record that it is about.
type orderly struct {
	t    *testing.T
	seen map[string]bool
	fail error
}

func (o *orderly) State(stage.Seed) []byte { return nil }

func (o *orderly) Keep(_ context.Context, seed stage.Seed, _ []byte) error {
	if !o.seen[seed.Term] {
		o.t.Errorf("the state of %s came before its record", seed.Term)
	}
	return o.fail
}

// TestStatesComeAfterTheirRecords, whatever waits for company in a batch; an error of the
// caller's store ends the call as it is.
func TestStatesComeAfterTheirRecords(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	collect := func(fail error) error {
		states := &orderly{t: t, seen: map[string]bool{}, fail: fail}
		var seeds []stage.Seed
		for i := range 30 {
			seeds = append(seeds, stage.Seed{Kind: "niche", Term: fmt.Sprint("note:", i)})
		}
		_, err := b.Collect(t.Context(), "probe", stage.Run{States: states}, seeds, func(batch []stage.Record) error {
			for _, r := range batch {
				states.seen[r.ExternalID] = true
			}
			return nil
		})
		return err
	}
	if err := collect(nil); err != nil {
		t.Error(err)
	}
	full := errors.New("the disk is full")
	if err := collect(full); !errors.Is(err, full) {
		t.Errorf("got %v, want the store's own error", err)
	}
}
