package jobs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

func TestBacklogs(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		now := time.Now()
		err := db.Write(viewer.System(t.Context()), func(ctx context.Context, tx *store.Tx) error {
			for _, job := range []store.Job{
				{Kind: "old", RunAt: now.Add(-time.Minute)}, {Kind: "old"}, {Kind: "new"}, {Kind: "later", RunAt: now.Add(time.Hour)}, {Kind: "soon", RunAt: now.Add(30 * time.Second)},
			} {
				if err := tx.Enqueue(ctx, job); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := jobs.Backlogs(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]int{}
		for _, one := range got {
			counts[one.Kind] = one.Jobs
			if old := one.Kind == "old" && db.Dialect() == store.SQLite; one.Oldest < 0 || one.Oldest > 2*time.Minute || old && one.Oldest < time.Minute {
				t.Errorf("the oldest job of kind %s: got a wait of %v, want 0 to 2 minutes, and on SQLite at least one for old", one.Kind, one.Oldest)
			}
		}
		if diff := cmp.Diff(map[string]int{"old": 2, "new": 1}, counts); diff != "" {
			t.Errorf("jobs that wait (-want +got):\n%s", diff)
		}
	})
}

// TestTheQueueLogsNoRoutine starts and stops a queue at the level info.
func TestTheQueueLogsNoRoutine(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var lines bytes.Buffer
		log := slog.New(slog.NewJSONHandler(&lines, nil))
		done := make(chan struct{})
		queue, err := jobs.NewQueue(db, []jobs.Worker{{Kind: "one", Work: func(context.Context, json.RawMessage) error { close(done); return nil }}}, nil, log)
		if err != nil {
			t.Fatal(err)
		}
		if err := queue.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		err = db.Write(viewer.System(t.Context()), func(ctx context.Context, tx *store.Tx) error { return tx.Enqueue(ctx, store.Job{Kind: "one"}) })
		if err != nil {
			t.Fatal(err)
		}
		<-done
		if err := queue.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if lines.Len() > 0 {
			t.Errorf("a queue that did one job: got these lines in its log, want none:\n%s", lines.String())
		}
	})
}
