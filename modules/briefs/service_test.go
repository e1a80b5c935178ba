package briefs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

// world is what briefs need, for one account.
type world struct {
	views map[string]string
	// hooks are those of single videos, by id.
	hooks map[string]string
	// collected are the videos of its collection, as REST shows them.
	collected []string
	mu        sync.Mutex
	credits   int64
	// unclosed is the error of Close, which reports owed with it.
	unclosed error
	owed     bool
	asked    atomic.Int64
	// write is the stage.
	write func(ctx context.Context, facts []stage.Fact) ([]stage.Sentence, error)
}

func (w *world) Brief(context.Context) (stage.Brief, string, bool, error) {
	return stage.Brief{}, "", true, nil
}

func (w *world) Active(context.Context) (int, []stage.Rule, error) { return 1, nil, nil }

func (w *world) View(_ context.Context, name string) (json.RawMessage, error) {
	if text := w.views[name]; text != "" {
		return json.RawMessage(text), nil
	}
	return json.RawMessage(`{}`), nil
}

// Videos shows the hooks of the videos that it has, by id.
func (w *world) Videos(_ context.Context, ids []string) ([]byte, error) {
	all := []string{}
	for _, id := range ids {
		if text := w.hooks[id]; text != "" {
			all = append(all, text)
		}
	}
	return []byte(`{"videos":[` + strings.Join(all, ",") + `],"missing":[]}`), nil
}

// First knows one collection, of the videos whose texts are views.
func (w *world) First(_ context.Context, id string, most int) (videos []string, found bool, err error) {
	if id != "col_a" {
		return nil, false, nil
	}
	for i := range min(most, len(w.collected)) {
		videos = append(videos, strconv.Itoa(i))
	}
	return videos, true, nil
}

func (w *world) Video(_ context.Context, id string) ([]byte, error) {
	i, err := strconv.Atoi(id)
	return []byte(w.collected[i]), err
}

func (w *world) Open(ctx context.Context, _, fee int64) (context.Context, Charge, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.credits < fee {
		return nil, nil, &apierr.Error{Kind: apierr.PaymentRequired, Required: fee, Balance: w.credits}
	}
	w.credits -= fee
	return ctx, w, nil
}

func (w *world) Close(_ context.Context, spent bool) (owed bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.unclosed != nil {
		return w.owed, w.unclosed
	}
	if !spent {
		w.credits += Defaults().Fee
	}
	return false, nil
}

// writer is the stage of a world.
type writer struct{ *world }

func (w writer) Ready(string) bool { return w.write != nil }

func (w writer) Brief(ctx context.Context, _ string, _ stage.Run, facts []stage.Fact) ([]stage.Sentence, int, error) {
	w.asked.Add(1)
	said, err := w.write(ctx, facts)
	return said, 0, err
}

const oneOutlier = `{"outliers":[{"video":{"id":"vid_a","platform":"tiktok","source":null,"metadata":{},"metrics":{"views":12000,"observedAt":7}},
"score":12,"baselineViews":1000,"sampleCount":30,"observedAt":7}]}`

