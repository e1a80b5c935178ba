// Package youtubetest is a double of the YouTube Data API, for tests.
//
// It takes what the platform's pages list and refuses the rest. It pages, leaves hidden
// counts out, sends counts as strings and only the parts that were asked for. Intercept
// puts a fault in its way.
package youtubetest

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Key is the one that the double takes.
const Key = "AIzaDoubleKey"

// Video is one, in the members of the interface.
type Video struct {
	ID, Title, Description, Channel, ChannelTitle string
	Published, Duration                           string
	// Counts by their names; a hidden one is left out.
	Counts map[string]any
}

// Channel is one; Shorts and Uploads are ids of videos. Without Shorts there is no
// list of them. Subscribers is as the answer has it, left out where it is nil; Hides is
// what hiddenSubscriberCount says.
type Channel struct {
	ID, Handle      string
	Shorts, Uploads []string
	Subscribers     any
	Hides           bool
}

// Server is the double.
type Server struct {
	*httptest.Server
	Channels []Channel
	Videos   map[string]Video
	// Found are the ids that a search finds, by its term.
	Found map[string][]string
	// PerPage is how much a page has; 50 where it is 0.
	PerPage int
	// Lacks are documented parts that the interface has renamed since.
	Lacks []string
	// Silent keeps the name of a refused part out of the message.
	Silent bool
	// NoStats leaves videos.batchGetStats away; Unstated are videos that it leaves out.
	NoStats  bool
	Unstated []string
	// Intercept may answer in the double's place, and then says so.
	Intercept func(w http.ResponseWriter, r *http.Request) bool

	mu       sync.Mutex
	asked    []string
	unlisted []string // what no page lists
}

// New starts a double. The test fails if it is asked for what no page lists.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{Videos: map[string]Video{}, Found: map[string][]string{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		s.onPage(t)
	})
	return s
}

// Asked are the requests so far, as path and query.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

// Count is how often a path was asked for.
func (s *Server) Count(path string) (n int) {
	for _, uri := range s.Asked() {
		if strings.HasPrefix(uri, "/youtube/v3/"+path+"?") {
			n++
		}
	}
	return n
}

// Fail answers with an error as the interface writes it.
func Fail(w http.ResponseWriter, status int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
		"code": status, "message": message,
		"errors": []any{map[string]any{"message": message, "domain": "youtube." + reason, "reason": reason}},
	}})
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.RequestURI())
	s.mu.Unlock()
	if s.Intercept != nil && s.Intercept(w, r) {
		return
	}
	if r.Header.Get("X-Goog-Api-Key") != Key {
		Fail(w, 400, "badRequest", "API key not valid. Please pass a valid API key.")
		return
	}
	path := strings.TrimPrefix(r.URL.Path, "/youtube/v3/")
	if _, known := methods()[path]; !known || s.NoStats && path == "videos:batchGetStats" {
		http.NotFound(w, r)
		return
	}
	if s.refuse(w, r, path) {
		return
	}
	switch path {
	case "channels":
		s.channels(w, r)
	case "playlistItems":
		s.playlist(w, r)
	case "search":
		s.search(w, r)
	case "videos":
		s.videos(w, r)
	case "videos:batchGetStats":
		s.stats(w, r)
	}
}

func answer(w http.ResponseWriter, kind, next string, items []any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	body := map[string]any{"kind": "youtube#" + kind + "ListResponse", "etag": "e", "items": items}
	if items == nil {
		delete(body, "items") // as the real one does
	}
	if next != "" {
		body["nextPageToken"] = next
	}
	_ = json.NewEncoder(w).Encode(body)
}

// listed are the values of a parameter, which may recur and have commas.
func listed(r *http.Request, name string) (values []string) {
	for _, some := range r.URL.Query()[name] {
		values = append(values, strings.Split(some, ",")...)
	}
	return values
}

