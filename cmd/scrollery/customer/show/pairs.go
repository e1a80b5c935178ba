package show

import (
	"fmt"
	"text/tabwriter"
)

// Pairs prints names and values, a line each. A pair whose value is empty is left out.
func (p Printer) Pairs(pairs ...any) error {
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	for i := 0; i+1 < len(pairs); i += 2 {
		if text, _ := plain(pairs[i+1]); text != "" {
			fmt.Fprintf(w, "%s\t%s\n", pairs[i], p.Escape(text))
		}
	}
	return w.Flush()
}

// Say prints a line of our own words and values of others.
func (p Printer) Say(format string, values ...any) error {
	for i, value := range values {
		if text, free := plain(value); free || text != "" {
			values[i] = p.Escape(text)
		}
	}
	_, err := fmt.Fprintf(p.Out, format+"\n", values...)
	return err
}
