package formats

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// listTable is a table written as a list of lists: its names stand in its first row, or in the
// object that holds it.
type listTable struct {
	names []string
	// unnamed says that the first row is none of names.
	unnamed bool
}

// columnNames are the names of columns that an object gives for a list of lists in it, as
// `{"columns": ["id", "views"], "data": [["1", 5]]}`; nil without any.
func (o *object) columnNames() *listTable {
	for _, path := range []string{"columns", "header", "headers", "columnHeaders", "head", "fields", "cols", "column_names", "columnNames", "schema.fields", "meta.view.columns"} {
		values := o.values(path)
		if len(values) < 2 || len(values) > maxColumns {
			continue
		}
		t := listTable{}
		for _, value := range values {
			name := textOf(value)
			if value.Kind() == '{' {
				inner := o.within(value)
				name = text(first(inner.text("name"), inner.text("id"), inner.text("label"), inner.text("title")))
			}
			t.names = append(t.names, string(name))
		}
		return &t
	}
	return nil
}

// listRow takes one row of a list of lists.
func (r *reading) listRow(cells [][]byte, t *listTable, c scope, line, depth int) error {
	if t.names == nil && !t.unnamed {
		if t.names = r.tables.rowOfNames(cells); t.names != nil {
			return nil
		}
		t.unnamed = true
	}
	switch {
	case t.unnamed && (c.quiet || slices.ContainsFunc(cells, isObject)): // no row: some have objects behind texts
		for _, cell := range cells {
			if kind := jsontext.Value(cell).Kind(); (kind == '{' || kind == '[' && c.quiet) && depth < maxSearch {
				if err := r.element(cell, c, line, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	case t.unnamed:
		r.out.skip(Malformed, line, "a list of values, and no names for them")
		return nil
	case len(cells) > len(t.names): // empty ones at the end may be left out
		r.out.skip(Malformed, line, fmt.Sprintf("%d values under %d names", len(cells), len(t.names)))
		return nil
	}
	var row properties
	for i, cell := range cells {
		row.raw(t.names[i], cell)
	}
	c.listed = true
	return r.value(row.whole(), c, line, depth)
}

// rowOfNames are the texts of a row that names columns: two or more are known, and one of them
// as that of ids or addresses.
func (r *tables) rowOfNames(cells [][]byte) (names []string) {
	known, keys := 0, 0
	for _, cell := range cells {
		if jsontext.Value(cell).Kind() != '"' {
			return nil
		}
		name := string(textOf(cell))
		if len(name) > 100 || readLink(name).kind != noLink || allDigits(name) {
			return nil
		}
		m, ok := r.words().of(name)
		if ok && m.field != meansIgnored {
			known++
		}
		if ok && (m.field == "externalId" || m.field == "sourceUrl") {
			keys++
		}
		names = append(names, name)
	}
	if known < 2 || keys == 0 {
		return nil
	}
	return names
}
