package library

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/plugins/stage"
)

// TestRepeatedHooksComeLast has creators open their videos alike, in several scrolls, and
// compares the list with plain code.
func TestRepeatedHooksComeLast(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		r := rand.New(rand.NewPCG(1, 2))
		type hook struct {
			id, creator, spoken string
			changed             int64
		}
		known := map[string]*hook{}
		for run := range int64(8) {
			var records []stage.Record
			for i := range 30 {
				if r.IntN(3) == 0 {
					continue
				}
				id, creator := fmt.Sprint("v", i), fmt.Sprint("c", i%4)
				one := clip(id, creator, 100)
				if creator == "c0" {
					one.Source = nil
					creator = ""
				}
				text := []string{"short", "How to pull a shot, at HOME today", "How to pull a shot at home, today!", "Another opening of twenty letters"}[r.IntN(4)]
				one.Evidence = &stage.Evidence{Spoken: &text}
				records = append(records, one)
				if h := known[id]; h == nil || h.spoken != text {
					known[id] = &hook{id, creator, text, now + run*day}
				}
			}
			b.archive(run+1, now+run*day, records...)
		}
		ids := map[string]string{}
		var got []string
		for _, h := range b.all(lists.Page{List: lists.Hooks, Limit: 7}).Hooks {
			got, ids[h.Video.ExternalID] = append(got, h.Video.ExternalID), h.Video.ID
		}
		letters := func(text string) string {
			var kept []rune
			for _, c := range strings.ToLower(text) {
				if c >= 'a' && c <= 'z' {
					kept = append(kept, c)
				}
			}
			if len(kept) < 20 {
				return ""
			}
			return string(kept[:20])
		}
		before := func(x, y *hook) int { // newest change first, then id
			if x.changed != y.changed {
				return int(y.changed/day - x.changed/day)
			}
			return strings.Compare(ids[x.id], ids[y.id])
		}
		repeats := func(h *hook) bool {
			for _, other := range known {
				if other != h && h.creator != "" && other.creator == h.creator && letters(h.spoken) != "" && letters(other.spoken) == letters(h.spoken) && before(other, h) < 0 {
					return true
				}
			}
			return false
		}
		var first, last []*hook
		for _, h := range known {
			if repeats(h) {
				last = append(last, h)
			} else {
				first = append(first, h)
			}
		}
		slices.SortFunc(first, before)
		slices.SortFunc(last, before)
		var want []string
		for _, h := range slices.Concat(first, last) {
			want = append(want, h.id)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("hooks (-want +got):\n%s", diff)
		}
		if len(last) < 5 || len(first) < 5 {
			t.Errorf("the test compares too little: got %d repetitions and %d others, want at least 5 of each", len(last), len(first))
		}
	})
}

func TestSpokenTextWithoutTimesIsCut(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	one := clip("1", "a", 100)
	one.Evidence = &stage.Evidence{Spoken: ptr(strings.Repeat("abcdefghi ", 40))}
	b.archive(1, now, one)
	if got := *b.all(lists.Page{List: lists.Hooks}).Hooks[0].Spoken; got != strings.TrimSpace(strings.Repeat("abcdefghi ", 28)) {
		t.Errorf("got %q, want the first 28 words", got)
	}
}

func TestHooksOfANewCreatorRepeatEachOther(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		opens := func(id, creator, spoken string) stage.Record {
			one := clip(id, creator, 100)
			one.Evidence = &stage.Evidence{Spoken: &spoken}
			return one
		}
		const opening = "How to pull a shot at home"
		b.archive(1, now,
			opens("1", "ann", opening), opens("2", "ann", opening+" again"), opens("3", "ann", "Another opening of twenty letters"), opens("4", "bob", opening))
		var got []string
		for _, h := range b.all(lists.Page{List: lists.Hooks}).Hooks {
			got = append(got, h.Video.ExternalID)
		}
		if diff := gocmp.Diff([]string{"1", "3", "4", "2"}, got); diff != "" {
			t.Errorf("hooks (-want +got):\n%s", diff)
		}
	})
}

