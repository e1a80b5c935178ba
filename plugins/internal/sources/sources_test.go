package sources

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	for patience, works := range map[string]bool{"10m": true, "0s": true, "": false, "soon": false, "-1s": false} {
		t.Run("patience "+patience, func(t *testing.T) {
			t.Parallel()
			call := &stage.Call{Settings: map[string]string{"patience": patience}}
			got, err := Open(call, site.Options{}, "10m")
			if works {
				if err != nil || got == nil {
					t.Errorf("site %v, error %v; want a site", got, err)
				}
				return
			}
			var stop *site.Stop
			if !errors.As(err, &stop) || stop.Status != stage.Misconfigured || stop.Scope != site.All {
				t.Errorf("error %+v, want %s of the whole call", err, stage.Misconfigured)
			}
		})
	}
}

func TestTag(t *testing.T) {
	t.Parallel()
	for term, want := range map[string]string{
		"Slow Coffee": "slowcoffee", "#Home_Barista!": "home_barista", "Kaffee 2026": "kaffee2026",
		"コーヒー": "コーヒー", "हिंदी": "हिंदी", "?! -": "",
	} {
		t.Run(term, func(t *testing.T) {
			t.Parallel()
			if got := Tag(term); got != want {
				t.Errorf("the hashtag of %q is %q, want %q", term, got, want)
			}
		})
	}
}

