package archive

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app/host"
)

func TestTheSamePluginMakesTheSameArchive(t *testing.T) {
	t.Parallel()
	folder := plugin(t, "0.1.0")
	first, second := filepath.Join(t.TempDir(), "a.tar.gz"), filepath.Join(t.TempDir(), "b.tar.gz")
	x, _, err := Write(t.Context(), Order{Manifest: folder, Out: first})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(folder, "acme"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Write(t.Context(), Order{Manifest: filepath.Join(folder, "plugin.yaml"), Out: second}); err != nil {
		t.Fatal(err)
	}
	if read(t, first) != read(t, second) {
		t.Error("two archives of one plugin differ, want the same bytes")
	}
	want := Described{
		ID: "acme", Version: "0.1.0", Kind: "source", Summary: "A test's stage", Platforms: []string{"acmetok"}, Hosts: []string{"localhost:9"},
		Programs: []string{}, Secrets: []string{"token"}, Settings: []Setting{{Name: "region"}, {Name: "dir", Path: true}},
	}
	if diff := cmp.Diff(want, x.Described); diff != "" {
		t.Errorf("the index (-want +got):\n%s", diff)
	}
	if text := read(t, filepath.Join(folder, "plugin.yaml")); strings.Contains(text, "sha256") {
		t.Errorf("the author's manifest became %q, want it as it was", text)
	}
}

// TestAnotherPlatform packages a binary that does not run here, with what the one that does says.
func TestAnotherPlatform(t *testing.T) {
	t.Parallel()
	folder, out := plugin(t, "0.1.0"), t.TempDir()
	other := filepath.Join(out, "acme-riscv")
	write(t, other, "\x7fELF\x02\x01\x01"+strings.Repeat("\x00", 11)+"\xf3\x00"+strings.Repeat("\x00", 100))
	path := filepath.Join(out, "acme.tar.gz")
	x, _, err := Write(t.Context(), Order{Manifest: folder, Binary: other, Out: path})
	if err != nil || x.name() != "acme_0.1.0_linux_riscv64.tar.gz" || x.Files[1].Name != "acme" {
		t.Fatalf("got %q, %+v, %v, want an archive for linux/riscv64 with the file acme", x.name(), x.Files, err)
	}
	_, err = install(t.Context(), t.TempDir(), path, nil)
	if err == nil || !strings.Contains(err.Error(), `the plugin is for "linux/riscv64", and this machine is linux/`) {
		t.Errorf("got %v, want the two platforms in words", err)
	}
	write(t, other, "MZ, from elsewhere, with some more bytes")
	if _, _, err := Write(t.Context(), Order{Manifest: folder, Binary: other}); err == nil || !strings.Contains(err.Error(), "neither a script nor a binary") {
		t.Errorf("got %v, want a file of unknown form refused", err)
	}
}

func TestInstall(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "plugins")
	p, err := install(t.Context(), dir, archiveOf(t, "0.1.0"), nil)
	if err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(dir, "acme", "plugin.yaml")
	want := "# A comment\nid: acme\nsettings: {region: eu}\nsecrets: [token]\nfile: " + p.fileName() + "\nsha256: " + p.Files[1].SHA256 + "\n"
	if got := read(t, manifest); got != want {
		t.Errorf("the manifest is %q, want %q", got, want)
	}
	if diff := cmp.Diff([]string{"acme/", "acme/" + p.fileName(), "acme/plugin.yaml"}, tree(t, dir)); diff != "" {
		t.Errorf("the plugin folder (-want +got):\n%s", diff)
	}
	if got := listed(t, dir); got.State != host.Ready || got.Version != "0.1.0" {
		t.Errorf("got %+v, want acme 0.1.0 ready", got)
	}
	for path, mode := range map[string]fs.FileMode{dir: 0o755, filepath.Dir(manifest): 0o755, manifest: 0o644, filepath.Join(dir, "acme", p.fileName()): 0o755} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v, want mode %v", path, info.Mode(), err, mode)
		}
	}
}

