package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// forged is an archive that no one's program wrote.
type forged struct {
	index Index
	files []entry
	// cut is how many bytes of the archive are left; 0 is all.
	cut int
}

type entry struct {
	head tar.Header
	text string
}

// forge is a whole archive of a script, which nothing starts.
func forge() *forged {
	script := "#!/bin/sh\nexit 1\n"
	manifest := "id: acme\nfile: run\nsha256: " + sum([]byte(script)) + "\n"
	f := &forged{index: Index{
		Format: 1, Protocols: []int{1}, OS: anywhere, Arch: anywhere,
		Described: Described{ID: "acme", Version: "1", Kind: "source", Summary: "A stage", Platforms: []string{"acmetok"}},
		Files:     []File{{manifestName, int64(len(manifest)), sum([]byte(manifest))}, {"run", int64(len(script)), sum([]byte(script))}},
	}}
	for _, file := range []struct{ name, text string }{{indexName, ""}, {manifestName, manifest}, {"run", script}} {
		f.files = append(f.files, entry{tar.Header{Typeflag: tar.TypeReg, Name: file.name, Mode: 0o644, Size: int64(len(file.text)), Format: tar.FormatUSTAR}, file.text})
	}
	return f
}

// manifest replaces the manifest, and what the index says of it.
func (f *forged) manifest(text string) {
	f.files[1].text, f.files[1].head.Size = text, int64(len(text))
	f.index.Files[0].Bytes, f.index.Files[0].SHA256 = int64(len(text)), sum([]byte(text))
}