func (s *Server) channels(w http.ResponseWriter, r *http.Request) {
	ids := listed(r, "id")
	var items []any
	for _, c := range s.Channels {
		if !slices.Contains(ids, c.ID) && !strings.EqualFold("@"+c.Handle, r.FormValue("forHandle")) {
			continue
		}
		item := map[string]any{"kind": "youtube#channel", "etag": "e", "id": c.ID}
		parts := listed(r, "part")
		if slices.Contains(parts, "contentDetails") {
			item["contentDetails"] = map[string]any{"relatedPlaylists": map[string]any{"likes": "", "uploads": "UU" + c.ID[2:]}}
		}
		if slices.Contains(parts, "statistics") {
			counts := map[string]any{"viewCount": "1", "hiddenSubscriberCount": c.Hides}
			if c.Subscribers != nil {
				counts["subscriberCount"] = c.Subscribers
			}
			item["statistics"] = counts
		}
		items = append(items, item)
	}
	answer(w, "channel", "", items)
}

func (s *Server) playlist(w http.ResponseWriter, r *http.Request) {
	id := r.FormValue("playlistId")
	for _, c := range s.Channels {
		ids := c.Uploads
		if id == "UUSH"+c.ID[2:] && c.Shorts != nil {
			ids = c.Shorts
		} else if id != "UU"+c.ID[2:] {
			continue
		}
		page, next := s.page(r, ids)
		var items []any
		for _, id := range page {
			items = append(items, map[string]any{
				"kind": "youtube#playlistItem", "etag": "e", "id": "UE" + id, "contentDetails": map[string]any{"videoId": id},
			})
		}
		answer(w, "playlistItem", next, items)
		return
	}
	Fail(w, 404, "playlistNotFound", "The playlist identified with the request's playlistId parameter cannot be found.")
}

func (s *Server) search(w http.ResponseWriter, r *http.Request) {
	ids := s.Found[r.FormValue("q")]
	if after, err := time.Parse(time.RFC3339, r.FormValue("publishedAfter")); err == nil {
		ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
			at, err := time.Parse(time.RFC3339, s.Videos[id].Published)
			return err == nil && at.Before(after)
		})
	}
	page, next := s.page(r, ids)
	var items []any
	for _, id := range page {
		items = append(items, map[string]any{"kind": "youtube#searchResult", "etag": "e", "id": map[string]any{"kind": "youtube#video", "videoId": id}})
	}
	answer(w, "search", next, items)
}

func (s *Server) page(r *http.Request, ids []string) (page []string, next string) {
	size := s.PerPage
	if size == 0 {
		size, _ = strconv.Atoi(r.FormValue("maxResults"))
	}
	from, _ := strconv.Atoi(r.FormValue("pageToken"))
	from = min(from, len(ids))
	to := min(from+size, len(ids))
	if to < len(ids) {
		next = strconv.Itoa(to)
	}
	return ids[from:to], next
}

func (s *Server) videos(w http.ResponseWriter, r *http.Request) {
	ids := listed(r, "id")
	var items []any
	for _, id := range ids {
		v, ok := s.Videos[id]
		if !ok {
			continue
		}
		items = append(items, parts(r, map[string]any{
			"kind": "youtube#video", "etag": "e", "id": v.ID,
			"snippet": map[string]any{
				"publishedAt": v.Published, "channelId": v.Channel, "channelTitle": v.ChannelTitle, "title": v.Title, "description": v.Description,
			},
			"contentDetails": map[string]any{"duration": v.Duration},
			"statistics":     v.Counts,
		}))
	}
	answer(w, "video", "", items)
}

// parts leaves of an item what was asked for.
func parts(r *http.Request, item map[string]any) map[string]any {
	asked := append(listed(r, "part"), "kind", "etag", "id")
	maps.DeleteFunc(item, func(name string, _ any) bool { return !slices.Contains(asked, name) })
	return item
}

func (s *Server) stats(w http.ResponseWriter, r *http.Request) {
	var items []any
	for _, id := range listed(r, "id") {
		v, ok := s.Videos[id]
		if !ok || slices.Contains(s.Unstated, id) {
			continue
		}
		counts := map[string]any{}
		for _, name := range []string{"viewCount", "likeCount", "commentCount"} {
			if n, ok := v.Counts[name]; ok {
				counts[name] = n
			}
		}
		items = append(items, parts(r, map[string]any{
			"kind": "youtube#videoStats", "etag": "e", "id": v.ID, "statistics": counts,
			"snippet": map[string]any{"publishTime": v.Published}, "contentDetails": map[string]any{"duration": v.Duration},
		}))
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "youtube#batchGetStatsResponse", "etag": "e", "items": items, "summary": map[string]any{}})
}
