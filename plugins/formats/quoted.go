package formats

import "bytes"

// quotedRows reports a table of which each row was made one quoted field, as happens where a file of
// commas is saved again: `"id,views"`.
func quotedRows(start []byte) bool {
	rows := 0
	for line := range bytes.Lines(start) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			continue
		}
		row, whole := unquotedRow(line)
		if !whole || rows == 0 && bytes.ContainsAny(row, `"`) || bytes.IndexByte(row, ',') < 0 {
			return false
		}
		const enough = 10
		if rows++; rows == enough {
			break
		}
	}
	return rows > 1
}

// unquotedRow is a row out of its quotes; not whole if it is more than one field.
func unquotedRow(line []byte) (row []byte, whole bool) {
	line = bytes.TrimRight(line, ";\t")
	if len(line) < 2 || line[0] != '"' || line[len(line)-1] != '"' {
		return line, false
	}
	row = line[1 : len(line)-1]
	if bytes.Contains(bytes.ReplaceAll(row, []byte(`""`), nil), []byte(`"`)) {
		return line, false
	}
	return bytes.ReplaceAll(row, []byte(`""`), []byte(`"`)), true
}

// unquotedRows takes rows out of their quotes.
type unquotedRows struct {
	lines *lines
	rest  []byte
}

func (u *unquotedRows) Read(p []byte) (int, error) {
	for len(u.rest) == 0 {
		line, err := u.lines.next()
		if err != nil {
			return 0, err
		}
		row, _ := unquotedRow(bytes.TrimRight(line, "\r"))
		u.rest = append(bytes.Clone(row), '\n')
	}
	n := copy(p, u.rest)
	u.rest = u.rest[n:]
	return n, nil
}
