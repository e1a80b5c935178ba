package insight

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/library/score"
)

func TestDirectionsAreNamed(t *testing.T) {
	t.Parallel()
	c := score.TrendCounts{Directions: [...]score.DirectionCounts{
		score.AllDirections: {Keys: 20, More: 5}, score.Rising: {Keys: 4, More: 1}, score.Holding: {}, score.Falling: {Keys: 2, More: 2},
	}}
	var got []string
	for _, d := range trendCounts(c).GetDirections() {
		text := fmt.Sprintf("%s %d of %d", d.GetDirection(), d.GetMore(), d.GetKeys())
		if d.Share != nil {
			text += fmt.Sprintf(": %.2f", d.GetShare())
		}
		got = append(got, text)
	}
	if diff := cmp.Diff([]string{"rising 1 of 4: 0.25", "holding 0 of 0", "falling 2 of 2: 1.00", "all 5 of 20: 0.25"}, got); diff != "" {
		t.Errorf("directions (-want +got):\n%s", diff)
	}
}
