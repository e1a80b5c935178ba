package score

import (
	"errors"
	"fmt"
)

// A whole is the share of a video that has grown up: 1000 thousandths.
const whole = 1000

// OtherRow names the row of the kinds that have none of their own.
const OtherRow = "other"

// Table says how much of its 7-day views a video has at an age. It is configuration:
// another table gives other scores, so its version is part of what an explanation
// names, and a library is scored again when the version changes.
type Table struct {
	// Version names the figures, `2026-11` for example. Required.
	Version string `yaml:"version"`
	// Hours are the ages of the columns, rising, from 1 to 87600. The last one is the
	// age from which a video counts as grown up.
	Hours []int64 `yaml:"hours"`
	// Rows are thousandths by kind, one a column, from 1 to 1000, never falling, 1000
	// at the end. The row `other` is required; a kind without a row has that one.
	Rows map[Kind][]int64 `yaml:"rows"`

	// epochs are what peers must be on one side of; see With.
	epochs *Epochs
}

// DefaultTable returns the shipped table. Its figures are medians of growth curves of
// real videos, read hourly and daily.
func DefaultTable() *Table {
	table := &Table{
		Version: "1",
		Hours:   []int64{1, 3, 6, 12, 24, 48, 72, 120, 168},
		Rows: map[Kind][]int64{
			OtherRow:     {150, 500, 540, 600, 750, 850, 880, 960, whole},
			YouTubeShort: {15, 50, 130, 280, 440, 590, 690, 870, whole},
			YouTubeLong:  {110, 150, 210, 260, 430, 670, 740, 870, whole},
			Instagram:    {225, 390, 460, 575, 775, 860, 900, 960, whole},
		},
	}
	return table.With(nil)
}

// Validate returns every fault of the table, joined.
func (t *Table) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if t.Version == "" {
		fault("growth table: no version")
	}
	if len(t.Hours) < 2 {
		fault("growth table: %d columns, at least 2 are needed", len(t.Hours))
	}
	for i, hours := range t.Hours {
		if hours < 1 || hours > 87600 || i > 0 && hours <= t.Hours[i-1] {
			fault("growth table: hours[%d] is %d: hours rise from 1 to at most 87600", i, hours)
		}
	}
	if t.Rows[OtherRow] == nil {
		fault("growth table: no row %q", OtherRow)
	}
	for kind, row := range t.Rows {
		if len(row) != len(t.Hours) {
			fault("growth table: row %q has %d columns, hours has %d", kind, len(row), len(t.Hours))
			continue
		}
		for i, share := range row {
			if share < 1 || share > whole || i > 0 && share < row[i-1] {
				fault("growth table: row %q, column %d is %d: shares rise from 1 to %d", kind, i, share, whole)
			}
		}
		if len(row) > 0 && row[len(row)-1] != whole {
			fault("growth table: row %q ends in %d instead of %d", kind, row[len(row)-1], whole)
		}
	}
	return errors.Join(faults...)
}

// Share is the thousandths, 1 to 1000, of its 7-day views that a video of the kind has
// at an age in milliseconds: in a straight line between two columns, rounded down.
// The first column counts for all that is younger, negative ages too; the last one for
// all that is older and for UnknownAge.
func (t *Table) Share(kind Kind, age int64) int64 {
	if age == UnknownAge {
		return whole
	}
	row, ok := t.Rows[kind]
	if !ok {
		row = t.Rows[OtherRow]
	}
	for i, hours := range t.Hours {
		end := hours * hour
		if age >= end {
			continue
		}
		if i == 0 {
			return row[0]
		}
		start := t.Hours[i-1] * hour
		return row[i-1] + (row[i]-row[i-1])*(age-start)/(end-start)
	}
	return row[len(row)-1]
}

// Method names how outliers are scored: the rules' version, the table's and that of the epochs.
func (t *Table) Method() string {
	method := "outlier/2+" + t.Version
	if epochs := t.steps().Version; epochs != "" {
		method += "+" + epochs
	}
	return method
}