func TestKnown(t *testing.T) {
	t.Parallel()
	refs := []stage.Ref{{Platform: "tiktok", ExternalID: "1"}, {Platform: "tiktok", ExternalID: "x"}, {Platform: "tiktok", ExternalID: "1"}, {Platform: "youtube", ExternalID: "2"}}
	ids, outcomes := Known("tiktok", refs, func(id string) bool { return id != "x" }, "no id")
	if diff := cmp.Diff([]string{"1"}, ids); diff != "" {
		t.Errorf("ids, want - got +:\n%s", diff)
	}
	want := []stage.Outcome{
		{Seed: "x", Platform: "tiktok", Status: stage.Unsupported, Asked: 1, Detail: "no id"},
		{Seed: "2", Platform: "tiktok", Status: stage.Unsupported, Asked: 1, Detail: "no id"},
	}
	if diff := cmp.Diff(want, outcomes); diff != "" {
		t.Errorf("outcomes, want - got +:\n%s", diff)
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	fails := &Transient{Detail: "overloaded"}
	other := errors.New("other")
	// open returns a site that waits in no time.
	open := func(t *testing.T, patience string) *site.Site {
		t.Helper()
		asked, err := Open(&stage.Call{Settings: map[string]string{"patience": patience}}, site.Options{}, "10m")
		if err != nil {
			t.Fatal(err)
		}
		return asked
	}
	// do returns the number of calls, of which the first ones fail with errs.
	do := func(t *testing.T, r *Retries, s *site.Site, errs ...error) (calls int, err error) {
		t.Helper()
		err = r.Do(t.Context(), s, "the site", time.Millisecond, func() error {
			if calls++; calls <= len(errs) {
				return errs[calls-1]
			}
			return nil
		})
		return calls, err
	}
	for _, c := range []struct {
		name, patience string
		errs           []error
		calls          int
		want           error
		stops          bool
		scope          site.Scope
	}{
		{name: "a success is asked for once", patience: "1m", calls: 1},
		{name: "failures that pass are tried again", patience: "1m", errs: []error{fails, fails, fails}, calls: 4},
		{name: "another error ends it at once", patience: "1m", errs: []error{other}, calls: 1, want: other},
		{name: "the fourth failure gives the seed up", patience: "1m", errs: []error{fails, fails, fails, fails}, calls: 4, stops: true},
		{name: "without patience the call ends", patience: "0s", errs: []error{fails}, calls: 1, stops: true, scope: site.All},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			calls, err := do(t, &Retries{}, open(t, c.patience), c.errs...)
			if calls != c.calls {
				t.Errorf("%d calls, want %d", calls, c.calls)
			}
			var stop *site.Stop
			switch {
			case !c.stops:
				if !errors.Is(err, c.want) {
					t.Errorf("error %v, want %v", err, c.want)
				}
			case !errors.As(err, &stop):
				t.Errorf("error %v, want a stop", err)
			case stop.Status != stage.Blocked || stop.Detail != fails.Detail || stop.Scope != c.scope:
				t.Errorf("stop %+v, want %s, %q, scope %v", stop, stage.Blocked, fails.Detail, c.scope)
			}
		})
	}
	t.Run("three lost seeds in a row end the call", func(t *testing.T) {
		t.Parallel()
		r, s := &Retries{}, open(t, "1m")
		always := []error{fails, fails, fails, fails}
		for seed, want := range []struct {
			calls int
			scope site.Scope
		}{{4, site.Seed}, {1, site.Seed}, {1, site.All}} {
			t.Run(fmt.Sprintf("seed %d", seed+1), func(t *testing.T) {
				calls, err := do(t, r, s, always...)
				var stop *site.Stop
				if !errors.As(err, &stop) || calls != want.calls || stop.Scope != want.scope {
					t.Errorf("seed %d: %d calls, error %+v; want %d calls and a stop of scope %v", seed+1, calls, err, want.calls, want.scope)
				}
			})
		}
	})
	t.Run("a success forgets lost seeds", func(t *testing.T) {
		t.Parallel()
		r, s := &Retries{}, open(t, "1m")
		always := []error{fails, fails, fails, fails}
		_, _ = do(t, r, s, always...)
		if _, err := do(t, r, s); err != nil {
			t.Fatalf("error %v, want none", err)
		}
		if calls, _ := do(t, r, s, always...); calls != maxTries {
			t.Errorf("%d calls, want %d", calls, maxTries)
		}
	})
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	absent := stage.Outcome{Platform: "tiktok", Status: stage.NotFound, Detail: "gone"}
	outcome := func(id string, status stage.Status, returned int, detail string) stage.Outcome {
		return stage.Outcome{Seed: id, Platform: "tiktok", Status: status, Asked: 1, Returned: returned, Detail: detail}
	}
	over := &site.Stop{Status: stage.Quota, Scope: site.All, Detail: "used up"}
	for _, c := range []struct {
		name  string
		wrong error
		fails map[string]error
		want  []stage.Outcome
		calls int
	}{
		{
			name: "an id that a whole answer leaves out is absent", calls: 2,
			want: []stage.Outcome{outcome("1", stage.OK, 1, ""), outcome("2", absent.Status, 0, "gone"), outcome("3", stage.OK, 1, "")},
		},
		{
			name: "a stop of the call ends the groups that are left, and keeps what was found", fails: map[string]error{"1": over}, calls: 1,
			want: []stage.Outcome{outcome("1", stage.OK, 1, ""), outcome("2", over.Status, 0, over.Detail), outcome("3", over.Status, 0, over.Detail)},
		},
		{
			name: "nothing is looked up when nothing can be", wrong: over, calls: 0,
			want: []stage.Outcome{outcome("1", over.Status, 0, over.Detail), outcome("2", over.Status, 0, over.Detail), outcome("3", over.Status, 0, over.Detail)},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			got, err := Refresh(t.Context(), [][]string{{"1", "2"}, {"3"}}, absent, c.wrong, func(_ context.Context, ids []string) (map[string]bool, error) {
				calls++
				return map[string]bool{"1": true, "3": true}, c.fails[ids[0]]
			})
			if err != nil || calls != c.calls {
				t.Errorf("%d calls, error %v; want %d calls", calls, err, c.calls)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("outcomes, want - got +:\n%s", diff)
			}
		})
	}
	t.Run("another error ends the refresh", func(t *testing.T) {
		t.Parallel()
		broken := errors.New("broken")
		_, err := Refresh(t.Context(), [][]string{{"1"}}, absent, nil, func(context.Context, []string) (map[string]bool, error) { return nil, broken })
		if !errors.Is(err, broken) {
			t.Errorf("error %v, want %v", err, broken)
		}
	})
}
