package account

import (
	"archive/zip"
	"bufio"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
)

// The manifest of an export, its last file.
const (
	// Format is the name of the format.
	Format = "scrollery-export"
	// FormatVersion rises when a file changes so that older readers misread it.
	FormatVersion = 1
	// ManifestName is the manifest's file.
	ManifestName = "manifest.json"
)

// Manifest lists the files of an export. A zip without one was cut off.
type Manifest struct {
	Format    string `json:"format"`
	Version   int    `json:"version"`
	AccountID string `json:"accountId"`
	// CreatedAt in Unix milliseconds.
	CreatedAt int64 `json:"createdAt"`
	// Counts are the rows of each kind.
	Counts map[string]int64 `json:"counts"`
	Files  []ManifestFile   `json:"files"`
}

// ManifestFile is one file of an export.
type ManifestFile struct {
	Name string `json:"name"`
	// Rows of an NDJSON file; 0 for others.
	Rows  int64 `json:"rows"`
	Bytes int64 `json:"bytes"`
	// SHA256 of the content, in hex.
	SHA256 string `json:"sha256"`
}

// archive writes an export.
type archive struct {
	out      *bufio.Writer
	zip      *zip.Writer
	manifest Manifest
	at       time.Time
	line     []byte
}

func newArchive(out io.Writer, account int64, at time.Time) *archive {
	buffered := bufio.NewWriterSize(out, 64<<10)
	a := &archive{out: buffered, zip: zip.NewWriter(buffered), at: at, manifest: Manifest{
		Format: Format, Version: FormatVersion, AccountID: publicid.Format(publicid.Account, account),
		CreatedAt: at.UnixMilli(), Counts: map[string]int64{}, Files: []ManifestFile{},
	}}
	a.zip.RegisterCompressor(zip.Deflate, compressor())
	return a
}

// compressor compresses files that are written one after another: each has over a
// megabyte of tables.
func compressor() zip.Compressor {
	one, _ := flate.NewWriter(nil, flate.BestSpeed) // fails for unknown levels alone
	return func(out io.Writer) (io.WriteCloser, error) {
		one.Reset(out)
		return one, nil
	}
}

// counted is a file that is written.
type counted struct {
	name string
	to   io.Writer
	sum  hash.Hash
	size int64
	rows int64
}

func (c *counted) Write(p []byte) (int, error) {
	c.sum.Write(p)
	c.size += int64(len(p))
	return c.to.Write(p)
}

func (a *archive) create(name string) (*counted, error) {
	to, err := a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: a.at})
	return &counted{name: name, to: to, sum: sha256.New()}, err
}

func (a *archive) done(c *counted) {
	a.manifest.Files = append(a.manifest.Files, ManifestFile{c.name, c.rows, c.size, hex.EncodeToString(c.sum.Sum(nil))})
}

// add writes the rows of an entity as NDJSON.
func (a *archive) add(ctx context.Context, name string, e entity) error {
	lines, err := a.create(name + ".ndjson")
	if err != nil {
		return err
	}
	err = e.rows(ctx, func(values ...any) error {
		lines.rows++
		a.line = appendLine(a.line[:0], e.columns, values)
		_, err := lines.Write(a.line)
		return err
	})
	if err != nil {
		return err
	}
	a.done(lines)
	a.manifest.Counts[e.name] += lines.rows
	return nil
}

// addFile writes a file as it is.
func (a *archive) addFile(name, text string) error {
	file, err := a.create(name)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(file, text); err != nil {
		return err
	}
	a.done(file)
	a.manifest.Counts[filesName]++
	return nil
}

// close writes the manifest and the end of the zip.
func (a *archive) close() error {
	to, err := a.create(ManifestName)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(to)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(a.manifest); err != nil {
		return err
	}
	if err := a.zip.Close(); err != nil {
		return err
	}
	return a.out.Flush()
}

// appendLine appends one object and a line feed.
func appendLine(line []byte, columns []column, values []any) []byte {
	for i, name := range columns {
		if i == 0 {
			line = append(line, '{')
		} else {
			line = append(line, ',')
		}
		line, _ = jsontext.AppendQuote(line, name)
		line = appendValue(append(line, ':'), values[i])
	}
	return append(line, "}\n"...)
}

// appendValue appends a value as JSON. Broken UTF-8 becomes U+FFFD.
func appendValue(line []byte, value any) []byte {
	switch v := plain(value).(type) {
	case nil:
		return append(line, "null"...)
	case string:
		line, _ = jsontext.AppendQuote(line, v) // the error reports what was replaced
		return line
	case jsontext.Value:
		return append(line, oneLine(v)...)
	case bool:
		return strconv.AppendBool(line, v)
	case int64:
		return strconv.AppendInt(line, v, 10)
	case float64:
		return jsontext.AppendFloat(line, v, 64)
	}
	panic("account: a value of an unknown type")
}

// oneLine is a JSON text without line feeds.
func oneLine(text jsontext.Value) jsontext.Value {
	for _, c := range text {
		if c == '\n' || c == '\r' {
			short := text.Clone()
			_ = short.Compact(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true))
			return short
		}
	}
	return text
}

// plain dereferences a value; nil for a nil pointer and for no JSON.
func plain(value any) any {
	switch v := value.(type) {
	case int:
		return int64(v)
	case *int:
		if v != nil {
			return int64(*v)
		}
	case *int64:
		if v != nil {
			return *v
		}
	case *string:
		if v != nil {
			return *v
		}
	case jsontext.Value:
		if len(v) > 0 {
			return v
		}
	default:
		return value
	}
	return nil
}
