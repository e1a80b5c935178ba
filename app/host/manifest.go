package host

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/scrollery/scrollery/app/host/box/launch"
)

// Manifest is what the operator says about an external plugin, in YAML or JSON:
//
//	id: acme
//	file: acme-stage          # beside the manifest; the id where it is left out
//	sha256: 9f86d0…           # of the file; without it the plugin is refused
//	enabled: true             # by default
//	settings: {region: eu}
//	secrets: [token]          # names; the values come from the server's config
type Manifest struct {
	ID       string            `yaml:"id"`
	File     string            `yaml:"file"`
	SHA256   string            `yaml:"sha256"`
	Enabled  *bool             `yaml:"enabled"`
	Settings map[string]string `yaml:"settings"`
	Secrets  []string          `yaml:"secrets"`
}

// Compiled when they are first used: the process of every plugin begins as the whole
// program does.
var (
	pluginID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`) })
	hashForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{64}$`) })
)

// discover reads the manifests in dir and in the folders right below it. A folder
// without a manifest, and any other file, is left alone.
func (p *plugins) discover(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("plugin folder: %w", err)
	}
	paths, err := manifests(dir)
	if err != nil {
		return err
	}
	var found []*entry
	for _, path := range paths {
		e, err := readManifest(path)
		if err != nil {
			name, _ := filepath.Rel(dir, path)
			p.log.Warn("plugin manifest refused", "manifest", name, "error", err)
			p.strays = append(p.strays, Plugin{ID: name, State: Refused, Reason: err.Error()})
			continue
		}
		found = append(found, e)
	}
	slices.SortStableFunc(found, func(a, b *entry) int { return cmp.Compare(a.id, b.id) })
	for _, e := range found {
		if p.entry(e.id) != nil {
			p.strays = append(p.strays, Plugin{ID: e.id, State: Refused, Reason: "the id is taken by another plugin"})
			continue
		}
		p.add(e)
	}
	return nil
}

// manifests are the paths of the manifests of a plugin folder, sorted.
func manifests(dir string) (paths []string, err error) {
	for _, pattern := range []string{"*.yaml", "*.yml", "*.json", "*/plugin.yaml", "*/plugin.yml", "*/plugin.json"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	slices.Sort(paths)
	return paths, nil
}

// Installed finds the manifest of a plugin in a plugin folder. The path is empty if no
// manifest there that can be read has the id, and the first one that has it otherwise.
func Installed(dir, id string) (path string, m Manifest, err error) {
	paths, err := manifests(dir)
	if err != nil {
		return "", Manifest{}, err
	}
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return "", Manifest{}, err
		}
		m, err := ParseManifest(file)
		_ = file.Close()
		if err == nil && m.ID == id {
			return path, m, nil
		}
	}
	return "", Manifest{}, nil
}

// ParseManifest reads a manifest of at most [MaxManifest] bytes. It fills in the file, and does
// not look at it.
func ParseManifest(from io.Reader) (m Manifest, err error) {
	decoder := yaml.NewDecoder(io.LimitReader(from, MaxManifest), yaml.DisallowUnknownField())
	if err := decoder.Decode(&m); err != nil {
		return Manifest{}, fmt.Errorf("read manifest: %s", strings.SplitN(err.Error(), "\n", 2)[0])
	}
	if !pluginID().MatchString(m.ID) {
		return Manifest{}, fmt.Errorf("id %q: want %s", m.ID, pluginID())
	}
	m.File = cmp.Or(m.File, m.ID)
	m.SHA256 = strings.ToLower(m.SHA256)
	return m, nil
}

// MaxManifest is the most bytes of a manifest that are read.
const MaxManifest = 64 << 10

func readManifest(path string) (*entry, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	m, err := ParseManifest(file)
	if err != nil {
		return nil, err
	}
	e := &entry{id: m.ID, manifest: m, enabled: m.Enabled == nil || *m.Enabled}
	switch {
	case !filepath.IsLocal(m.File):
		e.refused = "file: must lie beside the manifest"
	case m.SHA256 == "":
		e.refused = "not pinned: the manifest has no sha256"
	case !hashForm().MatchString(m.SHA256):
		e.refused = "sha256: want 64 hexadecimal digits"
	default:
		e.path = filepath.Join(filepath.Dir(path), m.File)
		if err := launch.Pinned(e.path, m.SHA256); err != nil {
			e.refused = err.Error()
		}
	}
	return e, nil
}
