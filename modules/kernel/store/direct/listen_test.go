package direct_test

import (
	"context"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/scrollery/scrollery/modules/kernel/store/direct"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// TestListenersServeSeveralAtOnce: River starts to listen to its topics from a goroutine
// each. The race detector looks on.
func TestListenersServeSeveralAtOnce(t *testing.T) {
	cfg, err := pgx.ParseConfig(storetest.EmptyPostgresConfig(t).DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := direct.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	l := direct.Driver{Driver: riverpgxv5.New(nil), Conn: conn}.GetListener(&riverdriver.GetListenenerParams{})
	if err := l.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	topics := []string{"control", "insert", "leadership", "request"}
	var all sync.WaitGroup
	for _, topic := range topics {
		all.Go(func() {
			if err := l.Listen(t.Context(), topic); err != nil {
				t.Errorf("listen to %s: %v", topic, err)
			}
		})
	}
	all.Wait()
	for _, topic := range topics {
		err := conn.Use(t.Context(), func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "SELECT pg_notify(current_schema() || '.' || $1, 'now')", topic)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.WaitForNotification(t.Context())
		if err != nil || got.Topic != topic || got.Payload != "now" {
			t.Errorf("got %+v and %v, want the topic %s", got, err, topic)
		}
	}
	if err := l.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
