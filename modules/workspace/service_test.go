package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/workspace"
)

// others stands for the library, the scrolls and the rules, and notes what
// committed transactions told them.
type others struct {
	fail error

	mu   sync.Mutex
	told []string
}

func (o *others) tell(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.told = append(o.told, fmt.Sprintf(format, args...))
}

func (o *others) ArchiveSubject(_ context.Context, tx *store.Tx, subject string) (int, error) {
	tx.AfterCommit(func() { o.tell("archive %q", subject) })
	return 3, o.fail
}

func (o *others) CancelSubject(_ context.Context, tx *store.Tx, subject string) error {
	tx.AfterCommit(func() { o.tell("cancel %q", subject) })
	return nil
}

func (o *others) Version(context.Context) (int, error) { return 5, nil }

func setup(t *testing.T, db *store.DB) (context.Context, *workspace.Service, *others) {
	t.Helper()
	o := &others{}
	return viewer.As(t.Context(), db.NewID()), workspace.New(db, o, o, o), o
}

func list(items ...string) *[]string {
	if items == nil {
		items = []string{}
	}
	return &items
}

func show(p *string) string {
	if p == nil {
		return "<nil>"
	}
	return *p
}

func TestFirstCallCreatesAndTheSameAgainExists(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx, s, _ := setup(t, db)
		if w, err := s.Get(ctx); w != nil || err != nil {
			t.Fatalf("before: %+v, %v, want none and no error", w, err)
		}
		w, created, err := s.Set(ctx, workspace.Change{
			Description: new("Tea for night owls"), Website: new("https://WWW.Owl-Tea.com/shop/?utm_source=x#top"),
			Competitors: list("@leaf", "<b>steep</b>"), Name: new("Owl"),
		})
		if err != nil || !created || w.ID == 0 || w.RulesVersion != 5 || w.CreatedAt == 0 || w.CreatedAt != w.UpdatedAt {
			t.Fatalf("got %+v, created: %t, %v, want a new workspace with rules of version 5", w, created, err)
		}
		if show(w.Website) != "https://WWW.Owl-Tea.com/shop/?utm_source=x#top" || w.AppStoreURL != nil {
			t.Errorf(`addresses: %s, %s, want Website "https://WWW.Owl-Tea.com/shop/?utm_source=x#top" and no AppStoreURL`, show(w.Website), show(w.AppStoreURL))
		}
		if w.Subject != (workspace.Subject{Type: "website", URL: "https://www.owl-tea.com/shop", CanonicalID: "website:owl-tea.com"}) {
			t.Errorf("got the subject %+v, want the website owl-tea.com, at /shop", w.Subject)
		}
		got, err := s.Get(ctx)
		if err != nil || fmt.Sprint(show(got.Description), show(got.Name), got.Competitors, got.Subject, got.ID, got.CreatedAt) !=
			fmt.Sprint(show(w.Description), show(w.Name), w.Competitors, w.Subject, w.ID, w.CreatedAt) {
			t.Errorf("got %+v, %v, want what was set, %+v", got, err, w)
		}
		brief, subject, ok, err := workspace.NewReader(db).Brief(ctx)
		if err != nil || !ok || subject != "website:owl-tea.com" || brief.Name != "Owl" || brief.AppStoreURL != "" || len(brief.Competitors) != 2 {
			t.Errorf(`got brief %+v, subject %q, found %v, error %v; want website:owl-tea.com named Owl, without an app-store address, with 2 competitors`, brief, subject, ok, err)
		}
		if id, ok, err := workspace.NewReader(db).ID(ctx); id != w.ID || !ok || err != nil {
			t.Errorf("id: %d, %v, %v, want id %v, one and no error", id, ok, err, w.ID)
		}
		if subject, ok, err := workspace.NewReader(db).Subject(ctx); subject != "website:owl-tea.com" || !ok || err != nil {
			t.Errorf(`subject: %q, %v, %v, want subject "website:owl-tea.com", one and no error`, subject, ok, err)
		}
		for name, c := range map[string]struct {
			sent workspace.Change
			same bool
		}{
			"whole":                      {workspace.Change{Description: new("Tea for night owls"), Website: new("https://www.owl-tea.com/shop"), Competitors: list("@leaf", "<b>steep</b>"), Name: new("Owl")}, true},
			"one field":                  {workspace.Change{Description: new("Tea for night owls")}, true},
			"white space around":         {workspace.Change{Description: new(" Tea for night owls\n"), Competitors: list("@leaf ", "<b>steep</b>")}, true},
			"deprecated url":             {workspace.Change{URL: new("https://www.owl-tea.com/shop#x")}, true},
			"other description":          {workspace.Change{Description: new("Tea")}, false},
			"other path":                 {workspace.Change{Website: new("https://www.owl-tea.com/")}, false},
			"other url":                  {workspace.Change{URL: new("https://leaf.com")}, false},
			"an app":                     {workspace.Change{URL: new("https://apps.apple.com/app/id1")}, false},
			"other name":                 {workspace.Change{Description: new("Tea for night owls"), Name: new("owl")}, false},
			"no competitors":             {workspace.Change{Description: new("Tea for night owls"), Competitors: list()}, false},
			"competitors in other order": {workspace.Change{Description: new("Tea for night owls"), Competitors: list("<b>steep</b>", "@leaf")}, false},
		} {
			t.Run(name, func(t *testing.T) {
				again, created, err := s.Set(ctx, c.sent)
				var already *workspace.AlreadySet
				switch {
				case c.same && (err != nil || created || again.ID != w.ID || again.UpdatedAt != w.UpdatedAt || again.RulesVersion != 5):
					t.Errorf("got %+v, %v, %v, want the unchanged workspace %+v", again, created, err, w)
				case !c.same && (!errors.As(err, &already) || already.Current.ID != w.ID || already.Current.RulesVersion != 5):
					t.Errorf("got %v, want already set with the current workspace", err)
				}
			})
		}
	})
}

