package instagram

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/internal/lazy"
	"github.com/scrollery/scrollery/plugins/internal/sources"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// maxPages bounds the requests for one seed: an account may have posted pictures
// for years before its last reel.
const maxPages = 10

// creator is whose posts they are.
type creator struct {
	ID        site.ID    `json:"id"`
	Username  site.Text  `json:"username"`
	Followers site.Count `json:"followers_count"`
}

// posts is a page of posts. Its paging also has whole addresses, with the token in
// them: only the cursor is ever used.
type posts struct {
	Data   *[]json.RawMessage `json:"data"`
	Paging struct {
		Cursors struct {
			After site.Text `json:"after"`
		} `json:"cursors"`
	} `json:"paging"`
}

var (
	handleForm = lazy.Pattern(`^[A-Za-z0-9_.]{1,30}$`)
	// cursorForm keeps a cursor from saying more than a cursor may: it is within
	// the list of fields.
	cursorForm = lazy.Pattern(`^[A-Za-z0-9_=+/|.-]{1,1000}$`)
)

// perPage is the most posts that a page may have.
const perPage = 50

// ofAccounts are the fields that belong to an account; all others are of its posts.
const ofAccounts = "followers_count media_count"

// handleFields are what is asked of an account and its posts. The address of a post holds
// its code, and says of a reel that it is one.
func handleFields() *sources.Names {
	return sources.NewNames([]string{"id", "permalink"}, append(strings.Fields(ofAccounts),
		"view_count", "like_count", "comments_count", "timestamp", "caption", "shortcode", "media_type", "media_product_type"))
}

// reels reads the reels of a handle, the newest first, through business discovery.
func (g *graph) reels(ctx context.Context, handle string, h *haul, pages int) error {
	name := strings.TrimLeft(strings.TrimSpace(handle), "@")
	if !handleForm().MatchString(name) {
		return &site.Stop{Status: stage.Unsupported, Detail: "no account of Instagram can have this name"}
	}
	after, requests := "", 0
	for left := pages * perPage; left > 0; left -= g.size {
		requests++
		by, page, err := g.discover(ctx, name, after)
		if err != nil {
			return err
		}
		if page.Data == nil {
			return nil // an account without a post has no list of them
		}
		if err := h.keep(*page.Data, by, h.reel); err != nil || h.full() {
			return err
		}
		next := string(page.Paging.Cursors.After)
		if next == "" || len(*page.Data) == 0 {
			return nil
		}
		if next == after || !cursorForm().MatchString(next) {
			return &site.Stop{Status: stage.Partial, Detail: "Instagram says that there is more, and does not give it"}
		}
		after = next
	}
	return &site.Stop{Status: stage.Partial, Detail: fmt.Sprintf("there is more after %d requests", requests)}
}

// discover reads one page of an account's posts.
func (g *graph) discover(ctx context.Context, name, after string) (creator, posts, error) {
	from := ""
	if after != "" {
		from = ".after(" + after + ")"
	}
	var body json.RawMessage
	err := g.paged(func() error {
		return g.handles.Ask(func(names []string) error {
			account, media := []string{"id", "username"}, []string{}
			for _, field := range names {
				if slices.Contains(strings.Fields(ofAccounts), field) {
					account = append(account, field)
				} else {
					media = append(media, field)
				}
			}
			fields := fmt.Sprintf("business_discovery.username(%s){%s,media%s.limit(%d){%s}}",
				name, strings.Join(account, ","), from, g.size, strings.Join(media, ","))
			got, err := g.get(ctx, g.user, url.Values{"fields": {fields}})
			if err == nil {
				body = got
			}
			return err
		})
	})
	if err != nil {
		return creator{}, posts{}, err
	}
	var answer struct {
		Discovery *struct {
			creator
			MediaCount site.Count `json:"media_count"`
			Media      posts      `json:"media"`
		} `json:"business_discovery"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.Discovery == nil {
		return creator{}, posts{}, &site.Stop{Status: stage.Changed, Detail: "Instagram's answer has no account"}
	}
	found := answer.Discovery
	if n := found.MediaCount.N; found.Media.Data == nil && n != nil && *n > 0 {
		return creator{}, posts{}, &site.Stop{Status: stage.Changed, Detail: "Instagram's answer has no list of posts"}
	}
	if !handleForm().MatchString(string(found.Username)) {
		found.Username = site.Text(name)
	}
	return found.creator, found.Media, nil
}
