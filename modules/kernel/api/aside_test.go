package api_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/fair"
)

// TestACallThatWaitsForAnotherPlaceHoldsNoneHere: those that wait for one of few places, such
// as a planner's, would be all that the server serves.
func TestACallThatWaitsForAnotherPlaceHoldsNoneHere(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.MaxInFlight = 2 })
	places, entered := fair.New(1), make(chan struct{}, 20)
	leave, err := places.Enter(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(leave)
	b.fake.do = func(ctx context.Context, _ proto.Message) (proto.Message, error) {
		entered <- struct{}{}
		leave, err := places.Enter(ctx, 2)
		if err != nil {
			return nil, err
		}
		leave()
		return nil, nil
	}
	const calls = 8
	statuses := make(chan int, calls)
	for range calls {
		go func() { statuses <- b.call(t, "GET", "/v1/workspace", "good", "").status }()
		select {
		case <-entered:
		case <-time.After(5 * time.Second):
			t.Fatal("a call that waits for a place kept another one from being served")
		}
		time.Sleep(20 * time.Millisecond) // until it waits
	}
	waiting := make(chan int)
	go func() { waiting <- b.call(t, "GET", "/v1/nothing", "good", "").status }()
	check(t, "status beside calls that wait for a place", 404, <-waiting)
	leave()
	for range calls {
		check(t, "status of a call that has waited", 200, <-statuses)
	}
	b.fake.do = nil
	for range 3 { // all places are there again
		check(t, "status afterwards", 200, b.call(t, "GET", "/v1/workspace", "good", "").status)
	}
}
