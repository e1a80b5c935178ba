package site

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// repository is where links lead that are no pages of the documentation.
const repository = "https://github.com/scrollery/scrollery/blob/main/"

// load reads and renders every page.
func load(pages fs.FS) (*rendered, error) {
	s := &rendered{pages: map[string]document{}}
	var err error
	if s.guide, err = fs.ReadFile(pages, "llms.txt"); err != nil {
		return nil, err
	}
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	for _, reader := range readers {
		shown := group{Reader: reader.does}
		for _, name := range reader.names {
			source, err := fs.ReadFile(pages, name+".md")
			if err != nil {
				return nil, err
			}
			document, err := render(markdown, name, source)
			if err != nil {
				return nil, fmt.Errorf("%s.md: %w", name, err)
			}
			s.pages[name] = document
			shown.Pages = append(shown.Pages, document)
		}
		s.groups = append(s.groups, shown)
	}
	for _, document := range s.groups[0].Pages {
		s.whole = append(append(s.whole, document.markdown...), '\n')
	}
	return s, fs.WalkDir(pages, ".", func(file string, _ fs.DirEntry, err error) error {
		if name, isPage := strings.CutSuffix(file, ".md"); isPage && err == nil && s.pages[name].Name == "" {
			return fmt.Errorf("no reader is named for %s", file)
		}
		return err
	})
}

// render turns Markdown into HTML. Raw HTML in it is left out, and so are addresses
// that are no links.
func render(markdown goldmark.Markdown, name string, source []byte) (document, error) {
	tree := markdown.Parser().Parse(text.NewReader(source))
	title := ""
	err := ast.Walk(tree, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.Heading:
			if node.Level == 1 && title == "" {
				title = string(node.Lines().Value(source))
			}
		case *ast.Link:
			node.Destination = []byte(address(name, string(node.Destination)))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return document{}, err
	}
	if title == "" {
		return document{}, errors.New("no heading of level 1")
	}
	var body bytes.Buffer
	if err := markdown.Renderer().Render(&body, source, tree); err != nil {
		return document{}, err
	}
	return document{Name: name, Title: title, Body: template.HTML(body.String()), markdown: source}, nil
}

// address is where a link of a page leads on this site, or in the repository if it
// leads out of the documentation.
func address(name, target string) string {
	file, fragment, _ := strings.Cut(target, "#")
	if fragment != "" {
		fragment = "#" + fragment
	}
	switch {
	case strings.Contains(file, "://"), strings.HasPrefix(file, "mailto:"):
		return target
	case file == "":
		return fragment
	}
	file = path.Join(path.Dir(name), file)
	page, isPage := strings.CutSuffix(file, ".md")
	if isPage && slices.ContainsFunc(readers, func(r reader) bool { return slices.Contains(r.names, page) }) {
		return DocsPath + "/" + page + fragment
	}
	return repository + path.Join("docs", file) + fragment
}

// plain answers a text that is the same for everyone.
func plain(w http.ResponseWriter, r *http.Request, media string, body []byte) {
	sum := sha256.Sum256(body)
	header := w.Header()
	header.Set("Content-Type", media)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-cache")
	header.Set("ETag", `"`+hex.EncodeToString(sum[:16])+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}
