package tiktoktest

import (
	"slices"
	"strings"
	"testing"
)

// What TikTok documents of the interface. The lists are facts of these pages, and the
// double refuses everything else:
//
//   - "Query videos", https://developers.tiktok.com/docs/zh-Hans/research-api-specs-query-videos,
//     updated 2026-09-01. The English page in the same store is older, and still names
//     favourites_count, which the interface has refused since 2024.
//   - "Codebook", https://developers.tiktok.com/docs/zh-Hans/research-api-codebook, updated 2026-09-10.
//   - "Client Access Token Management", https://developers.tiktok.com/doc/client-access-token-management,
//     read 2026-11-29: the form, the members of the answer and of a refusal.
//   - Limits: https://developers.tiktok.com/docs/zh-Hans/research-api-faq, updated 2026-09-01.
//   - ?: which words the message of an unknown field has. The double sends both forms that
//     were seen, see Server.Silent.

// Fields are the names that `fields` may hold.
func Fields() []string {
	return strings.Fields(`id video_description create_time region_code share_count view_count like_count comment_count
		music_id hashtag_names username effect_ids playlist_id voice_to_text is_stem_verified favorites_count
		video_duration hashtag_info_list sticker_info_list effect_info_list video_mention_list video_label video_tag`)
}

// operations are those that a condition on a field may have.
func operations(field string) []string {
	switch field {
	case "create_date":
		return []string{"EQ", "IN", "GT", "GTE", "LT", "LTE"}
	case "username", "region_code", "video_id", "hashtag_name", "keyword", "music_id", "effect_id", "video_length":
		return []string{"EQ", "IN"}
	}
	return nil
}

const (
	// maxCount is the most that max_count may ask for.
	maxCount = 100
	// maxDays is the most days from start_date to end_date.
	maxDays = 30
)

// unknown is the first name that the interface does not have.
func unknown(fields []string) (string, bool) {
	for _, name := range fields {
		if !slices.Contains(Fields(), name) {
			return name, true
		}
	}
	return "", false
}

// listed fails the test for each name that was asked for and is in no list of the page.
func (s *Server) listed(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range s.unlisted {
		t.Errorf("asked for the field %s, which the interface does not have", name)
	}
}
