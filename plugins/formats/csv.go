package formats

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// rows splits CSV as RFC 4180 has it, a record at a time: quoted fields may hold
// line ends, doubled quotes and the delimiter. A record above limit is given
// up at its first line, so that one lost quote does not swallow the file.
type rows struct {
	scan  *bufio.Scanner
	comma byte
	limit int
	// long are the lines at which records began that were given up.
	long []int
	// line is where the present record began, from 1; passed counts the lines read.
	line, passed int
	// seen is how much of the present record was searched for its end, and state where in it
	// that was.
	seen, state int
	// blanks says that blanks before a quote are none of the field.
	blanks bool
	text   []byte
	ends   []int
}

func newRows(in io.Reader, comma byte, limit int) *rows {
	r := &rows{comma: comma, limit: limit, scan: bufio.NewScanner(in)}
	r.scan.Buffer(make([]byte, 0, 1<<16), limit+2)
	r.scan.Split(r.split)
	return r
}

// split ends a record at the first line end outside a quoted field.
func (r *rows) split(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if len(data) == 0 {
		return 0, nil, nil
	}
	end, open := r.end(data)
	switch {
	case end >= 0:
		r.pass(data[:end+1])
		return end + 1, bytes.TrimSuffix(data[:end], []byte("\r")), nil
	case !atEOF && len(data) < r.limit+2:
		return 0, nil, nil
	case atEOF && !open:
		r.pass(data)
		return len(data), bytes.TrimSuffix(data, []byte("\r")), nil
	}
	// Too long, or a quote that never closes: only its first line is lost.
	end = bytes.IndexByte(data, '\n')
	if end < 0 {
		end = len(data) - 1
	}
	r.pass(data[:end+1])
	r.long = append(r.long, r.line)
	return end + 1, nil, nil
}

// pass counts the lines of a record.
func (r *rows) pass(record []byte) {
	r.seen, r.state = 0, atField
	r.line = r.passed + 1
	r.passed += bytes.Count(record, []byte("\n"))
}

// Where in a record the search for its end has come to.
const (
	atField = iota
	inQuotes
	inField
)

// end is the place of the line end that ends the first record; -1 without one,
// with open where a quoted field goes on. It continues where it stopped when there was less.
func (r *rows) end(data []byte) (at int, open bool) {
	i := r.seen
	for i < len(data) {
		switch r.state {
		case atField:
			if r.blanks && data[i] == ' ' {
				i++
				continue
			}
			if r.state = inField; data[i] == '"' {
				r.state = inQuotes
				i++
			}
		case inQuotes:
			quote := bytes.IndexByte(data[i:], '"')
			switch {
			case quote < 0:
				i = len(data)
			case i+quote+1 == len(data): // it closes the field, or the next one doubles it
				r.seen = i + quote
				return -1, false
			case data[i+quote+1] == '"':
				i += quote + 2
			default:
				i += quote + 1
				r.state = inField
			}
		case inField:
			for i < len(data) && data[i] != r.comma && data[i] != '\n' {
				i++
			}
			if i == len(data) {
				break
			}
			if r.state = atField; data[i] == '\n' {
				return i, false
			}
			i++
		}
	}
	r.seen = i
	return -1, r.state == inQuotes
}

func (r *rows) at() int { return r.line }

func (r *rows) lost() []int {
	long := r.long
	r.long = nil
	return long
}

// next gives the fields of the next record, valid until the next call; io.EOF after the last.
func (r *rows) next() ([][]byte, error) {
	for r.scan.Scan() {
		line := r.scan.Bytes()
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		return r.fields(line)
	}
	if err := r.scan.Err(); err != nil {
		return nil, err
	}
	return nil, io.EOF
}

type fieldError struct{ column int }

func (e *fieldError) Error() string {
	return fmt.Sprintf("field %d: text after a closing quote", e.column)
}

func (r *rows) fields(line []byte) ([][]byte, error) {
	r.text, r.ends = r.text[:0], r.ends[:0]
	for i := 0; ; {
		if quote := i + len(line[i:]) - len(bytes.TrimLeft(line[i:], " ")); r.blanks && quote < len(line) && line[quote] == '"' {
			i = quote
		}
		if i < len(line) && line[i] == '"' {
			i++
			for i < len(line) {
				if line[i] != '"' {
					r.text = append(r.text, line[i])
					i++
					continue
				}
				if i+1 < len(line) && line[i+1] == '"' {
					r.text = append(r.text, '"')
					i += 2
					continue
				}
				break
			}
			i++
			if i < len(line) && line[i] != r.comma {
				return nil, &fieldError{len(r.ends) + 1}
			}
		} else {
			end := bytes.IndexByte(line[i:], r.comma)
			if end < 0 {
				end = len(line) - i
			}
			r.text = append(r.text, line[i:i+end]...)
			i += end
		}
		r.ends = append(r.ends, len(r.text))
		if i >= len(line) {
			break
		}
		i++ // the delimiter
	}
	out := make([][]byte, len(r.ends))
	from := 0
	for i, end := range r.ends {
		out[i] = r.text[from:end]
		from = end
	}
	return out, nil
}
