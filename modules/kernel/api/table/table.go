// Package table turns the JSON of a list into text with a row for each item: NDJSON, or
// CSV for spreadsheets.
package table

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Format is a form in which a list can be had.
type Format struct {
	// Name is short and without spaces; entity tags have it.
	Name string
	// MediaType is what a request names; ContentType is the header of the answer.
	MediaType, ContentType string

	write func(*List, *bytes.Buffer, func(func(jsontext.Value) error) error) error
}

// Formats are the forms beside JSON.
func Formats() []*Format { return []*Format{&csvFormat, &ndjsonFormat} }

var (
	csvFormat    = Format{"csv", "text/csv", "text/csv; charset=utf-8; header=present", (*List).csv}
	ndjsonFormat = Format{"ndjson", "application/x-ndjson", "application/x-ndjson", (*List).ndjson}
)

// List describes the JSON of a list: an object with an array of objects.
type List struct {
	// Member is the name of the array, Next that of the cursor of the page after it.
	Member, Next string
	// Columns are the names of the members of an item. A dot leads into an object:
	// `metrics.views`. Arrays and other objects are one column of JSON.
	Columns []string
}

// Write appends the items of a body in a format to out, and returns the cursor of the
// next page, which is empty at the end.
func (l *List) Write(out *bytes.Buffer, f *Format, body []byte) (next string, err error) {
	err = f.write(l, out, func(item func(jsontext.Value) error) error {
		next, err = l.read(body, item)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("list as %s: %w", f.Name, err)
	}
	return next, nil
}

// read calls item with each item of the list, compact and in one line.
func (l *List) read(body []byte, item func(jsontext.Value) error) (next string, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
		return "", errors.Join(errNoList, err)
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return "", err
		}
		switch text := name.String(); {
		case text == l.Member && d.PeekKind() == '[':
			if err := each(d, item); err != nil {
				return "", err
			}
		case text == l.Next && d.PeekKind() == '"':
			cursor, err := d.ReadToken()
			if err != nil {
				return "", err
			}
			next = cursor.String()
		default:
			if err := d.SkipValue(); err != nil {
				return "", err
			}
		}
	}
	return next, nil
}

var errNoList = errors.New("the answer is no object with a list")

func each(d *jsontext.Decoder, item func(jsontext.Value) error) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != ']' {
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		value = value.Clone()
		if err := value.Compact(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
			return err
		}
		if err := item(value); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

func (l *List) ndjson(out *bytes.Buffer, items func(func(jsontext.Value) error) error) error {
	return items(func(item jsontext.Value) error {
		out.Write(item)
		out.WriteByte('\n')
		return nil
	})
}

func (l *List) csv(out *bytes.Buffer, items func(func(jsontext.Value) error) error) error {
	w := csv.NewWriter(out)
	if err := w.Write(l.Columns); err != nil {
		return err
	}
	cells := make([]string, len(l.Columns))
	err := items(func(item jsontext.Value) error {
		clear(cells)
		if err := l.fill(cells, "", item); err != nil {
			return err
		}
		return w.Write(cells)
	})
	w.Flush()
	return errors.Join(err, w.Error())
}

// fill sets the cells of the members of an object, whose names begin with prefix.
func (l *List) fill(cells []string, prefix string, object jsontext.Value) error {
	d := jsontext.NewDecoder(bytes.NewReader(object), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
		return errors.Join(errNoList, err)
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		path := prefix + name.String()
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		at := slices.Index(l.Columns, path)
		switch {
		case at >= 0:
			cells[at] = cell(value)
		case value.Kind() == '{' && slices.ContainsFunc(l.Columns, func(c string) bool { return strings.HasPrefix(c, path+".") }):
			if err := l.fill(cells, path+".", value.Clone()); err != nil {
				return err
			}
		}
	}
	return nil
}

// cell is a value in a table; null is empty.
func cell(value jsontext.Value) string {
	switch value.Kind() {
	case 'n':
		return ""
	case '"':
		text, err := jsontext.AppendUnquote(nil, value)
		if err != nil {
			text = value
		}
		return Guard(string(text))
	default:
		return string(value)
	}
}

// Guard puts an apostrophe in front of a text that a spreadsheet would take for a formula.
func Guard(text string) string {
	if text == "" {
		return ""
	}
	switch text[0] {
	case '=', '+', '-', '@', '\t', '\r', '\n':
		return "'" + text
	}
	for _, wide := range []string{"＝", "＋", "－", "＠"} { // some programs read these as the plain ones
		if strings.HasPrefix(text, wide) {
			return "'" + text
		}
	}
	return text
}
