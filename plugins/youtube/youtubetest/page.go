package youtubetest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What Google documents of the interface. The lists are facts of these pages, and the double
// refuses everything else:
//
//   - https://developers.google.com/youtube/v3/docs/channels/list, …/playlistItems/list,
//     …/videos/list and …/search/list, read 2026-11-26: parts, parameters, 50 a page.
//   - https://developers.google.com/youtube/v3/docs/videos/batchGetStats, read 2026-11-26: parts and
//     members; at most 50 ids and not atomic, by the description of Google's own clients.
//   - Allowances: https://developers.google.com/youtube/v3/determine_quota_cost, of 2026-06.
//   - Errors: https://developers.google.com/youtube/v3/docs/errors.
//   - ?: the reason of an unknown part. The double sends `unknownPart` with the part in quotes, or
//     without it, see Server.Silent.

// method is what the pages say of a request.
type method struct {
	// parts are the names that `part` may hold, parameters the others that it takes.
	parts, parameters string
	// most is the largest maxResults, and the most ids.
	most int
}

// methods are those that the double answers, by their paths.
func methods() map[string]method {
	return map[string]method{
		"channels": {
			"auditDetails brandingSettings contentDetails contentOwnerDetails id localizations snippet statistics status topicDetails",
			"id forHandle forUsername maxResults pageToken hl", 50,
		},
		"playlistItems": {"contentDetails id snippet status", "id playlistId maxResults pageToken videoId", 50},
		"search": {
			"id snippet", "q type videoDuration order regionCode relevanceLanguage publishedAfter publishedBefore maxResults pageToken" +
				" channelId safeSearch videoCaption videoCategoryId", 50,
		},
		"videos": {
			"contentDetails fileDetails id liveStreamingDetails localizations paidProductPlacementDetails player processingDetails" +
				" recordingDetails snippet statistics status suggestions topicDetails",
			"id chart hl maxHeight maxResults maxWidth pageToken regionCode videoCategoryId", 50,
		},
		"videos:batchGetStats": {"contentDetails id snippet statistics", "id", 50},
	}
}

// values are those that a parameter may have; none is any.
func values(parameter string) string {
	switch parameter {
	case "order":
		return "date rating relevance title videoCount viewCount"
	case "videoDuration":
		return "any long medium short"
	case "type":
		return "channel playlist video"
	}
	return ""
}

// refuse answers a request that the pages do not allow, and reports whether it did.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, path string) bool {
	m := methods()[path]
	for _, part := range listed(r, "part") {
		known := slices.Contains(strings.Fields(m.parts), part)
		if !known {
			s.unknown(path + "?part=" + part)
		}
		if !known || slices.Contains(s.Lacks, part) {
			message := "'" + part + "'"
			if s.Silent {
				message = "Request contains an invalid argument."
			}
			Fail(w, http.StatusBadRequest, "unknownPart", message)
			return true
		}
	}
	for name, given := range r.URL.Query() {
		if slices.Contains([]string{"part", "alt", "prettyPrint", "fields"}, name) { // alt and prettyPrint are every method's
			continue
		}
		if !slices.Contains(strings.Fields(m.parameters), name) {
			s.unknown(path + "?" + name)
			Fail(w, http.StatusBadRequest, "unexpectedParameter", name)
			return true
		}
		if allowed := strings.Fields(values(name)); len(allowed) > 0 && !slices.Contains(allowed, given[0]) {
			Fail(w, http.StatusBadRequest, "invalidParameter", "Invalid value for "+name)
			return true
		}
	}
	return s.tooMuch(w, r, m.most)
}

// tooMuch refuses values that are out of bounds.
func (s *Server) tooMuch(w http.ResponseWriter, r *http.Request, most int) bool {
	size, err := strconv.Atoi(r.FormValue("maxResults"))
	if r.Form.Has("maxResults") && (err != nil || size < 0 || size > most) {
		Fail(w, http.StatusBadRequest, "invalidParameter", "Invalid value for maxResults")
		return true
	}
	if len(listed(r, "id")) > most {
		Fail(w, http.StatusBadRequest, "invalidFilters", "too many ids")
		return true
	}
	if _, err := time.Parse(time.RFC3339, r.FormValue("publishedAfter")); r.Form.Has("publishedAfter") && err != nil {
		Fail(w, http.StatusBadRequest, "invalidParameter", "Invalid value for publishedAfter")
		return true
	}
	return false
}

func (s *Server) unknown(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unlisted = append(s.unlisted, what)
}

// onPage fails the test for whatever was asked for and is in no list above.
func (s *Server) onPage(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, what := range s.unlisted {
		t.Errorf("asked for %s, which the interface does not have", what)
	}
}
