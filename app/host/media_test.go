package host_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
)

// fetchMedia makes a file for each ref, as its id says.
func fetchMedia(ctx context.Context, call *stage.Call, refs []stage.Ref, emit func(stage.File) error) ([]stage.Outcome, error) {
	at := func(name string) string { return filepath.Join(call.Scratch, name) }
	for _, ref := range refs {
		file := stage.File{Ref: ref, Name: ref.ExternalID}
		var err error
		switch do, arg, _ := strings.Cut(ref.ExternalID, "="); do {
		case "good":
			err = os.WriteFile(at(file.Name), []byte("film "+arg), 0o600)
		case "big":
			err = os.WriteFile(at(file.Name), make([]byte, 3000), 0o600)
		case "symlink":
			err = os.Symlink(arg, at("symlink"))
			file.Name = "symlink"
		case "inner":
			err = errors.Join(os.WriteFile(at("film"), []byte("film"), 0o600), os.Symlink("film", at("inner")))
		case "pipe":
			err = syscall.Mkfifo(at("pipe"), 0o600)
		case "folder":
			err = os.Mkdir(at("folder"), 0o700)
		case "name":
			err = os.MkdirAll(at("inner"), 0o700)
			err = errors.Join(err, os.WriteFile(at("inner/file"), []byte("x"), 0o600))
			file.Name = arg
		case "swap":
			// The folder itself becomes a link to where the host may read.
			err = errors.Join(os.Rename(call.Scratch, call.Scratch+"-away"), os.Symlink(filepath.Dir(arg), call.Scratch))
			file.Name = filepath.Base(arg)
		case "stranger":
			err = os.WriteFile(at("stranger"), []byte("x"), 0o600)
			file = stage.File{Ref: stage.Ref{Platform: "tiktok", ExternalID: "not asked"}, Name: "stranger"}
		case "twice":
			err = errors.Join(os.WriteFile(at("twice"), []byte("x"), 0o600), os.WriteFile(at("again"), []byte("y"), 0o600), emit(file))
			file.Name = "again"
		case "crash":
			time.Sleep(1500 * time.Millisecond) // what was emitted is on its way
			os.Exit(3)
		case "wait":
			// As a fetch that a dying host leaves behind.
			if err = os.WriteFile(at("part"), []byte("half a film"), 0o600); err == nil {
				<-ctx.Done()
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", ref.ExternalID, err)
		}
		if err := emit(file); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// watch says what it could read of each record's media.
func watch(_ context.Context, _ *stage.Call, next func() (stage.Record, error), emit func(stage.Finding) error) error {
	return findEach(next, emit, func(r stage.Record) stage.Finding {
		text := "nothing"
		if r.Media != "" {
			raw, err := os.ReadFile(r.Media)
			text = string(raw)
			if err != nil {
				text = err.Error()
			}
			if os.WriteFile(r.Media, nil, 0o600) == nil || os.Remove(r.Media) == nil {
				text = "the media can be changed"
			}
		}
		return stage.Finding{Evidence: stage.Evidence{OnScreenText: &text}}
	})
}

// fetch asks for videos and returns what lies in the folder, by id.
func (b *bundle) fetch(t *testing.T, ids ...string) (*host.Folder, map[string]string, error) {
	t.Helper()
	folder, err := b.MediaFolder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(folder.Remove)
	refs := make([]stage.Ref, len(ids))
	for i, id := range ids {
		refs[i] = stage.Ref{Platform: "tiktok", ExternalID: id}
	}
	got := map[string]string{}
	_, err = folder.Fetch(t.Context(), "fetcher", stage.Run{}, refs, func(f stage.File) error {
		if filepath.Dir(f.Name) != folder.Path() {
			t.Errorf("got the file %s, want it in %s", f.Name, folder.Path())
		}
		raw, err := os.ReadFile(f.Name)
		got[f.ExternalID] = string(raw)
		return err
	})
	return folder, got, err
}

func TestMedia(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	_, got, err := b.fetch(t, "good=1", "good=2")
	if want := map[string]string{"good=1": "film 1", "good=2": "film 2"}; err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	plugin, _ := b.Find("fetcher")
	other, _ := b.Find("probe")
	watcher, _ := b.Find("watcher")
	if !plugin.FetchesMedia || other.FetchesMedia || !watcher.NeedsMedia || plugin.NeedsMedia {
		t.Errorf("want only the first to fetch media, and only the third to need some; got\n%+v\n%+v\n%+v", plugin, other, watcher)
	}
}

// TestMediaIsTakenFromScratchAlone hands the host what is no plain file of the
// call's own.
func TestMediaIsTakenFromScratchAlone(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{
		"symlink=" + outside, "inner", "pipe", "folder", "missing", "name=inner/file", "name=../x", "name=.", "name=..", "name=",
		`name=inner\file`, "name=/etc/passwd", "stranger", "swap=" + outside, "swap=/etc/hostname",
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			b := setup(t, nil)
			_, got, err := b.fetch(t, "good=1", id)
			want := map[string]string{"good=1": "film 1"}
			if strings.HasPrefix(id, "swap") { // it loses what was in the folder
				delete(got, "good=1")
				want, err = map[string]string{}, nil
			}
			if err != nil || !maps.Equal(got, want) {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
			if text, err := os.ReadFile(outside); err != nil || string(text) != "secret" {
				t.Errorf(`the file outside: got %q, error %v; want its text, secret`, text, err)
			}
			_, got, err = b.fetch(t, id)
			wantFailure(t, err, stage.StageProtocol)
			if len(got) > 0 {
				t.Errorf("fetched %v, want 0", got)
			}
		})
	}
}

func TestMediaOncePerVideo(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	if _, got, err := b.fetch(t, "twice"); err != nil || got["twice"] != "x" {
		t.Errorf(`got %v fetched, error %v; want x twice`, got, err)
	}
	if log := b.log.String(); !strings.Contains(log, "refused=1") {
		t.Errorf(`the second file of a video is not refused: %s, want with "refused=1"`, log)
	}
}

func TestMediaBounds(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *host.Config) { c.MediaFile, c.MediaTotal = 2000, 15 })
	_, got, err := b.fetch(t, "big", "good=1", "good=2", "good=3")
	if ids := slices.Sorted(maps.Keys(got)); err != nil || !slices.Equal(ids, []string{"good=1", "good=2"}) {
		t.Errorf("got %v, %v, want the two files that fit, good=1 and good=2", got, err)
	}
	// Too big is the video's doing: neither the call nor the plugin is to blame.
	for range 4 {
		if _, got, err := b.fetch(t, "big"); err != nil || len(got) > 0 {
			t.Errorf("got %d files fetched, error %v; want none", len(got), err)
		}
	}
}

