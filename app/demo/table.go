package demo

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
)

// widest is the number of characters of a cell that are shown.
const widest = 38

// table prints rows in columns; a list without rows is an error.
func (j Journey) table(head []string, rows [][]string) error {
	if len(rows) == 0 {
		return errEmpty
	}
	w := tabwriter.NewWriter(j.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "   "+strings.ToUpper(strings.Join(head, "\t")))
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = printable(cell)
		}
		fmt.Fprintln(w, "   "+strings.Join(cells, "\t"))
	}
	return w.Flush()
}

// printable makes untrusted text safe for a terminal: one line, no control
// characters, truncated to the column.
func printable(cell string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, cell)
	if runes := []rune(clean); len(runes) > widest {
		clean = string(runes[:widest-1]) + "…"
	}
	return clean
}

func text(value *string) string {
	if value == nil {
		return "-"
	}
	return *value
}

// number formats a count with separators of thousands.
func number(value *float64) string {
	if value == nil {
		return "-"
	}
	digits := fmt.Sprintf("%.0f", *value)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func bar(w io.Writer, run int, s scroll) {
	const width = 30
	done := min(width, int(s.Progress.Percent*width/100))
	stage := s.Status
	if s.Stage != nil {
		stage = *s.Stage
	}
	fmt.Fprintf(w, "\r   run %d [%s%s] %3.0f %% %-9s", run, strings.Repeat("█", done), strings.Repeat("░", width-done), s.Progress.Percent, stage)
}
