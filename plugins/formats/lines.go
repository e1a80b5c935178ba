package formats

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// LineLimit is the longest line of a feed file that is read.
const LineLimit = 1 << 20

// lines walks over the lines of a stream without holding more than one.
type lines struct {
	in    *bufio.Reader
	limit int
	buf   []byte
	// number is that of the line given last, from 1.
	number int
	// ended reports whether the line given last had an end.
	ended bool
}

func newLines(in *bufio.Reader, limit int) *lines { return &lines{in: in, limit: limit} }

// next gives the next line without its end (LF or CRLF), valid until the next
// call; errLong for one that is too long and was passed; io.EOF after the last.
func (l *lines) next() ([]byte, error) {
	l.number++
	l.buf = l.buf[:0]
	long, any := false, false
	for {
		part, err := l.in.ReadSlice('\n')
		any = any || len(part) > 0
		if len(l.buf)+len(part) <= l.limit+2 {
			l.buf = append(l.buf, part...)
		} else {
			long = true
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || !any):
			return nil, err
		}
		l.ended = err == nil
		line := bytes.TrimSuffix(bytes.TrimSuffix(l.buf, []byte("\n")), []byte("\r"))
		if long || len(line) > l.limit {
			return nil, errLong
		}
		return line, nil
	}
}

// sniffed is how much of a file is looked at to find out how it is laid out.
const sniffed = 1 << 18

// sniff finds out from the start of a JSON file whether its lines are values of their
// own; flat says that this cannot be seen but is likely, as the first line is very
// long. A name that says so is believed, unless the file is plainly indented.
func sniff(named bool, start []byte, whole bool) (byLine, flat bool) {
	var first [][]byte
	rest := start
	for len(first) < 10 {
		line, after, more := bytes.Cut(rest, []byte("\n"))
		if !more && !whole {
			break
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			first = append(first, line)
		}
		if rest = after; !more {
			break
		}
	}
	switch {
	case len(first) == 0:
		return named, len(rest) > 0
	case isObject(first[0]), isListStart(first):
		return true, false
	case len(first[0]) == 1 && (first[0][0] == '{' || first[0][0] == '['):
		return false, false
	case named:
		return true, false
	case bytes.IndexByte([]byte("[{,:"), first[0][len(first[0])-1]) >= 0:
		return false, false // it goes on
	}
	objects := 0
	for _, line := range first {
		if isObject(line) {
			objects++
		}
	}
	return objects > 1, false
}

// isListStart reports a list with one object a line.
func isListStart(first [][]byte) bool {
	return len(first) > 1 && string(first[0]) == "[" && isObject(bytes.TrimSuffix(first[1], []byte(",")))
}

func isObject(line []byte) bool {
	value := jsontext.Value(cleanJSON(line))
	return value.Kind() == '{' && value.IsValid(jsontext.AllowDuplicateNames(true))
}
