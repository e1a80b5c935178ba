package host_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/scrollery/scrollery/plugins/stage"
)

// guide does what the brief's name says.
func guide(_ context.Context, call *stage.Call, seeds []stage.Seed, emit func(stage.Seed) error) error {
	switch call.Brief.Name {
	case "busy":
		return stage.Busyf(0, "come back later")
	case "many":
		for n := range 1000 {
			if err := emit(stage.Seed{Kind: "niche", Term: strconv.Itoa(n)}); errors.Is(err, stage.ErrEnough) {
				return nil
			} else if err != nil {
				return err
			}
		}
		return nil
	}
	for _, page := range call.Pages {
		_ = emit(stage.Seed{Kind: "niche", Term: page.Title + " " + seeds[0].Term})
	}
	for _, odd := range []stage.Seed{{}, {Kind: "niche"}, {Kind: "boss", Term: "a"}, {Kind: "niche", Term: "a", Handle: "b"}, {Kind: "niche", Term: "a\nb"}, {Kind: "own", Term: "a", Platform: "Tik Tok"}} {
		_ = emit(odd)
	}
	return nil
}

func TestPlan(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	run := stage.Run{Pages: []stage.Page{{URL: "https://beans.coffee", Title: "Beans"}}}
	known := []stage.Seed{{Kind: "niche", Term: "espresso"}}
	seeds, err := b.Plan(t.Context(), "guide", run, known)
	if want := []stage.Seed{{Kind: "niche", Term: "Beans espresso"}}; err != nil || !slices.Equal(seeds, want) {
		t.Errorf("%+v, %v, want %+v: what names nothing is refused", seeds, err, want)
	}
	run.Brief.Name = "many"
	if seeds, err := b.Plan(t.Context(), "guide", run, known); err != nil || len(seeds) != 200 {
		t.Errorf("got %d seeds, error %v; want 200", len(seeds), err)
	}
	run.Brief.Name = "busy"
	var failure *stage.CallError
	if seeds, err := b.Plan(t.Context(), "guide", run, known); !errors.As(err, &failure) || failure.Failure != stage.SourceUnavailable || seeds != nil {
		t.Errorf("got %v, %v, want no seeds and %s", seeds, err, stage.SourceUnavailable)
	}
	if _, err := b.Plan(t.Context(), "probe", run, known); err == nil {
		t.Error("a source plans, want an error")
	}
}
