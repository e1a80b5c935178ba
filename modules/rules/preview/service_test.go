package preview

import (
	"context"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/rules"
	"github.com/scrollery/scrollery/plugins/stage"
)

// world has two videos; a rule drops the one that it names.
type world struct {
	// enter, if set, is called by each pass.
	enter func(ctx context.Context) error
}

func (w *world) ID(context.Context) (int64, bool, error) { return 1, true, nil }

func (w *world) Newest(context.Context, int) ([]int64, error) { return []int64{2, 1, 3}, nil }

func (w *world) Records(_ context.Context, ids []int64) (map[int64]stage.Record, error) {
	found := map[int64]stage.Record{}
	for _, id := range ids {
		if id < 3 { // the third is gone meanwhile
			found[id] = stage.Record{Ref: stage.Ref{Platform: "tiktok", ExternalID: string(rune('a' + id))}}
		}
	}
	return found, nil
}

func (w *world) Judge(ctx context.Context, _ string, rules []stage.Rule, read func() func() ([]stage.Record, error)) (map[stage.Ref]stage.Verdict, stage.Summary, error) {
	if w.enter != nil {
		if err := w.enter(ctx); err != nil {
			return nil, stage.Summary{}, err
		}
	}
	verdicts, next := map[stage.Ref]stage.Verdict{}, read()
	for {
		records, err := next()
		if err == io.EOF {
			return verdicts, stage.Summary{Unclear: []string{"be kind", "no b and no fuss (not understood: fuss)"}, Readings: []stage.Reading{{Rule: "c", Text: "drop if text mentions c"}}}, nil
		}
		for _, record := range records {
			verdict := stage.Verdict{Ref: record.Ref}
			for _, rule := range rules {
				if rule.Text == record.ExternalID {
					verdict.DroppedBy = rule.Text
				}
			}
			verdicts[record.Ref] = verdict
		}
	}
}

func setup(t *testing.T, db *store.DB) (*world, *Service, context.Context) {
	t.Helper()
	w, ctx := &world{}, viewer.As(t.Context(), 7)
	current := rules.New(db, w)
	if _, _, err := current.Put(ctx, "- b"); err != nil {
		t.Fatal(err)
	}
	return w, New(current, w, w), ctx
}

func TestTheDifferenceToTheRulesInForce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		_, service, ctx := setup(t, db)
		made, err := service.Preview(ctx, "- c\n- be kind\n- no b and no fuss", "", 10)
		if err != nil {
			t.Fatal(err)
		}
		got := map[int64]string{}
		for i := range made.Videos {
			got[made.Videos[i].VideoID] = made.Videos[i].change()
		}
		if diff := cmp.Diff(map[int64]string{1: newlyKept, 2: newlyDropped}, got); diff != "" {
			t.Errorf("changes, want - got +:\n%s", diff)
		}
		if made.Version != 1 {
			t.Errorf("version in force: got %d, want 1", made.Version)
		}
		unclear := []Unclear{
			{"be kind", "No check could be made of this rule: nothing is dropped by it. Name the words, hashtags, numbers or creators that decide."},
			{"no b and no fuss", "Nothing is dropped by this rule, since a part of it is unclear: not understood: fuss. Write that part anew, or as a rule of its own."},
		}
		if diff := cmp.Diff(unclear, made.Unclear); diff != "" {
			t.Errorf("unclear rules, want - got +:\n%s", diff)
		}
		german := Unclear{"be kind", whys["de"].whole}
		if _, unclear, err := service.Read(ctx, "- c\n- be kind", "de"); err != nil || !slices.Contains(unclear, german) {
			t.Errorf("in German: got %v %v, want %v among them", unclear, err, german)
		}
		if diff := cmp.Diff([]stage.Reading{{Rule: "c", Text: "drop if text mentions c"}}, made.Readings); diff != "" {
			t.Errorf("readings, want - got +:\n%s", diff)
		}
	})
}

func TestATenantRunsOnePreviewAtATime(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w, service, ctx := setup(t, db)
		service.wait = 20 * time.Millisecond
		entered, leave := make(chan struct{}, 1), make(chan struct{})
		w.enter = func(context.Context) error {
			select {
			case entered <- struct{}{}:
				<-leave
			default:
			}
			return nil
		}
		ended := make(chan error, 1)
		go func() {
			_, err := service.Preview(ctx, "- c", "", 10)
			ended <- err
		}()
		for len(entered) == 0 {
			time.Sleep(time.Millisecond) // until it is inside
		}
		if _, err := service.Preview(ctx, "- c", "", 10); !apierr.Is(err, apierr.RateLimited) {
			t.Errorf("a second preview of the tenant: got %v, want rate_limited", err)
		}
		if _, err := service.Preview(viewer.As(t.Context(), 8), "- c", "", 10); err != nil {
			t.Errorf("a preview of another tenant: %v", err)
		}
		close(leave)
		if err := <-ended; err != nil {
			t.Errorf("the first preview: %v", err)
		}
		if _, err := service.Preview(ctx, "- c", "", 10); err != nil {
			t.Errorf("a preview after it: %v", err)
		}
	})
}

func TestAPreviewEndsAtItsDeadline(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w, service, ctx := setup(t, db)
		service.within = 20 * time.Millisecond
		w.enter = func(ctx context.Context) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}
		if _, err := service.Preview(ctx, "- c", "", 10); !apierr.Is(err, apierr.TemporaryServiceError) {
			t.Errorf("got %v, want temporary_service_error", err)
		}
	})
}