func (w *world) service(t *testing.T, db *store.DB) *Service {
	t.Helper()
	s, err := New(Defaults(), db, Needs{Workspaces: w, Rules: w, Library: w, Collections: w, Videos: w, Charges: w, Stages: writer{w}}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestWhatABriefCosts: only a brief with sentences costs the fee, of the composer and of a model.
func TestWhatABriefCosts(t *testing.T) {
	t.Parallel()
	said := []stage.Sentence{{Part: stage.PartMake, Text: "Pour slowly.", Cites: []string{"vid_a"}}}
	for _, c := range []struct {
		name, list, view string
		credits          int64
		write            func(ctx context.Context, w *world) ([]stage.Sentence, error)
		sentences        bool
		left             int64
		givesUp          bool
	}{
		{name: "counts", list: "outliers", view: oneOutlier, credits: 60, sentences: true, left: 10},
		{
			name: "hooks without words", list: "hooks", credits: 60, left: 60,
			view: `{"hooks":[{"video":{"id":"vid_a","platform":"tiktok","metadata":{},"metrics":{}},"visual":{"summary":"a cup"},"spoken":null,"onScreenText":" \u200b"}]}`,
		},
		{
			name: "a model", list: "outliers", view: oneOutlier, credits: 60, sentences: true, left: 10,
			write: func(context.Context, *world) ([]stage.Sentence, error) { return said, nil },
		},
		{
			name: "a model that fails", list: "outliers", view: oneOutlier, credits: 60, sentences: true, left: 10,
			write: func(context.Context, *world) ([]stage.Sentence, error) { return said, errors.New("broken") },
		},
		{
			name: "a model without a sentence, of hooks without words", list: "hooks", credits: 60, left: 60,
			view:  `{"hooks":[{"video":{"id":"vid_a","platform":"tiktok","metadata":{},"metrics":{}},"visual":{"summary":"a cup"},"spoken":null,"onScreenText":null}]}`,
			write: func(context.Context, *world) ([]stage.Sentence, error) { return nil, nil },
		},
		{
			name: "a caller who gives up while the model writes", list: "outliers", view: oneOutlier, credits: 60, left: 10, givesUp: true,
			write: func(context.Context, *world) ([]stage.Sentence, error) { return said, nil },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				w := &world{views: map[string]string{c.list: c.view}, credits: c.credits}
				ctx, giveUp := context.WithCancel(viewer.As(t.Context(), 1))
				defer giveUp()
				if c.write != nil {
					w.write = func(ctx context.Context, _ []stage.Fact) ([]stage.Sentence, error) {
						if c.givesUp {
							giveUp()
						}
						return c.write(ctx, w)
					}
				}
				draft, err := w.service(t, db).Draft(ctx, "", "")
				if c.givesUp {
					if !errors.Is(err, context.Canceled) || draft != nil {
						t.Errorf("got %+v, %v; want %v", draft, err, context.Canceled)
					}
				} else if err != nil || (len(draft.Sentences) > 0) != c.sentences || draft.Fee != c.credits-c.left {
					t.Errorf("got %+v, %v; want sentences %t for %d credits", draft, err, c.sentences, c.credits-c.left)
				}
				if w.credits != c.left {
					t.Errorf("%d credits are left, want %d", w.credits, c.left)
				}
			})
		})
	}
}

// TestAFocusThatNoOneUsesIsRefused: without a model, and where it fails, and costs nothing.
func TestAFocusThatNoOneUsesIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		write func(context.Context, []stage.Fact) ([]stage.Sentence, error)
		want  apierr.Kind
	}{
		"no model":           {nil, apierr.InvalidRequest},
		"a model that fails": {func(context.Context, []stage.Fact) ([]stage.Sentence, error) { return nil, errors.New("broken") }, apierr.OperationError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &world{views: map[string]string{"outliers": oneOutlier}, credits: 60, write: c.write}
			draft, err := w.service(t, storetest.SQLite(t)).Draft(viewer.As(t.Context(), 1), "water", "")
			if draft != nil || !apierr.Is(err, c.want) || w.credits != 60 {
				t.Errorf("got %+v, %v and %d credits, want %v and 60", draft, err, w.credits, c.want)
			}
		})
	}
}

// TestAModelReadsAndSaysWhatPeopleSee: neither a creator's hidden words reach it, nor its own
// the customer.
func TestAModelReadsAndSaysWhatPeopleSee(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := &world{credits: 60, views: map[string]string{"hooks": `{"hooks":[{"video":{"id":"vid_a","platform":"tiktok","source":{"handle":"x\u200b"},
"metadata":{"caption":"a\u202eb"},"metrics":{}},"visual":{"summary":"c\ufeffd"},"spoken":"e\udb40\udc41f","onScreenText":"g\u2066h"}]}`}}
		w.write = func(_ context.Context, facts []stage.Fact) ([]stage.Sentence, error) {
			f := facts[0]
			if got, want := strings.Join([]string{f.Handle, f.Caption, f.Visual, f.Spoken, f.OnScreenText}, " "), "x\uFFFD a\uFFFDb c\uFFFDd e\uFFFDf g\uFFFDh"; got != want {
				t.Errorf("the model reads %+q, want %+q", got, want)
			}
			return []stage.Sentence{{Part: stage.PartMake, Text: "Pour\u202e \U000E0041\u200b.", Cites: []string{"vid_a"}}}, nil
		}
		draft, err := w.service(t, db).Draft(viewer.As(t.Context(), 1), "", "")
		if err != nil {
			t.Fatal(err)
		}
		if got, want := draft.Sentences[0].Text, "Pour\uFFFD \uFFFD\uFFFD."; got != want {
			t.Errorf("the customer reads %+q, want %+q", got, want)
		}
	})
}

