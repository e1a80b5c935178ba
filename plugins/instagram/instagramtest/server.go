// Package instagramtest is a double of Instagram's Graph API, for tests.
//
// It takes the nested fields of business discovery apart as the real one does, refuses the
// fields that the platform's pages do not list, sends what is asked for and no other field, leaves hidden counts out, and puts
// the token into the addresses of its paging. Intercept puts a fault in its way.
package instagramtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// What the double takes.
const (
	Token   = "EAAGtoken/of+the=double"
	User    = "17841406338772941"
	Version = "v25.0"
	Name    = "the.double"
)

// Post is a post's fields, as they are sent.
type Post map[string]any

// Account is a professional account.
type Account struct {
	ID        string
	Followers int
	Posts     []Post // the newest first
}

// Server is the double.
type Server struct {
	*httptest.Server
	Accounts map[string]Account
	// Tags are the posts of each hashtag.
	Tags map[string][]Post
	// Lacks are documented fields that the interface does not have in this version.
	Lacks []string
	// Silent keeps the name of a refused field out of the message.
	Silent bool
	// Most is the largest page that the interface manages; 0 is any.
	Most int
	// Header is sent with every answer.
	Header http.Header
	// Intercept may answer in the double's place, and then says so.
	Intercept func(w http.ResponseWriter, r *http.Request) bool

	mu       sync.Mutex
	asked    []string
	unlisted []string // fields that no page lists
}

// New starts a double. The test fails if it is asked for a field that no page lists.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{Accounts: map[string]Account{}, Tags: map[string][]Post{}, Header: http.Header{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /"+Version+"/"+User, s.discovery)
	mux.HandleFunc("GET /"+Version+"/ig_hashtag_search", s.search)
	mux.HandleFunc("GET /"+Version+"/{tag}/{list}", s.tagged)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.RequestURI())
		s.mu.Unlock()
		maps.Copy(w.Header(), s.Header)
		if s.Intercept != nil && s.Intercept(w, r) {
			return
		}
		if r.Header.Get("Authorization") != "Bearer "+Token {
			Fail(w, 400, 190, "Invalid OAuth access token - Cannot parse access token")
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		s.listed(t)
	})
	return s
}

// Asked are the addresses asked for so far.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Fail answers with an error as the interface does.
func Fail(w http.ResponseWriter, status, code int, message string) {
	w.WriteHeader(status)
	text, _ := json.Marshal(map[string]any{"error": map[string]any{
		"message": message, "type": "OAuthException", "code": code, "fbtrace_id": "Adouble",
	}})
	_, _ = w.Write(text)
}

// Reel is a reel with all of its counts; n makes it one of its own.
func Reel(n int, posted time.Time) Post {
	code := "Cdouble" + strconv.Itoa(n)
	return Post{
		"id": strconv.Itoa(17885103395504675 + n), "shortcode": code, "caption": fmt.Sprintf("Kettle no. %d #kettle #Tea", n),
		"permalink": "https://www.instagram.com/reel/" + code + "/", "timestamp": posted.UTC().Format("2006-01-02T15:04:05+0000"),
		"media_type": "VIDEO", "media_product_type": "REELS", "view_count": 1000 + n, "like_count": 50 + n, "comments_count": n,
	}
}

var discoveryForm = regexp.MustCompile(`^business_discovery\.username\(([A-Za-z0-9_.]+)\)\{([a-z_,]+),media(?:\.after\(([^)]*)\))?\.limit\((\d+)\)\{([a-z_,]+)\}\}$`)

var fieldsForm = regexp.MustCompile(`^[a-z_]+(,[a-z_]+)*$`)

// user answers for the account that requests are made for.
func (s *Server) user(w http.ResponseWriter, fields []string) {
	if message := s.refused(UserFields(), fields); message != "" {
		Fail(w, 400, 100, message)
		return
	}
	account := map[string]any{"id": User, "username": Name}
	maps.DeleteFunc(account, func(name string, _ any) bool { return name != "id" && !slices.Contains(fields, name) })
	send(w, account)
}

