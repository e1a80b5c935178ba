package videos

import (
	"encoding/binary"
	"hash/fnv"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/stage"
)

func TestEachOnDoesEachOnce(t *testing.T) {
	t.Parallel()
	for _, threads := range []int{1, 2, 3} {
		for _, n := range []int{0, 1, 15, 16, 17, 500} {
			t.Run(strconv.Itoa(threads)+" threads, "+strconv.Itoa(n), func(t *testing.T) {
				got := make([]atomic.Int64, n)
				eachOn(threads, n, func(i int) { got[i].Add(1) })
				for i := range got {
					if times := got[i].Load(); times != 1 {
						t.Errorf("number %d: got it %d times, want once", i, times)
					}
				}
			})
		}
	}
}

func TestEachOnHasThePanicOfAThread(t *testing.T) {
	t.Parallel()
	defer func() {
		if diff := cmp.Diff(any("at 17"), recover()); diff != "" {
			t.Errorf("panic (-want +got):\n%s", diff)
		}
	}()
	eachOn(2, 40, func(i int) {
		if i == 17 {
			panic("at 17")
		}
	})
}

// TestVideosAreTheSameOnTwoThreads: texts and terms of a batch do not depend on how many
// threads make them.
func TestVideosAreTheSameOnTwoThreads(t *testing.T) {
	t.Parallel()
	videos := func(batch Batch) writing {
		made := make([]*Video, 300)
		eachOn(batch.threads(), len(made), func(i int) {
			spoken := "Why do " + strconv.Itoa(i) + " cafés close? They do."
			views := int64(i)
			r := stage.Record{
				Ref: stage.Ref{Platform: "tiktok", ExternalID: strconv.Itoa(i)}, Metadata: []byte(`{"caption":"a #b` + strconv.Itoa(i) + `","hashtags":["c"]}`),
				Evidence: &stage.Evidence{Spoken: &spoken}, Metrics: stage.Metrics{Views: &views},
			}
			made[i] = newVideo(int64(i+1), &r, batch)
		})
		return write(batch, made)()
	}
	want, got := videos(Batch{ScrollID: 1, At: 5}), videos(Batch{ScrollID: 1, At: 5, Bulk: true})
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(writing{})); diff != "" || len(got.docs) != 300 || len(got.terms) != 300 {
		t.Errorf("got %d documents and %d terms, want 300 of each (-want +got):\n%s", len(got.docs), len(got.terms), diff)
	}
}

// TestDigestIsFNV: digests are stored, and a record that repeats one is known by it.
func TestDigestIsFNV(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("é", 200)
	for name, c := range map[string]struct {
		record stage.Record
		parts  []string
	}{
		"nothing": {stage.Record{}, []string{"", "", ""}},
		"everything": {
			stage.Record{
				SourceURL: "https://a.example", PostedAt: new(int64(17)), CreatorID: "c", Source: &stage.Source{Kind: "own", Handle: "h", SeededBy: "s"},
				Metadata: []byte(`{"a":1}`), Evidence: &stage.Evidence{Visual: []byte(`"v"`), Spoken: &text}, Keys: []stage.Key{{Key: "k", Label: "l"}},
			},
			[]string{"https://a.example", "17", "c", "source", "own", "h", "s", `{"a":1}`, "evidence", `"v"`, text, "", "", "k", "l"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := fnv.New64a()
			for _, part := range c.parts {
				h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
				h.Write([]byte(part))
			}
			if got, want := digestOf(&c.record), int64(h.Sum64()); got != want {
				t.Errorf("got %d, want %d", got, want)
			}
		})
	}
}

func TestNumbersBeyondFloatAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"a":1}`:                                     false,
		`{"a":1e99}`:                                  false,
		`{"a":1e999}`:                                 true,
		`{"a":"1e999"}`:                               false,
		`{"a\"1e999":"\\","b":[-1E+0999]}`:            true,
		`{"a":` + strings.Repeat("9", 400) + `}`:      true,
		`{"a":"` + strings.Repeat("9", 400) + `"}`:    false,
		`{"a":0.` + strings.Repeat("9", 400) + `}`:    false,
		`["\"",` + strings.Repeat("9", 310) + `,"e"]`: true,
	} {
		if got := beyondFloat([]byte(text)); got != want {
			t.Errorf("%.40s: got %t, want %t", text, got, want)
		}
	}
}
