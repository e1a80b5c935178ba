package library

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// View returns the first page of `hooks`, `outliers` or `trends` as the REST door
// shows it.
func (s *Service) View(ctx context.Context, name string) (json.RawMessage, error) {
	var page api.Rendered
	var err error
	switch name {
	case "hooks":
		page, err = s.read(ctx, viewPage(hooks))
	case "outliers":
		page, err = s.read(ctx, viewPage(outliers))
	case "trends":
		page, err = s.readTrends(ctx, viewPage(trends))
	default:
		return nil, fmt.Errorf("no view %q", name)
	}
	if err != nil {
		return nil, err
	}
	if page.Done != nil {
		defer page.Done()
	}
	return slices.Clone(page.Body), nil
}

func viewPage(l list) page { return page{list: l, limit: defaultLimit} }
