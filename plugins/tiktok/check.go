package tiktok

import (
	"context"
	"errors"

	"github.com/scrollery/scrollery/plugins/internal/sources"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// check asks for a token, which takes nothing from the day's requests. Whether the project has
// the scope of the Research API shows with its first request.
func (s source) check(ctx context.Context, call *stage.Call) (string, error) {
	return sources.Check(ctx, call, func(ctx context.Context, call *stage.Call) (string, error) {
		session, _, err := s.open(call)
		if err != nil {
			return "", err
		}
		err = session.authorize(ctx)
		var passing *failure
		if errors.As(err, &passing) {
			err = &site.Stop{Status: passing.status(), Detail: passing.detail}
		}
		return "TikTok accepts the client key and secret", err
	})
}
