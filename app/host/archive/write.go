package archive

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/app/host/conformance"
	"github.com/scrollery/scrollery/app/host/kit"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Order says what to write.
type Order struct {
	// Manifest is the path of a manifest in YAML, or of the folder with its plugin.yaml. The
	// plugin that it names is started, confined, to learn what it wants.
	Manifest string
	// Binary is the same plugin for another platform; empty for the one that the manifest names.
	Binary string
	// Out is the path of the archive; empty is `ID_VERSION_OS_ARCH.tar.gz` in this folder.
	Out string
	// Sign signs the archive; nil leaves it unsigned.
	Sign func(archive io.Reader, comment string) ([]byte, error)
}

// Write writes an archive, whose bytes depend on the plugin and its manifest alone. It returns
// its index and its path. The signature is beside it, in a file with the ending `.minisig`.
func Write(ctx context.Context, o Order) (Index, string, error) {
	text, native, err := readPlugin(o.Manifest)
	if err != nil {
		return Index{}, "", err
	}
	spec, _, err := conformance.Describe(ctx, native)
	if err != nil {
		return Index{}, "", err
	}
	path := cmp.Or(o.Binary, native)
	binary, err := readAtMost(path, MaxArchive)
	if err != nil {
		return Index{}, "", err
	}
	x := Index{Format: format, Protocols: []int{stage.ProtocolVersion}, Described: Describe(spec)}
	if x.OS, x.Arch, err = platform(binary, o.Binary == ""); err != nil {
		return Index{}, "", fmt.Errorf("%s: %w", path, err)
	}
	name := filepath.Base(native)
	manifest := []byte(kit.Repinned(text, name, sum(binary)))
	x.Files = []File{{manifestName, int64(len(manifest)), sum(manifest)}, {name, int64(len(binary)), sum(binary)}}
	if err := x.plausible(); err != nil {
		return Index{}, "", err
	}
	if _, err := x.manifestOf(string(manifest)); err != nil {
		return Index{}, "", fmt.Errorf("%s: %w", o.Manifest, err)
	}
	packed, err := x.pack(manifest, binary)
	if err != nil {
		return Index{}, "", err
	}
	out := cmp.Or(o.Out, x.name())
	return x, out, o.save(out, packed, x)
}

// save writes the archive and its signature. An old signature does not outlive its archive.
func (o Order) save(out string, packed []byte, x Index) error {
	if len(packed) > MaxArchive {
		return fmt.Errorf("the archive has %d bytes, and may have %d", len(packed), MaxArchive)
	}
	var signature []byte
	if o.Sign != nil {
		var err error
		comment := fmt.Sprintf("plugin %s %s for %s/%s", x.ID, x.Version, x.OS, x.Arch)
		if signature, err = o.Sign(bytes.NewReader(packed), comment); err != nil {
			return err
		}
	}
	if err := os.Remove(out + SignatureEnding); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := kit.Replace(out, packed); err != nil || signature == nil {
		return err
	}
	return kit.Replace(out+SignatureEnding, signature)
}

// readPlugin reads the manifest, and returns the path of the plugin that it names.
func readPlugin(path string) (text, plugin string, err error) {
	if info, err := os.Stat(path); err != nil {
		return "", "", err
	} else if info.IsDir() {
		path = filepath.Join(path, manifestName)
	}
	if ext := filepath.Ext(path); ext != ".yaml" && ext != ".yml" {
		return "", "", fmt.Errorf("%s: want a manifest in YAML, or a folder with one", path)
	}
	raw, err := readAtMost(path, host.MaxManifest)
	if err != nil {
		return "", "", err
	}
	m, err := host.ParseManifest(bytes.NewReader(raw))
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", path, err)
	}
	return string(raw), filepath.Join(filepath.Dir(path), m.File), nil
}

// pack is a tar file, compressed. Times, owners and modes are always the same.
func (x Index) pack(manifest, binary []byte) ([]byte, error) {
	index, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	files := tar.NewWriter(compressed)
	for _, one := range []struct {
		name string
		mode int64
		text []byte
	}{{indexName, 0o644, append(index, '\n')}, {manifestName, 0o644, manifest}, {x.Files[1].Name, 0o755, binary}} {
		head := &tar.Header{Typeflag: tar.TypeReg, Name: one.name, Mode: one.mode, Size: int64(len(one.text)), ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
		if err := files.WriteHeader(head); err != nil {
			return nil, err
		}
		if _, err := files.Write(one.text); err != nil {
			return nil, err
		}
	}
	err = errors.Join(files.Close(), compressed.Close())
	return out.Bytes(), err
}

// platform is what a plugin runs on: anything for a script. What a binary of this machine is
// for is known without a look.
func platform(file []byte, native bool) (system, arch string, err error) {
	// The numbers are e_machine of elf(5), of little-endian machines.
	machines := map[uint16]string{3: "386", 21: "ppc64le", 40: "arm", 62: "amd64", 183: "arm64", 243: "riscv64", 258: "loong64"}
	switch {
	case bytes.HasPrefix(file, []byte("#!")):
		return anywhere, anywhere, nil
	case native:
		return runtime.GOOS, runtime.GOARCH, nil
	case len(file) > 20 && bytes.HasPrefix(file, []byte("\x7fELF")) && file[5] == 1:
		if arch = machines[binary.LittleEndian.Uint16(file[18:])]; arch != "" {
			return "linux", arch, nil
		}
	}
	return "", "", errors.New("is neither a script nor a binary for Linux on a known processor")
}

func sum(text []byte) string {
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:])
}

// readAtMost reads a file that is not too large.
func readAtMost(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(raw)) > most {
		err = fmt.Errorf("%s is larger than %d bytes", path, most)
	}
	return raw, err
}

// name is the file's name of an archive that was given none.
func (x Index) name() string {
	return fmt.Sprintf("%s_%s_%s_%s.tar.gz", x.ID, fileSafe(x.Version), x.OS, x.Arch)
}

// fileSafe is a version as a part of a file's name.
func fileSafe(version string) string {
	safe := []byte(cmp.Or(version, "0"))
	for i, c := range safe {
		if c != '.' && c != '-' && c != '+' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			safe[i] = '-'
		}
	}
	return string(safe)
}
