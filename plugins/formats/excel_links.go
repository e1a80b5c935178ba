package formats

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/xml"
	"io"
	"path"
	"strings"
)

// cellLinks are addresses of videos that cells lead to, while they show another text: by row, from
// 1, and column, from 0.
type cellLinks map[int]map[int]string

// maxCellLinks is how many of them are kept.
const maxCellLinks = 200_000

func (l cellLinks) add(cell, address string) {
	row, column := cellOf(cell)
	if row == 0 || len(l) >= maxCellLinks || readLink(address).kind != videoLink {
		return
	}
	if l[row] == nil {
		l[row] = map[int]string{}
	}
	l[row][column] = address
}

// columns are those with an address in at least half of the rows of a table, by their rows in the sheet.
func (l cellLinks) columns(rows []int) (columns []int) {
	counts := map[int]int{}
	for _, row := range rows {
		for column := range l[row] {
			counts[column]++
		}
	}
	for column := range maxColumns {
		if n := counts[column]; n > 0 && 2*n >= len(rows) {
			columns = append(columns, column)
		}
	}
	return columns
}

// linkedCells reads where the cells of a sheet lead: the targets of hyperlinks, and those of
// formulas. The library has them by cell alone, each time by a look at all. Nothing is said of a book that
// is not written as others are.
func linkedCells(at io.ReaderAt, size int64, sheet string) cellLinks {
	book, err := zip.NewReader(at, size)
	if err != nil {
		return nil
	}
	part := ""
	elements(book, "xl/workbook.xml", func(e xml.StartElement, _ *xml.Decoder) {
		if e.Name.Local == "sheet" && attribute(e, "name") == sheet {
			part = attribute(e, "id")
		}
	})
	if part = targets(book, "xl/workbook.xml")[part]; part == "" || !mentions(book, part, "<hyperlink ", "HYPERLINK(") {
		return nil
	}
	targets, links, cell := targets(book, part), cellLinks{}, ""
	elements(book, part, func(e xml.StartElement, d *xml.Decoder) {
		switch e.Name.Local {
		case "c":
			cell = attribute(e, "r")
		case "f":
			if formula, err := d.RawToken(); err == nil {
				if text, ok := formula.(xml.CharData); ok && bytes.Contains(text, []byte("HYPERLINK(")) {
					links.add(cell, string(text))
				}
			}
		case "hyperlink":
			links.add(attribute(e, "ref"), targets[attribute(e, "id")])
		}
	})
	return links
}

// targets are the parts and addresses that a part refers to, by their ids.
func targets(book *zip.Reader, part string) map[string]string {
	dir, name := path.Split(part)
	all := map[string]string{}
	elements(book, dir+"_rels/"+name+".rels", func(e xml.StartElement, _ *xml.Decoder) {
		target := attribute(e, "Target")
		if attribute(e, "TargetMode") != "External" {
			if target = strings.TrimPrefix(target, "/"); !strings.HasPrefix(target, "xl/") {
				target = path.Join(dir, target)
			}
		}
		if len(all) < maxCellLinks {
			all[attribute(e, "Id")] = target
		}
	})
	return all
}

// elements calls do with each element of a part, as far as it can be read.
func elements(book *zip.Reader, part string, do func(xml.StartElement, *xml.Decoder)) {
	file, err := book.Open(part)
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }() // only read
	d := xml.NewDecoder(bufio.NewReaderSize(io.LimitReader(file, maxSheet), 64<<10))
	for {
		token, err := d.RawToken()
		if err != nil {
			return
		}
		if start, ok := token.(xml.StartElement); ok {
			do(start, d)
		}
	}
}

// mentions reports whether a part has one of the texts.
func mentions(book *zip.Reader, part string, texts ...string) bool {
	file, err := book.Open(part)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // only read
	const overlap = 16
	in, buffer, kept := io.LimitReader(file, maxSheet), make([]byte, 64<<10), 0
	for {
		n, err := io.ReadFull(in, buffer[kept:])
		have := buffer[:kept+n]
		for _, text := range texts {
			if bytes.Contains(have, []byte(text)) {
				return true
			}
		}
		if err != nil {
			return false
		}
		kept = copy(buffer, have[len(have)-overlap:])
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// cellOf reads the place of a cell such as B12, or the first of a range; row 0 if it is none.
func cellOf(text string) (row, column int) {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'A' && c <= 'Z' && row == 0 && column < maxColumns:
			column = 26*column + int(c-'A') + 1
		case c >= '0' && c <= '9' && column > 0 && row < 10_000_000:
			row = 10*row + int(c-'0')
		case c == ':' && row > 0:
			return row, column - 1
		default:
			return 0, 0
		}
	}
	return row, column - 1
}