// TestABriefThatCannotBePaid: the answer says that the fee is returned only if it was, and
// nothing if no one knows.
func TestABriefThatCannotBePaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		closed error
		owed   bool
		want   string
	}{
		"another process has closed it": {errors.New("closed"), false, "its fee is returned."},
		"it cannot be committed":        {errors.New("no disk"), true, "its fee will be returned."},
		"no one knows":                  {apierr.ErrUnknown, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &world{views: map[string]string{"outliers": oneOutlier}, credits: 60, unclosed: c.closed, owed: c.owed}
			draft, err := w.service(t, storetest.SQLite(t)).Draft(viewer.As(t.Context(), 1), "", "")
			said := ""
			if f := apierr.As(err); f != nil {
				said = f.Message
			}
			if draft != nil || !errors.Is(err, c.closed) || (said == "") != (c.want == "") || !strings.HasSuffix(said, c.want) {
				t.Errorf("got %+v, %v; want no brief and %q", draft, err, c.want)
			}
		})
	}
}

// TestAnAccountHasOneBriefAtATime: the model is not asked for a second one that the first
// leaves no credits for, in one process and in two on one PostgreSQL. (SQLite serves one.)
func TestAnAccountHasOneBriefAtATime(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) { oneAtATime(t, db) })
	t.Run("two processes", func(t *testing.T) {
		t.Parallel()
		cfg := storetest.PostgresConfig(t)
		oneAtATime(t, storetest.Open(t, cfg), storetest.Open(t, cfg))
	})
}

// TestADraftEndsWithItsLock: another process may draft for the account once the lease has expired,
// so this one ends; the fee is returned, since the caller did not leave.
func TestADraftEndsWithItsLock(t *testing.T) {
	t.Parallel()
	db := storetest.Postgres(t)
	w := &world{views: map[string]string{"outliers": oneOutlier}, credits: 60}
	w.write = func(ctx context.Context, _ []stage.Fact) ([]stage.Sentence, error) {
		storetest.Exec(t, db, "UPDATE leases SET until = until - interval '1 minute'")
		select {
		case <-ctx.Done():
		case <-time.After(2 * time.Minute):
		}
		return nil, context.Cause(ctx)
	}
	draft, err := w.service(t, db).Draft(viewer.As(t.Context(), 1), "", "")
	if !errors.Is(err, store.ErrTaken) {
		t.Errorf("got the draft %v and error %v, want %v", draft, err, store.ErrTaken)
	}
	if w.credits != 60 {
		t.Errorf("got %d credits, want 60: the fee is returned", w.credits)
	}
}

