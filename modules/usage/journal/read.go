package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
)

// A file is a header (magic, number of the turn, checksum of both), then frames: length,
// checksum, entry. Numbers are little-endian.
const (
	magic      = "SJ01"
	headerSize = 16
	frameHead  = 8
)

// table is made once, by the first that needs it.
func table() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func appendHeader(to []byte, salt uint64) []byte {
	at := len(to)
	to = append(to, magic...)
	to = binary.LittleEndian.AppendUint64(to, salt)
	return binary.LittleEndian.AppendUint32(to, crc32.Checksum(to[at:], table()))
}

func appendFrame(to []byte, salt uint64, entry []byte) []byte {
	to = binary.LittleEndian.AppendUint32(to, uint32(len(entry)))
	to = binary.LittleEndian.AppendUint32(to, checksum(salt, entry))
	return append(to, entry...)
}

// checksum is never that of zeros: an entry has at least a byte.
func checksum(salt uint64, entry []byte) uint32 {
	var text [8]byte
	binary.LittleEndian.PutUint64(text[:], salt)
	return crc32.Update(crc32.Checksum(text[:], table()), table(), entry)
}

// parse returns the entries of a file, and where they end; none for an empty file.
func parse(data []byte) (entries [][]byte, end int) {
	if len(data) < headerSize || string(data[:4]) != magic ||
		binary.LittleEndian.Uint32(data[12:]) != crc32.Checksum(data[:12], table()) {
		return nil, 0
	}
	salt := binary.LittleEndian.Uint64(data[4:])
	for end = headerSize; len(data)-end > frameHead; {
		length := int64(binary.LittleEndian.Uint32(data[end:]))
		if length == 0 || length > int64(len(data)-end-frameHead) {
			break
		}
		entry := data[end+frameHead:][:length:length]
		if binary.LittleEndian.Uint32(data[end+4:]) != checksum(salt, entry) {
			break
		}
		entries = append(entries, entry)
		end += frameHead + int(length)
	}
	return entries, end
}

// Read returns the entries of all processes that have files in the folder, running ones
// too; none where there is no folder.
func Read(dir string) (entries [][]byte, err error) {
	err = eachFile(dir, func(_ string, data []byte) error {
		found, _ := parse(data)
		entries = append(entries, found...)
		return nil
	})
	return entries, err
}

// Copy copies the entries of all processes that have files in the folder into another
// folder, which [Open] can read.
func Copy(from, to string) error {
	return eachFile(from, func(name string, data []byte) error {
		entries, end := parse(data)
		if len(entries) == 0 {
			return nil
		}
		if err := os.MkdirAll(to, 0o700); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), data[:end], 0o600)
	})
}

func eachFile(dir string, do func(name string, data []byte) error) error {
	names, err := filepath.Glob(filepath.Join(dir, "[0-9][0-9][0-9]-[01]"))
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = do(filepath.Base(name), data)
		}
		if err != nil {
			return fmt.Errorf("read the journal: %w", err)
		}
	}
	return nil
}

// numbersIn returns the numbers that have files.
func numbersIn(dir string) (numbers []int, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "[0-9][0-9][0-9]-0"))
	for _, name := range names {
		var number int
		if _, err := fmt.Sscanf(filepath.Base(name), "%03d-0", &number); err == nil {
			numbers = append(numbers, number)
		}
	}
	return numbers, err
}

// empty hands the entries of a number to take and forgets them. The caller has its lock.
func empty(dir string, number int, take Take) error {
	for i := range 2 {
		file, err := os.OpenFile(filePath(dir, number, i), os.O_RDWR, 0o600)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = errors.Join(emptyFile(file, take), file.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func emptyFile(file *os.File, take Take) error {
	data, err := os.ReadFile(file.Name())
	if err != nil {
		return err
	}
	entries, end := parse(data)
	if end == 0 {
		return nil
	}
	if len(entries) > 0 {
		if err := take(entries); err != nil {
			return err
		}
	}
	if err := clearHeader(file); err != nil {
		return err
	}
	return file.Sync()
}

// clearHeader makes a file one without entries.
func clearHeader(file *os.File) error {
	if _, err := file.WriteAt(make([]byte, headerSize), 0); err != nil {
		return fmt.Errorf("empty the journal: %w", err)
	}
	info, err := file.Stat()
	if err == nil && info.Size() > fileSize {
		err = file.Truncate(fileSize)
	}
	return err
}

func syncDir(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
