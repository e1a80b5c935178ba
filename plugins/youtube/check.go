package youtube

import (
	"context"

	"github.com/scrollery/scrollery/plugins/internal/sources"
	"github.com/scrollery/scrollery/plugins/stage"
)

// oldest is the first video of YouTube. A check asks for its id, and does not mind an answer
// without it.
const oldest = "jNQXAC9IVRw"

// check asks for the least that a key is needed for: one unit.
func (s source) check(ctx context.Context, call *stage.Call) (string, error) {
	return sources.Check(ctx, call, func(ctx context.Context, call *stage.Call) (string, error) {
		a, err := s.open(ctx, call)
		if err != nil {
			return "", err
		}
		_, err = a.get(ctx, unitQuota, func() error {
			_, err := a.service.Videos.List([]string{"id"}).Id(oldest).Context(ctx).Do()
			return err
		})
		return "YouTube accepts the API key", err
	})
}
