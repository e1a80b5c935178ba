package formats

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"
)

// maxSheet is how many bytes the parts of a spreadsheet may unpack to; beyond maxSheetHeld a
// part is kept in a temporary file.
const (
	maxSheet     = 512 << 20
	maxSheetHeld = 32 << 20
)

// excel reads the first sheet of a spreadsheet that has a table of videos.
func (r *tables) excel(at io.ReaderAt, size int64, name string) (err error) {
	defer func() {
		if cause := recover(); cause != nil { // the library meets strangers' XML
			err = fmt.Errorf("a spreadsheet that cannot be read: %v", cause)
		}
	}()
	if size > maxBook {
		return fmt.Errorf("a spreadsheet of more than %d MiB: save its sheet as CSV", maxBook>>20)
	}
	m, err := r.findMap(name)
	if err != nil {
		return err
	}
	r.linked = func(sheet string) cellLinks { return linkedCells(at, size, sheet) }
	book, err := excelize.OpenReader(io.NewSectionReader(at, 0, size), excelize.Options{UnzipSizeLimit: maxSheet, UnzipXMLSizeLimit: maxSheetHeld, RawCellValue: true})
	if err != nil {
		return fmt.Errorf("a spreadsheet that cannot be read: %w", err)
	}
	defer func() { _ = book.Close() }() // only temporary files
	if props, err := book.GetWorkbookProps(); err == nil && props.Date1904 != nil {
		r.since1904 = *props.Date1904
		defer func() { r.since1904 = false }()
	}
	best := ""
	sheets := book.GetSheetList()
	for _, sheet := range sheets {
		_, header, sample, err := r.sheet(book, sheet, m)
		if err != nil {
			return err
		}
		if header == nil || header.score < 20 {
			continue
		}
		if best == "" {
			best = sheet
		}
		if m != nil || header.valid() == nil && (r.long(header.names, sample) != nil || len(r.understand(header.names, sample).doubts) == 0) {
			best = sheet // the first that can be read, after a summary
			break
		}
	}
	if best == "" {
		if len(sheets) == 0 {
			return errors.New("a spreadsheet without sheets")
		}
		best = sheets[0]
	}
	rows, header, sample, err := r.sheet(book, best, m)
	if err != nil {
		return err
	}
	if header == nil {
		r.out.skip(Empty, 0, "no rows: there are no videos in it")
		return nil
	}
	r.out.report.form("the sheet %.40q of a spreadsheet", best)
	if m == nil && header.score < turnedBelow {
		if turned := r.turn(firstRows(book, best), header); turned != nil {
			return r.turned(turned)
		}
	}
	if header.line > 1 {
		r.out.report.form("the header in row %d", header.line)
	}
	if err := header.valid(); err != nil {
		return err
	}
	if len(sample) == 0 && !r.options.check {
		r.out.skip(Empty, 0, "a header without rows: there are no videos in it")
		return nil
	}
	if long := r.long(header.names, sample); long != nil && m == nil && !r.options.check {
		rows.skipTo(header.line)
		rows.width = len(header.names)
		for _, sheet := range sheets[:min(len(sheets), maxSheets)] {
			if sheet != best {
				r.out.report.form("its sheet %.40q was not read: one with a row for each count was", sheet)
			}
		}
		return r.longRows(long, rows)
	}
	t, err := r.lay(m, header.names, sample)
	if err != nil || r.options.check {
		return err
	}
	rows.skipTo(header.line)
	rows.width = len(header.names)
	if err := r.tableRows(t, rows); err != nil {
		return err
	}
	return r.otherSheets(book, sheets, best, m, t, sample)
}

// maxSheets is how many sheets of a spreadsheet are read.
const maxSheets = 50

// otherSheets reads the other sheets that have the columns of the first one and other videos. It
// names those that it leaves: with other columns they have other tables, and with the same videos
// they may be older counts, or a choice of the best.
func (r *tables) otherSheets(book *excelize.File, sheets []string, best string, m *Map, first *rowTable, sample [][]string) error {
	understood, seen, left := r.out.report.Understanding, map[string]bool{}, 0
	for _, row := range sample {
		seen[first.key(row)] = true
	}
	for i, sheet := range sheets {
		if sheet == best {
			continue
		}
		rows, header, sample, err := r.sheet(book, sheet, m)
		if err != nil {
			return err
		}
		why := "it is empty"
		if header != nil {
			why = "it has other columns"
		}
		if header != nil && slices.Equal(header.names, first.own()) && i < maxSheets {
			t, err := r.lay(m, header.names, sample)
			same := err == nil && slices.Equal(r.out.report.Columns, understood.Columns)
			r.out.report.Form, r.out.report.Columns, r.out.report.Map, r.out.report.Proposal = understood.Form, understood.Columns, understood.Map, understood.Proposal
			if same && !slices.ContainsFunc(sample, func(row []string) bool { return seen[t.key(row)] }) {
				r.out.report.form("the sheet %.40q, which has the same columns", sheet)
				understood.Form = r.out.report.Form
				for _, row := range sample {
					seen[t.key(row)] = true
				}
				rows.skipTo(header.line)
				rows.width = len(header.names)
				if err := r.tableRows(t, rows); err != nil {
					return err
				}
				continue
			}
			if same {
				why = "it has the same videos"
			}
		}
		if left++; left <= 5 {
			r.out.report.form("its sheet %.40q was not read: %s", sheet, why)
			understood.Form = r.out.report.Form
		}
	}
	return nil
}

// key is what tells the video of a row from others.
func (t *rowTable) key(row []string) string {
	for _, field := range []string{"sourceUrl", "externalId"} {
		if at, ok := t.at[field]; ok && at < len(row) && row[at] != "" {
			return row[at]
		}
	}
	return strings.Join(row, "\x00")
}

