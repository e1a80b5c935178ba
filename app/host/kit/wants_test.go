package kit_test

import (
	"slices"
	"testing"

	"github.com/scrollery/scrollery/app/host/kit"
	"github.com/scrollery/scrollery/plugins/stage"
)

func TestWants(t *testing.T) {
	t.Parallel()
	const everything = "may read and run whatever is in /usr, /bin and /sbin"
	for name, c := range map[string]struct {
		spec   stage.Spec
		script bool
		want   []string
	}{
		"nothing":           {want: []string{"reaches, reads and runs nothing, and wants no secrets"}},
		"a script":          {script: true, want: []string{"is a script: " + everything}},
		"programs":          {spec: stage.Spec{Programs: []string{"ffmpeg"}}, want: []string{"runs: ffmpeg", "and to run these, " + everything}},
		"programs, scripts": {spec: stage.Spec{Programs: []string{"openssl"}}, script: true, want: []string{"runs: openssl", "is a script: " + everything}},
		"hosts and secrets": {
			spec: stage.Spec{Hosts: []string{"a.example.com:443"}, Secrets: []string{"token"}},
			want: []string{"reaches: a.example.com:443", "wants the secrets: token"},
		},
		"a price": {
			spec: stage.Spec{Price: stage.Price{Call: 10_000, Record: 5_000}},
			want: []string{"pays: up to 0.26 USD for a seed of 50 videos, 1.00 USD a day unless you set its budget"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := kit.Wants(c.spec, c.script); !slices.Equal(got, c.want) {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		})
	}
}
