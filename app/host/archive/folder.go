package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"aead.dev/minisign"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/app/host/box/launch"
	"github.com/scrollery/scrollery/app/host/conformance"
	"github.com/scrollery/scrollery/app/host/kit"
	"github.com/scrollery/scrollery/plugins/stage"
)

// staging is the folder below the plugin folder where an archive is unpacked: on the same
// disk, and too deep for a server to find a manifest there.
const (
	staging    = ".install"
	archived   = "archive"
	manifested = "manifest"
	hashDigits = 12 // of the hash, in the name of a plugin's file
)

// Folder is a plugin folder that this process alone installs into.
type Folder struct {
	dir   string
	lock  *os.File
	fresh bool // made by Enter
	// reached, if set, is called before each step of an installation, by tests.
	reached func(step string)
}

// Enter makes the plugin folder if there is none, and waits for no other process: it fails if
// one installs there. What a killed one left is deleted. The caller leaves it.
func Enter(dir string) (*Folder, error) {
	if dir == "" {
		return nil, errors.New("the server has no plugin folder: set SCROLLERY_PLUGIN_DIR or --plugin-dir to one")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{dir: dir}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		f.fresh = true
	}
	if err := makeFolder(dir); err != nil {
		return nil, fmt.Errorf("plugin folder: %w", err)
	}
	if err := os.Mkdir(f.staging(), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("plugin folder: %w", err)
	}
	if f.lock, err = host.Hold(f.staging()); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		if errors.Is(err, fs.ErrPermission) {
			return nil, fmt.Errorf("plugin folder: what another user left cannot be deleted: %w", err)
		}
		return nil, fmt.Errorf("another process installs a plugin into %s: %w", dir, err)
	}
	if !f.held() {
		return nil, fmt.Errorf("another process installed a plugin into %s: try again", dir)
	}
	left, err := os.ReadDir(f.staging())
	for _, entry := range left {
		err = errors.Join(err, os.RemoveAll(filepath.Join(f.staging(), entry.Name())))
	}
	if err != nil {
		f.Leave()
		return nil, fmt.Errorf("plugin folder: %w", err)
	}
	return f, nil
}

// held reports whether the folder that is locked is still the one of that name.
func (f *Folder) held() bool {
	if f.lock == nil {
		return true
	}
	locked, err := f.lock.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(f.staging())
	return err == nil && os.SameFile(locked, named)
}

func (f *Folder) staging() string { return filepath.Join(f.dir, staging) }

// Leave deletes what was not installed.
func (f *Folder) Leave() {
	_ = os.RemoveAll(f.staging())
	if f.fresh {
		_ = os.Remove(f.dir) // unless a plugin is there now
	}
	if f.lock != nil {
		_ = f.lock.Close()
	}
}

// Unpack reads an archive, a file or an https address, checks it and unpacks it. With a key,
// it must have a signature of that beside it. signed is what was signed along with it.
func (f *Folder) Unpack(ctx context.Context, fetch Fetcher, from string, key *minisign.PublicKey) (p Plugin, signed string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTime, fmt.Errorf("it took more than %v", fetchTime))
	defer cancel()
	var signature []byte
	if key != nil {
		if signature, err = f.signature(ctx, fetch, from); err != nil {
			return Plugin{}, "", err
		}
	}
	kept, err := f.keep(ctx, fetch, from)
	if err != nil {
		return Plugin{}, "", err
	}
	defer kept.Close()
	if key != nil {
		read := minisign.NewReader(kept)
		if _, err := io.Copy(io.Discard, read); err != nil {
			return Plugin{}, "", err
		}
		if signed, err = verify(read, *key, signature); err != nil {
			return Plugin{}, "", fmt.Errorf("%s: %w", from, err)
		}
		if _, err := kept.Seek(0, io.SeekStart); err != nil {
			return Plugin{}, "", err
		}
	}
	p, err = unpack(kept, f.staging())
	if err != nil {
		return Plugin{}, "", fmt.Errorf("%s: %w", from, err)
	}
	return p, host.Printable(signed), nil
}

func (f *Folder) signature(ctx context.Context, fetch Fetcher, from string) ([]byte, error) {
	at := signatureOf(from)
	answer, err := fetch.open(ctx, at)
	if absent(err) {
		return nil, fmt.Errorf("the archive is not signed: there is no %s", at)
	}
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	raw, err := io.ReadAll(io.LimitReader(answer, maxSignature+1))
	if err == nil && len(raw) > maxSignature {
		err = fmt.Errorf("%s is no signature: it is too large", at)
	}
	return raw, err
}

