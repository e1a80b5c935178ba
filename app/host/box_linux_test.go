package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	outside, dir := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(outside, "secret"), filepath.Join(dir, "feed")} {
		if err := os.WriteFile(path, []byte(" content"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b := setup(t, func(c *host.Config) {
		c.Settings = map[string]map[string]string{"probe": {"dir": dir}}
	})
	for term, want := range map[string]string{
		"read:" + outside + "/secret": "no such file",
		"read:" + dir + "/feed":       "ok content",
		"list:" + dir:                 "ok",
		"list:" + outside:             "no such file",
		"list:" + outside + "/..":     "no such file",
		"read:/etc/passwd":            "no such file",
		"read:/proc/1/environ":        "no such file",
		"write:" + outside + "/new":   "no such file",
		"write:" + dir + "/new":       "read-only file system",
		"scratch":                     "ok",
	} {
		t.Run(term, func(t *testing.T) {
			if got := b.found(t, "probe", term); !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", term, got, want)
			}
		})
	}
}

// TestDefaultOfAPathOpensNothing: it is the author's word, and the operator's alone
// counts, even the same one.
func TestDefaultOfAPathOpensNothing(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]string{"": "no such file", "/etc/passwd": "root:"} {
		t.Run(fmt.Sprintf("set to %q", set), func(t *testing.T) {
			b := setup(t, func(c *host.Config) {
				if set != "" {
					c.Settings = map[string]map[string]string{"curious": {"file": set}}
				}
			})
			if got := b.found(t, "curious", "read:/etc/passwd"); !strings.Contains(got, want) {
				t.Errorf("set to %q: %.80q, want %q", set, got, want)
			}
			if text := b.found(t, "curious", "given"); !strings.Contains(text, `"file":"/etc/passwd"`) {
				t.Errorf("set to %q: the value is not handed over: %s, want with %q", set, text, `"file":"/etc/passwd"`)
			}
		})
	}
}

func TestPathSettingThatNamesNoFile(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *host.Config) {
		c.Settings = map[string]map[string]string{"probe": {"dir": "sample"}}
	})
	if text := b.found(t, "probe", "given"); !strings.Contains(text, `"dir":"sample"`) {
		t.Errorf("got %s, want the setting dir as it is, sample", text)
	}
}

// TestABinaryHasNoPrograms: it has libraries, and what it names; a script has more,
// which the example in Python shows.
func TestABinaryHasNoPrograms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/acme.yaml", "id: acme\nsha256: "+install(t, dir, "acme")+"\n")
	b := setup(t, func(c *host.Config) { c.Dir = dir })
	for term, want := range map[string]string{
		"list:/usr/lib":       "ok",
		"list:/usr/bin":       "no such file",
		"list:/usr/share/doc": "no such file",
		"list:/usr/include":   "no such file",
		"exec:/usr/bin/true":  "no such file",
		"exec:/proc/self/exe": "ok",
	} {
		t.Run(term, func(t *testing.T) {
			if got := b.found(t, "acme", term); !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", term, got, want)
			}
		})
	}
}

// TestMemoryOfChildrenCounts: the host adds it up with all else, and says why it ended the
// call.
func TestMemoryOfChildrenCounts(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *host.Config) { c.Memory, c.Disk = 256<<20, 16<<20 })
	_, err := b.probe(t.Context(), "probe", "children")
	if wantFailure(t, err, stage.StageCrashed); !strings.Contains(err.Error(), "used more than 272 MiB") {
		t.Errorf("got %v, want the bound", err)
	}
}
