package confine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLimitations(t *testing.T) {
	t.Parallel()
	const (
		files   = "files that the host's user can read or write"
		empties = "emptying files of the host's user"
		modes   = "modes, owners and times of files"
		hosts   = "hosts that it did not declare"
		port    = "other hosts, at the number of its proxy's port"
		visits  = "being connected to by others"
		paths   = "sockets of this machine, by their path"
		names   = "sockets of this machine, by an abstract name"
		signals = "signals to other processes of the host's user"
		calls   = "system calls that it has no use for"
	)
	for name, c := range map[string]struct {
		means means
		want  []string
	}{
		"all":                              {means{9, true, true}, nil},
		"the kernel of 2025":               {means{7, true, true}, nil},
		"Linux 6.12":                       {means{6, true, true}, nil},
		"Linux 6.10":                       {means{5, true, true}, []string{signals}},
		"Debian 12":                        {means{2, true, true}, []string{signals}},
		"Linux 5.13":                       {means{1, true, true}, []string{signals}},
		"no Landlock":                      {means{0, true, true}, []string{files, signals}},
		"new, but no pidfd_getfd":          {means{9, true, false}, []string{port, visits}},
		"Linux 6.12 without pidfd_getfd":   {means{6, true, false}, []string{port, visits, paths}},
		"Linux 6.7 without pidfd_getfd":    {means{4, true, false}, []string{port, visits, paths, names, signals}},
		"Debian 12 without pidfd_getfd":    {means{2, true, false}, []string{hosts, visits, paths, names, signals}},
		"new, on another architecture":     {means{9, false, true}, []string{modes, hosts, visits, calls}},
		"Linux 6.1 on another one":         {means{2, false, true}, []string{empties, modes, hosts, visits, paths, names, signals, calls}},
		"neither Landlock nor any filters": {means{}, []string{files, empties, modes, hosts, visits, paths, names, signals, calls}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.means.limitations()); diff != "" {
				t.Errorf("limitations (-want +got):\n%s", diff)
			}
		})
	}
}

// With a right that version 1 lacks, the library would confine nothing there.
func TestWritableOnTheFirstLandlock(t *testing.T) {
	t.Parallel()
	for version, want := range map[int]bool{1: false, 2: true, 9: true} {
		if got := strings.Contains(strings.ToLower(fmt.Sprint(writable(version, []string{"/x"}))), "refer"); got != want {
			t.Errorf("version %d: moving files is %v, want %v", version, got, want)
		}
	}
}
