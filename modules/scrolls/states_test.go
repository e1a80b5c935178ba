package scrolls

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

// stated scripts the feed: each call keeps its number and the seed.
func stated(w *world) *source {
	feed := w.sources["feed"]
	feed.keeps = func(call int, seed stage.Seed) []byte { return fmt.Appendf(nil, "%d of %s", call, seed.Text()) }
	return feed
}

// inForceOf are the states of a tenant, by place.
func (w *world) inForceOf(account int64) map[string]string {
	w.t.Helper()
	rows, err := w.db.Ent().SourceState.Query().All(viewer.As(context.Background(), account))
	if err != nil {
		w.t.Fatal(err)
	}
	all := map[string]string{}
	for _, row := range rows {
		if row.ScrollID != inForce {
			w.t.Errorf("got %s of scroll %d, want no state that is not in force", row.Seed, row.ScrollID)
		}
		all[row.Seed] = string(row.State)
	}
	return all
}

const rival = "competitor//@rival"

// TestStatesAreGivenBack: what a run kept, the next one of the tenant gets, and no other tenant.
func TestStatesAreGivenBack(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		feed := stated(w)
		w.complete(w.create(Start{}).ID)
		if len(feed.given) != 1 || len(feed.given[0]) == 0 || feed.given[0][rival] != "" {
			t.Fatalf("the first run got %v, want seeds and nothing kept of them", feed.given)
		}
		w.complete(w.create(Start{}).ID)
		for place, got := range feed.given[1] {
			if !strings.HasPrefix(got, "1 of ") {
				t.Errorf("the second run got %q of %s, want what the first one kept", got, place)
			}
		}
		other, err := sourceStates{db}.find(viewer.As(t.Context(), account+1), "feed", []stage.Seed{{Kind: "competitor", Handle: "rival"}})
		if err != nil || len(other) > 0 {
			t.Errorf("another tenant got %v and error %v, want nothing", other, err)
		}
		t.Run("of another source", func(t *testing.T) {
			other, err := sourceStates{db}.find(tenant(), "youtube", []stage.Seed{{Kind: "competitor", Handle: "rival"}})
			if err != nil || len(other) > 0 {
				t.Errorf("got %v and error %v, want nothing", other, err)
			}
		})
		t.Run("an empty one drops what was kept", func(t *testing.T) {
			w.t = t
			feed.keeps = func(_ int, seed stage.Seed) []byte {
				if seed.Text() == "rival" || seed.Text() == "@rival" {
					return nil
				}
				return []byte("again")
			}
			w.complete(w.create(Start{}).ID)
			got := w.inForceOf(account)
			if _, kept := got[rival]; kept || len(got) != len(feed.given[0])-1 {
				t.Errorf("got %v, want all but %s", got, rival)
			}
		})
		t.Run("one that is not kept again stays", func(t *testing.T) {
			w.t = t
			before := w.inForceOf(account)
			feed.keeps = nil
			w.complete(w.create(Start{}).ID)
			if got := w.inForceOf(account); !maps.Equal(got, before) {
				t.Errorf("got %v, want them as before: %v", got, before)
			}
		})
		t.Run("an erased creator's are deleted", func(t *testing.T) {
			w.t, feed.keeps = t, func(int, stage.Seed) []byte { return []byte("x") }
			w.complete(w.create(Start{}).ID)
			is := func(text string) bool { return strings.EqualFold(strings.TrimPrefix(text, "@"), "rival") }
			if err := w.history.EraseHandle(viewer.As(t.Context(), account+1), "tiktok", is); err != nil {
				t.Fatal(err)
			}
			if _, kept := w.inForceOf(account)[rival]; !kept {
				t.Error("another tenant's erasure deleted a state")
			}
			if err := w.history.EraseHandle(tenant(), "tiktok", is); err != nil {
				t.Fatal(err)
			}
			if got := w.inForceOf(account); got[rival] != "" || len(got) == 0 {
				t.Errorf("got %v, want all but %s", got, rival)
			}
		})
	})
}

