// Package feedtest is a double of the public feeds of YouTube's channels, for tests.
//
// It answers what the site is known to answer and refuses the rest, which fails the test:
//
//   - Address and form of a feed, and that it has the newest 15:
//     https://developers.google.com/youtube/v3/guides/push_notifications (the topic
//     https://www.youtube.com/xml/feeds/videos.xml?channel_id=…), read 2026-11-26, and a recorded
//     answer of https://www.youtube.com/feeds/videos.xml?channel_id=… of 2026-02-20: the id of the
//     feed's own channel is without UC, those of entries have it.
//   - playlist_id=UUSH… has the Shorts: https://github.com/nkanaev/yarr/issues/239 (2025-01) and
//     https://github.com/iv-org/invidious/issues/5749 (2026-05). A Short in a channel's own feed may
//     be without /shorts/ in its link: amatya-aditya/obsidian-rss-dashboard #37 (2026-03).
//   - Spells of 404 and 500: https://github.com/FreshRSS/FreshRSS/issues/9304 (2026).
//   - ?: whether the site sends an ETag. The double does where Tagged is set.
package feedtest

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// most is how many entries a feed has.
const most = 15

// Channel is one. Without Shorts it has no list of them.
type Channel struct {
	// ID with UC, and the handle without @.
	ID, Handle string
	Shorts     []Video
	// Videos are those of the channel's own feed.
	Videos []Video
}

// Video is one. Likes and Views below 0 are left out.
type Video struct {
	ID, Title, Description string
	Published              time.Time
	Views, Likes           int64
	// Watch: its link is that of any video.
	Watch bool
}

// Server is the double.
type Server struct {
	*httptest.Server
	Channels []Channel
	// Tagged feeds have an ETag, and are not sent again while they are the same.
	Tagged bool
	// Consent: pages of handles send callers without a cookie to the notice.
	Consent bool
	// Extra is put into each entry: a member that no one knows.
	Extra string
	// Intercept may answer in the double's place, and then says so.
	Intercept func(w http.ResponseWriter, r *http.Request) bool

	mu          sync.Mutex
	asked       []string
	unlisted    []string
	now, atOnce int
}

// New starts a double. The test fails if it is asked for what the site does not have, or for two
// things at once.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		for _, what := range s.unlisted {
			t.Errorf("asked for %s, which the site does not have", what)
		}
		if s.atOnce > 1 {
			t.Errorf("%d requests at once, want 1", s.atOnce)
		}
	})
	return s
}

// Asked are the requests so far, as path and query.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.RequestURI())
	s.now++
	s.atOnce = max(s.atOnce, s.now)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.now--
		s.mu.Unlock()
	}()
	if s.Intercept != nil && s.Intercept(w, r) {
		return
	}
	handle, page := strings.CutPrefix(r.URL.Path, "/@")
	query := r.URL.Query()
	switch {
	case r.Method != http.MethodGet, r.URL.Path != "/feeds/videos.xml" && (!page || len(query) > 0), r.URL.Path == "/feeds/videos.xml" && len(query) != 1:
		s.refuse(w, r)
	case page:
		s.page(w, r, handle)
	case query.Has("playlist_id") && strings.HasPrefix(query.Get("playlist_id"), "UUSH"):
		s.feed(w, r, "UC"+strings.TrimPrefix(query.Get("playlist_id"), "UUSH"), func(c Channel) []Video { return c.Shorts })
	case query.Has("channel_id"):
		s.feed(w, r, query.Get("channel_id"), func(c Channel) []Video { return c.Videos })
	default:
		s.refuse(w, r)
	}
}

func (s *Server) refuse(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.unlisted = append(s.unlisted, r.Method+" "+r.URL.RequestURI())
	s.mu.Unlock()
	http.Error(w, "Bad Request", http.StatusBadRequest)
}

// page is that of a handle, whose letters may be large or small.
func (s *Server) page(w http.ResponseWriter, r *http.Request, handle string) {
	if s.Consent && !strings.Contains(r.Header.Get("Cookie"), "SOCS=") {
		http.Redirect(w, r, "https://consent.youtube.com/m?continue=x", http.StatusFound)
		return
	}
	for _, c := range s.Channels {
		if strings.EqualFold(c.Handle, handle) {
			_, _ = fmt.Fprintf(w, `<!DOCTYPE html><html><head><title>%s</title><meta name="x" content="UCnotthischannelxxxxxxxx">`+
				`<link rel="canonical" href="https://www.youtube.com/channel/%s"></head><body></body></html>`, c.Handle, c.ID)
			return
		}
	}
	http.NotFound(w, r)
}