// TestUpdateBesideAServer replaces a plugin that a server has: it goes on with the old one until
// it reads its manifests again. What the operator wrote into the manifest stays.
func TestUpdateBesideAServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var names []string
	put := func(version string) {
		t.Helper()
		p, err := install(t.Context(), dir, archiveOf(t, version), nil)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, p.fileName())
	}
	put("0.1.0")
	manifest := filepath.Join(dir, "acme", "plugin.yaml")
	write(t, manifest, strings.Replace(read(t, manifest), "settings: {region: eu}\nsecrets: [token]", "settings: {region: us}\nsecrets: []", 1))
	server := serving(t, dir)
	if got := found(t, server); got != "0.1.0" {
		t.Fatalf("the server has version %q, want 0.1.0", got)
	}
	put("0.2.0")
	if got := found(t, server); got != "0.1.0" {
		t.Errorf("after the update the server has version %q, want 0.1.0 still", got)
	}
	if changed, err := server.Reload(host.Config{Dir: dir}, nil); err != nil || !slices.Equal(changed, []string{"acme"}) {
		t.Errorf("reload: %q, %v, want acme changed", changed, err)
	}
	if got := found(t, server); got != "0.2.0" {
		t.Errorf("then the server has version %q, want 0.2.0", got)
	}
	if text := read(t, manifest); !strings.Contains(text, "settings: {region: us}\nsecrets: []\n") || !strings.HasPrefix(text, "# A comment\n") {
		t.Errorf("the manifest is %q, want the operator's settings and secrets, and the comment", text)
	}
	put("0.3.0") // the file before the last is swept
	slices.Sort(names[1:])
	if diff := cmp.Diff([]string{"acme/", "acme/" + names[1], "acme/" + names[2], "acme/plugin.yaml"}, tree(t, dir)); diff != "" {
		t.Errorf("the plugin folder after three versions (-want +got):\n%s", diff)
	}
}

// TestKilled kills an installation before each of its steps: the plugin is the old one, or after
// the last step the new one, and the next installation goes on as ever.
func TestKilled(t *testing.T) {
	t.Parallel()
	old, next := archiveOf(t, "0.1.0"), archiveOf(t, "0.2.0")
	for _, step := range []string{"folder", "write", "file", "sync", "manifest", "sweep"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if _, err := install(t.Context(), dir, old, nil); err != nil {
				t.Fatal(err)
			}
			installKilled(t, dir, next, step)
			want := "0.1.0"
			if step == "sweep" {
				want = "0.2.0"
			}
			if got := listed(t, dir); got.State != host.Ready || got.Version != want {
				t.Errorf("got %+v, want acme %s ready", got, want)
			}
			if _, err := install(t.Context(), dir, next, nil); err != nil {
				t.Fatal(err)
			}
			if got := listed(t, dir); got.State != host.Ready || got.Version != "0.2.0" {
				t.Errorf("after another try: %+v, want acme 0.2.0 ready", got)
			}
			if got := tree(t, dir); len(got) != 4 {
				t.Errorf("the plugin folder has %q, want the manifest and two versions", got)
			}
		})
	}
}

// TestFailedInstallation leaves the old plugin as it was: the manifest cannot be replaced.
func TestFailedInstallation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := install(t.Context(), dir, archiveOf(t, "0.1.0"), func(step string) {
		if step == "manifest" {
			if err := os.Mkdir(filepath.Join(dir, "acme", "plugin.yaml"), 0o755); err != nil {
				t.Error(err)
			}
		}
	})
	if err == nil {
		t.Fatal("got no error, want that of a folder in place of the manifest")
	}
	if diff := cmp.Diff([]string{"acme/", "acme/plugin.yaml/"}, tree(t, dir)); diff != "" {
		t.Errorf("the plugin folder (-want +got):\n%s", diff)
	}
}

