package score

import (
	"cmp"
	"slices"
	"strings"
)

// TrendMethod names the rules of trends, with their version.
const TrendMethod = "trend/3"

// TrendExplanation is everything that went into a trend key, made by the code that
// decides; its numbers can be worked out again from Members and Totals alone.
type TrendExplanation struct {
	Trend
	Totals Totals
	// Expected is e: the creators to expect, p × C ÷ P, 0 if P is 0.
	Expected Decimal
	// Members are the videos of the window with the key, by id, archived ones too.
	Members []Member
	// Dropped are the other keys of these videos that are not listed, those with most of
	// them first, then by key.
	Dropped []CommonKey
	// DroppedCounts counts all keys of the window that are not listed, by rule.
	DroppedCounts map[Drop]int
}

// CommonKey is a key that shares videos with the explained one.
type CommonKey struct {
	Trend
	// Common counts the window's videos that carry both.
	Common int
}

// Explain explains a key as Rank decides on it in the list without archived videos.
// found is false if no video of the window carries it.
func (w *Window) Explain(key string) (e TrendExplanation, found bool) {
	e = TrendExplanation{Totals: w.Totals(), Members: w.Members(key), DroppedCounts: map[Drop]int{}}
	if len(e.Members) == 0 {
		return e, false
	}
	listed, dropped := w.Rank(false)
	for _, t := range listed {
		if t.Key == key {
			e.Trend = t
		}
	}
	for _, t := range dropped {
		e.DroppedCounts[t.Drop]++
		if t.Key == key {
			e.Trend = t
		}
	}
	e.complete(dropped)
	return e, true
}

// ExplainStored explains a key as Explain does, without the window: of is what the window
// has in total, members are the videos with the key, by id, and fit all keys of the list
// without archived videos that are trends but for those above them. What needs the other
// keys of the window is left out: DroppedCounts, and of Dropped all but overlaps.
func ExplainStored(key Key, of Totals, members []Member, fit []Trend) TrendExplanation {
	e := TrendExplanation{Totals: of, Members: members, Trend: of.Measure(key, members, false)}
	_, dropped := Distinct(fit)
	for _, t := range dropped {
		if t.Key == key.Key {
			e.Drop, e.By = t.Drop, t.By
		}
	}
	e.complete(dropped)
	return e
}

// complete fills in what follows from the members, the totals and the dropped keys.
func (e *TrendExplanation) complete(dropped []Trend) {
	common := map[string]int{}
	for i := range e.Members {
		if d := e.Members[i].Detail; d != nil {
			for _, k := range d.Keys {
				common[k.Key]++
			}
		}
	}
	for _, t := range dropped {
		if t.Key != e.Key && common[t.Key] > 0 {
			e.Dropped = append(e.Dropped, CommonKey{t, common[t.Key]})
		}
	}
	slices.SortFunc(e.Dropped, func(a, b CommonKey) int {
		return cmp.Or(cmp.Compare(b.Common, a.Common), strings.Compare(a.Key, b.Key))
	})
	if e.Totals.Earlier > 0 {
		e.Expected = ratio(uint64(e.Trend.Earlier)*uint64(e.Totals.Recent), uint64(e.Totals.Earlier))
	}
}