func (s *Server) discovery(w http.ResponseWriter, r *http.Request) {
	if fields := r.URL.Query().Get("fields"); fieldsForm.MatchString(fields) {
		s.user(w, strings.Split(fields, ","))
		return
	}
	parts := discoveryForm.FindStringSubmatch(r.URL.Query().Get("fields"))
	if parts == nil {
		Fail(w, 400, 100, "(#100) Tried accessing nonexisting field")
		return
	}
	account, ok := s.Accounts[strings.ToLower(parts[1])]
	if !ok {
		Fail(w, 400, 110, "Invalid user id")
		return
	}
	ofAccount, ofMedia := strings.Split(parts[2], ","), strings.Split(parts[5], ",")
	message := s.refused(AccountFields(), ofAccount)
	if message == "" {
		message = s.refused(MediaFields(), ofMedia)
	}
	if message != "" {
		Fail(w, 400, 100, message)
		return
	}
	page, ok := s.paged(w, account.Posts, parts[3], parts[4], ofMedia)
	if !ok {
		return
	}
	found := map[string]any{
		"id": account.ID, "username": strings.ToLower(parts[1]), "followers_count": account.Followers, "media_count": len(account.Posts),
	}
	maps.DeleteFunc(found, func(name string, _ any) bool { return !slices.Contains(ofAccount, name) })
	if len(account.Posts) > 0 {
		found["media"] = page
	}
	send(w, map[string]any{"business_discovery": found, "id": User})
}

func (s *Server) search(w http.ResponseWriter, r *http.Request) {
	tag := r.URL.Query().Get("q")
	if _, ok := s.Tags[tag]; !ok || r.URL.Query().Get("user_id") != User {
		Fail(w, 400, 24, "The requested resource does not exist")
		return
	}
	names := slices.Sorted(maps.Keys(s.Tags))
	send(w, map[string]any{"data": []any{map[string]any{"id": strconv.Itoa(17841562426109234 + slices.Index(names, tag))}}})
}

func (s *Server) tagged(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.PathValue("tag"))
	names := slices.Sorted(maps.Keys(s.Tags))
	if n -= 17841562426109234; n < 0 || n >= len(names) || !slices.Contains([]string{"top_media", "recent_media"}, r.PathValue("list")) {
		Fail(w, 400, 100, "Unsupported get request")
		return
	}
	query := r.URL.Query()
	fields := strings.Split(query.Get("fields"), ",")
	if message := s.refused(TagFields(), fields); message != "" {
		Fail(w, 400, 100, message)
		return
	}
	if page, ok := s.paged(w, s.Tags[names[n]], query.Get("after"), query.Get("limit"), fields); ok {
		send(w, page)
	}
}

// paged is one page: of each post the fields asked for that it has. If there is none, it
// has answered why.
func (s *Server) paged(w http.ResponseWriter, posts []Post, after, size string, fields []string) (map[string]any, bool) {
	limit, err := strconv.Atoi(size)
	from := 0
	switch {
	case err != nil || limit < 1 || limit > maxPage:
		Fail(w, 400, 100, "(#100) Invalid limit")
		return nil, false
	case s.Most > 0 && limit > s.Most:
		Fail(w, 500, 1, "Please reduce the amount of data you're asking for, then retry your request")
		return nil, false
	}
	if after != "" {
		if _, err := fmt.Sscanf(after, "QVFI%dZD", &from); err != nil || from > len(posts) {
			Fail(w, 400, 100, "(#100) Invalid cursor "+after)
			return nil, false
		}
	}
	to := min(from+limit, len(posts))
	data := []any{}
	for _, post := range posts[from:to] {
		if raw, ok := post["raw"]; ok {
			data = append(data, raw)
			continue
		}
		sent := Post{}
		for _, field := range fields {
			if value, ok := post[field]; ok {
				sent[field] = value
			}
		}
		data = append(data, sent)
	}
	page := map[string]any{"data": data}
	if to < len(posts) {
		page["paging"] = map[string]any{
			"cursors": map[string]any{"after": fmt.Sprintf("QVFI%dZD", to)},
			"next":    "https://graph.facebook.com/v25.0/x?access_token=" + Token,
		}
	}
	return page, true
}

func send(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	_ = json.NewEncoder(w).Encode(value)
}
