package instagram

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"unicode"

	"github.com/scrollery/scrollery/plugins/internal/sources"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

const (
	tagFields = "id,caption,media_type,permalink,timestamp,like_count,comments_count"
	// maxTagPages bounds the requests for one list of a hashtag.
	maxTagPages = 4
)

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

// tagOf is a term as a hashtag with a letter; empty where it makes none.
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
	for range maxTagPages {
		parameters := url.Values{"user_id": {g.user}, "fields": {tagFields}, "limit": {"50"}}
		if after != "" {
			parameters.Set("after", after)
		}
		body, err := g.get(ctx, path, parameters)
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
