package formats

import (
	"io"
	"slices"
)

// turnedBelow is the score of a header from which on a table is read by it.
const turnedBelow = 50

// turnedRows are the columns of a small table whose rows are fields, as its rows.
type turnedRows struct {
	rows [][]string
	n    int
}

// turn gives a table whose first column has the names of fields as one whose first row has them. Nil unless that
// column is understood much better than the header that was found, and names ids or addresses.
func (r *tables) turn(rows [][]string, header *headerRow) *turnedRows {
	if len(rows) == 0 || len(rows) > maxSampleRows {
		return nil
	}
	width := 0
	for _, row := range rows {
		width = max(width, len(row))
	}
	if width < 2 || width > maxSampleRows {
		return nil
	}
	videos, out := 0, make([][]string, width)
	for _, row := range rows {
		row = append(trimmed(row), make([]string, width-len(row))...)
		if row[0] == "" { // the numbers of the columns, as pandas writes them
			continue
		}
		if m, ok := r.words().of(row[0]); ok && (m.field == "externalId" || m.field == "sourceUrl") && !slices.ContainsFunc(row[1:], func(s string) bool {
			form := idForm(s)
			return s != "" && readLink(s).kind == noLink && (form == "" || form == "other")
		}) {
			videos++
		}
		for i, cell := range row {
			out[i] = append(out[i], cell)
		}
	}
	if videos == 0 || len(out[0]) < 3 || r.knownNames(out[0], nil) < 2*header.score {
		return nil
	}
	return &turnedRows{rows: out}
}

// turned reads such a table; lines of the report are its columns.
func (r *tables) turned(t *turnedRows) error {
	r.out.report.form("fields as rows, each column a video")
	laid, err := r.lay(nil, t.rows[0], t.rows[1:])
	if err != nil || r.options.check {
		return err
	}
	t.n = 1
	return r.tableRows(laid, t)
}

func (t *turnedRows) next() ([][]byte, error) {
	if t.n >= len(t.rows) {
		return nil, io.EOF
	}
	var cells [][]byte
	for _, text := range t.rows[t.n] {
		cells = append(cells, []byte(cleanText(text)))
	}
	t.n++
	return cells, nil
}

func (t *turnedRows) at() int { return t.n }

func (t *turnedRows) lost() []int { return nil }
