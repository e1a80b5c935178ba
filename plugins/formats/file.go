package formats

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"golang.org/x/text/encoding/unicode"

	"github.com/scrollery/scrollery/plugins/internal/lazy"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Known reports whether the name is that of a file which may hold videos.
func Known(name string) bool { return formOf(name) != "" }

// What a file is by its name.
const (
	linesForm = "lines"
	jsonForm  = "json"
	tableForm = "csv"
	pageForm  = "page"
	// packedForm is known by its first bytes; without them it is text of some form.
	packedForm = "packed"
)

// formOf is the form of a file by its name; empty for others.
func formOf(name string) string {
	name = strings.TrimSuffix(strings.ToLower(path.Base(name)), ".gz")
	switch {
	case strings.HasPrefix(name, "."), strings.HasSuffix(name, ".map.json"):
		return ""
	case strings.HasSuffix(name, ".jsonl"), strings.HasSuffix(name, ".ndjson"):
		return linesForm
	case strings.HasSuffix(name, ".json"):
		return jsonForm
	case strings.HasSuffix(name, ".csv"), strings.HasSuffix(name, ".tsv"):
		return tableForm
	case strings.HasSuffix(name, ".html"), strings.HasSuffix(name, ".htm"):
		return pageForm
	case strings.HasSuffix(name, ".zip"), strings.HasSuffix(name, ".xlsx"), strings.HasSuffix(name, ".xlsm"):
		return packedForm
	}
	return ""
}

// guess is the form of a file by its first character.
func guess(in *bufio.Reader) string {
	start, _ := in.Peek(512)
	start = bytes.TrimLeft(start, " \t\r\n\x00\x1e")
	if len(start) > 0 && (start[0] == '{' || start[0] == '[') {
		return jsonForm
	}
	return tableForm
}

// jsonStart is that of a list or an object of JSON, as no table begins.
var jsonStart = lazy.Pattern(`^\s*(\{\s*"|\[\s*[\[{"])`)

// misnamed is the form of a file whose name says another one than its first bytes; else the form that it says.
func misnamed(form string, in *bufio.Reader) string {
	start, _ := in.Peek(1 << 12)
	switch {
	case form == tableForm && jsonStart().Match(start):
		return jsonForm
	case form == jsonForm && bytes.IndexByte(start, '\n') > 0 && !bytes.ContainsAny(start, "{["):
		return tableForm
	}
	return form
}

// scripted is JSON in a script: `window.data = {`, `callback([`.
var scripted = lazy.Pattern(`^\s*(?:(?:var|let|const)\s+)?[\pL_$][\pL\d_$.]*(?:\s*=\s*|\()([{\[]\s*["{\[])`)

// script passes over what is before the JSON in a script.
func script(in *bufio.Reader) {
	start, _ := in.Peek(512)
	if at := scripted().FindSubmatchIndex(start); at != nil {
		_, _ = in.Discard(at[2]) // they were seen to be there
	}
}

// printed is how Python prints an object or a list of some: {'id': …}.
var printed = lazy.Pattern(`^\s*\[?\s*\{\s*'`)

// maxPrinted is how many bytes of such a file are read, as it is held at once.
const maxPrinted = 16 << 20

// fromPython makes JSON of a file that Python printed. Any other file stays as it is.
func fromPython(in *bufio.Reader) (*bufio.Reader, error) {
	start, _ := in.Peek(512)
	if !printed().Match(start) {
		return in, nil
	}
	text, err := io.ReadAll(io.LimitReader(in, maxPrinted+1))
	if err != nil {
		return nil, err
	}
	made := pythonJSON(text)
	if len(text) > maxPrinted || made == nil {
		return nil, errors.New("objects as Python prints them, which cannot all be told apart: write them by json.dump")
	}
	return bufio.NewReaderSize(bytes.NewReader(made), 1<<16), nil
}

// ownHistory is the start of a list in TikTok's data download as text.
var ownHistory = lazy.Pattern(`^\s*(?:[\pL ]+\s*\n+\s*)?Date: \d{4}-\d\d-\d\d[^\n]*\n(?:Video )?Link: https?://`)

