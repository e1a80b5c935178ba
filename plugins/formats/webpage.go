package formats

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/plugins/internal/lazy"
)

// isPage reports a web page by its start.
func isPage(in *bufio.Reader) bool {
	start, _ := in.Peek(1024)
	start = bytes.ToLower(bytes.TrimLeft(start, " \t\r\n"))
	for bytes.HasPrefix(start, []byte("<!--")) { // browsers note where a page was saved from
		_, rest, _ := bytes.Cut(start, []byte("-->"))
		start = bytes.TrimLeft(rest, " \t\r\n")
	}
	return bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html")) || bytes.HasPrefix(start, []byte("<head")) || bytes.HasPrefix(start, []byte("<table"))
}

// scripts are the scripts of a page, with their attributes.
var scripts = lazy.Pattern(`(?is)<script\b([^>]*)>(.*?)</script\s*>`)

// scriptID is the id of a script, and assigned the name of what a script sets to an object.
var (
	scriptID = lazy.Pattern(`(?i)\bid=["']?([\w.:-]+)`)
	assigned = lazy.Pattern(`([\w$]+)(?:["']\])?\s*=\s*(\{)\s*"`)
)

// maxScripts is how many scripts of a page are looked at, maxAssigned how many objects they may
// assign, and maxTried how many bytes those may have together with what is within them.
const (
	maxScripts  = 2000
	maxAssigned = 2000
	maxTried    = 4 * documentLimit
)

// tries are what is left of the bounds of a page.
type tries struct{ objects, bytes int }

// page reads a saved web page: videos are looked for in the state that its scripts have, as JSON
// or as what they assign to a name, and else in its tables.
func (r *reading) page(in io.Reader, name string) error {
	text, err := io.ReadAll(io.LimitReader(in, documentLimit+1))
	if err != nil {
		return err
	}
	if len(text) > documentLimit {
		return errors.New("a web page of more than may be held at once")
	}
	states, line, counted, left := 0, 1, 0, tries{maxAssigned, maxTried}
	for _, at := range scripts().FindAllSubmatchIndex(text, maxScripts) {
		name := "a script"
		if id := scriptID().FindSubmatch(text[at[2]:at[3]]); id != nil {
			name = string(id[1])
		}
		line += bytes.Count(text[counted:at[4]], []byte("\n"))
		counted = at[4]
		found, err := r.script(text[at[4]:at[5]], name, line, &left)
		if err != nil {
			return err
		}
		states += found
	}
	const without = "a web page without the state of TikTok, YouTube or Instagram, and without a table of videos"
	var table io.Reader
	others := 0
	if states == 0 {
		if table, others, err = r.tables.csvOf(text); err != nil {
			return err
		}
	}
	switch {
	case states > 0:
	case table != nil:
		r.out.report.form("a table of a web page")
		if others > 0 {
			r.out.skip(OtherFile, 0, fmt.Sprintf("%d other tables of the web page are not read", others))
		}
		return r.tables.csv(bufio.NewReader(table), name)
	case bytes.Contains(text, []byte(`class="content-cell`)) && bytes.Contains(text, []byte("youtube.com/")):
		r.out.skip(OwnArchive, 0, "the watch or search history of YouTube, from Google Takeout"+collectAdvice)
	case r.inZip > 0 || r.options.Found:
		r.out.skip(OtherFile, 0, without)
	default:
		return errors.New(without + ", perhaps one to sign in: save the table as CSV, or the page once its videos are shown")
	}
	return nil
}

// script looks for videos in one script, and returns how many objects with any it has.
func (r *reading) script(text []byte, name string, line int, left *tries) (states int, err error) {
	take := func(raw []byte, name string, line int) error {
		before := r.out.report.Videos + len(r.pending)
		if err := r.value(raw, scope{quiet: true}, line, 0); err != nil {
			return err
		}
		if n := r.out.report.Videos + len(r.pending) - before; n > 0 {
			states++
			r.out.report.form("the state %q of a saved web page", name)
		}
		return nil
	}
	if body := bytes.TrimSpace(text); len(body) > 1 && body[0] == '{' && jsontext.Value(body).IsValid(lenient) {
		return states, take(cleanJSON(body), name, line)
	}
	for from := 0; left.objects > 0 && left.bytes > 0; left.objects-- {
		at := assigned().FindSubmatchIndex(text[from:])
		if at == nil {
			break
		}
		name, begin := string(text[from+at[2]:from+at[3]]), from+at[4]
		raw, err := newFrames(bytes.NewReader(text[begin:]), 1, documentLimit).value()
		if left.bytes -= len(raw); err != nil {
			left.bytes -= len(text) - begin
		}
		if err != nil || !jsontext.Value(raw).IsValid(lenient) {
			from = begin + 1
			continue
		}
		if err := take(cleanJSON(raw), name, line+bytes.Count(text[:begin], []byte("\n"))); err != nil {
			return states, err
		}
		from = begin + len(raw)
	}
	return states, nil
}
