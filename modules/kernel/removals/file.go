package removals

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/secret"
)

const (
	// current is the file that lines are appended to. Other files *.log of the folder are copies
	// of it, from a backup or another machine: a start takes their lines over.
	current = "removed.log"
	// format begins the first line, before the file's random name and the mark of the key.
	format = "scrollery-removals-1"
	// longest bounds a line, in bytes.
	longest = 1 << 10
)

// ErrOtherKey is the error of a log whose hashes were made with another key than the server's.
var ErrOtherKey = errors.New("it was written with another key of the server: put back the secret.key that belongs to it, or move the file away to start without what it names")

// String is the line as the file has it, without its end: the last word is a sum of the others.
func (l Line) String() string {
	empty := func(word string) string {
		if word == "" {
			return "-"
		}
		return word
	}
	text := fmt.Sprintf("%s %s %d %s %d", l.kind, empty(l.of), l.id, empty(l.text), l.at)
	return text + " " + sumOf(text)
}

func sumOf(text string) string {
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(text)))
}

// parse reads what String wrote. ok is false for anything else.
func parse(text string) (line Line, ok bool) {
	at := strings.LastIndexByte(text, ' ')
	if at < 0 || sumOf(text[:at]) != text[at+1:] {
		return line, false
	}
	words := strings.Split(text[:at], " ")
	if len(words) != 5 {
		return line, false
	}
	for i := range words {
		if words[i] == "-" {
			words[i] = ""
		}
	}
	id, err := strconv.ParseInt(words[2], 10, 64)
	when, timeErr := strconv.ParseInt(words[4], 10, 64)
	return Line{words[0], words[1], id, words[3], when}, err == nil && timeErr == nil
}

// file is a file of the log that is not changed meanwhile.
type file struct {
	path, name string
	// size is without a line that was cut off.
	size int64
}

// look reads the first line of a file and finds the end of its last whole one. found is false if
// there is no file; one without a first line is none.
func look(path string, key *secret.Hasher) (f file, found bool, err error) {
	in, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, false, nil
	}
	if err != nil {
		return f, false, err
	}
	defer in.Close() //nolint:errcheck // it reads
	first, err := bufio.NewReader(io.LimitReader(in, longest)).ReadString('\n')
	words := strings.Fields(first)
	if err != nil || len(words) != 3 || words[0] != format {
		return f, false, fmt.Errorf("%s is no log of removals", path)
	}
	if words[2] != markOf(key) {
		return f, false, fmt.Errorf("%s: %w", path, ErrOtherKey)
	}
	size, err := in.Seek(0, io.SeekEnd)
	if err != nil {
		return f, false, err
	}
	tail := make([]byte, min(size, longest))
	if _, err := in.ReadAt(tail, size-int64(len(tail))); err != nil {
		return f, false, err
	}
	cut := len(tail) - 1 - strings.LastIndexByte(string(tail), '\n')
	return file{path, words[1], size - int64(cut)}, true, nil
}

// markOf tells whether two keys are the same, and nothing of them.
func markOf(key *secret.Hasher) string { return key.Hash("removals")[:8] }

// each hands over the lines between two positions in their order, and returns how many cannot be
// read.
func (f file) each(ctx context.Context, from int64, do func(Line) error) (damaged int, err error) {
	in, err := os.Open(f.path)
	if err != nil {
		return 0, err
	}
	defer in.Close() //nolint:errcheck // it reads
	lines := bufio.NewScanner(io.NewSectionReader(in, from, f.size-from))
	lines.Buffer(make([]byte, 0, 4<<10), 1<<20)
	for lines.Scan() {
		line, ok := parse(lines.Text())
		switch {
		case ok:
			err = do(line)
		case !strings.HasPrefix(lines.Text(), format):
			damaged++
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return damaged, err
		}
	}
	return damaged, lines.Err()
}

// add appends lines to a file, after its last whole one. They are on the disk when it returns.
func (f *file) add(lines []string) error {
	out, err := os.OpenFile(f.path, os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	text := strings.Join(lines, "\n") + "\n"
	err = out.Truncate(f.size)
	if err == nil {
		_, err = out.WriteAt([]byte(text), f.size)
	}
	if err = errors.Join(err, out.Sync(), out.Close()); err == nil {
		f.size += int64(len(text))
	}
	return err
}

// create makes a file of the lines that fill hands over, in the place of another. It is whole and
// on the disk when it appears.
func create(path string, key *secret.Hasher, fill func(add func(Line) error) error) (f file, err error) {
	part, err := os.CreateTemp(filepath.Dir(path), ".new-") // mode 0600
	if err != nil {
		return f, err
	}
	defer os.Remove(part.Name()) //nolint:errcheck // a leftover is harmless
	f = file{path: path, name: secret.New()}
	out := bufio.NewWriter(part)
	write := func(text string) error {
		n, err := out.WriteString(text + "\n")
		f.size += int64(n)
		return err
	}
	if err = write(format + " " + f.name + " " + markOf(key)); err == nil {
		err = fill(func(line Line) error { return write(line.String()) })
	}
	if err = errors.Join(err, out.Flush(), part.Sync(), part.Close()); err != nil {
		return f, err
	}
	if err := os.Rename(part.Name(), path); err != nil {
		return f, err
	}
	return f, syncFolder(filepath.Dir(path))
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
