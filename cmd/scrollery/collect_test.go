package main

import "testing"

func TestSoMuchGarbageGathers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		inUse uint64
		want  int
	}{
		"nothing in use":      {0, 300},
		"a small heap":        {8 << 20, 300},
		"a larger one":        {24 << 20, 200},
		"as much as is spare": {48 << 20, 100},
		"twice as much":       {96 << 20, 50},
		"a large one":         {1 << 30, 25},
	} {
		t.Run(name, func(t *testing.T) {
			if got := gcPercent(c.inUse); got != c.want {
				t.Errorf("got %d percent, want %d", got, c.want)
			}
		})
	}
}
