package score

import "cmp"

// compare sorts outliers as lists show them: the doubtful last, then the order value,
// score, views and reading time, highest first, then id. It is 0 for one video alone.
func compare(a, b *Outlier) int {
	if a.Doubtful != b.Doubtful {
		if b.Doubtful {
			return -1
		}
		return 1
	}
	return cmp.Or(b.Order.Compare(a.Order), b.Score.Compare(a.Score), cmp.Compare(b.Views, a.Views),
		cmp.Compare(b.ObservedAt, a.ObservedAt), cmp.Compare(a.ID, b.ID))
}
