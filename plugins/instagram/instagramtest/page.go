package instagramtest

import (
	"slices"
	"strings"
	"testing"
)

// What Meta documents of the interface. The lists are facts of these pages, and the double
// refuses everything else:
//
//   - "IG User Business Discovery", https://developers.facebook.com/documentation/instagram-platform/instagram-graph-api/reference/ig-user/business_discovery,
//     updated 2026-08-12.
//   - "IG Media", https://developers.facebook.com/documentation/instagram-platform/reference/instagram-media,
//     updated 2026-06-22: view_count is there through business discovery alone.
//   - "IG Hashtag Recent Media" and "Top Media", https://developers.facebook.com/documentation/instagram-platform/instagram-graph-api/reference/ig-hashtag/recent-media,
//     read 2026-11-26: at most 50 a page, 30 hashtags in 7 days, no username, only an after cursor.
//   - "IG User", https://developers.facebook.com/documentation/instagram-platform/instagram-graph-api/reference/ig-user,
//     updated 2026-04-22: fields of the account itself.
//   - ?: shortcode through business discovery; no page that could be read lists it apart.

// AccountFields are those of an account that business discovery expands.
func AccountFields() []string {
	return strings.Fields("id username name biography website followers_count follows_count media_count profile_picture_url")
}

// UserFields are those of the account that requests are made for.
func UserFields() []string {
	return strings.Fields("biography followers_count follows_count id media_count name profile_picture_url username website")
}

// MediaFields are those of a post in business discovery.
func MediaFields() []string {
	return strings.Fields(`id caption permalink shortcode timestamp media_type media_product_type media_url thumbnail_url
		view_count like_count comments_count username children owner`)
}

// TagFields are those of a post of a hashtag.
func TagFields() []string {
	return strings.Fields("id caption children comments_count like_count media_type media_url permalink timestamp")
}

// maxPage is the most posts that a page may have.
const maxPage = 50

// refused is the message about the first field that the interface does not have; empty for
// none.
func (s *Server) refused(listed, fields []string) string {
	for _, field := range fields {
		if !slices.Contains(listed, field) {
			s.mu.Lock()
			s.unlisted = append(s.unlisted, field)
			s.mu.Unlock()
		} else if !slices.Contains(s.Lacks, field) {
			continue
		}
		if s.Silent {
			return "(#100) Invalid parameter"
		}
		return "(#100) Tried accessing nonexisting field (" + field + ") on node type (IGMedia)"
	}
	return ""
}

// listed fails the test for each field that was asked for and is in no list above.
func (s *Server) listed(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range s.unlisted {
		t.Errorf("asked for the field %s, which the interface does not have", name)
	}
}
