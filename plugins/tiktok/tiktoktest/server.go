// Package tiktoktest is a double of TikTok's Research API, for tests.
//
// It takes what the platform's page lists and refuses the rest, as the real one does: the
// token, the dates, each field, the conditions, the cursor against the search. Pages overlap, since
// the real ones do. Intercept puts a fault in its way.
package tiktoktest

import (
	"encoding/json"
	"fmt"
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

// The credentials that the double takes.
const (
	Key    = "key-of-the-double"
	Secret = "secret-of-the-double"
)

// Video is one that the double has; its JSON is sent as it is.
type Video struct {
	ID       int64
	Username string
	Region   string
	Caption  string
	Tags     []string
	Stickers []string
	Created  time.Time
	// Body replaces what follows from the above.
	Body string
}

// Condition and Query are what is asked.
type Condition struct {
	Operation string   `json:"operation"`
	Field     string   `json:"field_name"`
	Values    []string `json:"field_values"`
}

// Query is a request of videos.
type Query struct {
	Query    struct{ And, Or, Not []Condition }
	Start    string `json:"start_date"`
	End      string `json:"end_date"`
	MaxCount int    `json:"max_count"`
	Cursor   int    `json:"cursor"`
	SearchID string `json:"search_id"`
}

// Server is the double.
type Server struct {
	*httptest.Server
	// Overlap is how many videos of a page come again on the next one.
	Overlap int
	// PerPage caps a page below what was asked for; 0 does not.
	PerPage int
	// Lacks are documented fields that the interface has renamed since.
	Lacks []string
	// Silent keeps the name of a refused field out of the message.
	Silent bool
	// Intercept may answer in the double's place, and then says so.
	Intercept func(w http.ResponseWriter, r *http.Request, q Query) bool

	mu       sync.Mutex
	videos   []Video
	tokens   map[string]bool
	searches map[string]string // the query behind each search id
	asked    []Query
	unlisted []string // fields that no page lists
	granted  int
}

// New starts a double that has these videos. The test fails if it is asked for a field that
// no page lists.
func New(t testing.TB, videos ...Video) *Server {
	t.Helper()
	s := &Server{videos: slices.Clone(videos), tokens: map[string]bool{}, searches: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v2/oauth/token/", s.token)
	mux.HandleFunc("POST /v2/research/video/query/", s.query)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		s.listed(t)
	})
	return s
}

// Asked are the queries so far.
func (s *Server) Asked() []Query {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Tokens is how many tokens were given out.
func (s *Server) Tokens() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.granted
}

// Revoke ends all tokens.
func (s *Server) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// Drop takes a video away, as its creator does.
func (s *Server) Drop(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.videos = slices.DeleteFunc(s.videos, func(v Video) bool { return v.ID == id })
}

// Fail answers with an error as the interface does.
func Fail(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"code":%q,"message":%q,"log_id":"20260101000000DOUBLE"}}`, code, message)
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("client_key") != Key || r.FormValue("client_secret") != Secret || r.FormValue("grant_type") != "client_credentials" {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":"invalid_client","error_description":"Client key or secret is incorrect.","log_id":"1"}`)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.granted++
	token := fmt.Sprintf("clt.double%d", s.granted)
	s.tokens[token] = true
	fmt.Fprintf(w, `{"access_token":%q,"expires_in":7200,"token_type":"Bearer"}`, token)
}

func (s *Server) query(w http.ResponseWriter, r *http.Request) {
	var q Query
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		Fail(w, 400, "invalid_params", "The request body is no JSON")
		return
	}
	s.mu.Lock()
	known := s.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	s.asked = append(s.asked, q)
	s.mu.Unlock()
	if s.Intercept != nil && s.Intercept(w, r, q) {
		return
	}
	if !known {
		Fail(w, 401, "access_token_invalid", "The access token is invalid or not found in the request.")
		return
	}
	fields := strings.Split(r.URL.Query().Get("fields"), ",")
	fault := q.fault(fields)
	if fault == "" {
		fault = s.refused(fields)
	}
	if fault != "" {
		Fail(w, 400, "invalid_params", fault)
		return
	}
	s.answer(w, q, fields)
}

// refused is the message about a field that the interface does not have; empty for none.
func (s *Server) refused(fields []string) string {
	name, found := unknown(fields)
	if found {
		s.mu.Lock()
		s.unlisted = append(s.unlisted, name)
		s.mu.Unlock()
	}
	for _, field := range fields {
		if !found && slices.Contains(s.Lacks, field) {
			name, found = field, true
		}
	}
	switch {
	case !found:
		return ""
	case s.Silent:
		return "Invalid fields in the request"
	}
	return "The field " + name + " is invalid"
}

