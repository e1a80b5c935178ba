package show

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"google.golang.org/protobuf/proto"
)

// Column is one column of a table. Cell returns a string, a number, a bool, a Millis, a
// pointer to one of these, or nil.
type Column[T any] struct {
	Name string
	Cell func(T) any
	// Cut is the longest text that a terminal shows; 0 for all of it.
	Cut int
}

// Millis is a time in Unix milliseconds.
type Millis float64

// String is the time in UTC; empty for 0.
func (m Millis) String() string {
	if m == 0 {
		return ""
	}
	return time.UnixMilli(int64(m)).UTC().Format(time.RFC3339)
}

// List prints items one after another. Close ends it.
type List[T proto.Message] struct {
	printer Printer
	format  *Format
	columns []Column[T]

	count  int
	table  *tabwriter.Writer
	cells  *csv.Writer
	values []any
}

// NewList prints nothing yet.
func NewList[T proto.Message](p Printer, f *Format, columns []Column[T]) *List[T] {
	l := &List[T]{printer: p, format: f, columns: columns}
	switch {
	case f.CSV:
		l.cells = csv.NewWriter(p.Out)
	case !f.Programs() && p.Terminal:
		l.table = tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	}
	return l
}

// Add prints an item.
func (l *List[T]) Add(item T) error {
	l.count++
	switch {
	case l.format.code != nil:
		return l.keep(item)
	case l.format.Programs():
		text, err := l.format.pick(JSON(item))
		if err != nil {
			return err
		}
		before := ",\n"
		if l.count == 1 {
			before = "[\n"
		}
		_, err = l.printer.Out.Write(append([]byte(before), l.printer.safeJSON(text)...))
		return err
	}
	if l.count == 1 {
		if err := l.head(); err != nil {
			return err
		}
	}
	row := make([]string, len(l.columns))
	for i, column := range l.columns {
		row[i] = l.cell(column, item)
	}
	return l.row(row)
}

// keep stores an item for the jq program, which runs over the whole list.
func (l *List[T]) keep(item T) error {
	text, err := l.format.pick(JSON(item))
	if err != nil {
		return err
	}
	value, err := parse(text)
	l.values = append(l.values, value)
	return err
}

func (l *List[T]) head() error {
	names := make([]string, len(l.columns))
	for i, column := range l.columns {
		names[i] = column.Name
		if l.cells == nil {
			names[i] = strings.ToUpper(column.Name)
		}
	}
	if l.table != nil && l.printer.Style {
		// Each cell has the same letters, so that tabwriter counts the same for all.
		for i := range names {
			names[i] = "\x1b[1m" + names[i] + "\x1b[0m"
		}
	}
	return l.row(names)
}

func (l *List[T]) row(cells []string) error {
	if l.cells != nil {
		return l.cells.Write(cells)
	}
	var out io.Writer = l.printer.Out
	if l.table != nil {
		out = l.table
	}
	_, err := fmt.Fprintln(out, strings.Join(cells, "\t"))
	return err
}

func (l *List[T]) cell(column Column[T], item T) string {
	text, free := plain(column.Cell(item))
	switch {
	case l.cells != nil && free:
		return Guard(l.csvText(text))
	case l.cells != nil:
		return text
	case l.table != nil:
		if text = l.printer.Escape(text); l.printer.Style {
			// As wide for tabwriter as the bold name above it.
			return "\x1b[0m" + cut(text, column.Cut) + "\x1b[0m"
		}
		return cut(text, column.Cut)
	}
	return l.printer.Escape(text)
}

// csvText is the text as it is, or escaped for a terminal.
func (l *List[T]) csvText(text string) string {
	if l.printer.Terminal {
		return l.printer.Escape(text)
	}
	return text
}

// Close ends the list.
func (l *List[T]) Close(ctx context.Context) error {
	switch {
	case l.format.code != nil:
		values := l.values
		if values == nil {
			values = []any{}
		}
		return l.printer.run(ctx, l.format.code, values)
	case l.format.Programs():
		end := "\n]\n"
		if l.count == 0 {
			end = "[]\n"
		}
		_, err := io.WriteString(l.printer.Out, end)
		return err
	case l.count == 0 && l.cells != nil:
		if err := l.head(); err != nil {
			return err
		}
	}
	if l.cells != nil {
		l.cells.Flush()
		return l.cells.Error()
	}
	if l.table != nil {
		return l.table.Flush()
	}
	return nil
}

// Count is the number of items.
func (l *List[T]) Count() int { return l.count }

// plain is the text of a cell; free reports whether another person wrote it.
func plain(value any) (text string, free bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case *string:
		if v != nil {
			return *v, true
		}
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), false
	case *float64:
		if v != nil {
			return plain(*v)
		}
	case int32:
		return strconv.Itoa(int(v)), false
	case bool:
		return strconv.FormatBool(v), false
	case Millis:
		return v.String(), false
	case json.Number:
		return v.String(), false
	}
	return "", false
}

// formulas are the characters that make a spreadsheet take a cell for a formula, in
// their full-width forms too.
const formulas = "=+-@\t\r\n＝＋－＠"

// Guard puts an apostrophe before a text that a spreadsheet would take for a formula.
func Guard(text string) string {
	if text != "" && strings.ContainsRune(formulas, []rune(text)[0]) {
		return "'" + text
	}
	return text
}

// cut shortens a text to n characters.
func cut(text string, n int) string {
	letters := []rune(text)
	if n == 0 || len(letters) <= n {
		return text
	}
	return strings.TrimRight(string(letters[:n-1]), " ") + "…"
}