func TestUnacceptableBriefs(t *testing.T) {
	t.Parallel()
	ctx, s, _ := setup(t, storetest.SQLite(t))
	app, site := new("https://apps.apple.com/app/id1"), new("https://a.com")
	for name, c := range map[string]struct {
		sent  workspace.Change
		paths []string // of the issues on update
	}{
		"private":            {workspace.Change{Website: new("https://10.0.0.1")}, []string{"website"}},
		"plain http":         {workspace.Change{Website: new("http://a.com")}, []string{"website"}},
		"not an app":         {workspace.Change{AppStoreURL: site}, []string{"appStoreUrl"}},
		"no app id":          {workspace.Change{AppStoreURL: new("https://apps.apple.com/us/charts")}, []string{"appStoreUrl"}},
		"both":               {workspace.Change{Website: new(""), AppStoreURL: new("")}, []string{"website", "appStoreUrl"}},
		"url private":        {workspace.Change{URL: new("https://localhost")}, []string{"url"}},
		"url without app id": {workspace.Change{URL: new("https://apps.apple.com/us/charts")}, []string{"url"}},
		"url and website":    {workspace.Change{URL: new("https://b.com"), Website: site}, []string{"url"}},
		"url and app":        {workspace.Change{URL: new("https://apps.apple.com/app/id2"), AppStoreURL: app}, []string{"url"}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := s.Set(ctx, c.sent); !apierr.Is(err, apierr.InvalidWorkspaceBrief) {
				t.Errorf("set: got %v, want %s", err, apierr.InvalidWorkspaceBrief)
			}
			_, _, err := s.Update(ctx, c.sent, false)
			if !apierr.Is(err, apierr.InvalidRequest) {
				t.Fatalf("update: got %v, want %s", err, apierr.InvalidRequest)
			}
			var paths []string
			for _, issue := range apierr.As(err).Issues {
				paths = append(paths, issue.Path)
			}
			if diff := cmp.Diff(c.paths, paths); diff != "" {
				t.Errorf("issues (-want +got):\n%s", diff)
			}
		})
	}
	for name, sent := range map[string]workspace.Change{"empty": {}, "name alone": {Name: new("x")}, "seeds alone": {Competitors: list("x")}} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := s.Set(ctx, sent); !apierr.Is(err, apierr.InvalidWorkspaceBrief) {
				t.Errorf("got %v, want %s", err, apierr.InvalidWorkspaceBrief)
			}
		})
	}
	if w, err := s.Get(ctx); w != nil || err != nil {
		t.Errorf("one was made: %+v, %v, want none and no error", w, err)
	}
}

