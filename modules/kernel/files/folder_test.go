package files_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/files"
)

func open(t *testing.T, limits files.Limits) (*files.Folder, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "account")
	f, err := files.Open(dir, limits, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, dir
}

func TestHostilePathsAreRefused(t *testing.T) {
	t.Parallel()
	f, dir := open(t, files.Defaults())
	for name, path := range map[string]string{
		"empty": "", "root": "/", "absolute": "/etc/passwd", "double slash": "//etc/passwd", "parent": "..",
		"up": "../x", "up from below": "a/../../x", "up and back": "a/../b", "dot": ".", "dot first": "./a", "dot inside": "a/./b",
		"empty part": "a//b", "slash at the end": "a/", "backslash": `a\b`, "up by backslash": `..\..\x`,
		"drive": `C:\x`, "drive without slash": "c:x", "stream": "a:b", "share": `\\host\share`,
		"NUL byte": "a\x00b", "newline": "a\nb", "tab": "a\tb", "escape": "a\x1b[2Jb", "delete": "a\x7f", "next line": "a\u0085b",
		"line separator": "a\u2028b", "broken UTF-8": "a\xffb", "surrogate half": "a\xed\xa0\x80b",
		"device": "NUL", "device, small": "con", "device, extension": "aux.txt", "device below": "a/prn.tar.gz",
		"serial port": "COM1", "serial port ¹": "com¹.txt", "printer": "lpt9", "console": "CONIN$", "device, space": "nul .txt",
		"dot at the end": "a.", "space at the end": "a ", "three dots": "...",
		"long part": strings.Repeat("a", 256), "long part, bytes": strings.Repeat("ü", 128),
		"long path": strings.Repeat("abc/", 256) + "d",
	} {
		t.Run(name, func(t *testing.T) {
			for verb, err := range map[string]error{"write": f.Write(path, "x"), "remove": f.Remove(path)} {
				t.Run(verb, func(t *testing.T) {
					var refused *files.Error
					if !errors.As(err, &refused) || refused.Field != files.PathField {
						t.Errorf("%s: %v, want a refusal of the path", verb, err)
					}
				})
			}
			if _, err := f.Read(path); err == nil {
				t.Error("was read, want an error")
			}
		})
	}
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(entries) != 1 {
		t.Fatalf("beside the folder: got %v, error %v; want 1 entry", entries, err)
	}
	if files, err := f.List(); err != nil || len(files) != 0 {
		t.Fatalf("in the folder: got %v, error %v; want no file", files, err)
	}
}

func TestPathsAtTheBounds(t *testing.T) {
	t.Parallel()
	f, _ := open(t, files.Defaults())
	segment := strings.Repeat("s", 255)
	for _, path := range []string{
		"a", "b/b/c.txt", ".hidden", "..a", "a..b", "名前/ファイル.txt", "com10", "nullable.txt", "console", "$HOME", "%2e%2e", "a b", "-rf", "*", "new", "lock", "files/files",
		segment, strings.Repeat("ü", 127), strings.Repeat(segment[1:]+"x/", 3) + segment[1:] + "/y",
	} {
		t.Run(fmt.Sprintf("%.40q is stored", path), func(t *testing.T) {
			if err := f.Write(path, path); err != nil {
				t.Errorf("%.40s: %v", path, err)
			}
			if text, err := f.Read(path); err != nil || text != path {
				t.Errorf("%.40s: got %.40q, %v, want its own path", path, text, err)
			}
		})
	}
}

func TestLinksAndStrangeFilesAreNotFollowed(t *testing.T) {
	t.Parallel()
	f, dir := open(t, files.Defaults())
	secret := filepath.Join(filepath.Dir(dir), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	inner := filepath.Join(dir, "files")
	for name, target := range map[string]string{"link": secret, "relative": "../../secret", "up": "..", "out": "/", "inner": "../lock", "dangling": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(inner, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(inner, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"link", "relative", "up", "up/lock", "out/etc/passwd", "out/var/x", "inner", "dangling", "dangling/x", "fifo", "fifo/x"} {
		t.Run(path, func(t *testing.T) {
			var refused *files.Error
			if err := f.Write(path, "x"); !errors.As(err, &refused) || refused.Field != files.PathField {
				t.Errorf("write %s: got %v, want a refusal of the path", path, err)
			}
			if text, err := f.Read(path); err == nil {
				t.Errorf("%s reads %q, want an error", path, text)
			}
			if err := f.Remove(path); !errors.As(err, &refused) {
				t.Errorf("remove %s: got %v, want a refusal", path, err)
			}
		})
	}
	if text, err := os.ReadFile(secret); err != nil || string(text) != "secret" {
		t.Errorf(`the file outside: got %q, error %v; want its text, secret`, text, err)
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	f, _ := open(t, files.Limits{File: 10, Total: 25, Entries: 5})
	steps := []struct {
		path, data, field string
	}{
		{"a", "0123456789", ""},
		{"a", "0123456789a", "data"},
		{"b/c", "0123456789", ""},
		{"d", "012345", "data"},
		{"d", "01234", ""},
		{"a", "01234567890", "data"},
		{"a", "", ""},
		{"e", "0123456789", ""},
		{"f", "", "path"},   // a, b, b/c, d, e are five
		{"a/x", "", "path"}, // a is a file
		{"b", "", "path"},   // b is a folder
		{"a", "01234", "data"},
	}
	for i, step := range steps {
		t.Run(fmt.Sprintf("step %d writes %.40q", i, step.path), func(t *testing.T) {
			err := f.Write(step.path, step.data)
			var refused *files.Error
			if step.field == "" && err != nil || step.field != "" && (!errors.As(err, &refused) || refused.Field != step.field) {
				t.Errorf("step %d, %s: %v, want %q", i, step.path, err, step.field)
			}
		})
	}
	if err := f.Remove("b/c"); err != nil {
		t.Error(err)
	}
	if err := f.Write("f", "0123456789"); err != nil {
		t.Errorf("after a file has gone: %v", err)
	}
	files, err := f.List()
	if got := fmt.Sprint(files); err != nil || got != "[{a 0} {d 5} {e 10} {f 10}]" {
		t.Errorf("got the list %s, %v, want a, d, e and f, of which a is empty", got, err)
	}
}

func TestRacingWritersKeepTheBound(t *testing.T) {
	t.Parallel()
	limits := files.Limits{File: 100, Total: 1000, Entries: 100}
	_, dir := open(t, limits)
	var wrote atomic.Int32
	var writers sync.WaitGroup
	for i := range 24 {
		writers.Go(func() {
			f, err := files.Open(dir, limits, false)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			if f.Write(fmt.Sprintf("f%d", i), strings.Repeat("x", 100)) == nil {
				wrote.Add(1)
			}
		})
	}
	writers.Wait()
	if wrote.Load() != 10 {
		t.Errorf("%d writes of 100 bytes went into 1000, want 10", wrote.Load())
	}
}

func TestALeftoverOfACrashIsNoHindrance(t *testing.T) {
	t.Parallel()
	f, dir := open(t, files.Defaults())
	if err := os.MkdirAll(filepath.Join(dir, "new", "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := f.Write("a", "1"); err != nil {
		t.Fatal(err)
	}
}
