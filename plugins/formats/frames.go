package formats

import (
	"bufio"
	"errors"
	"io"
)

// frames cuts JSON text into values by its brackets and quotes alone. It does not
// judge what is between them, so that a value with a fault costs itself and
// not what follows; and it holds no more than one value at a time.
type frames struct {
	in *bufio.Reader
	// line is the number of the present line, from 1.
	line int
	// lead is the number of blanks at its start, as long as nothing else was read.
	lead  int
	blank bool
	limit int
	// flat says that every line begins a value, so that one that lacks its end
	// costs one line.
	flat bool
	buf  []byte
	// open are the brackets that are still to come.
	open []byte
}

var (
	errCut    = errors.New("the file ends in the middle of it")
	errBroken = errors.New("quotes or brackets do not match")
	errLong   = errors.New("more than may be held at once")
)

// maxOpen is how deep a value may be nested.
const maxOpen = 10_000

func newFrames(in io.Reader, line, limit int) *frames {
	return &frames{in: bufio.NewReaderSize(in, 1<<16), line: line, blank: true, limit: limit}
}

func (f *frames) next() (byte, error) {
	c, err := f.in.ReadByte()
	switch {
	case err != nil:
	case c == '\n':
		f.line++
		f.lead, f.blank = 0, true
	case !f.blank:
	case c == ' ' || c == '\t':
		f.lead++
	default:
		f.blank = false
	}
	return c, err
}

// peek skips blanks and gives the byte that follows them without taking it.
func (f *frames) peek() (byte, error) {
	for {
		next, err := f.in.Peek(1)
		if err != nil {
			return 0, err
		}
		switch next[0] {
		case ' ', '\t', '\r', '\n', '\x1e', 0:
			_, _ = f.next() // it was seen to be there
		default:
			return next[0], nil
		}
	}
}

// skip takes the byte that peek gave.
func (f *frames) skip() { _, _ = f.next() }

// value gives the next value, good until the next call. After errLong the value
// has been passed; after errBroken only resync leads on.
func (f *frames) value() ([]byte, error) {
	first, err := f.peek()
	if err != nil {
		return nil, err
	}
	f.buf, f.open = f.buf[:0], f.open[:0]
	if first != '{' && first != '[' && first != '"' {
		return f.scalar()
	}
	var long error
	quoted, escaped := false, false
	for begun := false; ; begun = true {
		if begun && f.fresh() {
			return nil, errBroken
		}
		c, err := f.next()
		if err != nil {
			return nil, cut(err)
		}
		if len(f.buf) < f.limit {
			f.buf = append(f.buf, c)
		} else {
			long = errLong
		}
		switch {
		case quoted && escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case quoted && c == '\n':
			return nil, errBroken
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if len(f.open) == maxOpen {
				return nil, errBroken
			}
			f.open = append(f.open, c+2) // the bracket that closes it
		case c == '}' || c == ']':
			if len(f.open) == 0 || f.open[len(f.open)-1] != c {
				return nil, errBroken
			}
			f.open = f.open[:len(f.open)-1]
		}
		if !quoted && len(f.open) == 0 {
			return f.buf, long
		}
	}
}

// fresh reports whether a line begins here that must be a value of its own.
func (f *frames) fresh() bool {
	if !f.flat || !f.blank || f.lead > 0 {
		return false
	}
	next, err := f.in.Peek(1)
	return err == nil && next[0] == '{'
}

// scalar gives a number or a word.
func (f *frames) scalar() ([]byte, error) {
	for {
		next, err := f.in.Peek(1)
		if errors.Is(err, io.EOF) && len(f.buf) > 0 {
			return f.buf, nil
		}
		if err != nil {
			return nil, err
		}
		switch next[0] {
		case ',', ':', ']', '}', '[', '{', '"', ' ', '\t', '\r', '\n':
			if len(f.buf) == 0 {
				f.skip()
				return nil, errBroken
			}
			return f.buf, nil
		}
		f.skip()
		if len(f.buf) < 100 {
			f.buf = append(f.buf, next[0])
		}
	}
}

// resync goes on to the next line that begins an object as deep as the damaged one
// began: exports indent what belongs together alike. It reports whether there is one.
func (f *frames) resync(lead int) (bool, error) {
	for {
		for !f.blank {
			if _, err := f.next(); err != nil {
				return false, err
			}
		}
		next, err := f.in.Peek(1)
		if err != nil {
			return false, err
		}
		switch {
		case next[0] == '{' && f.lead == lead:
			return true, nil
		default:
			f.skip()
		}
	}
}

func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return errCut
	}
	return err
}