// TestMediaOfACallThatCrashed keeps what was handed over before.
func TestMediaOfACallThatCrashed(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	folder, got, err := b.fetch(t, "good=1", "crash")
	wantFailure(t, err, stage.StageCrashed)
	if got["good=1"] != "film 1" {
		t.Errorf(`fetched %v, want "film 1"`, got)
	}
	folder.Remove()
	if _, err := os.Stat(folder.Path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there after Remove: %v, want %v", err, os.ErrNotExist)
	}
}

func TestOnlyAFetcherFetches(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	folder, err := b.MediaFolder()
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Remove()
	_, err = folder.Fetch(t.Context(), "probe", stage.Run{}, []stage.Ref{{Platform: "tiktok", ExternalID: "good=1"}}, func(stage.File) error { return nil })
	wantFailure(t, err, stage.StageProtocol)
}

// TestMediaForEvidence lets a stage read what was fetched for it, and nothing else.
func TestMediaForEvidence(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a box")
	}
	b := setup(t, nil)
	mine, _, err := b.fetch(t, "good=1")
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := b.fetch(t, "good=2")
	if err != nil {
		t.Fatal(err)
	}
	records := []stage.Record{
		{Ref: stage.Ref{Platform: "tiktok", ExternalID: "1"}, Media: filepath.Join(mine.Path(), "0")},
		{Ref: stage.Ref{Platform: "tiktok", ExternalID: "2"}, Media: filepath.Join(other.Path(), "0")},
		{Ref: stage.Ref{Platform: "tiktok", ExternalID: "3"}},
	}
	said := map[string]string{}
	err = mine.Evidence(t.Context(), "watcher", stage.Run{}, func() ([]stage.Record, error) {
		batch := records
		records = nil
		if batch == nil {
			return nil, io.EOF
		}
		return batch, nil
	}, func(batch []stage.Finding) error {
		for _, f := range batch {
			said[f.ExternalID] = *f.Evidence.OnScreenText
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if said["1"] != "film 1" || !strings.Contains(said["2"], "no such file") || said["3"] != "nothing" {
		t.Errorf(`the stage said %q, want 1 "film 1", 2 with "no such file" and 3 "nothing"`, said)
	}
}

// TestMediaOfADeadHost kills a host in the middle of a fetch, and starts another in
// the same place: nothing is left, and what a living host holds is not touched.
func TestMediaOfADeadHost(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	living, _, err := b.fetch(t, "good=1")
	if err != nil {
		t.Fatal(err)
	}
	stranger := filepath.Join(b.scratch, "media-of-somebody")
	if err := os.Mkdir(stranger, 0o700); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(stranger)
	lonely := exec.Command("/proc/self/exe", "host", b.scratch, "media")
	out, err := lonely.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := lonely.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 256)
	n, err := out.Read(line)
	if err != nil || !strings.HasPrefix(string(line[:n]), "film 1") {
		t.Fatalf("got %q, %v of the other host, want film 1", line[:n], err)
	}
	await(t, func() bool {
		// In the memory of its box.
		for _, pid := range processes(b.scratch) {
			root := filepath.Join("/proc", strconv.Itoa(pid), "root")
			if parts, _ := filepath.Glob(filepath.Join(root, b.scratch, "stage-*", "work", "part")); len(parts) == 1 {
				return true
			}
		}
		return false
	})
	if err := lonely.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = lonely.Wait()
	if left, _ := filepath.Glob(b.scratch + "/*/0"); len(left) != 2 {
		t.Fatalf("the dead host left %v, want 2", left)
	}
	setup(t, func(c *host.Config) { c.ScratchDir = b.scratch })
	left, _ := filepath.Glob(b.scratch + "/*")
	if !slices.Equal(left, []string{living.Path(), stranger}) && !slices.Equal(left, []string{stranger, living.Path()}) {
		t.Errorf("got %v after the next host, want %s of a living one and %s of another program", left, living.Path(), stranger)
	}
}

func await(t *testing.T, there func() bool) {
	t.Helper()
	for end := deadline(t); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if there() {
			return
		}
	}
	t.Fatal("got no change of the condition, want it true")
}