func TestURLIsSorted(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	for name, c := range map[string]struct {
		sent                   workspace.Change
		website, app, typ, cid string
	}{
		"site":              {workspace.Change{URL: new("https://a.com/")}, "https://a.com/", "<nil>", "website", "website:a.com"},
		"app":               {workspace.Change{URL: new("https://itunes.apple.com/app/id7")}, "<nil>", "https://itunes.apple.com/app/id7", "app_store", "app_store:7"},
		"site beside app":   {workspace.Change{URL: new("https://a.com"), AppStoreURL: new("https://apps.apple.com/app/id7")}, "https://a.com", "https://apps.apple.com/app/id7", "app_store", "app_store:7"},
		"the same site":     {workspace.Change{URL: new("https://A.com/"), Website: new("https://a.com")}, "https://a.com", "<nil>", "website", "website:a.com"},
		"app as website":    {workspace.Change{Website: new("https://apps.apple.com/app/id7")}, "https://apps.apple.com/app/id7", "<nil>", "app_store", "app_store:7"},
		"description alone": {workspace.Change{Description: new("x")}, "<nil>", "<nil>", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, s, _ := setup(t, db)
			w, created, err := s.Set(ctx, c.sent)
			if err != nil || !created {
				t.Fatalf("got %v, %v, want a new workspace", created, err)
			}
			if show(w.Website) != c.website || show(w.AppStoreURL) != c.app || string(w.Subject.Type) != c.typ || w.Subject.CanonicalID != c.cid {
				t.Errorf("got %s, %s, %+v, want %s, %s, %s %s", show(w.Website), show(w.AppStoreURL), w.Subject, c.website, c.app, c.typ, c.cid)
			}
		})
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx, s, o := setup(t, db)
		if _, _, err := s.Update(ctx, workspace.Change{}, true); !apierr.Is(err, apierr.WorkspaceRequired) {
			t.Fatalf("without one: %v, want %v", err, apierr.WorkspaceRequired)
		}
		first, _, err := s.Set(ctx, workspace.Change{Description: new("x"), Competitors: list("@a")})
		if err != nil {
			t.Fatal(err)
		}
		steps := []struct {
			name     string
			sent     workspace.Change
			archive  bool
			archived int
			told     []string
			cid      string
		}{
			{"nothing", workspace.Change{}, true, 0, nil, ""},
			{"the same", workspace.Change{Description: new("x"), Competitors: list("@a")}, true, 0, nil, ""},
			{"text", workspace.Change{Name: new("X"), Competitors: list()}, true, 0, nil, ""},
			{"first subject", workspace.Change{Website: new("https://a.com")}, false, 0, []string{`cancel ""`}, "website:a.com"},
			{"same subject", workspace.Change{Website: new("https://www.a.com/b")}, true, 0, nil, "website:a.com"},
			{"an app", workspace.Change{AppStoreURL: new("https://apps.apple.com/app/id1")}, true, 3, []string{`cancel "website:a.com"`, `archive "website:a.com"`}, "app_store:1"},
			{"the app stays", workspace.Change{Website: new("https://b.com")}, true, 0, nil, "app_store:1"},
			{"another app", workspace.Change{AppStoreURL: new("https://apps.apple.com/us/app/id2")}, false, 0, []string{`cancel "app_store:1"`}, "app_store:2"},
		}
		last := first
		for _, step := range steps {
			t.Run(step.name, func(t *testing.T) {
				o.told = nil
				w, archived, err := s.Update(ctx, step.sent, step.archive)
				if err != nil || archived != step.archived || w.Subject.CanonicalID != step.cid || !slices.Equal(o.told, step.told) {
					t.Errorf("%s: got %+v, %d archived, error %v, told %q; want %d archived, canonical id %v, told %q", step.name, w.Subject, archived, err, o.told, step.archived, step.cid, step.told)
				}
				if w.ID != first.ID || w.CreatedAt != first.CreatedAt || w.UpdatedAt < last.UpdatedAt || w.RulesVersion != 5 {
					t.Errorf("%s: got %+v after %+v, want the id %v, made at %v, updated at %v or later, with version 5 of the rules", step.name, w, last, first.ID, first.CreatedAt, last.UpdatedAt)
				}
				last = w
			})
		}
		got, err := s.Get(ctx)
		if err != nil || show(got.Description) != "x" || show(got.Name) != "X" || len(got.Competitors) != 0 || got.Competitors == nil ||
			show(got.Website) != "https://b.com" || got.UpdatedAt != last.UpdatedAt {
			t.Errorf(`at the end: got %+v, error %v; want the description x, the name X, an empty list of competitors, the website https://b.com, updated at %v`, got, err, last.UpdatedAt)
		}
	})
}

func TestUpdateIsAllOrNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx, s, o := setup(t, db)
		if _, _, err := s.Set(ctx, workspace.Change{Website: new("https://a.com")}); err != nil {
			t.Fatal(err)
		}
		o.fail = errors.New("no")
		if _, _, err := s.Update(ctx, workspace.Change{Website: new("https://b.com")}, true); !errors.Is(err, o.fail) {
			t.Errorf("update: %v, want %v", err, o.fail)
		}
		if subject, _, err := workspace.NewReader(db).Subject(ctx); subject != "website:a.com" || err != nil || len(o.told) != 0 {
			t.Errorf(`after: %q, %v, told %q, want subject "website:a.com", no error and no told`, subject, err, o.told)
		}
	})
}

func TestRacingFirstCallsMakeOneWorkspace(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for _, same := range []bool{true, false} {
			t.Run(fmt.Sprintf("same text %v", same), func(t *testing.T) {
				ctx, s, _ := setup(t, db)
				const racers = 16
				var mu sync.Mutex
				var outcomes []string
				ids := map[int64]bool{}
				var wait sync.WaitGroup
				for i := range racers {
					text := "brief"
					if !same {
						text = fmt.Sprintf("brief %d", i)
					}
					wait.Go(func() {
						w, created, err := s.Set(ctx, workspace.Change{Description: &text})
						outcome := "existing"
						var already *workspace.AlreadySet
						switch {
						case errors.As(err, &already):
							outcome, w = "already set", already.Current
						case err != nil:
							outcome = err.Error()
						case created:
							outcome = "created"
						}
						mu.Lock()
						defer mu.Unlock()
						outcomes = append(outcomes, outcome)
						ids[w.ID] = true
					})
				}
				wait.Wait()
				slices.Sort(outcomes)
				rest := "existing"
				if !same {
					rest = "already set"
				}
				want := append(slices.Repeat([]string{rest}, racers-1), "created")
				slices.Sort(want)
				if !slices.Equal(outcomes, want) || len(ids) != 1 {
					t.Errorf("outcomes %q, %d ids, want outcomes %v and 1 id", outcomes, len(ids), want)
				}
			})
		}
	})
}

func TestRacingUpdatesLoseNoField(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx, s, _ := setup(t, db)
		if _, _, err := s.Set(ctx, workspace.Change{Description: new("x")}); err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		for _, change := range []workspace.Change{
			{Name: new("n")}, {Website: new("https://a.com")}, {AppStoreURL: new("https://apps.apple.com/app/id1")}, {Competitors: list("c")},
		} {
			wait.Go(func() {
				if _, _, err := s.Update(ctx, change, false); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		w, err := s.Get(ctx)
		if err != nil || show(w.Name) != "n" || show(w.Website) != "https://a.com" || w.Subject.CanonicalID != "app_store:1" || len(w.Competitors) != 1 {
			t.Errorf(`got %+v, error %v; want the name n, the website https://a.com, the canonical id app_store:1 and 1 competitor`, w, err)
		}
	})
}

func TestWorkspaceIsOfOneTenant(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		mine, s, _ := setup(t, db)
		other := viewer.As(t.Context(), db.NewID())
		if _, _, err := s.Set(mine, workspace.Change{Description: new("mine")}); err != nil {
			t.Fatal(err)
		}
		if w, err := s.Get(other); w != nil || err != nil {
			t.Errorf("the other sees %+v, %v, want none and no error", w, err)
		}
		if _, _, err := s.Update(other, workspace.Change{Description: new("theirs")}, true); !apierr.Is(err, apierr.WorkspaceRequired) {
			t.Errorf("the other updates: %v, want %v", err, apierr.WorkspaceRequired)
		}
		if _, created, err := s.Set(other, workspace.Change{Description: new("theirs")}); !created || err != nil {
			t.Errorf("the other sets: got created %t, %v, want a workspace of its own", created, err)
		}
		if w, err := s.Get(mine); err != nil || show(w.Description) != "mine" {
			t.Errorf(`the own workspace: got %+v, error %v; want the description mine`, w, err)
		}
		if _, err := s.Get(t.Context()); err == nil || !strings.Contains(err.Error(), "account") {
			t.Errorf(`without a viewer: %v, want an error and text with "account"`, err)
		}
	})
}
