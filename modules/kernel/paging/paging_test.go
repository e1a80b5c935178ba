package paging

import (
	"slices"
	"testing"
)

// TestPagesFollowEachOther: every row is on one page, in order, and a foreign token is refused.
func TestPagesFollowEachOther(t *testing.T) {
	t.Parallel()
	rows := []int64{9, 7, 4, 2, 1}
	below := func(from int64, most int) (found []int64) {
		for _, row := range rows {
			if (from == 0 || row < from) && len(found) < most {
				found = append(found, row)
			}
		}
		return found
	}
	for size := 1; size <= 6; size++ {
		var all []int64
		for token, pages := "", 0; pages == 0 || token != ""; pages++ {
			from, err := Start(token)
			if err != nil || pages > len(rows) {
				t.Fatalf("page %d of %d rows: token %q, error %v", pages+1, size, token, err)
			}
			var page []int64
			page, token = Cut(below(from, size+1), size, func(row int64) int64 { return row })
			if len(page) > size {
				t.Errorf("got %d rows, want at most %d", len(page), size)
			}
			all = append(all, page...)
		}
		if !slices.Equal(all, rows) {
			t.Errorf("pages of %d: got %v, want %v", size, all, rows)
		}
	}
	for _, foreign := range []string{"x", "page_", "vid_1", Token(7) + "x"} {
		if n, err := Start(foreign); err == nil {
			t.Errorf("%q: got %d, want it refused", foreign, n)
		}
	}
}