// fault is what the interface would not take.
func (q Query) fault(fields []string) string {
	start, err := time.Parse("20060102", q.Start)
	end, failed := time.Parse("20060102", q.End)
	switch {
	case err != nil || failed != nil || end.Before(start) || end.Sub(start) > maxDays*24*time.Hour:
		return "Invalid start_date or end_date"
	case end.After(time.Now().Add(24 * time.Hour)):
		return "Invalid end_date"
	case q.MaxCount < 1 || q.MaxCount > maxCount || q.Cursor < 0:
		return "Invalid count or cursor"
	case slices.Contains(fields, ""):
		return "The fields parameter is required"
	case len(q.Query.And)+len(q.Query.Or) == 0:
		return "Invalid query"
	}
	for _, c := range slices.Concat(q.Query.And, q.Query.Or, q.Query.Not) {
		if !slices.Contains(operations(c.Field), c.Operation) || len(c.Values) == 0 || c.Operation != "IN" && len(c.Values) > 1 {
			return "Invalid query: " + c.Field
		}
	}
	return ""
}

func (s *Server) answer(w http.ResponseWriter, q Query, fields []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	same, _ := json.Marshal([]any{q.Query, q.Start, q.End})
	if q.SearchID == "" {
		if q.Cursor > 0 {
			Fail(w, 400, "invalid_params", "Invalid count or cursor")
			return
		}
		q.SearchID = strconv.Itoa(7354367454467855403 + len(s.searches))
		s.searches[q.SearchID] = string(same)
	} else if s.searches[q.SearchID] != string(same) {
		Fail(w, 400, "invalid_params", "Search Id "+q.SearchID+" is invalid or expired")
		return
	}
	var hits []Video
	for _, v := range s.videos {
		if q.fits(v) {
			hits = append(hits, v)
		}
	}
	slices.SortStableFunc(hits, func(a, b Video) int { return b.Created.Compare(a.Created) })
	count := q.MaxCount
	if s.PerPage > 0 {
		count = min(count, s.PerPage)
	}
	from := min(q.Cursor, len(hits))
	to := min(from+count, len(hits))
	next := to
	if to < len(hits) {
		next = max(to-s.Overlap, from+1)
	}
	bodies := []string{}
	for _, v := range hits[from:to] {
		bodies = append(bodies, v.body(fields))
	}
	fmt.Fprintf(w, `{"data":{"search_id":%q,"videos":[%s],"cursor":%d,"has_more":%t},"error":{"code":"ok","message":"","log_id":"1"}}`,
		q.SearchID, strings.Join(bodies, ","), next, to < len(hits))
}

func (q Query) fits(v Video) bool {
	if at := v.Created.UTC().Format("20060102"); at < q.Start || at > q.End {
		return false
	}
	for _, c := range q.Query.And {
		if !c.fits(v) {
			return false
		}
	}
	return len(q.Query.Or) == 0 || slices.ContainsFunc(q.Query.Or, func(c Condition) bool { return c.fits(v) })
}

func (c Condition) fits(v Video) bool {
	switch c.Field {
	case "username":
		return slices.Contains(c.Values, v.Username)
	case "region_code":
		return slices.Contains(c.Values, v.Region)
	case "video_id":
		return slices.Contains(c.Values, strconv.FormatInt(v.ID, 10))
	case "hashtag_name":
		return slices.Contains(v.Tags, c.Values[0])
	}
	return strings.Contains(strings.ToLower(v.Caption), strings.ToLower(c.Values[0]))
}

// body has the fields that were asked for, as far as the video has them.
func (v Video) body(fields []string) string {
	if v.Body != "" {
		return v.Body
	}
	stickers := []map[string]any{}
	for n, text := range v.Stickers {
		stickers = append(stickers, map[string]any{"sticker_id": n + 1, "sticker_name": text})
	}
	all := map[string]any{
		"id": v.ID, "username": v.Username, "region_code": v.Region, "video_description": v.Caption, "hashtag_names": v.Tags,
		"create_time": v.Created.Unix(), "view_count": 100, "like_count": 140, "comment_count": 3, "share_count": 0,
		"favorites_count": 5, "music_id": 7159460238003800066, "sticker_info_list": stickers,
	}
	maps.DeleteFunc(all, func(name string, _ any) bool { return !slices.Contains(fields, name) })
	text, _ := json.Marshal(all)
	return string(text)
}

// At is the id of the nth video of a second, as TikTok makes them: the second is
// its upper half.
func At(created time.Time, n int) int64 { return created.Unix()<<32 | int64(n)<<8 | 235 }
