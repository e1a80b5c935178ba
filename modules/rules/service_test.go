package rules_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/rules"
)

// workspace answers as the workspace room does: 0 is none.
type workspace int64

func (w workspace) ID(context.Context) (int64, bool, error) { return int64(w), w != 0, nil }

func put(t *testing.T, ctx context.Context, s *rules.Service, text string) (rules.Rules, bool) {
	t.Helper()
	r, created, err := s.Put(ctx, text)
	if err != nil {
		t.Fatalf("put %q: %v", text, err)
	}
	return r, created
}

// get returns the items by text, archived ones in brackets.
func get(t *testing.T, ctx context.Context, s *rules.Service) (*rules.Rules, []string, map[string]rules.Item) {
	t.Helper()
	r, items, err := s.Get(ctx)
	if err != nil {
		t.Fatal(err)
	}
	byText := map[string]rules.Item{}
	var texts []string
	for _, item := range items {
		byText[item.Text] = item
		if item.ArchivedAt != nil {
			texts = append(texts, "["+item.Text+"]")
		} else {
			texts = append(texts, item.Text)
		}
	}
	return r, texts, byText
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got items %q, want %q", got, want)
	}
}

func TestRulesNeedAWorkspace(t *testing.T) {
	t.Parallel()
	ctx := viewer.As(t.Context(), 1)
	s := rules.New(storetest.SQLite(t), workspace(0))
	if _, _, err := s.Put(ctx, "x"); !apierr.Is(err, apierr.WorkspaceRequired) {
		t.Errorf("put: got error %v, want %v", err, apierr.WorkspaceRequired)
	}
	if r, items, err := s.Get(ctx); r != nil || items != nil || err != nil {
		t.Errorf("get: got %v, items %v, error %v; want none of them", r, items, err)
	}
	if version, items, err := s.Active(ctx); version != 0 || items != nil || err != nil {
		t.Errorf("active: got version %v, items %v, error %v; want version 0 and neither", version, items, err)
	}
}

func TestItemsLiveAsLongAsTheirText(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := viewer.As(t.Context(), db.NewID())
		s := rules.New(db, workspace(7))
		first, created := put(t, ctx, s, "- A\n- B\n- C")
		if !created || first.Version != 1 || first.WorkspaceID != 7 || first.CreatedAt == 0 {
			t.Errorf("got %+v, created: %t; want version 1 of workspace 7, created now", first, created)
		}
		if again, created := put(t, ctx, s, "- A\n- B\n- C"); created || again != first {
			t.Errorf("again: got %+v, created: %t; want %+v and none created", again, created, first)
		}
		_, texts, one := get(t, ctx, s)
		want(t, texts, "A", "B", "C")

		second, created := put(t, ctx, s, "C\nD\nA")
		if !created || second.Version != 2 || second.CreatedAt < first.CreatedAt {
			t.Errorf("got %+v, created: %t; want version 2, created no earlier than %d", second, created, first.CreatedAt)
		}
		current, texts, two := get(t, ctx, s)
		want(t, texts, "C", "D", "A", "[B]")
		if *current != second {
			t.Errorf("got the current rules %+v, want %+v", current, second)
		}
		put(t, ctx, s, "D")
		_, texts, _ = get(t, ctx, s)
		want(t, texts, "D", "[C]", "[A]", "[B]")

		put(t, ctx, s, "B\nD")
		_, texts, four := get(t, ctx, s)
		want(t, texts, "B", "D", "[C]", "[A]")
		for _, text := range []string{strings.Repeat("A", 1000), strings.Repeat("B", 300), "C"} {
			if one[text].ID != four[text].ID || one[text].CreatedAt != four[text].CreatedAt {
				t.Errorf("%s: got %+v, want the id and the time of %+v", text, four[text], one[text])
			}
		}
		if two["D"].ID != four["D"].ID || two["D"].ID == one["A"].ID {
			t.Errorf("D: got %+v, want the id of %+v and not that of A, %+v", four["D"], two["D"], one["A"])
		}

		version, active, err := s.Active(ctx)
		if err != nil || version != 4 || len(active) != 2 || active[0].Text != "B" || active[0].ID != publicid.Format(publicid.Rule, one["B"].ID) {
			t.Errorf("got version %d, %+v, error %v; want version 4 with B, as %d, and D", version, active, err, one["B"].ID)
		}
	})
}

