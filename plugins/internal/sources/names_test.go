package sources

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// interfaceOf refuses a request with a name that it does not have, as the real ones do;
// the message names it where says is true.
type interfaceOf struct {
	lacks []string
	says  bool
	fails error

	requests int
	answer   []string
}

func (i *interfaceOf) ask(names []string) error {
	i.requests++
	for _, name := range names {
		if slices.Contains(i.lacks, name) {
			message := "Invalid fields"
			if i.says {
				message = "Invalid field (" + name + ")"
			}
			return &Refused{Message: message, Stop: &site.Stop{Status: stage.Changed, Detail: message}}
		}
	}
	if i.fails != nil {
		return i.fails
	}
	i.answer = names
	return nil
}

func TestNamesThatAreRefusedCostThemselvesAlone(t *testing.T) {
	t.Parallel()
	var optional []string
	for n := range 19 {
		optional = append(optional, fmt.Sprintf("field_%d", n))
	}
	for _, says := range []bool{true, false} {
		for lacking := range 4 {
			for round := range 20 {
				var lacks, want []string
				for _, at := range rand.New(rand.NewPCG(uint64(lacking), uint64(round))).Perm(len(optional))[:lacking] {
					lacks = append(lacks, optional[at])
				}
				for _, name := range optional {
					if !slices.Contains(lacks, name) {
						want = append(want, name)
					}
				}
				want = append([]string{"id"}, want...)
				names := NewNames([]string{"id"}, optional)
				i := &interfaceOf{lacks: lacks, says: says}
				if err := names.Ask(i.ask); err != nil {
					t.Fatalf("lacking %v: %v, want no error", lacks, err)
				}
				if diff := cmp.Diff(want, i.answer); diff != "" {
					t.Fatalf("lacking %v: names of the answer, want - got +:\n%s", lacks, diff)
				}
				if most := 1 + lacking; says && i.requests > most {
					t.Errorf("lacking %v: %d requests, want at most %d", lacks, i.requests, most)
				}
				if most := 2 + 11*lacking; i.requests > most {
					t.Errorf("lacking %v: %d requests, want at most %d", lacks, i.requests, most)
				}
				before := i.requests
				if err := names.Ask(i.ask); err != nil || i.requests != before+1 {
					t.Errorf("lacking %v, asked again: %d more requests, error %v; want 1", lacks, i.requests-before, err)
				}
				short := names.Short()
				for _, name := range lacks {
					if short == nil || !strings.Contains(short.Error(), name) {
						t.Errorf("short is %v, want %s in it", short, name)
					}
				}
				if lacking == 0 && short != nil {
					t.Errorf("short is %v, want nil", short)
				}
			}
		}
	}
}

func TestRefusalThatIsAboutNoName(t *testing.T) {
	t.Parallel()
	for name, message := range map[string]string{"says nothing": "Invalid query", "says an innocent name": "Invalid username"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			names := NewNames([]string{"id"}, []string{"username", "view_count"})
			want := &site.Stop{Status: stage.Changed, Detail: message}
			requests := 0
			err := names.Ask(func([]string) error {
				requests++
				return &Refused{Message: message, Stop: want}
			})
			var stop *site.Stop
			if !errors.As(err, &stop) || stop != want {
				t.Errorf("error %v, want the refusal", err)
			}
			if requests > 3 {
				t.Errorf("%d requests, want at most 3", requests)
			}
			if short := names.Short(); short != nil {
				t.Errorf("short is %v, want nil: no name is to blame", short)
			}
			i := &interfaceOf{}
			if err := names.Ask(i.ask); err != nil || !slices.Equal(i.answer, []string{"id", "username", "view_count"}) {
				t.Errorf("then asks for %v, error %v; want all names again", i.answer, err)
			}
		})
	}
}

func TestFailureWhileNamesAreSought(t *testing.T) {
	t.Parallel()
	names := NewNames([]string{"id"}, []string{"a_b", "c_d"})
	failed := errors.New("connection reset")
	i := &interfaceOf{lacks: []string{"c_d"}, fails: failed}
	if err := names.Ask(i.ask); !errors.Is(err, failed) {
		t.Fatalf("error %v, want %v", err, failed)
	}
	i.fails = nil
	if err := names.Ask(i.ask); err != nil || !slices.Equal(i.answer, []string{"id", "a_b"}) {
		t.Errorf("then asks for %v, error %v; want id and a_b", i.answer, err)
	}
}
