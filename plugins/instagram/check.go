package instagram

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/scrollery/scrollery/plugins/internal/sources"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// check asks for the name of the account that requests are made for.
func (s source) check(ctx context.Context, call *stage.Call) (string, error) {
	return sources.Check(ctx, call, func(ctx context.Context, call *stage.Call) (string, error) {
		g, err := s.open(call)
		if err != nil {
			return "", err
		}
		body, err := g.get(ctx, g.user, url.Values{"fields": {"id,username"}})
		if err != nil {
			return "", err
		}
		var user struct {
			Username site.Text `json:"username"`
		}
		if json.Unmarshal(body, &user) != nil || user.Username == "" {
			return "", &site.Stop{Status: stage.Changed, Detail: "Instagram names no account for the user_id"}
		}
		return "signed in as @" + string(user.Username), nil
	})
}
