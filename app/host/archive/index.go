// Package archive writes plugins into archives, and installs them from there. An archive is
// for one platform, and has three files: an index, the manifest and the plugin itself.
// A minisign signature may be beside it.
//
// The author of an archive is not trusted. Nothing of it is started before the operator was
// shown what it wants and agreed, and it must then describe itself as it was shown.
package archive

import (
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/app/host/kit"
	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	indexName    = "scrollery-plugin.json"
	manifestName = "plugin.yaml"
	// format of the archive; it changes when an old program can no longer read it.
	format = 1
	// anywhere is the platform of a script.
	anywhere = "any"
)

// The most that is read, in bytes.
const (
	// MaxArchive is the most of an archive, and of the plugin in it.
	MaxArchive   = 256 << 20
	maxIndex     = 1 << 20
	maxSignature = 16 << 10
	// maxRatio is how much larger the files may be than the archive, beyond freeRatio.
	maxRatio  = 100
	freeRatio = 1 << 20
	// maxText is the most of one text of a description.
	maxText = 1000
)

// Index is what an archive says of its plugin.
type Index struct {
	Format int `json:"format"`
	// Protocols are the versions of the stage protocol that the plugin speaks.
	Protocols []int `json:"protocols"`
	// OS and Arch as Go names them; both are `any` for a script.
	OS   string `json:"os"`
	Arch string `json:"arch"`
	Described
	// Files are those behind the index, in their order.
	Files []File `json:"files"`
}

// File is a file of an archive.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Described is what a plugin says of itself and wants of the operator.
type Described struct {
	ID        string    `json:"id"`
	Version   string    `json:"version"`
	Kind      string    `json:"kind"`
	Summary   string    `json:"summary"`
	Platforms []string  `json:"platforms"`
	Hosts     []string  `json:"hosts"`
	Programs  []string  `json:"programs"`
	Secrets   []string  `json:"secrets"`
	Settings  []Setting `json:"settings"`
}

// Setting is a setting of a plugin, and whether its value opens a file or a host.
type Setting struct {
	Name     string `json:"name"`
	Path     bool   `json:"path,omitempty"`
	Endpoint bool   `json:"endpoint,omitempty"`
}

// Describe keeps what an archive says of a spec.
func Describe(spec stage.Spec) Described {
	d := Described{
		ID: spec.ID, Version: spec.Version, Kind: string(spec.Kind), Summary: spec.Summary, Platforms: list(spec.Platforms),
		Hosts: list(spec.Hosts), Programs: list(spec.Programs), Secrets: list(spec.Secrets), Settings: []Setting{},
	}
	for _, s := range spec.Settings {
		d.Settings = append(d.Settings, Setting{s.Name, s.Path, s.Endpoint})
	}
	return d
}

// list makes no difference between none and empty.
func list(texts []string) []string { return append([]string{}, texts...) }

// Spec is a spec that has what d says.
func (d Described) Spec() stage.Spec {
	spec := stage.Spec{
		ID: d.ID, Version: d.Version, Kind: stage.Kind(d.Kind), Summary: d.Summary, Platforms: d.Platforms,
		Hosts: d.Hosts, Programs: d.Programs, Secrets: d.Secrets,
	}
	for _, s := range d.Settings {
		spec.Settings = append(spec.Settings, stage.Setting{Name: s.Name, Path: s.Path, Endpoint: s.Endpoint})
	}
	return spec
}

// As fails with what is different if a plugin describes itself in another way.
func (d Described) As(spec stage.Spec) error {
	shown, _ := json.Marshal(d)
	is, _ := json.Marshal(Describe(spec))
	if string(shown) != string(is) {
		return fmt.Errorf("the plugin does not describe itself as its archive does: it says %s, the archive %s", is, shown)
	}
	return nil
}

// Wants are the lines that tell what the plugin may do; script is whether an interpreter runs it.
func (d Described) Wants(script bool) []string { return kit.Wants(d.Spec(), script) }