func (s *Server) feed(w http.ResponseWriter, r *http.Request, id string, of func(Channel) []Video) {
	at := slices.IndexFunc(s.Channels, func(c Channel) bool { return c.ID == id })
	if at < 0 || of(s.Channels[at]) == nil {
		http.NotFound(w, r)
		return
	}
	body := s.Feed(s.Channels[at], "http://www.youtube.com"+r.URL.RequestURI(), of(s.Channels[at]))
	if s.Tagged {
		tag := fmt.Sprintf(`"%x"`, len(body)+strings.Count(body, "7")<<20)
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.Header().Set("Content-Type", "text/xml; charset=UTF-8")
	_, _ = w.Write([]byte(body))
}

// Feed is a feed as the site writes it.
func (s *Server) Feed(c Channel, self string, videos []Video) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns:yt="http://www.youtube.com/xml/schemas/2015" xmlns:media="http://search.yahoo.com/mrss/" xmlns="http://www.w3.org/2005/Atom">
 <link rel="self" href="%s"/>
 <id>yt:channel:%[2]s</id>
 <yt:channelId>%[2]s</yt:channelId>
 <title>%[3]s</title>
`, self, strings.TrimPrefix(c.ID, "UC"), c.Handle)
	for _, v := range videos[:min(len(videos), most)] {
		link := "https://www.youtube.com/shorts/" + v.ID
		if v.Watch {
			link = "https://www.youtube.com/watch?v=" + v.ID
		}
		fmt.Fprintf(&b, ` <entry>
  <id>yt:video:%[1]s</id><yt:videoId>%[1]s</yt:videoId><yt:channelId>%[2]s</yt:channelId><title>%[3]s</title>
  <link rel="alternate" href="%[4]s"/><author><name>%[5]s</name><uri>https://www.youtube.com/channel/%[2]s</uri></author>
  <published>%[6]s</published><updated>%[6]s</updated>%[7]s
  <media:group><media:title>%[3]s</media:title><media:description>%[8]s</media:description><media:community>`,
			v.ID, c.ID, escaped(v.Title), link, c.Handle, v.Published.Format(time.RFC3339), s.Extra, escaped(v.Description))
		if v.Likes >= 0 {
			fmt.Fprintf(&b, `<media:starRating count="%d" average="5.00" min="1" max="5"/>`, v.Likes)
		}
		if v.Views >= 0 {
			fmt.Fprintf(&b, `<media:statistics views="%d"/>`, v.Views)
		}
		b.WriteString("</media:community></media:group></entry>\n")
	}
	b.WriteString("</feed>\n")
	return b.String()
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}

// Watched returns channels with 15 Shorts each, of which the eighth has ten times the views of the
// others. Names have at least three letters.
func Watched(names ...string) (all []Channel) {
	for n, name := range names {
		c := Channel{ID: fmt.Sprintf("UC%022d", n), Handle: name}
		for i := range 15 {
			views := int64(10_000 + 100*i)
			if i == 7 {
				views *= 10
			}
			c.Shorts = append(c.Shorts, Video{
				ID: fmt.Sprintf("%s%07d", name[:3], i), Title: fmt.Sprintf("%s %d", name, i), Published: time.Now().Add(-time.Duration(i+8) * 24 * time.Hour).UTC().Truncate(time.Second),
				Views: views, Likes: views / 20,
			})
		}
		all = append(all, c)
	}
	return all
}

// Troubled returns a slow double of the channel ada, with 15 Shorts, and of one channel for each way in
// which the site fails, and the outcome that each of those should have, by its handle.
func Troubled(t testing.TB) (s *Server, want map[string]string) {
	t.Helper()
	s = New(t)
	s.Channels = Watched("ada", "bob", "cyd", "dan", "eve", "fay", "gus")
	faults := map[string]http.HandlerFunc{}
	feed := func(n int, answer http.HandlerFunc) { faults[strings.TrimPrefix(s.Channels[n].ID, "UC")] = answer }
	feed(1, http.NotFound) // a spell
	feed(2, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://elsewhere.example/", http.StatusFound)
	})
	feed(3, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat("<!-- -->", 1<<20)))
	})
	feed(4, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><entry><title>&nbsp;</title></feed>`))
	})
	s.Channels[6].Handle = "gus.coffee" // and its former handle has no page any more
	s.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
		time.Sleep(100 * time.Millisecond)
		if r.URL.Path == "/@fay" {
			http.Redirect(w, r, "https://consent.youtube.com/m", http.StatusFound)
			return true
		}
		for id, answer := range faults {
			if strings.HasSuffix(r.URL.RawQuery, id) {
				answer(w, r)
				return true
			}
		}
		return false
	}
	return s, map[string]string{"bob": "blocked", "cyd": "blocked", "dan": "blocked", "eve": "changed", "fay": "blocked", "gus": "not_found"}
}
