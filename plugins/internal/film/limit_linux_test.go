package film_test

import (
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/internal/film"
)

// TestBoundsAreOfProcessorTime has a program wait for longer than the processor time
// that it has, as on a busy machine, one that works for longer, and one that never ends.
func TestBoundsAreOfProcessorTime(t *testing.T) {
	t.Parallel()
	for _, want := range []struct {
		name, script, fault string
		most                time.Duration
	}{
		{"waits", "sleep 1.5; echo read", "", time.Second},
		{"works", "while :; do :; done", "took longer than 1s of processor time", time.Second},
		{"never ends", "sleep 600", "took longer than 1s", 50 * time.Millisecond},
	} {
		t.Run(want.name, func(t *testing.T) {
			t.Parallel()
			out, err := film.RunWithin(t.Context(), newCall(t), want.most, "sh", "-c", want.script)
			switch {
			case want.fault == "" && (err != nil || string(out) != "read\n"):
				t.Errorf("got %q, %v; want its words", out, err)
			case want.fault != "" && (!film.Unreadable(err) || !strings.Contains(err.Error(), want.fault)):
				t.Errorf("got %q, %v; want %q", out, err, want.fault)
			}
		})
	}
}