// sheet opens a sheet and looks at its first rows.
func (r *tables) sheet(book *excelize.File, name string, m *Map) (*sheetRows, *headerRow, [][]string, error) {
	look, err := openSheet(book, name)
	if err != nil {
		return nil, nil, nil, err
	}
	var all [][]string
	var lines []int
	for len(all) < maxSampleRows+maxHeader {
		row, err := look.texts()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, nil, err
		}
		if len(row) > 0 {
			all, lines = append(all, row), append(lines, look.line)
		}
	}
	_ = look.rows.Close() // only read
	header := r.header(all, lines, m)
	if header == nil {
		return nil, nil, nil, nil
	}
	again, err := openSheet(book, name)
	if err != nil {
		return nil, nil, nil, err
	}
	sample := all[header.row+1:]
	lines = lines[header.row+1:]
	switch some := slices.ContainsFunc(sample, func(row []string) bool { return !anyLink([][]string{row}) }); {
	case !anyLink(sample):
		again.lead(header, sample, lines, r.linked(name))
	case some && m == nil:
		again.fillIn(sample, lines, r.linked(name))
	}
	return again, header, sample, nil
}

// fillIn puts where cells lead in place of their texts, in columns whose other cells are addresses of videos.
func (s *sheetRows) fillIn(sample [][]string, lines []int, links cellLinks) {
	columns := map[int]bool{}
	for _, row := range sample {
		for column, cell := range row {
			if readLink(cell).kind == videoLink {
				columns[column] = true
			}
		}
	}
	s.links, s.filled = links, columns
	for i, row := range sample {
		sample[i] = s.leads(row, lines[i])
	}
}

// firstRows are the first rows of a sheet, as many as are turned, and one more.
func firstRows(book *excelize.File, name string) (all [][]string) {
	look, err := openSheet(book, name)
	if err != nil {
		return nil
	}
	defer func() { _ = look.rows.Close() }() // only read
	for len(all) <= maxSampleRows {
		row, err := look.texts()
		if err != nil {
			break
		}
		if len(row) > 0 {
			all = append(all, row)
		}
	}
	return all
}

// anyLink reports whether a cell of a table has the address of a video.
func anyLink(rows [][]string) bool {
	return slices.ContainsFunc(rows, func(row []string) bool {
		return slices.ContainsFunc(row, func(cell string) bool { return readLink(cell).kind == videoLink })
	})
}

// lead gives a table without addresses a column more for each column whose cells lead to videos.
func (s *sheetRows) lead(header *headerRow, sample [][]string, lines []int, links cellLinks) {
	if s.linked = links.columns(lines); len(s.linked) == 0 {
		return
	}
	s.links, s.before = links, len(header.names)
	for _, row := range sample {
		s.before = max(s.before, len(row))
	}
	for len(header.names) < s.before {
		header.names = append(header.names, "")
	}
	for _, column := range s.linked {
		name := "link"
		if column < s.before && header.names[column] != "" {
			name = "link of " + header.names[column]
		}
		header.names = append(header.names, name)
	}
	for i, row := range sample {
		sample[i] = s.leads(row, lines[i])
	}
}

// leads is a row with the addresses that its cells lead to.
func (s *sheetRows) leads(row []string, line int) []string {
	for column, address := range s.links[line] {
		if s.filled[column] && column < len(row) && readLink(row[column]).kind == noLink {
			row = slices.Clone(row)
			row[column] = address
		}
	}
	if len(s.linked) == 0 || len(row) == 0 {
		return row
	}
	out := make([]string, s.before, s.before+len(s.linked))
	copy(out, row)
	for _, column := range s.linked {
		out = append(out, s.links[line][column])
	}
	return out
}

// sheetRows are the rows of a sheet.
type sheetRows struct {
	rows *excelize.Rows
	line int
	// width is how many columns the table has: cells that are not stored are empty.
	width int
	cells [][]byte
	// linked are the columns whose cells lead to the videos of links: these follow in columns of
	// their own, behind so many others.
	linked []int
	links  cellLinks
	before int
	// filled are columns of addresses, in which a cell may show another text than where it leads.
	filled map[int]bool
}

func openSheet(book *excelize.File, name string) (*sheetRows, error) {
	rows, err := book.Rows(name)
	if err != nil {
		return nil, fmt.Errorf("sheet %.40q: %w", name, err)
	}
	return &sheetRows{rows: rows}, nil
}

// texts are the cells of the next row, without empty ones at its end.
func (s *sheetRows) texts() ([]string, error) {
	if !s.rows.Next() {
		if err := s.rows.Error(); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}
	s.line++
	row, err := s.rows.Columns()
	if err != nil {
		return nil, fmt.Errorf("row %d: %w", s.line, err)
	}
	for len(row) > 0 && row[len(row)-1] == "" {
		row = row[:len(row)-1]
	}
	return row, nil
}

func (s *sheetRows) skipTo(line int) {
	for s.line < line {
		if _, err := s.texts(); err != nil {
			return
		}
	}
}

func (s *sheetRows) next() ([][]byte, error) {
	for {
		row, err := s.texts()
		if err != nil {
			return nil, err
		}
		if len(row) == 0 {
			continue
		}
		s.cells = s.cells[:0]
		for _, text := range s.leads(row, s.line) {
			s.cells = append(s.cells, []byte(cleanText(text)))
		}
		for len(s.cells) < s.width {
			s.cells = append(s.cells, nil)
		}
		return s.cells, nil
	}
}

func (s *sheetRows) at() int { return s.line }

func (s *sheetRows) lost() []int { return nil }
