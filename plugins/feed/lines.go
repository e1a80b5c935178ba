package feed

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lineLimit is the longest line that is read; longer ones are skipped and counted.
const lineLimit = 1 << 20

// lines walks over the lines of a stream without holding more than one.
type lines struct {
	in *bufio.Reader
	// long counts the lines that were skipped.
	long int
}

func newLines(in io.Reader) *lines {
	// The line's end (LF or CRLF) does not count as part of the line.
	return &lines{in: bufio.NewReaderSize(in, lineLimit+2)}
}

// next gives the next line without its end, valid until the next call; io.EOF after the last.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			l.long++
			if err := l.discard(); err != nil {
				return nil, err
			}
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(line) == 0):
			return nil, err
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) > lineLimit {
			l.long++
			continue
		}
		return line, nil
	}
}

func (l *lines) discard() error {
	for {
		_, err := l.in.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}
