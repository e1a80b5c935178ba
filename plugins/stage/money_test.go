package stage_test

import (
	"testing"

	"github.com/scrollery/scrollery/plugins/stage"
)

func TestMoney(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"1": 1_000_000, "2.50": 2_500_000, "0.00188": 1_880, "0.000001": 1, "1000000": 1_000_000_000_000, "0": 0,
		"": -1, "-1": -1, "+1": -1, "1,50": -1, "$1": -1, "0.0000001": -1, "1e3": -1, ".5": -1, "1000001": -1, "1.-5": -1, "NaN": -1,
	} {
		got, err := stage.ParseMoney(text)
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%q is %d, error %v; want %d", text, got, err, want)
		}
	}
	for amount, want := range map[int64]string{0: "0.00", 1: "0.000001", 1_880: "0.00188", 2_500_000: "2.50", 21_000: "0.021", 12_345_670_000: "12345.67"} {
		if got := stage.FormatMoney(amount); got != want {
			t.Errorf("%d is %s, want %s", amount, got, want)
		}
	}
}
