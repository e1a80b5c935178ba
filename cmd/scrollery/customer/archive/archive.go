// Package archive puts an export together that came in several pieces. The server sends
// a zip as a stream; a connection that breaks leaves its beginning, whose complete files
// are kept, and a later stream continues with the first file that is missing.
package archive

import (
	"archive/zip"
	"bufio"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// manifestName is the last file of an export; a zip without it was cut off.
const manifestName = "manifest.json"

// manifest lists the files of an export.
type manifest struct {
	Format    string           `json:"format"`
	Version   int              `json:"version"`
	AccountID string           `json:"accountId"`
	CreatedAt int64            `json:"createdAt"`
	From      string           `json:"from"`
	Counts    map[string]int64 `json:"counts"`
	Files     []listed         `json:"files"`
}

type listed struct {
	Name   string `json:"name"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// entry is a complete file of a piece.
type entry struct {
	listed
	// at is where its header begins, and data where its content does.
	at, data int64
	header   zip.FileHeader
	manifest []byte
}

// Signatures of a zip.
const (
	localHeader    = 0x04034b50
	dataDescriptor = 0x08074b50
	streamed       = 0x8 // a descriptor with the sizes follows the content
)

// counting counts the bytes that were read. Inflating reads no byte too many from it.
type counting struct {
	*bufio.Reader
	n int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *counting) ReadByte() (byte, error) {
	b, err := c.Reader.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// scan returns the complete files at the beginning of a zip. What follows them, be it the
// end of the zip or half a file, is not looked at.
func scan(file *os.File) ([]entry, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	in := &counting{Reader: bufio.NewReaderSize(file, 1<<20)}
	var entries []entry
	for {
		one, err := next(in)
		if err != nil {
			return entries, nil // cut off, or no file: the sums decide what was complete
		}
		entries = append(entries, one)
	}
}

var errEnd = errors.New("no file follows")

func next(in *counting) (entry, error) {
	var fixed struct {
		Signature             uint32
		Needs, Flags, Method  uint16
		Time, Date            uint16
		Sum, Packed, Unpacked uint32
		Name, Extra           uint16
	}
	one := entry{at: in.n}
	if err := binary.Read(in, binary.LittleEndian, &fixed); err != nil {
		return entry{}, err
	}
	if fixed.Signature != localHeader || fixed.Method != zip.Deflate || fixed.Flags&streamed == 0 {
		return entry{}, errEnd
	}
	texts := make([]byte, int(fixed.Name)+int(fixed.Extra))
	if _, err := io.ReadFull(in, texts); err != nil {
		return entry{}, err
	}
	one.Name, one.data = string(texts[:fixed.Name]), in.n
	sum, rows, check := sha256.New(), &rowCounter{}, crc32.NewIEEE()
	outs := []io.Writer{sum, rows, check}
	var text strings.Builder
	if one.Name == manifestName {
		outs = append(outs, &text)
	}
	unpacked, err := io.Copy(io.MultiWriter(outs...), flate.NewReader(in))
	if err != nil {
		return entry{}, err
	}
	packed := in.n - one.data
	if err := descriptor(in, check.Sum32(), packed, unpacked); err != nil {
		return entry{}, err
	}
	one.Bytes, one.SHA256, one.manifest = unpacked, hex.EncodeToString(sum.Sum(nil)), []byte(text.String())
	one.Rows = rows.of(one.Name)
	one.header = zip.FileHeader{
		Name: one.Name, Method: zip.Deflate, CRC32: check.Sum32(),
		CompressedSize64: uint64(packed), UncompressedSize64: uint64(unpacked),
	}
	//lint:ignore SA1019 CreateRaw writes these, and not Modified
	one.header.ModifiedTime, one.header.ModifiedDate = fixed.Time, fixed.Date
	return one, nil
}

// descriptor compares the sums behind a file with what was read.
func descriptor(in *counting, sum uint32, packed, unpacked int64) error {
	var head struct{ Signature, Sum uint32 }
	if err := binary.Read(in, binary.LittleEndian, &head); err != nil {
		return err
	}
	sizes := make([]byte, 8)
	if packed > 1<<32-2 || unpacked > 1<<32-2 {
		sizes = make([]byte, 16)
	}
	if _, err := io.ReadFull(in, sizes); err != nil {
		return err
	}
	want := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(packed)), uint32(unpacked))
	if len(sizes) == 16 {
		want = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(packed)), uint64(unpacked))
	}
	if head.Signature != dataDescriptor || head.Sum != sum || string(sizes) != string(want) {
		return errors.New("the sums differ")
	}
	return nil
}

// rowCounter counts line ends, and apart those outside of quotes.
type rowCounter struct {
	lines, records int64
	quoted         bool
}

func (r *rowCounter) Write(p []byte) (int, error) {
	for _, c := range p {
		switch {
		case c == '"':
			r.quoted = !r.quoted
		case c == '\n':
			r.lines++
			if !r.quoted {
				r.records++
			}
		}
	}
	return len(p), nil
}

func (r *rowCounter) of(name string) int64 {
	switch {
	case strings.HasPrefix(name, "files/"):
		return 0
	case strings.HasSuffix(name, ".ndjson"):
		return r.lines
	case strings.HasSuffix(name, ".csv"):
		return max(r.records-1, 0) // without the line of names
	}
	return 0
}

// Resume cuts a file to the part that can be kept, and returns what to ask for next;
// empty for the whole export. The last part that came is asked for again: its files
// belong together.
func Resume(file *os.File) (from string, err error) {
	entries, err := scan(file)
	if err != nil {
		return "", err
	}
	entries = slices.DeleteFunc(entries, func(e entry) bool { return e.Name == manifestName })
	if len(entries) == 0 {
		return "", cut(file, 0)
	}
	last := partOf(entries[len(entries)-1].Name)
	first := slices.IndexFunc(entries, func(e entry) bool { return partOf(e.Name) == last })
	if first == 0 {
		return "", cut(file, 0)
	}
	return last, cut(file, entries[first].at)
}

// partOf is what the server calls the part that a file belongs to.
func partOf(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".ndjson"), ".csv")
	kind, part, parted := strings.Cut(name, "/")
	switch {
	case kind == "files":
		return kind
	case parted:
		return "videos/" + part
	}
	return name
}

func cut(file *os.File, at int64) error {
	if err := file.Truncate(at); err != nil {
		return err
	}
	_, err := file.Seek(at, io.SeekStart)
	return err
}

// Finish writes the zip of all files of all pieces to out, with one manifest, after it
// has compared the last piece with its own.
func Finish(file *os.File, out io.Writer) error {
	entries, err := scan(file)
	if err != nil {
		return err
	}
	if len(entries) == 0 || entries[len(entries)-1].Name != manifestName {
		return errors.New("the export has no manifest: it was cut off")
	}
	var whole manifest
	if err := json.Unmarshal(entries[len(entries)-1].manifest, &whole); err != nil {
		return fmt.Errorf("read the manifest: %w", err)
	}
	entries = entries[:len(entries)-1]
	if err := compare(entries, whole.Files); err != nil {
		return err
	}
	whole.From, whole.Files, whole.Counts = "", nil, map[string]int64{}
	target := zip.NewWriter(out)
	for _, one := range entries {
		to, err := target.CreateRaw(&one.header)
		if err != nil {
			return err
		}
		if _, err := io.Copy(to, io.NewSectionReader(file, one.data, int64(one.header.CompressedSize64))); err != nil {
			return err
		}
		whole.Files = append(whole.Files, one.listed)
		kind, _, _ := strings.Cut(strings.TrimSuffix(one.Name, ".ndjson"), "/")
		switch {
		case kind == "files":
			whole.Counts[kind]++
		case path.Ext(one.Name) == ".ndjson":
			whole.Counts[kind] += one.Rows
		}
	}
	to, err := target.CreateHeader(&zip.FileHeader{Name: manifestName, Method: zip.Deflate, Modified: time.UnixMilli(whole.CreatedAt).UTC()})
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(to)
	encoder.SetIndent("", " ")
	return errors.Join(encoder.Encode(whole), target.Close())
}

// compare holds the last files against the manifest of their piece.
func compare(entries []entry, want []listed) error {
	if len(want) > len(entries) {
		return errors.New("the export lacks files of its manifest")
	}
	for i, one := range entries[len(entries)-len(want):] {
		if one.listed != want[i] {
			return fmt.Errorf("the file %q is not what the manifest lists", one.Name)
		}
	}
	return nil
}