// otherKind says in words what a file is that has no text of videos; empty if it may have.
func otherKind(in *bufio.Reader) string {
	start, _ := in.Peek(64)
	start = bytes.ToLower(bytes.TrimLeft(start, " \t\r\n"))
	for lead, words := range map[string]string{
		"%pdf-": "a PDF: export the table as CSV", "par1": "a Parquet file: write its table as CSV", "sqlite format 3": "a database of SQLite: write its table as CSV",
		"pk\x03\x04": "a spreadsheet or a zip in gzip: unpack it first",
		"<?xml":      "XML: save the table as CSV",
	} {
		if bytes.HasPrefix(start, []byte(lead)) {
			return words
		}
	}
	if len(start) > 8 && string(start[4:8]) == "ftyp" {
		return "a film, and no table of films"
	}
	return ""
}

// unpack undoes gzip, takes away a byte order mark and makes UTF-8 of UTF-16,
// which is what the shell of Windows writes. marked says that there was such a mark.
func unpack(in *bufio.Reader) (out *bufio.Reader, marked bool, err error) {
	magic, _ := in.Peek(6)
	for start, name := range map[string]string{"PK\x03\x04": "zip", "\xfd7zXZ\x00": "xz", "\xd0\xcf\x11\xe0": "Excel's old format: save it as .xlsx or CSV; or", "\x28\xb5\x2f\xfd": "zstd", "BZh": "bzip2"} {
		if bytes.HasPrefix(magic, []byte(start)) {
			return nil, false, fmt.Errorf("packed with %s: unpack it first", name)
		}
	}
	if bytes.HasPrefix(magic, []byte("\x1f\x8b")) {
		packed, err := gzip.NewReader(in)
		if err != nil {
			return nil, false, err
		}
		in = bufio.NewReaderSize(packed, 1<<16)
		magic, _ = in.Peek(6)
	}
	switch {
	case bytes.HasPrefix(magic, []byte("\xff\xfe")), bytes.HasPrefix(magic, []byte("\xfe\xff")):
		wide := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
		return bufio.NewReaderSize(wide.Reader(in), sniffed), true, nil
	case len(magic) >= 4 && magic[1] == 0 && magic[3] == 0 && magic[0] != 0:
		wide := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder()
		return bufio.NewReaderSize(wide.Reader(in), sniffed), true, nil
	case len(magic) >= 4 && magic[0] == 0 && magic[2] == 0 && magic[1] != 0:
		wide := unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder()
		return bufio.NewReaderSize(wide.Reader(in), sniffed), true, nil
	case bytes.HasPrefix(magic, []byte("\xef\xbb\xbf")):
		_, _ = in.Discard(3) // they were seen to be there
		marked = true
	}
	return bufio.NewReaderSize(in, sniffed), marked, nil
}

// fitTracks leaves out the last cues, and then the last stickers, of a record that is too
// large with them: its other parts have bounds that fit.
func fitTracks(rec *stage.Record) {
	over := size(*rec) - recordLimit
	for over > 0 && len(rec.Cues) > 0 {
		last := len(rec.Cues) - 1
		over -= 24 + len(rec.Cues[last].Text)
		rec.Cues = rec.Cues[:last]
	}
	for over > 0 && len(rec.Stickers) > 0 {
		last := len(rec.Stickers) - 1
		over -= 24 + len(rec.Stickers[last].Text)
		rec.Stickers = rec.Stickers[:last]
	}
}

// size is about how many bytes a record takes on its way.
func size(rec stage.Record) int {
	n := len(rec.SourceURL) + len(rec.CreatorID) + len(rec.Metadata) + 24*(len(rec.Cues)+len(rec.Stickers)+len(rec.Keys))
	if rec.Source != nil {
		n += len(rec.Source.Handle) + len(rec.Source.Kind) + len(rec.Source.SeededBy)
	}
	if e := rec.Evidence; e != nil {
		n += len(e.Visual)
		for _, text := range []*string{e.Spoken, e.OnScreenText} {
			if text != nil {
				n += len(*text)
			}
		}
	}
	for _, cue := range rec.Cues {
		n += len(cue.Text)
	}
	for _, sticker := range rec.Stickers {
		n += len(sticker.Text)
	}
	for _, key := range rec.Keys {
		n += len(key.Key) + len(key.Label)
	}
	return n
}
