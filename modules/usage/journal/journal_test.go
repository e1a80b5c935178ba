package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/power"
)

// taken collects what is handed to it.
type taken struct{ entries []string }

func (t *taken) take(entries [][]byte) error {
	for _, entry := range entries {
		t.entries = append(t.entries, string(entry))
	}
	return nil
}

func open(t *testing.T, dir string, take Take) *Journal {
	t.Helper()
	j, err := Open(dir, take)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func add(t *testing.T, j *Journal, entries ...string) {
	t.Helper()
	for _, entry := range entries {
		if err := j.Append([]byte(entry)); err != nil {
			t.Fatal(err)
		}
	}
}

func want(t *testing.T, what string, got, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// read returns what the files of a folder have.
func read(t *testing.T, dir string) []string {
	t.Helper()
	var all taken
	entries, err := Read(dir)
	if err := errors.Join(err, all.take(entries)); err != nil {
		t.Fatal(err)
	}
	return all.entries
}

func TestEntriesStayUntilTheyAreForgotten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var left taken
	j := open(t, dir, left.take)
	add(t, j, "a", "b")
	want(t, "after two entries", read(t, dir), []string{"a", "b"})
	j.Turn()
	add(t, j, "c")
	want(t, "after a turn", read(t, dir), []string{"a", "b", "c"})
	if err := j.Empty(); err != nil {
		t.Fatal(err)
	}
	want(t, "after the first ones are stored", read(t, dir), []string{"c"})
	j.Turn()
	want(t, "what an earlier turn wrote", read(t, dir), []string{"c"})
	add(t, j, "d")
	want(t, "after another turn", read(t, dir), []string{"d", "c"})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Append([]byte("late")); err == nil {
		t.Error("a closed journal takes entries, want an error")
	}
	next := open(t, dir, left.take)
	want(t, "what the next process gets", left.entries, []string{"d", "c"})
	want(t, "what is left then", read(t, dir), nil)
	add(t, next, "e")
	want(t, "a later entry", read(t, dir), []string{"e"})
}

// TestAnyCutLeavesWholeEntries cuts the file at each byte, and damages each byte: what is
// left are the entries before it.
func TestAnyCutLeavesWholeEntries(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir, new(taken).take)
	all := []string{"first", "second", "the third"}
	var ends []int
	for _, entry := range all {
		add(t, j, entry)
		ends = append(ends, int(j.size))
	}
	data, err := os.ReadFile(filePath(dir, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	texts := func(data []byte) (texts []string) {
		entries, _ := parse(data)
		for _, entry := range entries {
			texts = append(texts, string(entry))
		}
		return texts
	}
	for at := range ends[2] {
		whole := 0
		for whole < 3 && ends[whole] <= at {
			whole++
		}
		if diff := cmp.Diff(all[:whole], texts(data[:at:at])); diff != "" && whole > 0 {
			t.Fatalf("cut at %d (-want +got):\n%s", at, diff)
		}
		damaged := bytes.Clone(data)
		damaged[at] ^= 0x40
		if at < headerSize {
			whole = 0
		}
		if diff := cmp.Diff(all[:whole], texts(damaged)); diff != "" && whole > 0 || whole == 0 && texts(damaged) != nil {
			t.Fatalf("damaged at %d (-want +got):\n%s", at, diff)
		}
	}
}

// TestPowerCut keeps of each file what was on the disk when an Append returned: that has
// every entry that was not forgotten.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	dir, disk := t.TempDir(), t.TempDir()
	j := open(t, dir, new(taken).take)
	j.sync = func(file *os.File) error {
		data, err := os.ReadFile(file.Name())
		return errors.Join(err, os.WriteFile(filepath.Join(disk, filepath.Base(file.Name())), data, 0o600))
	}
	var active, sealed []string
	for i := range 40 {
		entry := fmt.Sprintf("entry %d", i)
		add(t, j, entry)
		active = append(active, entry)
		switch i % 7 {
		case 3:
			j.Turn()
			active, sealed = nil, active
		case 5:
			if err := j.Empty(); err != nil {
				t.Fatal(err)
			}
			sealed = nil
		}
		found := map[string]bool{}
		for _, entry := range read(t, disk) {
			found[entry] = true
		}
		for _, entry := range slices.Concat(sealed, active) {
			if !found[entry] {
				t.Fatalf("after %d entries: got no %q on the disk, want it", i+1, entry)
			}
		}
	}
	cut := errors.New("no power")
	j.sync = func(*os.File) error { return cut }
	if err := j.Append([]byte("lost")); !errors.Is(err, cut) {
		t.Errorf("an entry that is not on the disk: got error %v, want %v", err, cut)
	}
	if err := j.Check(); !errors.Is(err, cut) {
		t.Errorf("the check after it: got %v, want %v", err, cut)
	}
	if err := j.Reopen(new(taken).take); err != nil {
		t.Fatal(err)
	}
	j.sync = power.Sync
	add(t, j, "again")
	want(t, "after it was opened again", read(t, dir), []string{"again"})
}

func TestProcessesHaveFilesOfTheirOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var first, second taken
	a := open(t, dir, first.take)
	b := open(t, dir, second.take)
	add(t, a, "of a")
	add(t, b, "of b")
	if err := b.Adopt(second.take); err != nil {
		t.Fatal(err)
	}
	want(t, "what b takes from a, which runs", second.entries, nil)
	if err := a.Close(); err != nil { // as a kill: its entries stay
		t.Fatal(err)
	}
	if err := b.Adopt(second.take); err != nil {
		t.Fatal(err)
	}
	want(t, "what b takes from a, which has ended", second.entries, []string{"of a"})
	want(t, "what is left", read(t, dir), []string{"of b"})
	fails := errors.New("no database")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, func([][]byte) error { return fails }); !errors.Is(err, fails) {
		t.Errorf("entries that cannot be stored: got error %v, want %v", err, fails)
	}
	want(t, "what is left after it", read(t, dir), []string{"of b"})
}

func TestCheckMissesItsFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir, new(taken).take)
	if err := j.Check(); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := j.Check(); !errors.Is(err, ErrReplaced) {
		t.Errorf("without its folder: got %v, want %v", err, ErrReplaced)
	}
	if err := j.Reopen(new(taken).take); err != nil {
		t.Fatal(err)
	}
	add(t, j, "x")
	want(t, "after it was opened again", read(t, dir), []string{"x"})
}

func TestCopyHasWhatIsOpen(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	if err := Copy(filepath.Join(from, "none"), to); err != nil {
		t.Error(err)
	}
	j := open(t, from, new(taken).take)
	add(t, j, "a")
	j.Turn()
	add(t, j, "b")
	if err := Copy(from, to); err != nil {
		t.Fatal(err)
	}
	var copied taken
	open(t, to, copied.take)
	want(t, "entries of the copy", copied.entries, []string{"a", "b"})
}

func TestALongFileIsCut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir, new(taken).take)
	long := string(make([]byte, 300<<10))
	add(t, j, long, long, long, long, "last")
	if got := read(t, dir); len(got) != 5 || got[4] != "last" {
		t.Errorf("got %d entries, want 5", len(got))
	}
	j.Turn()
	if err := j.Empty(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filePath(dir, 0, 0)); err != nil || info.Size() != fileSize {
		t.Errorf("size %d, error %v, want %d", info.Size(), err, fileSize)
	}
}

// BenchmarkAppend is the least that an answer pays for its event.
func BenchmarkAppend(b *testing.B) {
	j, err := Open(b.TempDir(), new(taken).take)
	if err != nil {
		b.Fatal(err)
	}
	entry := make([]byte, 48)
	for n := 0; b.Loop(); n++ {
		if n%10000 == 9999 {
			j.Turn()
			if err := j.Empty(); err != nil {
				b.Fatal(err)
			}
		}
		if err := j.Append(entry); err != nil {
			b.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
}
