package shares

import (
	_ "embed"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/page"
	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/visible"
)

// Path is the address of the pages; a token follows.
const Path = "/share/"

//go:embed page.html
var pageText string

// Page serves shares. It needs no key, sends no script and loads nothing.
type Page struct {
	service *Service
	page    *page.Writer
	log     *slog.Logger
}

// NewPage returns the pages. Mount them at Path.
func NewPage(service *Service, log *slog.Logger) (*Page, error) {
	writer, err := page.New("share", pageText, log)
	if err != nil {
		return nil, err
	}
	return &Page{service: service, page: writer, log: log}, nil
}

// content is what the page shows. Texts are cleaned of what people do not see.
type content struct {
	Title, Detail, Made, Ends string
	Sentences                 []string
	Videos                    []shown
}

// shown is a video in words.
type shown struct {
	Platform, Handle, Caption, Spoken, OnScreen, Address string
	Posted, Views, Read, Score, Proof                    string
}

// ServeHTTP shows a share. An unknown address and that of one that has ended get the same
// answer. Only GET counts as a view.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		p.page.Write(w, r, http.StatusMethodNotAllowed, content{Title: "Open this page"})
		return
	}
	token := strings.TrimPrefix(r.URL.Path, Path)
	none := content{Title: "There is no such page", Detail: "It has ended, or the address is not complete."}
	if p.service.config.Off || len(token) != secret.Length || !secret.Clean(token) {
		p.page.Write(w, r, http.StatusNotFound, none)
		return
	}
	share, parts, err := p.service.open(r.Context(), token, r.Method == http.MethodGet)
	switch {
	case err != nil:
		p.log.ErrorContext(r.Context(), "serve a share", "error", err)
		p.page.Write(w, r, http.StatusInternalServerError, content{Title: "That did not work", Detail: "Try again in a minute."})
	case share == nil:
		p.page.Write(w, r, http.StatusNotFound, none)
	default:
		p.page.Write(w, r, http.StatusOK, contentOf(share, parts))
	}
}

func contentOf(share *Share, parts []part) content {
	c := content{Title: clean(share.Title), Made: day(float64(share.CreatedAt)), Ends: day(float64(share.ExpiresAt))}
	for _, p := range parts {
		if p.Video == nil {
			c.Sentences = append(c.Sentences, clean(p.Text))
			continue
		}
		v := p.Video
		s := shown{
			Platform: clean(v.Platform), Handle: clean(strings.TrimPrefix(v.Handle, "@")), Caption: clean(v.Caption), Spoken: clean(v.Spoken),
			OnScreen: clean(v.OnScreen), Address: clean(v.Address), Posted: day(v.PostedAt), Read: day(v.ObservedAt),
		}
		if v.Views > 0 {
			s.Views = number(v.Views, 0)
		}
		if v.Baseline > 0 {
			s.Score, s.Proof = number(v.Score, 1), number(v.Baseline, 0)+" views are usual, by "+strconv.Itoa(v.Peers)+" videos"
		}
		c.Videos = append(c.Videos, s)
	}
	return c
}

func clean(text string) string {
	text, _ = visible.Clean(text)
	return text
}

// day is a time in words; empty for none.
func day(millis float64) string {
	if millis <= 0 {
		return ""
	}
	return time.UnixMilli(int64(millis)).UTC().Format("2 January 2006")
}

// number has a comma every three digits.
func number(n float64, decimals int) string {
	text := strconv.FormatFloat(n, 'f', decimals, 64)
	whole, rest, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		return whole + "." + rest
	}
	return whole
}