// TestStatesDoNotRunAhead: a scroll that fails, is cancelled or is killed before its videos are
// archived leaves the states as they were, and one that starts over gets them again.
func TestStatesDoNotRunAhead(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		feed := stated(w)
		w.complete(w.create(Start{}).ID)
		before := w.inForceOf(account)
		if len(before) == 0 {
			t.Fatal("the first run kept nothing")
		}
		t.Run("a screen fails for good", func(t *testing.T) {
			w.t = t
			w.stageErr["rules"] = func(int) error {
				return &stage.CallError{Stage: "rules", Failure: stage.StageProtocol, Cause: errors.New("broken")}
			}
			if done := w.complete(w.create(Start{}).ID); done.Status != Failed {
				t.Fatalf("got %s, want %s", done.Status, Failed)
			}
			delete(w.stageErr, "rules")
			if got := w.inForceOf(account); !maps.Equal(got, before) {
				t.Errorf("got %v, want them as before: %v", got, before)
			}
		})
		t.Run("the plan has no room for all videos", func(t *testing.T) {
			w.t = t
			feed.records, w.limits.MaxFeedSize = videos("tiktok", 50, 25), 20
			if done := w.complete(w.create(Start{}).ID); done.Status != Completed || done.NewVideos != 20 {
				t.Fatalf("got %s with %d new videos, want %s with 20", done.Status, done.NewVideos, Completed)
			}
			w.limits.MaxFeedSize = 250
			if got := w.inForceOf(account); !maps.Equal(got, before) {
				t.Errorf("got %v, want them as before: %v", got, before)
			}
		})
		t.Run("it is cancelled", func(t *testing.T) {
			w.t = t
			cfg, h := quick(), hangAt(Screen, "begin")
			cfg.Pause = h.pause
			running, scroll := w.another(cfg), w.create(Start{})
			ended := make(chan error, 1)
			go func() { ended <- running.work(tenant(), jobArgs{account, scroll.ID, 1}) }()
			<-h.reached
			err := db.Write(tenant(), func(ctx context.Context, tx *store.Tx) error { return w.history.cancel(ctx, tx, scroll.ID) })
			close(h.goOn)
			if err := errors.Join(err, <-ended); err != nil {
				t.Fatal(err)
			}
			if got := w.inForceOf(account); !maps.Equal(got, before) {
				t.Errorf("got %v, want them as before: %v", got, before)
			}
		})
		from := 100
		for _, at := range []struct {
			step, point string
			again       bool // sources are asked again
		}{
			{Collect, "begin", true},
			{Collect, "batch", true},
			{Collect, "end", true},
			{Screen, "begin", false},
			{Archive, "begin", false},
			{Archive, "batch", false},
			{Archive, "end", false},
			{Score, "begin", false},
		} {
			t.Run("killed at "+at.step+" "+at.point, func(t *testing.T) {
				w.t = t
				feed.records = videos("tiktok", from, 25)
				from += 25
				before, calls := w.inForceOf(account), len(feed.given)
				lost := w.loses(quick(), at.step, at.point)
				if at.step != Score { // all is archived then
					rows, err := (sourceStates{db}).find(tenant(), "feed", feed.seeds)
					if err != nil || !maps.EqualFunc(rows, before, func(a []byte, b string) bool { return string(a) == b }) {
						t.Errorf("in force meanwhile: got %v and error %v, want %v", rows, err, before)
					}
				}
				lost.takenOver()
				lost.goesOn()
				got := feed.given[calls:]
				if want := 1; len(got) < want || at.again && at.point != "begin" && len(got) != 2 {
					t.Fatalf("got %d calls of the source, want that it is asked again exactly if it was not done", len(got))
				}
				for i, given := range got {
					if !maps.Equal(given, before) {
						t.Errorf("call %d got %v, want the states from before the scroll: %v", i+1, given, before)
					}
				}
				now := w.inForceOf(account)
				for place, state := range now {
					if number, _, _ := strings.Cut(state, " "); number != fmt.Sprint(len(feed.given)) {
						t.Errorf("%s: got %q, want what the last call kept", place, state)
					}
				}
				if len(now) != len(before) {
					t.Errorf("got %d states, want %d", len(now), len(before))
				}
			})
		}
	})
}

