package api_test

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// TestTheClassOfEveryOperation: what an operation is decides its class, and its class what it
// costs.
func TestTheClassOfEveryOperation(t *testing.T) {
	t.Parallel()
	eachOperation(func(method protoreflect.MethodDescriptor, row *scrolleryv1.Operation) {
		pages := method.Output().Fields().ByName("next_page_token") != nil
		switch class := row.GetClass(); {
		case class == scrolleryv1.Class_CLASS_TASK:
		case strings.HasSuffix(row.GetScope(), ":write") || row.GetMethod() == "PUT":
			if class != scrolleryv1.Class_CLASS_CHANGE {
				t.Errorf("%s writes and is %v, want CLASS_CHANGE", row.GetId(), class)
			}
		case pages && class != scrolleryv1.Class_CLASS_LIST:
			t.Errorf("%s answers in pages and is %v, want CLASS_LIST", row.GetId(), class)
		case class == scrolleryv1.Class_CLASS_COMPUTATION && row.GetUnits() != 10:
			t.Errorf("%s is a computation and costs %d units, want 10", row.GetId(), row.GetUnits())
		case class != scrolleryv1.Class_CLASS_COMPUTATION && row.GetMethod() == "GET" && row.GetUnits() > 1:
			t.Errorf("%s is %v and costs %d units, want 1 at most", row.GetId(), class, row.GetUnits())
		}
	})
}

// computations are the paths of all computations, with their examples as parameters.
func computations(t *testing.T) (paths []string) {
	t.Helper()
	eachOperation(func(_ protoreflect.MethodDescriptor, row *scrolleryv1.Operation) {
		if row.GetClass() != scrolleryv1.Class_CLASS_COMPUTATION {
			return
		}
		query, example := url.Values{}, map[string]any{}
		if row.GetExample() != "" {
			if err := json.Unmarshal([]byte(row.GetExample()), &example); err != nil {
				t.Fatal(err)
			}
		}
		for name, value := range example {
			text, _ := json.Marshal(value)
			query.Set(name, strings.Trim(string(text), `"`))
		}
		paths = append(paths, row.GetPath()+"?"+query.Encode())
	})
	if len(paths) < 5 {
		t.Fatalf("got the computations %v, want those of the API", paths)
	}
	return paths
}

// TestComputationsOfOneAccountLeaveAPlace has one account ask for each computation 40 times
// at once: one is computed at a time, and others are served beside it.
func TestComputationsOfOneAccountLeaveAPlace(t *testing.T) {
	t.Parallel()
	for _, path := range computations(t) {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			b := setup(t, func(c *api.Config) { c.ComputeFor = time.Second })
			var mu sync.Mutex
			inside, most := map[string]int{}, 0
			begun, release := make(chan struct{}, 100), make(chan struct{})
			b.fake.do = func(ctx context.Context, request proto.Message) (proto.Message, error) {
				if _, lookup := request.(*scrolleryv1.GetWorkspaceRequest); lookup {
					return nil, nil
				}
				mu.Lock()
				inside["now"]++
				most = max(most, inside["now"])
				mu.Unlock()
				begun <- struct{}{}
				<-release
				mu.Lock()
				inside["now"]--
				mu.Unlock()
				return nil, nil
			}
			replies := make(chan reply, 40)
			for range 40 {
				go func() { replies <- b.call(t, "GET", path, "good", "") }()
			}
			<-begun
			for range 40 - 1 { // of the calls that wait for their place, all end
				got := <-replies
				check(t, "status of a call beyond the place of the account", 429, got.status)
				check(t, "Retry-After", "1", got.header.Get("Retry-After"))
			}
			check(t, "computations of the account", 1, most)
			check(t, "status of a look-up of the same account", 200, b.call(t, "GET", "/v1/workspace", "good", "").status)
			other := make(chan int)
			go func() { other <- b.call(t, "GET", path, "pro", "").status }()
			<-begun // beside the first one, which still runs
			close(release)
			check(t, "status of another account", 200, <-other)
			check(t, "status of the first one", 200, (<-replies).status)
		})
	}
}

type apart struct{}

func TestAComputationEndsAndReadsApart(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) {
		c.ComputeFor = 100 * time.Millisecond
		c.BulkReader = func(ctx context.Context) context.Context { return context.WithValue(ctx, apart{}, true) }
	})
	reads := make(chan bool, 2)
	b.fake.do = func(ctx context.Context, request proto.Message) (proto.Message, error) {
		reads <- ctx.Value(apart{}) != nil
		if _, computes := request.(*scrolleryv1.BacktestTrendsRequest); computes {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return nil, nil
	}
	got := b.call(t, "GET", "/v1/trends/backtest?days=4", "good", "")
	check(t, "status of a computation beyond its time", 503, got.status)
	check(t, "Retry-After", "1", got.header.Get("Retry-After"))
	check(t, "error", string(apierr.TemporaryServiceError), got.json(t)["error"])
	check(t, "a computation reads apart", true, <-reads)
	check(t, "status of a look-up", 200, b.call(t, "GET", "/v1/workspace", "good", "").status)
	check(t, "a look-up reads apart", false, <-reads)
}