// TestHooksHaveATextAndTheirScore: in our lists and in getVideo, and not in the contract's.
func TestHooksHaveATextAndTheirScore(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		records := clips(5, "a", 1000)
		records[0].Metrics.Views = ptr(int64(3000))
		records[0].Evidence = &stage.Evidence{Spoken: ptr("Stop. You are storing your\ncoffee wrong. Put it in the freezer")}
		records[1].Evidence = &stage.Evidence{OnScreenText: ptr("nothing is spoken")}
		records[2].Evidence = &stage.Evidence{Spoken: ptr("a b c d e f g h i j")}
		records[2].Cues = []stage.Cue{{Start: 0, End: 900, Text: "a b c d e f"}, {Start: 1500, End: 2000, Text: "g h i j"}}
		b.scroll(1, now, append(records, clip("alone", "b", 500))...)
		type item struct{ Text, Score, Baseline string }
		read := func() map[string]item {
			items := map[string]item{}
			for _, h := range b.all(lists.Page{List: lists.Hooks, Paged: true}).Hooks {
				items[h.Video.ExternalID] = item{look(h.HookText), look(h.Score), look(h.Baseline)}
			}
			return items
		}
		want := map[string]item{
			"a-0": {`"Stop. You are storing your coffee wrong."`, "3", "1000"},
			"a-1": {"null", "1", "1000"},
			"a-2": {`"a b c d e f"`, "1", "1000"},
		}
		check(t, "hooks", read(), want)
		for _, h := range b.all(lists.Page{List: lists.Hooks}).Hooks {
			if h.HookText != nil || h.Score != nil || h.Baseline != nil {
				t.Errorf("got %+v, want the contract's members alone", h)
			}
		}
		body, err := b.explainer.Video(b.ctx, b.idOf("a-0"))
		if err != nil || !strings.HasSuffix(string(body), `,"hookText":"Stop. You are storing your coffee wrong.","score":3,"baselineViews":1000},"early":null}`) {
			t.Errorf("got %s, error %v; want the text, the score and the baseline of the hook", body, err)
		}
		t.Run("videos by their ids, in their order and each once", func(t *testing.T) {
			first, second, silent := b.idOf("a-2"), b.idOf("a-0"), b.idOf("a-3")
			if _, err := b.edits.ArchiveVideo(b.ctx, silent, false, true); err != nil {
				t.Fatal(err)
			}
			var got struct {
				Videos  []json.RawMessage
				Missing []string
			}
			body, err := b.explainer.Videos(b.ctx, []string{first, "vid_x", second, first, "no\"", silent, "vid_x"})
			if err == nil {
				err = json.Unmarshal(body, &got)
			}
			if err != nil {
				t.Fatal(err)
			}
			check(t, "missing", got.Missing, []string{"vid_x", "no\""})
			var ids []string
			for i, end := range []string{
				`,"version":1,"hookText":"a b c d e f","score":1,"baselineViews":1000}`, `"score":3,"baselineViews":1000}`,
				`,"visual":null,"spoken":null,"onScreenText":null,"version":0,"score":1,"baselineViews":1000}`,
			} {
				var v struct{ Video shown }
				if err := json.Unmarshal(got.Videos[i], &v); err != nil || !strings.HasSuffix(string(got.Videos[i]), end) {
					t.Errorf("got %s, error %v; want it to end with %s", got.Videos[i], err, end)
				}
				ids = append(ids, v.Video.ID)
			}
			check(t, "videos", ids, []string{first, second, silent})
			check(t, "number of videos", len(got.Videos), 3)
			body, err = b.as(8).explainer.Videos(b.as(8).ctx, []string{first})
			if want := `{"videos":[],"missing":["` + first + `"]}`; err != nil || string(body) != want {
				t.Errorf("another account: got %s, error %v; want %s", body, err, want)
			}
			if _, err := b.edits.ArchiveVideo(b.ctx, silent, false, false); err != nil {
				t.Fatal(err)
			}
		})
		t.Run("a video of an earlier version gets its text", func(t *testing.T) {
			storetest.Exec(t, db, "UPDATE video_docs SET hook_text = NULL")
			storetest.Exec(t, db, "INSERT INTO unindexed_libraries VALUES ($1, '', '')", account)
			if err := b.IndexAll(viewer.System(t.Context())); err != nil {
				t.Fatal(err)
			}
			again := want
			again["a-2"] = item{`"a b c d e f g h i j"`, "1", "1000"} // its cues are not stored
			check(t, "hooks", read(), again)
		})
	})
}
