package webpage

import (
	"context"
	"errors"
	"io"
	"mime"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// The bounds of the result, in characters.
const (
	maxTitle = 200
	maxText  = 4000
	// The start of the body, for a page without description, keywords and headings.
	maxBody = 1000
	// The descriptions of a page that are read: each is looked for in those before it.
	maxDescriptions = 10
)

// page reads the title of an HTML page, and its description, keywords and headings.
func (r *Reader) page(ctx context.Context, target string) (title, text string, err error) {
	answer, err := r.get(ctx, target, "text/html, application/xhtml+xml")
	if err != nil {
		return "", "", err
	}
	defer answer.Body.Close()
	kind := answer.Header.Get("Content-Type")
	if media, _, err := mime.ParseMediaType(kind); err != nil || media != "text/html" && media != "application/xhtml+xml" {
		return "", "", ErrNoPage
	}
	body, err := charset.NewReader(io.LimitReader(answer.Body, r.config.MaxBytes), kind)
	if errors.Is(err, io.EOF) {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	var w words
	if err := w.read(body); err != nil {
		return "", "", err
	}
	title, text = w.result()
	return title, text, nil
}

// words collects the parts of a page.
type words struct {
	title, description, headings, body passage
	keywords                           passage
	descriptions                       int
}

// read scans the tokens of a page. It reads a truncated page to its end.
func (w *words) read(page io.Reader) error {
	tokens := html.NewTokenizer(page)
	tokens.SetMaxBuf(256 << 10) // one attribute or text
	into := &w.body             // where text is added; nil: it is dropped
	var until atom.Atom         // the element that into belongs to
	for {
		switch kind := tokens.Next(); kind {
		case html.ErrorToken:
			if err := tokens.Err(); err != io.EOF && err != html.ErrBufferExceeded {
				return err
			}
			return nil
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := tokens.TagName()
			tag := atom.Lookup(name)
			if tag == atom.Meta && more {
				w.meta(tokens)
			}
			if kind == html.StartTagToken && until == 0 {
				switch tag {
				case atom.Title:
					into, until = &w.title, tag
				case atom.H1, atom.H2, atom.H3:
					into, until = &w.headings, tag
				case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Nav, atom.Footer:
					into, until = nil, tag
				}
			}
			if into != nil {
				into.gap()
			}
		case html.EndTagToken:
			name, _ := tokens.TagName()
			if tag := atom.Lookup(name); tag == until && until != 0 {
				into, until = &w.body, 0
			}
			if into != nil {
				into.gap()
			}
		case html.TextToken:
			if into != nil {
				into.add(string(tokens.Text()))
			}
		}
	}
}

func (w *words) meta(tokens *html.Tokenizer) {
	var name, content string
	for {
		key, value, more := tokens.TagAttr()
		switch string(key) {
		case "name", "property":
			name = strings.ToLower(string(value))
		case "content":
			content = string(value)
		}
		if !more {
			break
		}
	}
	switch name {
	case "description", "og:description", "twitter:description":
		if w.descriptions++; w.descriptions <= maxDescriptions && !strings.Contains(w.description.String(), strings.TrimSpace(content)) {
			w.description.gap()
			w.description.add(content)
		}
	case "keywords":
		w.keywords.add(content)
	}
}

// result returns the title and the text, each within its bound.
func (w *words) result() (title, text string) {
	var parts []string
	for _, part := range []*passage{&w.description, &w.keywords, &w.headings} {
		if text := part.String(); text != "" && !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		parts = []string{cut(w.body.String(), maxBody)}
	}
	return cut(w.title.String(), maxTitle), cut(strings.Join(parts, "\n"), maxText)
}

// passage is text with single spaces. It is bounded well above the largest result.
type passage struct {
	text  strings.Builder
	space bool
}

func (p *passage) gap() { p.space = true }

func (p *passage) add(text string) {
	for _, c := range text {
		if p.text.Len() > 4*maxText { // bytes: a character has at most 4
			return
		}
		if unicode.IsSpace(c) || unicode.IsControl(c) {
			p.space = true
			continue
		}
		if p.space && p.text.Len() > 0 {
			p.text.WriteByte(' ')
		}
		p.space = false
		p.text.WriteRune(c)
	}
}

func (p *passage) String() string { return p.text.String() }

// cut returns the first characters of a text, at most `most`.
func cut(text string, most int) string {
	for at := range text {
		if most == 0 {
			return strings.TrimSpace(text[:at])
		}
		most--
	}
	return text
}