var (
	fileForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`) })
	hashForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{64}$`) })
)

// parseIndex reads an index, and fails for what no archive of [Write] has.
func parseIndex(raw []byte) (Index, error) {
	var x Index
	if err := json.Unmarshal(raw, &x); err != nil {
		return Index{}, fmt.Errorf("%s cannot be read: %w", indexName, err)
	}
	if x.Format != format {
		return Index{}, fmt.Errorf("the archive has format %d, and this program reads %d: use the version of Scrollery that it was made with or a newer one", x.Format, format)
	}
	if err := x.fits(runtime.GOOS, runtime.GOARCH); err != nil {
		return Index{}, err
	}
	if err := x.plausible(); err != nil {
		return Index{}, fmt.Errorf("%s: %w", indexName, err)
	}
	return x, nil
}

// fits fails for a plugin that this program cannot run.
func (x Index) fits(system, arch string) error {
	if !slices.Contains(x.Protocols, stage.ProtocolVersion) {
		return fmt.Errorf("the plugin needs the stage protocol %.40s, and this server speaks %d: get another version of the plugin or of Scrollery",
			strings.Trim(fmt.Sprint(x.Protocols), "[]"), stage.ProtocolVersion)
	}
	if x.OS != anywhere && (x.OS != system || x.Arch != arch) {
		return fmt.Errorf("the plugin is for %.40q, and this machine is %s/%s: get the archive for that", x.OS+"/"+x.Arch, system, arch)
	}
	return nil
}

// plausible fails for a description that a plugin could not give, or that would not be shown as
// it is.
func (x Index) plausible() error {
	if err := host.Plausible(x.Spec(), x.ID); err != nil {
		return err
	}
	for _, text := range x.texts() {
		if len(text) > maxText || host.Printable(text) != text {
			return fmt.Errorf("%.40q is too long, or has characters that are not shown as they are", text)
		}
	}
	if len(x.Files) != 2 || x.Files[0].Name != manifestName || !fileForm().MatchString(x.Files[1].Name) || x.Files[1].Name == manifestName || x.Files[1].Name == indexName {
		return fmt.Errorf("it must name two files: %s and the plugin, which is named as %s", manifestName, fileForm())
	}
	for i, most := range []int64{host.MaxManifest, MaxArchive} {
		f := x.Files[i]
		if f.Bytes < 1 || f.Bytes > most {
			return fmt.Errorf("%s has %d bytes, and may have %d", f.Name, f.Bytes, most)
		}
		if !hashForm().MatchString(f.SHA256) {
			return fmt.Errorf("%s has no SHA-256", f.Name)
		}
	}
	return nil
}

// texts are all that a description shows.
func (d Described) texts() []string {
	all := slices.Concat([]string{d.ID, d.Version, d.Kind, d.Summary}, d.Platforms, d.Hosts, d.Programs, d.Secrets)
	for _, s := range d.Settings {
		all = append(all, s.Name)
	}
	return all
}

// manifestOf reads the manifest of an archive, and fails if it is not of the plugin there.
func (x Index) manifestOf(text string) (host.Manifest, error) {
	m, err := host.ParseManifest(strings.NewReader(text))
	if err != nil {
		return host.Manifest{}, err
	}
	if file := x.Files[1]; m.ID != x.ID || m.File != file.Name || m.SHA256 != file.SHA256 {
		return host.Manifest{}, fmt.Errorf("%s is not the manifest of %s: it names another id, file or hash", manifestName, file.Name)
	}
	for _, s := range x.Settings {
		if value := m.Settings[s.Name]; value != "" && (s.Path || s.Endpoint) {
			return host.Manifest{}, fmt.Errorf("the manifest sets %s to %.80q: which file or host a plugin gets is for the operator to say; leave it out", s.Name, value)
		}
	}
	return m, nil
}
