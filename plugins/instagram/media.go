package instagram

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/formats"
	"github.com/scrollery/scrollery/plugins/internal/lazy"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// media is one post as the interface sends it. A count that its creator hides is
// left out.
type media struct {
	ID        site.ID    `json:"id"`
	Shortcode site.Text  `json:"shortcode"`
	Caption   site.Text  `json:"caption"`
	Permalink site.Text  `json:"permalink"`
	Timestamp site.Text  `json:"timestamp"`
	Type      site.Text  `json:"media_type"`
	Product   site.Text  `json:"media_product_type"`
	Views     site.Count `json:"view_count"`
	Likes     site.Count `json:"like_count"`
	Comments  site.Count `json:"comments_count"`
}

// metadata is what the library keeps of it, under the library's names.
type metadata struct {
	Caption   string   `json:"caption"`
	Hashtags  []string `json:"hashtags,omitempty"`
	MediaID   string   `json:"mediaId,omitempty"`
	Followers *int64   `json:"creatorFollowers,omitempty"`
	Interface string   `json:"interface"`
}

// stampLayout has no colon in the zone.
const stampLayout = "2006-01-02T15:04:05-0700"

var (
	codeForm = lazy.Pattern(`^[A-Za-z0-9_-]{5,40}$`)
	reelForm = lazy.Pattern(`instagram\.com/(?:[A-Za-z0-9_.]+/)?reels?/`)
	linkForm = lazy.Pattern(`instagram\.com/(?:[A-Za-z0-9_.]+/)?(?:reels?|p|tv)/([A-Za-z0-9_-]{5,40})`)
)

// code is the public name of a post; its id means something to the asker alone. Empty if
// there is none.
func (m media) code() string {
	if code := string(m.Shortcode); codeForm().MatchString(code) {
		return code
	}
	if parts := linkForm().FindStringSubmatch(string(m.Permalink)); parts != nil {
		return parts[1]
	}
	return ""
}

// record is the post as stages pass it on. The interface has no shares and saves of
// others' posts; views are paid and organic ones together.
func (m media) record(by creator) stage.Record {
	record := stage.Record{
		Ref:       stage.Ref{Platform: platform, ExternalID: m.code()},
		SourceURL: "https://www.instagram.com/reel/" + m.code() + "/",
		CreatorID: string(by.ID),
		Metrics:   stage.Metrics{Views: m.Views.N, Likes: m.Likes.N, Comments: m.Comments.N, Followers: by.Followers.N},
	}
	if m.Views.N != nil {
		record.Metrics.Semantics = "paid_and_organic"
	}
	if by.Username != "" {
		record.Source = &stage.Source{Handle: string(by.Username)}
	}
	if at, err := time.Parse(stampLayout, string(m.Timestamp)); err == nil {
		posted := at.UnixMilli()
		record.PostedAt = &posted
	}
	record.Metadata, _ = json.Marshal(metadata{
		Caption: string(m.Caption), Hashtags: formats.Hashtags(string(m.Caption)), MediaID: string(m.ID),
		Followers: by.Followers.N, Interface: "graph",
	}) // text and numbers always encode
	return record
}

// haul is what one seed brings.
type haul struct {
	limit int
	// take is given a post as often as it comes.
	take func(stage.Record) error

	seen    map[string]bool
	unnamed int
	// untyped counts videos of which the interface does not say whether they are reels.
	untyped int
}

func (h *haul) full() bool { return len(h.seen) >= h.limit }

// keep takes the fitting posts of a page.
func (h *haul) keep(page []json.RawMessage, by creator, fits func(media) bool) error {
	for _, raw := range page {
		var m media
		if json.Unmarshal(raw, &m) != nil {
			h.unnamed++
			continue
		}
		if !fits(m) {
			continue
		}
		code := m.code()
		if code == "" {
			h.unnamed++
			continue
		}
		if h.full() {
			return nil
		}
		if err := h.take(m.record(by)); err != nil {
			return err
		}
		h.seen[code] = true
	}
	return nil
}

// missing says what could not be read.
func (h *haul) missing() error {
	switch {
	case h.untyped > 0 && len(h.seen) == 0:
		return &site.Stop{Status: stage.Changed, Detail: fmt.Sprintf("Instagram does not say which of %d videos are reels", h.untyped)}
	case h.unnamed+h.untyped > 0:
		return &site.Stop{Status: stage.Partial, Detail: fmt.Sprintf("%d posts had no code, or no kind, that could be read", h.unnamed+h.untyped)}
	}
	return nil
}

// reel reports whether a post is a reel; its address may say so too. It counts videos of an
// unknown kind.
func (h *haul) reel(m media) bool {
	if m.Product != "" {
		return m.Product == "REELS"
	}
	if reelForm().MatchString(string(m.Permalink)) {
		return true
	}
	if strings.EqualFold(string(m.Type), "VIDEO") {
		h.untyped++
	}
	return false
}
