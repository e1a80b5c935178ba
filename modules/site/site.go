// Package site serves the pages for people who come without a key: what the service is,
// and its documentation. They have no script, no form and no cookie, and are the same
// for everyone.
package site

import (
	_ "embed"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/scrollery/scrollery/modules/kernel/page"
)

//go:embed site.html
var siteText string

// Paths of the pages. DocsPath has a page of each document below it; the same address
// with `.md` is its Markdown.
const (
	HomePath = "/"
	DocsPath = "/docs"
	// LLMsPath is a short guide for agents, and LLMsFullPath all pages for customers.
	LLMsPath     = "/llms.txt"
	LLMsFullPath = "/llms-full.txt"
)

// Owns reports whether the site answers this path.
func Owns(path string) bool {
	return path == HomePath || path == DocsPath || strings.HasPrefix(path, DocsPath+"/") || path == LLMsPath || path == LLMsFullPath
}

// Site is the handler of all these pages. The first request renders them all, and a
// later one costs a copy.
type Site struct {
	page  *page.Writer
	plans []Plan
	log   *slog.Logger
	all   func() (*rendered, error)
}

// rendered is what the site shows.
type rendered struct {
	pages  map[string]document // by name: "api", "deploy/README"
	groups []group
	guide  []byte
	whole  []byte
}

// document is one page of the documentation.
type document struct {
	Name, Title string
	Body        template.HTML
	markdown    []byte
}

// group are the documents for one kind of reader.
type group struct {
	Reader string
	Pages  []document
}

// content is what the template shows: a document, or the two lists.
type content struct {
	Title, Detail string
	Home          bool
	Plans         []Plan
	Groups        []group
	Document      *document
}

// Plan is what the landing page says of one.
type Plan struct {
	// Label is the name for people; Month and Year are the prices, as "$39".
	Label, Month, Year string
	// Videos is the most new ones of a scroll.
	Videos int
}

// reader is a kind of reader, with the names of their documents.
type reader struct {
	does  string
	names []string
}

// readers are the documents in the order in which they are read. A document that is
// not in the list is an error of New.
var readers = []reader{
	{"Use the API", []string{"api", "clients", "cli", "mcp", "oauth", "changes", "numbers", "sandbox", "glossary"}},
	{"Run a server", []string{"operations", "deploy/README", "sources", "recipes", "retention", "evidence", "import"}},
	{"Write a plugin", []string{"extenders", "extenders-rss", "extenders-reference"}},
	{"Change Scrollery", []string{"contributors", "layout", "console", "CONTRIBUTING", "SECURITY", "CHANGELOG"}},
}

// New returns the site of the Markdown files and the llms.txt of pages, and of plans, the cheapest first.
func New(pages fs.FS, plans []Plan, log *slog.Logger) (*Site, error) {
	writer, err := page.New("site", siteText, log)
	if err != nil {
		return nil, err
	}
	return &Site{page: writer, plans: plans, log: log, all: sync.OnceValues(func() (*rendered, error) { return load(pages) })}, nil
}

// ServeHTTP answers GET and HEAD.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		s.page.Write(w, r, http.StatusMethodNotAllowed, content{Title: "This page is only read"})
		return
	}
	all, err := s.all()
	if err != nil {
		s.log.ErrorContext(r.Context(), "render the documentation", "error", err)
		s.page.Write(w, r, http.StatusInternalServerError, content{Title: "The pages could not be made", Detail: "The API works; /openapi.json describes it."})
		return
	}
	switch path := r.URL.Path; path {
	case HomePath:
		s.page.Public(w, r, content{Title: "See what works in your niche", Home: true, Plans: s.plans, Groups: all.groups})
	case DocsPath, DocsPath + "/":
		s.page.Public(w, r, content{Title: "Documentation", Groups: all.groups})
	case LLMsPath:
		plain(w, r, "text/plain; charset=utf-8", all.guide)
	case LLMsFullPath:
		plain(w, r, "text/markdown; charset=utf-8", all.whole)
	default:
		s.document(w, r, all, strings.TrimPrefix(path, DocsPath+"/"))
	}
}

func (s *Site) document(w http.ResponseWriter, r *http.Request, all *rendered, name string) {
	name, markdown := strings.CutSuffix(name, ".md")
	found, ok := all.pages[name]
	switch {
	case !ok:
		s.page.Write(w, r, http.StatusNotFound, content{Title: "No such page", Detail: "The documentation has these pages.", Groups: all.groups})
	case markdown:
		plain(w, r, "text/markdown; charset=utf-8", found.markdown)
	default:
		s.page.Public(w, r, content{Title: found.Title, Document: &found})
	}
}