func TestOneInstallationAtATime(t *testing.T) {
	t.Parallel()
	dir, archive := t.TempDir(), archiveOf(t, "0.1.0")
	_, err := install(t.Context(), dir, archive, func(step string) {
		if step != "file" {
			return
		}
		if _, err := install(t.Context(), dir, archive, nil); err == nil || !strings.Contains(err.Error(), "another process installs") {
			t.Errorf("a second installation: %v, want it refused", err)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// TestOtherPlacesOfManifests: a plugin that was installed by hand is replaced where it is, and
// one of another id is not.
func TestOtherPlacesOfManifests(t *testing.T) {
	t.Parallel()
	archive := archiveOf(t, "0.1.0")
	t.Run("beside others", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, filepath.Join(dir, "my-acme.yaml"), "sha256: "+strings.Repeat("0", 64)+"\nid: acme\n")
		write(t, filepath.Join(dir, "acme"), "the old one")
		if _, err := install(t.Context(), dir, archive, nil); err != nil {
			t.Fatal(err)
		}
		if got := listed(t, dir); got.State != host.Ready || got.Version != "0.1.0" {
			t.Errorf("got %+v, want acme 0.1.0 ready", got)
		}
	})
	t.Run("in JSON", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, filepath.Join(dir, "acme.json"), `{"id": "acme", "sha256": "`+strings.Repeat("0", 64)+`"}`)
		if _, err := install(t.Context(), dir, archive, nil); err == nil || !strings.Contains(err.Error(), "cannot be pinned") {
			t.Errorf("got %v, want that the manifest cannot be pinned", err)
		}
		if diff := cmp.Diff([]string{"acme.json"}, tree(t, dir)); diff != "" {
			t.Errorf("the plugin folder (-want +got):\n%s", diff)
		}
	})
	t.Run("of another plugin", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "acme"), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "acme", "plugin.yaml"), "id: zeta\n")
		if _, err := install(t.Context(), dir, archive, nil); err == nil || !strings.Contains(err.Error(), "is not the manifest of acme") {
			t.Errorf("got %v, want the manifest of zeta left alone", err)
		}
	})
}

func TestRemove(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, version := range []string{"0.1.0", "0.2.0"} {
		if _, err := install(t.Context(), dir, archiveOf(t, version), nil); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := Enter(dir)
	if err != nil {
		t.Fatal(err)
	}
	at, err := folder.Find("acme")
	if err == nil {
		err = folder.Remove(at)
	}
	folder.Leave()
	if got := tree(t, dir); err != nil || len(got) > 0 {
		t.Errorf("got %v, and %q is left, want nothing", err, got)
	}
}

// tree are the files and folders below dir, sorted.
func tree(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if entry.IsDir() {
			name += "/"
		}
		all = append(all, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

func TestManifestOfAPackage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"a path":                         {"id: acme\nsettings: {dir: /etc}\n", "for the operator to say"},
		"another id":                     {"id: other\nfile: acme\n", "is not the manifest of acme"},
		"another file":                   {"id: acme\nfile: none\n", "no such file"},
		"unknown":                        {"id: acme\nsha265: x\n", "sha265"},
		"not at the beginning of a line": {" id: acme\n file: acme\n", "manifest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := plugin(t, "0.1.0")
			write(t, filepath.Join(folder, "plugin.yaml"), c.text)
			out := filepath.Join(t.TempDir(), "out")
			_, _, err := Write(t.Context(), Order{Manifest: folder, Out: out})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("there is an archive, want none")
			}
		})
	}
}

func TestSignatureOf(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"a/b.tar.gz":                      "a/b.tar.gz.minisig",
		"https://x.example.com/a.tgz?k=1": "https://x.example.com/a.tgz.minisig?k=1",
	} {
		if got := signatureOf(from); got != want {
			t.Errorf("%s: %s, want %s", from, got, want)
		}
	}
	if got := string(bytes.TrimSpace([]byte(fileSafe("1/2 ../x")))); got != "1-2-..-x" {
		t.Errorf("got %q, want a name without slashes", got)
	}
}