func (f *forged) write(t *testing.T) string {
	t.Helper()
	if len(f.files) > 0 && f.files[0].text == "" && f.files[0].head.Name == indexName {
		raw, err := json.Marshal(f.index)
		if err != nil {
			t.Fatal(err)
		}
		f.files[0].text, f.files[0].head.Size = string(raw), int64(len(raw))
	}
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	files := tar.NewWriter(compressed)
	for _, one := range f.files {
		if err := files.WriteHeader(&one.head); err != nil {
			t.Fatal(err)
		}
		if _, err := files.Write([]byte(one.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	raw := out.Bytes()
	if f.cut > 0 {
		raw = raw[:len(raw)-f.cut]
	}
	path := filepath.Join(t.TempDir(), "forged.tar.gz")
	write(t, path, string(raw))
	return path
}

// TestRefused: what an archive may not be is refused in words, and nothing of it is left.
func TestRefused(t *testing.T) {
	t.Parallel()
	if _, err := install(t.Context(), t.TempDir(), forge().write(t), nil); err != nil {
		t.Fatalf("the archive that the cases change is refused itself: %v", err)
	}
	plain := func(name, text string) entry {
		return entry{tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(text)), Format: tar.FormatUSTAR}, text}
	}
	special := func(kind byte, name, link string) entry {
		return entry{tar.Header{Typeflag: kind, Name: name, Linkname: link, Format: tar.FormatUSTAR}, ""}
	}
	zeros := strings.Repeat("\x00", 64<<20)
	for name, c := range map[string]struct {
		change func(*forged)
		want   string
	}{
		"a changed byte of the plugin":   {func(f *forged) { f.files[2].text = "#!/bin/sh\nexit 2\n" }, "run was changed: its SHA-256 is"},
		"a changed byte of the manifest": {func(f *forged) { f.files[1].text = "#" + f.files[1].text[1:] }, "plugin.yaml was changed"},
		"a cut archive":                  {func(f *forged) { f.cut = 40 }, "unexpected EOF"},
		"no archive":                     {func(f *forged) { f.files = nil }, "ends before scrollery-plugin.json"},
		"another order":                  {func(f *forged) { f.files[1], f.files[2] = f.files[2], f.files[1] }, `"run" is in the archive, want plugin.yaml`},
		"a path out of it":               {func(f *forged) { f.files[2].head.Name = "../../run" }, `"../../run" is in the archive`},
		"an absolute path":               {func(f *forged) { f.files[2].head.Name = "/etc/cron.d/run" }, `"/etc/cron.d/run" is in the archive`},
		"a path out of it in the index": {func(f *forged) {
			f.files[2].head.Name, f.index.Files[1].Name = "../run", "../run"
		}, "the plugin, which is named as"},
		"a hash that is a path": {func(f *forged) { f.index.Files[1].SHA256 = "/../../../../../../x" }, "has no SHA-256"},
		"an id that is a path":  {func(f *forged) { f.index.ID = "../acme" }, "id"},
		"a symbolic link":       {func(f *forged) { f.files[2] = special(tar.TypeSymlink, "run", "/bin/sh") }, "is no plain file"},
		"a hard link":           {func(f *forged) { f.files[2] = special(tar.TypeLink, "run", "plugin.yaml") }, "is no plain file"},
		"a device":              {func(f *forged) { f.files[2] = special(tar.TypeChar, "run", "") }, "is no plain file"},
		"a pipe":                {func(f *forged) { f.files[2] = special(tar.TypeFifo, "run", "") }, "is no plain file"},
		"a folder":              {func(f *forged) { f.files[2] = special(tar.TypeDir, "run", "") }, "is no plain file"},
		"a long name": {func(f *forged) {
			f.files[2].head.Format, f.files[2].head.Name = tar.FormatPAX, strings.Repeat("a", 300)
		}, "is no plain file"},
		"a file more": {func(f *forged) { f.files = append(f.files, plain("more", "x")) }, `"more" is in the archive and not in its index`},
		"ten thousand files": {func(f *forged) {
			for n := range 10_000 {
				f.files = append(f.files, plain(fmt.Sprint(n), ""))
			}
		}, `"0" is in the archive and not in its index`},
		"ten thousand files in the index": {func(f *forged) { f.index.Files = make([]File, 10_000) }, "must name two files"},
		"an index of 2 MiB":               {func(f *forged) { f.index.Summary = strings.Repeat("x", 2<<20) }, "scrollery-plugin.json has 2"},
		"a bomb": {func(f *forged) {
			f.files[2].text, f.files[2].head.Size = zeros, int64(len(zeros))
			f.index.Files[1].Bytes = int64(len(zeros))
		}, "grows to more than 100 times its size"},
		"more bytes than the index says": {func(f *forged) { f.index.Files[1].Bytes = 3 }, "run has 17 bytes, and may have 3"},
		"a plugin of 300 MB":             {func(f *forged) { f.index.Files[1].Bytes = 300 << 20 }, "may have 268435456"},
		"another platform":               {func(f *forged) { f.index.OS, f.index.Arch = "plan9", "mips" }, `the plugin is for "plan9/mips", and this machine is`},
		"a script that says it is none": {func(f *forged) {
			f.index.OS, f.index.Arch = thisPlatform()
		}, "and it is not"},
		"another protocol":      {func(f *forged) { f.index.Protocols = []int{7, 8} }, "needs the stage protocol 7 8, and this server speaks 1"},
		"a later format":        {func(f *forged) { f.index.Format = 2 }, "has format 2, and this program reads 1"},
		"an odd kind":           {func(f *forged) { f.index.Kind = "virus" }, "scrollery-plugin.json"},
		"texts for terminals":   {func(f *forged) { f.index.Summary = "good\x1b[2J" }, "not shown as they are"},
		"text that goes back":   {func(f *forged) { f.index.Hosts = []string{"a.example.com:443\u202e"} }, "scrollery-plugin.json"},
		"no index":              {func(f *forged) { f.files[0] = plain(indexName, "{") }, "cannot be read"},
		"a manifest of another": {func(f *forged) { f.manifest(strings.Replace(f.files[1].text, "acme", "zeta", 1)) }, "is not the manifest of run"},
		"a manifest of another file": {func(f *forged) {
			f.manifest(strings.Replace(f.files[1].text, "file: run", "file: ../../bin/sh", 1))
		}, "is not the manifest of run"},
		"a manifest that is not pinned": {func(f *forged) { f.manifest("id: acme\nfile: run\n") }, "is not the manifest of run"},
		"a manifest with a file to read": {func(f *forged) {
			f.index.Settings = []Setting{{Name: "dir", Path: true}}
			f.manifest(f.files[1].text + "settings: {dir: /etc}\n")
		}, `sets dir to "/etc"`},
		"a manifest with a host to reach": {func(f *forged) {
			f.index.Settings = []Setting{{Name: "url", Endpoint: true}}
			f.manifest(f.files[1].text + "settings: {url: 'http://169.254.169.254/'}\n")
		}, "for the operator to say"},
		"a manifest with two files": {func(f *forged) { f.manifest(f.files[1].text + "\"file\": other\n") }, "manifest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := forge()
			c.change(f)
			archive := f.write(t)
			dir := t.TempDir()
			_, err := install(t.Context(), dir, archive, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
			if left := tree(t, dir); len(left) > 0 {
				t.Errorf("%q is left, want nothing", left)
			}
		})
	}
}

func thisPlatform() (system, arch string) {
	system, arch, _ = platform([]byte("native"), true)
	return system, arch
}

func TestNoArchive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "text"), "not compressed")
	for from, want := range map[string]string{
		filepath.Join(dir, "text"): "it is not compressed by gzip",
		filepath.Join(dir, "none"): "no such file",
		dir:                        "is no regular file",
		"/dev/zero":                "is no regular file",
	} {
		plugins := filepath.Join(t.TempDir(), "plugins")
		if _, err := install(t.Context(), plugins, from, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", from, err, want)
		}
		if _, err := os.Stat(plugins); err == nil {
			t.Errorf("%s: the plugin folder was made, want nothing left", from)
		}
	}
	if _, err := Enter(""); err == nil || !strings.Contains(err.Error(), "SCROLLERY_PLUGIN_DIR") {
		t.Errorf("got %v, want the setting named", err)
	}
}