// oneAtATime drafts twice at once: by one service, or by one on each database.
func oneAtATime(t *testing.T, processes ...*store.DB) {
	t.Helper()
	w := &world{views: map[string]string{"outliers": oneOutlier}, credits: 50}
	second := make(chan struct{})
	w.write = func(context.Context, []stage.Fact) ([]stage.Sentence, error) {
		if w.asked.Load() > 1 {
			close(second)
		}
		select {
		case <-second:
		case <-time.After(300 * time.Millisecond): // so long a second one would have had
		}
		return []stage.Sentence{{Part: stage.PartMake, Text: "Pour.", Cites: []string{"vid_a"}}}, nil
	}
	var all sync.WaitGroup
	var drafted, refused atomic.Int64
	services := make([]*Service, len(processes))
	for i, db := range processes {
		services[i] = w.service(t, db)
	}
	for i := range 2 {
		s := services[i%len(services)]
		all.Go(func() {
			switch _, err := s.Draft(viewer.As(t.Context(), 1), "", ""); {
			case err == nil:
				drafted.Add(1)
			case apierr.Is(err, apierr.PaymentRequired):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if drafted.Load() != 1 || refused.Load() != 1 || w.asked.Load() != 1 {
		t.Errorf("%d drafted, %d refused, the model asked %d times; want 1 each", drafted.Load(), refused.Load(), w.asked.Load())
	}
}

// TestViewsAreThoseOfTheScore: a newer reading of the video, which cannot be used, is not
// what the score is of.
func TestViewsAreThoseOfTheScore(t *testing.T) {
	t.Parallel()
	for metrics, want := range map[string]float64{
		`{"views":12000,"observedAt":7}`: 12000,
		`{"views":3,"observedAt":8}`:     0,
		`{"views":null,"observedAt":8}`:  0,
	} {
		w := &world{views: map[string]string{"outliers": `{"outliers":[{"video":{"id":"vid_a","platform":"tiktok","metadata":{},"metrics":` + metrics +
			`},"score":12,"baselineViews":1000,"sampleCount":30,"observedAt":7}]}`}}
		facts, _, err := (&Service{needs: Needs{Library: w, Videos: w}}).facts(t.Context())
		if err != nil || len(facts) != 1 || facts[0].Views != want {
			t.Errorf("metrics %s: got %+v, %v; want views %v", metrics, facts, err, want)
		}
	}
}

// TestABriefKnowsHowItsOutliersBegin: the hooks of outliers come before those of the newest
// videos, each once and no more than a page in all. An outlier may have none.
func TestABriefKnowsHowItsOutliersBegin(t *testing.T) {
	t.Parallel()
	outlier := func(id string) string {
		return `{"video":{"id":"` + id + `","platform":"tiktok","metadata":{},"metrics":{}},"score":9,"baselineViews":1000,"sampleCount":30,"observedAt":7}`
	}
	hook := func(id, spoken, visual string) string {
		return `{"video":{"id":"` + id + `","platform":"tiktok","metadata":{},"metrics":{}},"visual":` + visual + `,"spoken":` + spoken + `,"onScreenText":null}`
	}
	newest := []string{hook("vid_b", `"Turn the bag around."`, "null")}
	want := []string{`hook vid_b "Turn the bag around."`, `hook vid_c ""`} // in the order of the outliers
	for i := range maxHooks - 1 {
		newest = append(newest, hook(fmt.Sprintf("vid_new%d", i), `"Good morning."`, "null"))
		want = append(want, fmt.Sprintf(`hook vid_new%d "Good morning."`, i))
	}
	w := &world{
		views: map[string]string{
			"outliers": `{"outliers":[` + outlier("vid_a") + "," + outlier("vid_b") + "," + outlier("vid_c") + `]}`,
			"hooks":    `{"hooks":[` + strings.Join(newest, ",") + `]}`,
		},
		hooks: map[string]string{
			"vid_a": hook("vid_a", "null", "null"), "vid_b": newest[0], "vid_c": hook("vid_c", "null", `{"summary":"a cup"}`),
			"vid_new0": hook("vid_new0", `"No outlier."`, "null"),
		},
	}
	read := func() (got []string) {
		facts, _, err := (&Service{needs: Needs{Library: w, Videos: w}}).facts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range facts {
			if f.Kind == hookFact {
				got = append(got, fmt.Sprintf("hook %s %q", f.ID, f.Spoken))
			}
		}
		return got
	}
	if diff := cmp.Diff(want[:maxHooks], read()); diff != "" {
		t.Errorf("hooks of a brief, want - got +:\n%s", diff)
	}
	w.hooks["vid_a"] = hook("vid_a", `"Stop pouring like this."`, "null")
	if diff := cmp.Diff(append([]string{`hook vid_a "Stop pouring like this."`}, want[:maxHooks-1]...), read()); diff != "" {
		t.Errorf("with the opening of the first, want - got +:\n%s", diff)
	}
}

// TestABriefOfACollectionRestsOnItAlone: on its first videos, in its order, and on no list.
func TestABriefOfACollectionRestsOnItAlone(t *testing.T) {
	t.Parallel()
	const video = `{"id":"vid_%d","platform":"tiktok","source":{"handle":"moka"},"metadata":{},"metrics":{"views":12000,"observedAt":7}}`
	w := &world{credits: 60, views: map[string]string{"outliers": oneOutlier}}
	for i := range 60 {
		v := fmt.Sprintf(video, i)
		w.collected = append(w.collected, `{"found":true,"video":`+v+`,"outlier":{"video":`+v+`,"score":12,"baselineViews":1000,"sampleCount":30,"observedAt":7},"hook":null}`)
	}
	w.collected[1] = `{"found":true,"video":null,"outlier":null,"hook":{"video":` + fmt.Sprintf(video, 1) + `,"spoken":"Stop pouring like this","onScreenText":null,"visual":null}}`
	w.collected[2] = `{"found":false,"video":null,"outlier":null,"hook":null}`
	s := w.service(t, storetest.SQLite(t))
	draft, err := s.Draft(viewer.As(t.Context(), 1), "", "col_a")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range draft.Facts {
		got = append(got, f.Kind+" "+f.ID)
	}
	want := []string{"outlier vid_0"}
	for i := 3; i < 50; i++ {
		want = append(want, fmt.Sprintf("outlier vid_%d", i))
	}
	if diff := cmp.Diff(append(want, "hook vid_1"), got); diff != "" {
		t.Errorf("facts, want - got +:\n%s", diff)
	}
	if len(draft.Sentences) == 0 || len(draft.Notes) != 1 || w.credits != 10 {
		t.Errorf("got %d sentences, notes %q and %d credits, want some, one note and 10", len(draft.Sentences), draft.Notes, w.credits)
	}
	if _, err := s.Draft(viewer.As(t.Context(), 1), "", "col_b"); !apierr.Is(err, apierr.InvalidRequest) || w.credits != 10 {
		t.Errorf("an unknown collection: got %v and %d credits, want invalid_request and 10", err, w.credits)
	}
}