func TestRulesAreOfOneTenant(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		mine, other := viewer.As(t.Context(), db.NewID()), viewer.As(t.Context(), db.NewID())
		s := rules.New(db, workspace(7))
		put(t, mine, s, "A\nB")
		if r, items, err := s.Get(other); r != nil || items != nil || err != nil {
			t.Errorf("the other account: got %v, items %v, error %v; want none of them", r, items, err)
		}
		put(t, other, s, "A\nC")
		put(t, other, s, "D")
		r, texts, _ := get(t, mine, s)
		want(t, texts, "A", "B")
		if r.Version != 1 {
			t.Errorf("got version %d, want 1", r.Version)
		}
		if _, _, err := s.Put(t.Context(), "x"); err == nil {
			t.Error("a write without a viewer: got no error, want one")
		}
	})
}

func TestArchivedItemsAreBounded(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := viewer.As(t.Context(), db.NewID())
		s := rules.New(db, workspace(7))
		put(t, ctx, s, "old")
		const most = 500
		for version := range rules.MaxArchived/most + 1 {
			var b strings.Builder
			for i := range most {
				fmt.Fprintf(&b, "%d.%d\n", version, i)
			}
			put(t, ctx, s, b.String())
		}
		put(t, ctx, s, "new")
		_, texts, _ := get(t, ctx, s)
		if len(texts) != 1+rules.MaxArchived || texts[0] != "new" || texts[1] != "[2.0]" || texts[rules.MaxArchived] != "[1.499]" {
			t.Errorf("got %d items: %q…, want %d: new, then [2.0] to [1.499]", len(texts), texts[:2], 1+rules.MaxArchived)
		}
	})
}

// Rows of earlier versions have no digests, and their rulesets no number of archived items.
func TestItemsOfEarlierVersionsComeBackAndAreBounded(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := viewer.As(t.Context(), db.NewID())
		other := viewer.As(t.Context(), db.NewID())
		s := rules.New(db, workspace(7))
		put(t, other, s, "theirs")
		put(t, other, s, "A")
		many := func(name string, items int) string {
			var b strings.Builder
			for i := range items {
				fmt.Fprintf(&b, "%s %d\n", name, i)
			}
			return b.String()
		}
		put(t, ctx, s, "oldest\nB")
		put(t, ctx, s, many("early", 500))
		put(t, ctx, s, many("late", 500))
		put(t, ctx, s, "A") // 1,002 left, and the two oldest are gone
		err := db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			for _, change := range []string{"UPDATE rule_items SET digest = 0", "UPDATE rulesets SET archived_items = NULL"} {
				if _, err := tx.Exec(ctx, change); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		_, texts, before := get(t, ctx, s)
		if got, want := len(texts), 1+rules.MaxArchived; got != want || before["oldest"].ID != 0 {
			t.Fatalf("got %d items, the oldest is %+v; want %d without it", got, before["oldest"], want)
		}
		put(t, ctx, s, "early 499\nX") // one comes back, and A leaves
		put(t, ctx, s, "X\nY\nearly 498")
		put(t, ctx, s, "Z") // X, Y and early 498 leave: three more than there is place for
		_, texts, after := get(t, ctx, s)
		if got, want := len(texts), 1+rules.MaxArchived; got != want {
			t.Errorf("got %d items, want %d", got, want)
		}
		for _, text := range []string{"early 498", "early 499"} {
			if after[text].ID != before[text].ID || before[text].ID == 0 {
				t.Errorf("%s: got %+v, want the id of %+v", text, after[text], before[text])
			}
		}
		for text, kept := range map[string]bool{"early 497": false, "early 495": false, "early 494": true, "A": true} {
			if got := after[text].ID != 0; got != kept {
				t.Errorf("%s is kept: got %t, want %t", text, got, kept)
			}
		}
		_, texts, _ = get(t, other, s)
		want(t, texts, "A", "[theirs]")
	})
}