// keep copies the archive to where no one else can change it between two looks.
func (f *Folder) keep(ctx context.Context, fetch Fetcher, from string) (*os.File, error) {
	answer, err := fetch.open(ctx, from)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	file, err := os.OpenFile(filepath.Join(f.staging(), archived), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	n, err := io.Copy(file, io.LimitReader(answer, MaxArchive+1))
	if err == nil && n > MaxArchive {
		err = fmt.Errorf("%s has more than %d bytes", from, MaxArchive)
	}
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("read %s: %w", from, context.Cause(ctx))
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// Place is where a plugin is installed.
type Place struct {
	// Manifest is the path of its manifest, which is there already if Replaces is set.
	Manifest string
	Replaces bool
	// Old is what that manifest says.
	Old host.Manifest
}

// OldPath is the file of the plugin that is installed.
func (p Place) OldPath() string { return filepath.Join(filepath.Dir(p.Manifest), p.Old.File) }

// Spec asks the plugin that is installed what it is. It returns nil if its file is not the
// pinned one, or does not say.
func (p Place) Spec(ctx context.Context) *stage.Spec {
	if !p.Replaces || !filepath.IsLocal(p.Old.File) || launch.Pinned(p.OldPath(), p.Old.SHA256) != nil {
		return nil
	}
	spec, hash, err := conformance.Describe(ctx, p.OldPath())
	if err != nil || hash != p.Old.SHA256 {
		return nil
	}
	return &spec
}

// Script reports whether the plugin that is installed is run by an interpreter.
func (p Place) Script() bool {
	script, err := kit.IsScript(p.OldPath())
	return err == nil && script
}

// Find finds where a plugin of an id is or will be.
func (f *Folder) Find(id string) (Place, error) {
	path, m, err := host.Installed(f.dir, id)
	if err != nil {
		return Place{}, fmt.Errorf("plugin folder: %w", err)
	}
	if path != "" {
		return Place{path, true, m}, nil
	}
	path = filepath.Join(f.dir, id, manifestName)
	for _, name := range []string{manifestName, "plugin.yml", "plugin.json"} {
		if _, err := os.Lstat(filepath.Join(filepath.Dir(path), name)); !errors.Is(err, fs.ErrNotExist) {
			return Place{}, fmt.Errorf("%s is there, and is not the manifest of %s: move it away", filepath.Join(filepath.Dir(path), name), id)
		}
	}
	return Place{Manifest: path}, nil
}

// Install puts the plugin into its place. The manifest that was there is kept, but for the file
// and the hash that it names. Until the manifest is replaced, in one step, the plugin is what it
// was; and its file stays, for servers that have not read the manifest again.
func (f *Folder) Install(p Plugin, at Place) error {
	text, mode, err := at.text(p)
	if err != nil {
		return err
	}
	folder, name := filepath.Dir(at.Manifest), p.fileName()
	_, missing := os.Stat(folder)
	staged := filepath.Join(f.staging(), manifested)
	steps := []struct {
		name string
		do   func() error
	}{
		{"folder", func() error { return makeFolder(folder) }},
		{"write", func() error { return errors.Join(writeSynced(staged, text, mode), own(staged, at.Manifest)) }},
		{"file", func() error { return os.Rename(p.Path, filepath.Join(folder, name)) }},
		{"sync", func() error { return errors.Join(syncFolder(folder), syncFolder(f.dir)) }},
		{"manifest", func() error { return os.Rename(staged, at.Manifest) }},
	}
	for _, step := range steps {
		f.at(step.name)
		if err := step.do(); err != nil {
			if at.Old.File != name {
				_ = os.Remove(filepath.Join(folder, name))
			}
			if errors.Is(missing, fs.ErrNotExist) {
				_ = os.Remove(folder)
			}
			return fmt.Errorf("install %s: %w", p.ID, err)
		}
	}
	f.at("sweep")
	if at.Old.File != name { // or the one before is still the old one
		sweep(folder, p.ID, name, at.Old.File)
	}
	return syncFolder(folder)
}

func (f *Folder) at(step string) {
	if f.reached != nil {
		f.reached(step)
	}
}

// fileName is that of the plugin's file where it is installed. Each version has its own.
func (p Plugin) fileName() string { return p.ID + "-" + p.Files[1].SHA256[:hashDigits] }

// text is the manifest that will be there, and its mode.
func (at Place) text(p Plugin) (string, fs.FileMode, error) {
	text, mode := p.Text, fs.FileMode(0o644)
	if at.Replaces {
		raw, err := readAtMost(at.Manifest, host.MaxManifest)
		if err != nil {
			return "", 0, err
		}
		info, err := os.Stat(at.Manifest)
		if err != nil {
			return "", 0, err
		}
		text, mode = string(raw), info.Mode().Perm()
	}
	name := p.fileName()
	text = kit.Repinned(text, name, p.Files[1].SHA256)
	m, err := host.ParseManifest(strings.NewReader(text))
	if err != nil || m.ID != p.ID || m.File != name || m.SHA256 != p.Files[1].SHA256 {
		return "", 0, errors.Join(err, fmt.Errorf("%s cannot be pinned to another file: write id, file and sha256 at the beginning of lines of their own", at.Manifest))
	}
	return text, mode, nil
}

// sweep deletes the files of versions other than these, best effort.
func sweep(folder, id string, keep ...string) {
	form := regexp.MustCompile(`^` + regexp.QuoteMeta(id) + `-[0-9a-f]{` + fmt.Sprint(hashDigits) + `}$`)
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		if name := entry.Name(); form.MatchString(name) && entry.Type().IsRegular() && !slices.Contains(keep, name) {
			_ = os.Remove(filepath.Join(folder, name))
		}
	}
}

// Remove removes a plugin: its manifest first, then its files, then its folder if nothing else
// is there.
func (f *Folder) Remove(at Place) error {
	if err := os.Remove(at.Manifest); err != nil {
		return err
	}
	folder := filepath.Dir(at.Manifest)
	var err error
	if filepath.IsLocal(at.Old.File) {
		if err = os.Remove(at.OldPath()); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	sweep(folder, at.Old.ID)
	if folder != f.dir {
		_ = os.Remove(folder)
	}
	return errors.Join(err, syncFolder(f.dir))
}
