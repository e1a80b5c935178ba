package library

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/lists"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// TestComputedAnswersAreKeptUntilTheLibraryChanges counts computations. Whatever changes an
// answer has it computed again, by the very next question.
func TestComputedAnswersAreKeptUntilTheLibraryChanges(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.scroll(1, now, followed("1", "c1", "a", now, 100), followed("2", "c2", "b", now, 200))
		times, refused := 0, error(nil)
		compute := func(context.Context, *pb.ExplainTrendRequest) (*pb.ExplainTrendResponse, error) {
			times++
			return &pb.ExplainTrendResponse{Found: true}, refused
		}
		kept := lists.Kept(b.reader, "ExplainTrend", compute)
		ask := func(ctx context.Context, key string) {
			_, _ = kept(ctx, &pb.ExplainTrendRequest{Key: proto.String(key)})
		}
		want := func(n int, when string) {
			t.Helper()
			if times != n {
				t.Errorf("%s: got %d computations, want %d", when, times, n)
			}
			times = n
		}
		ask(b.ctx, "hashtag:a")
		ask(b.ctx, "hashtag:a")
		want(1, "the same question twice")
		ask(b.ctx, "hashtag:b")
		want(2, "another question")
		ask(b.as(8).ctx, "hashtag:a")
		want(3, "another account")
		b.archive(2, now+1, followed("3", "c3", "c", now, 300))
		ask(b.ctx, "hashtag:a")
		want(4, "after a video")
		b.runs.completed = append(b.runs.completed, 2)
		ask(b.ctx, "hashtag:a")
		want(5, "after a scroll that changed nothing")
		b.runs.subject = "website:b.com"
		ask(b.ctx, "hashtag:a")
		want(6, "after the brief's subject changed")
		refused = errors.New("no answer")
		ask(b.ctx, "hashtag:c")
		ask(b.ctx, "hashtag:c")
		want(8, "a question without an answer, twice")
	})
}