func TestRacingPutsGetAVersionEach(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := viewer.As(t.Context(), db.NewID())
		s := rules.New(db, workspace(7))
		const racers = 16
		versions := make([]int, racers)
		var wait sync.WaitGroup
		for i := range racers {
			wait.Go(func() {
				r, created, err := s.Put(ctx, fmt.Sprintf("shared\nrule %d", i))
				if err != nil || !created {
					t.Errorf("racer %d: got created: %t, error %v; want a new version", i, created, err)
				}
				versions[i] = r.Version
				current, items, err := s.Get(ctx)
				if err != nil || current == nil || len(items) < 2 || items[1].Text != strings.Split(current.Text, "\n")[1] {
					t.Errorf("racer %d: got %+v with %+v, error %v; want the rules of its text", i, current, items, err)
				}
			})
		}
		wait.Wait()
		slices.Sort(versions)
		for i, version := range versions {
			if version != i+1 {
				t.Fatalf("got versions %v, want 1 to %d", versions, racers)
			}
		}
		_, texts, _ := get(t, ctx, s)
		if len(texts) != racers+1 {
			t.Errorf("got %d items: %q, want %d", len(texts), texts, racers+1)
		}
		if version, err := s.Version(ctx); version != racers || err != nil {
			t.Errorf("got version %d, error %v; want %d", version, err, racers)
		}
	})
}

func TestAPutWritesTheDifference(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := viewer.As(t.Context(), db.NewID())
		s := rules.New(db, workspace(7))
		for name, c := range map[string]struct {
			before, after string
			want          int // rows deleted or written
		}{
			"a rule is added at the end":   {"A\nB\nC", "A\nB\nC\nD", 1},
			"one of the middle changes":    {"A\nB\nC", "A\nX\nC", 3}, // B leaves and X comes
			"the last one goes":            {"A\nB\nC", "A\nB", 2},
			"nothing but white space does": {"A\nB\nC", "A\n\nB\nC", 0},
		} {
			t.Run(name, func(t *testing.T) {
				put(t, ctx, s, c.before)
				before := itemRows(t, db)
				put(t, ctx, s, c.after)
				after := itemRows(t, db)
				got := 0
				for row := range before {
					if !after[row] {
						got++
					}
				}
				for row := range after {
					if !before[row] {
						got++
					}
				}
				if got != c.want {
					t.Errorf("got %d rows changed, want %d", got, c.want)
				}
			})
		}
	})
}

// itemRows returns every row of the items as text.
func itemRows(t *testing.T, db *store.DB) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	storetest.Rows(t, db, func(rows *sql.Rows) error {
		var text, row string
		var position int
		var archived bool
		err := rows.Scan(&text, &position, &archived)
		row = fmt.Sprint(text, position, archived)
		out[row] = true
		return err
	}, "SELECT text, position, archived FROM rule_items")
	return out
}

func TestVersionsAreListed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := rules.New(db, workspace(7))
		ctx, other := viewer.As(t.Context(), db.NewID()), viewer.As(t.Context(), db.NewID())
		for _, text := range []string{strings.Repeat("A", 1000), strings.Repeat("B", 300), "C"} {
			put(t, ctx, s, text)
		}
		put(t, other, s, "X")
		var texts []string
		for token, pages := "", 1; ; pages++ {
			page, next, err := s.Versions(ctx, 2, token)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page {
				texts = append(texts, fmt.Sprint(r.Version, r.Text, r.WorkspaceID))
			}
			if token = next; token == "" {
				if pages != 2 {
					t.Errorf("got %d pages, want 2", pages)
				}
				break
			}
		}
		want(t, texts, fmt.Sprint(3, "C", 7), fmt.Sprint(2, strings.Repeat("B", 300), 7), fmt.Sprint(1, strings.Repeat("A", 1000), 7))
		if page, next, err := s.Versions(viewer.As(t.Context(), db.NewID()), 2, ""); err != nil || len(page) != 0 || next != "" {
			t.Errorf("a tenant without rules: got %v, next %q, error %v; want none of them", page, next, err)
		}
	})
}
