package formats

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxSpan is the most columns that one cell of a web page may take, and maxCells the most cells
// and rows of its tables that are held.
const (
	maxSpan  = 100
	maxCells = 2 << 20
)

// pageTable is a table of a web page: its rows, top to bottom.
type pageTable [][]string

// tablesOf are the tables of a web page, as many exports of ".xls" are. A table within a cell is a
// part of the cell's text. A cell whose text leads elsewhere has both, as in Markdown. It fails where
// they have more cells than are held.
func tablesOf(text []byte) (all []pageTable, err error) {
	var (
		tokens      = html.NewTokenizer(bytes.NewReader(text))
		cell        strings.Builder
		link        string
		depth, span int
		held        int
		inCell      bool
	)
	end := func() {
		if !inCell || len(all) == 0 {
			return
		}
		value := strings.Join(strings.Fields(cell.String()), " ")
		if link != "" && value != link {
			value = "[" + value + "](" + link + ")"
		}
		rows := all[len(all)-1]
		if len(rows) == 0 {
			rows = append(rows, nil)
		}
		last := &rows[len(rows)-1]
		*last = append(*last, value)
		for i := 1; i < span && len(*last) < maxColumns; i++ {
			*last = append(*last, "")
			held++
		}
		all[len(all)-1], inCell, link = rows, false, ""
		cell.Reset()
	}
	for {
		kind := tokens.Next()
		switch kind {
		case html.ErrorToken:
			end()
			return all, nil
		case html.TextToken:
			if inCell {
				cell.Write(tokens.Text())
				cell.WriteByte(' ')
			}
			continue
		}
		if held > maxCells {
			return nil, errors.New("a web page with larger tables than may be held at once: save the table as CSV")
		}
		raw, more := tokens.TagName()
		tag, opens := atom.Lookup(raw), kind == html.StartTagToken
		attributes := map[string]string{}
		for opens && more && (tag == atom.A || tag == atom.Td || tag == atom.Th) {
			var name, value []byte
			name, value, more = tokens.TagAttr()
			attributes[string(name)] = string(value)
		}
		switch {
		case tag == atom.Table && opens:
			if depth++; depth == 1 {
				all = append(all, nil)
			}
		case tag == atom.Table && kind == html.EndTagToken && depth > 0:
			if depth--; depth == 0 {
				end()
			}
		case depth != 1:
		case tag == atom.Tr && opens:
			end()
			all[len(all)-1] = append(all[len(all)-1], nil)
			held++
		case (tag == atom.Td || tag == atom.Th) && opens:
			end()
			inCell = true
			held++
			wide, _ := strconv.Atoi(attributes["colspan"])
			span = min(wide, maxSpan)
		case (tag == atom.Td || tag == atom.Th || tag == atom.Tr) && kind == html.EndTagToken:
			end()
		case tag == atom.A && inCell && strings.HasPrefix(attributes["href"], "http"):
			link = attributes["href"]
		}
	}
}

// csvOf is the first table of a web page that names columns of videos, as CSV; nil without one. others
// is how many tables of more than one row there are beside it.
func (r *tables) csvOf(text []byte) (in io.Reader, others int, err error) {
	all, err := tablesOf(text)
	if err != nil {
		return nil, 0, err
	}
	var found pageTable
	for _, t := range all {
		switch {
		case found == nil && r.namesVideos(t):
			found = t
		case len(t) > 1:
			others++
		}
	}
	if found == nil {
		return nil, others, nil
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	for _, row := range found {
		if len(row) > 0 {
			_ = w.Write(row) // memory does not fail
		}
	}
	w.Flush()
	return &out, others, nil
}

// namesVideos reports a table with a row of names of columns among its first ones.
func (r *tables) namesVideos(t pageTable) bool {
	for _, row := range t[:min(len(t), 10)] {
		if len(row) > maxColumns {
			continue
		}
		cells := make([][]byte, 0, len(row))
		for _, value := range row {
			cells = append(cells, quote(nil, value))
		}
		if r.rowOfNames(cells) != nil || slices.ContainsFunc(row, func(name string) bool { return metricWords[foldName(name)] }) {
			return true
		}
	}
	return false
}
