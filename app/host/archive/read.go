package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/app/host/conformance"
	"github.com/scrollery/scrollery/app/host/kit"
	"github.com/scrollery/scrollery/plugins/stage"
)

// reader reads the files of an archive, one after the other.
type reader struct {
	from *counted
	tar  *tar.Reader
	out  int64 // bytes of the files so far
}

// counted counts what is read of the compressed archive.
type counted struct {
	from io.Reader
	n    int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.n += int64(n)
	return n, err
}

func newReader(from io.Reader) (*reader, error) {
	r := &reader{from: &counted{from: from}}
	compressed, err := gzip.NewReader(r.from)
	if err != nil {
		return nil, errors.New("is no archive of `scrollery plugins package`: it is not compressed by gzip")
	}
	r.tar = tar.NewReader(compressed)
	return r, nil
}

// next is the head of the next file. It fails if that is anything but a regular file of this
// name: what an archive names is never used as a path.
func (r *reader) next(name string, most int64) (*tar.Header, error) {
	head, err := r.tar.Next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("the archive ends before %s", name)
	case err != nil:
		return nil, fmt.Errorf("the archive cannot be read: %w", err)
	case head.Typeflag != tar.TypeReg || head.Format != tar.FormatUSTAR || len(head.PAXRecords) > 0:
		return nil, fmt.Errorf("%.80q in the archive is no plain file, want %s", head.Name, name)
	case head.Name != name:
		return nil, fmt.Errorf("%.80q is in the archive, want %s there", head.Name, name)
	case head.Size < 0 || head.Size > most:
		return nil, fmt.Errorf("%s has %d bytes, and may have %d", name, head.Size, most)
	}
	return head, nil
}

// Read reads a file. It fails if that is much larger than what it was made of.
func (r *reader) Read(b []byte) (int, error) {
	n, err := r.tar.Read(b)
	r.out += int64(n)
	if r.out > freeRatio+maxRatio*r.from.n {
		return 0, fmt.Errorf("the archive grows to more than %d times its size", maxRatio)
	}
	return n, err
}

// index reads the index, which is the first file.
func (r *reader) index() (Index, error) {
	if _, err := r.next(indexName, maxIndex); err != nil {
		return Index{}, err
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		return Index{}, fmt.Errorf("%s: %w", indexName, err)
	}
	return parseIndex(raw)
}

// file writes a file of the index to out, and fails if it is another one.
func (r *reader) file(want File, out io.Writer) error {
	head, err := r.next(want.Name, want.Bytes)
	if err != nil {
		return err
	}
	hash := sha256.New()
	if _, err := io.Copy(io.MultiWriter(out, hash), r); err != nil {
		return fmt.Errorf("%s: %w", want.Name, err)
	}
	if got := hex.EncodeToString(hash.Sum(nil)); head.Size != want.Bytes || got != want.SHA256 {
		return fmt.Errorf("%s was changed: its SHA-256 is %s, and the index has %.64q", want.Name, got, want.SHA256)
	}
	return nil
}

// end fails if there are more files.
func (r *reader) end() error {
	head, err := r.tar.Next()
	if err == nil {
		return fmt.Errorf("%.80q is in the archive and not in its index", head.Name)
	}
	if !errors.Is(err, io.EOF) {
		return fmt.Errorf("the archive cannot be read: %w", err)
	}
	return nil
}

// Plugin is the plugin of an archive, unpacked and not yet installed.
type Plugin struct {
	Index
	// Manifest is what the manifest of the archive says, and Text its text.
	Manifest host.Manifest
	Text     string
	// Path is the file of the plugin.
	Path string
	// Script is whether an interpreter runs it.
	Script bool
}

// Describe starts the plugin, confined, and returns what it says of itself. It fails if the file
// is not the one of the archive any more.
func (p Plugin) Describe(ctx context.Context) (stage.Spec, error) {
	spec, hash, err := conformance.Describe(ctx, p.Path)
	if err == nil && hash != p.Files[1].SHA256 {
		err = fmt.Errorf("%s was changed while it was installed", p.Path)
	}
	return spec, err
}

// unpack writes the plugin of an archive into a folder.
func unpack(from io.Reader, folder string) (p Plugin, err error) {
	r, err := newReader(from)
	if err != nil {
		return Plugin{}, err
	}
	if p.Index, err = r.index(); err != nil {
		return Plugin{}, err
	}
	var text bytes.Buffer
	if err := r.file(p.Files[0], &text); err != nil {
		return Plugin{}, err
	}
	p.Path, p.Text = filepath.Join(folder, p.fileName()), text.String()
	if p.Manifest, err = p.manifestOf(p.Text); err != nil {
		return Plugin{}, err
	}
	file, err := os.OpenFile(p.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return Plugin{}, err
	}
	err = r.file(p.Files[1], file)
	if err == nil {
		err = r.end()
	}
	// The modes of an archive are not looked at.
	if err = errors.Join(err, file.Chmod(0o755), file.Sync(), file.Close()); err != nil {
		return Plugin{}, err
	}
	if p.Script, err = kit.IsScript(p.Path); err != nil {
		return Plugin{}, err
	}
	if p.Script != (p.OS == anywhere) {
		return Plugin{}, fmt.Errorf("the index says that the plugin is for %s/%s, and it is not", p.OS, p.Arch)
	}
	return p, nil
}