// TestStatesOfVideosThatWereNotLookedAt: where a screen looks at evidence, what the plan has no room
// for leaves the scroll before. It must come again too.
func TestStatesOfVideosThatWereNotLookedAt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, listening())
		feed := stated(w)
		w.talk()
		w.complete(w.create(Start{}).ID)
		before := w.inForceOf(account)
		if len(before) == 0 {
			t.Fatal("the first run kept nothing")
		}
		feed.records, w.limits.MaxFeedSize = videos("tiktok", 50, 25), 5
		if done := w.complete(w.create(Start{}).ID); done.Status != Completed || done.NewVideos == 0 || done.NewVideos > 5 {
			t.Fatalf("got %s with %d new videos, want %s with 1 to 5", done.Status, done.NewVideos, Completed)
		}
		if got := w.inForceOf(account); !maps.Equal(got, before) {
			t.Errorf("got %v, want them as before: %v", got, before)
		}
		w.limits.MaxFeedSize = 250
		w.complete(w.create(Start{}).ID)
		if got := w.inForceOf(account); maps.Equal(got, before) {
			t.Errorf("got %v, want those of the last run", got)
		}
	})
}

// TestStatesAreBounded: of a source and tenant the newest stay.
func TestStatesAreBounded(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		states := sourceStates{db}
		r := &run{s: w.service, id: 1, account: account}
		keep := func(source string, scroll int64, from, to int) {
			t.Helper()
			var kept []keptState
			for n := from; n < to; n++ {
				kept = append(kept, keptState{fmt.Sprintf("niche//#%05d", n), []byte("x")}, keptState{fmt.Sprintf("niche//#%05d", n), []byte("y")})
			}
			r.id = scroll
			err := db.Write(tenant(), func(ctx context.Context, tx *store.Tx) error {
				for part := range slices.Chunk(kept, 500) {
					if err := states.write(ctx, tx, r, source, part); err != nil {
						return err
					}
				}
				return states.settle(ctx, tx, account, scroll)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		w.service.now = func() time.Time { return start }
		keep("feed", 1, 0, maxStates)
		keep("youtube", 2, 0, 3)
		w.service.now = func() time.Time { return start.Add(time.Minute) }
		keep("feed", 3, maxStates-1, maxStates+2)
		if n := w.number("SELECT count(*) FROM source_states WHERE plugin = 'feed'"); n != maxStates {
			t.Errorf("got %d states, want %d", n, maxStates)
		}
		for place, want := range map[string]int{"niche//#00000": 0, "niche//#00001": 0, "niche//#00002": 1, fmt.Sprintf("niche//#%05d", maxStates+1): 1} {
			if n := w.number("SELECT count(*) FROM source_states WHERE plugin = 'feed' AND seed = '" + place + "'"); n != want {
				t.Errorf("got %d states of %s, want %d", n, place, want)
			}
		}
		if n := w.number("SELECT count(*) FROM source_states WHERE plugin = 'youtube'"); n != 3 {
			t.Errorf("got %d states of another source, want 3", n)
		}
		for place, state := range w.inForceOf(account) {
			if state != "y" {
				t.Fatalf("%s: got %q, want the last one of the seed", place, state)
			}
		}
	})
}

func TestPlaceOf(t *testing.T) {
	t.Parallel()
	for want, seed := range map[string]stage.Seed{
		"competitor/tiktok/@brew/fox": {Kind: "competitor", Platform: "tiktok", Handle: "Brew/Fox", Limit: 5},
		"niche//#@espresso":           {Kind: "niche", Term: "@Espresso"},
		"own/youtube/#a":              {Kind: "own", Platform: "youtube", Term: "a"},
	} {
		got := placeOf(seed)
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		platform, handle := handleOf(got)
		if want := strings.ToLower(seed.Handle); handle != want || handle != "" && platform != seed.Platform {
			t.Errorf("%s: got %q on %q, want %q", got, handle, platform, want)
		}
	}
}
