package instagram

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/scrollery/scrollery/plugins/internal/sources"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// maxTagPages bounds the full pages that one list of a hashtag is asked for.
const maxTagPages = 4

// tagFields are what is asked of a post of a hashtag. Only media_type says what is a video.
func tagFields() *sources.Names {
	return sources.NewNames([]string{"id", "permalink", "media_type"}, []string{"like_count", "comments_count", "timestamp", "caption"})
}

// tagged reads the videos of a hashtag: the top ones, then those of the last day.
// They come without views and without a name.
func (g *graph) tagged(ctx context.Context, term string, h *haul) error {
	tag := tagOf(term)
	if tag == "" {
		return &site.Stop{Status: stage.Unsupported, Detail: "this term makes no hashtag"}
	}
	// A hashtag that was asked for within the week costs nothing more, so that one
	// which is refused does not end the others.
	if err := g.call.SpendOn(ctx, "hashtags", tag); err != nil {
		return site.OverQuota(err, site.Seed)
	}
	id, err := g.hashtag(ctx, tag)
	if err != nil {
		return err
	}
	for _, list := range []string{"top_media", "recent_media"} {
		if err := g.list(ctx, id+"/"+list, h); err != nil || h.full() {
			return err
		}
	}
	return nil
}

// tagOf is a term as a hashtag with a letter; empty if it makes none.
func tagOf(term string) string {
	tag := sources.Tag(term)
	if len(tag) > 200 || !strings.ContainsFunc(tag, unicode.IsLetter) {
		return ""
	}
	return tag
}

// hashtag is the id of a hashtag.
func (g *graph) hashtag(ctx context.Context, tag string) (string, error) {
	body, err := g.get(ctx, "ig_hashtag_search", url.Values{"user_id": {g.user}, "q": {tag}})
	if err != nil {
		return "", err
	}
	var answer struct {
		Data *[]struct {
			ID site.ID `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.Data == nil {
		return "", &site.Stop{Status: stage.Changed, Detail: "Instagram's answer has no list of hashtags"}
	}
	for _, found := range *answer.Data {
		if found.ID != "" {
			return string(found.ID), nil
		}
	}
	return "", &site.Stop{Status: stage.NotFound, Detail: "Instagram does not know this hashtag"}
}

// list reads one list of a hashtag.
func (g *graph) list(ctx context.Context, path string, h *haul) error {
	after := ""
	for left := maxTagPages * perPage; left > 0; left -= g.size {
		body, err := g.listed(ctx, path, after)
		if err != nil {
			return err
		}
		var page posts
		if json.Unmarshal(body, &page) != nil || page.Data == nil {
			return &site.Stop{Status: stage.Changed, Detail: "Instagram's answer has no list of posts"}
		}
		video := func(m media) bool { return strings.EqualFold(string(m.Type), "VIDEO") }
		if err := h.keep(*page.Data, creator{}, video); err != nil || h.full() {
			return err
		}
		next := string(page.Paging.Cursors.After)
		if next == "" || next == after || len(*page.Data) == 0 {
			return nil
		}
		after = next
	}
	return nil
}

// listed is one page of a list.
func (g *graph) listed(ctx context.Context, path, after string) (body json.RawMessage, err error) {
	err = g.paged(func() error {
		return g.tags.Ask(func(names []string) error {
			parameters := url.Values{"user_id": {g.user}, "fields": {strings.Join(names, ",")}, "limit": {strconv.Itoa(g.size)}}
			if after != "" {
				parameters.Set("after", after)
			}
			got, err := g.get(ctx, path, parameters)
			if err == nil {
				body = got
			}
			return err
		})
	})
	return body, err
}
