package kit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/scrollery/scrollery/app/host/conformance"
	"github.com/scrollery/scrollery/plugins/stage"
)

var (
	idLine   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^id:[ \t]*["']?([a-z0-9-]*)["']?[ \t]*(#.*)?$`) })
	fileLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^file:.*$`) })
	hashLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^sha256:.*$`) })
)

// Pin writes the hash of the binary at path into its manifest, and prints to out what
// the plugin wants, since the operator agrees to that. The manifest, in YAML, is
// plugin.yaml beside the binary where it is not named; it is made where it is
// missing, and else keeps all but its hash. The plugin is started for this, confined.
func Pin(ctx context.Context, path, manifest string, out io.Writer) error {
	manifest = cmp.Or(manifest, filepath.Join(filepath.Dir(path), "plugin.yaml"))
	if ext := filepath.Ext(manifest); ext != ".yaml" && ext != ".yml" {
		return fmt.Errorf("%s: only a manifest in YAML can be pinned", manifest)
	}
	spec, hash, err := conformance.Describe(ctx, path)
	if err != nil {
		return err
	}
	text, err := pinned(manifest, filepath.Base(path), spec, hash)
	if err != nil {
		return err
	}
	if err := Replace(manifest, []byte(text)); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %s %s, sha256 %s\n", manifest, spec.ID, spec.Version, hash)
	script, err := IsScript(path)
	if err != nil {
		return err
	}
	for _, line := range Wants(spec, script) {
		fmt.Fprintln(out, "  "+line)
	}
	return nil
}

// pinned is the manifest's text with the hash.
func pinned(path, file string, spec stage.Spec, hash string) (string, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Sprintf("id: %s\nfile: %s\nsha256: %s\n# Names of secrets that it may have; it wants: %s\nsecrets: []\n",
			spec.ID, file, hash, cmp.Or(strings.Join(spec.Secrets, ", "), "none")), nil
	}
	if err != nil {
		return "", err
	}
	text := string(raw)
	if id := idLine().FindStringSubmatch(text); id == nil || id[1] != spec.ID {
		return "", fmt.Errorf("%s is not the manifest of %q", path, spec.ID)
	}
	return withLine(text, hashLine(), "sha256: "+hash), nil
}

// Repinned is the text of a manifest with another file and its hash, and else as it was.
func Repinned(text, file, hash string) string {
	return withLine(withLine(text, fileLine(), "file: "+file), hashLine(), "sha256: "+hash)
}

// withLine replaces a line of a manifest, or appends it.
func withLine(text string, old *regexp.Regexp, line string) string {
	if old.MatchString(text) {
		return old.ReplaceAllLiteralString(text, line)
	}
	return strings.TrimRight(text, "\n") + "\n" + line + "\n"
}

// Replace writes a file whole or not at all.
func Replace(path string, text []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	err = errors.Join(err, file.Chmod(0o644), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// IsScript reports whether an interpreter runs the file.
func IsScript(path string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	head := make([]byte, 2)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	return string(head[:n]) == "#!", nil
}

// Wants says in a line each what a stage asks of the operator. A script, and a stage
// that names any program, may run all of the system's.
func Wants(spec stage.Spec, script bool) []string {
	reaches := append([]string{}, spec.Hosts...)
	var reads []string
	for _, setting := range spec.Settings {
		switch {
		case setting.Endpoint:
			reaches = append(reaches, "the host of the setting "+setting.Name)
		case setting.Path:
			reads = append(reads, "what the setting "+setting.Name+" names")
		}
	}
	var pays []string
	if price := spec.Price; price != (stage.Price{}) {
		pays = []string{fmt.Sprintf("up to %s USD for a seed of %d videos", stage.FormatMoney(price.Most(0)), stage.UsualVideos), stage.FormatMoney(cmp.Or(price.Budget, stage.Dollar)) + " USD a day unless you set its budget"}
	}
	var lines []string
	for _, one := range []struct {
		what  string
		items []string
	}{
		{"reaches", reaches}, {"reads", reads}, {"runs", spec.Programs}, {"wants the secrets", spec.Secrets}, {"pays", pays},
	} {
		if len(one.items) > 0 {
			lines = append(lines, one.what+": "+strings.Join(one.items, ", "))
		}
	}
	if script {
		lines = append(lines, "is a script: may read and run whatever is in /usr, /bin and /sbin")
	} else if len(spec.Programs) > 0 {
		lines = append(lines, "and to run these, may read and run whatever is in /usr, /bin and /sbin")
	}
	if len(lines) == 0 {
		lines = []string{"reaches, reads and runs nothing, and wants no secrets"}
	}
	return lines
}
