package host

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// pageCache is a memory with one page, which another caller reads until busy.
type pageCache struct {
	page     []byte
	busy     time.Time
	released []string
}

func (s *pageCache) Release(ctx context.Context, _, name string) error {
	s.released = append(s.released, name)
	return ctx.Err()
}

func (s *pageCache) Recall(_ context.Context, _, _ string, since time.Time) ([]byte, bool, time.Time, error) {
	return s.page, since.After(time.UnixMilli(1000)) && s.busy.IsZero(), s.busy, nil
}

func (s *pageCache) Remember(_ context.Context, _, _ string, page []byte) error {
	s.page = page
	return nil
}

func TestMemory(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", stage.MaxPageName+1)
	for name, c := range map[string]struct {
		external bool
		name     string
		value    []byte
		refused  bool
	}{
		"a built-in":                         {false, "feed", []byte("page"), false},
		"an external plugin has no pages":    {true, "feed", []byte("page"), true},
		"a page needs a name":                {false, "", []byte("page"), true},
		"a name that is too long":            {false, long, []byte("page"), true},
		"an empty page":                      {false, "feed", nil, true},
		"a page larger than may be":          {false, "feed", make([]byte, stage.MaxPage+1), true},
		"a page of the size that one may be": {false, "feed", make([]byte, stage.MaxPage), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := memory{"feeds", !c.external, &pageCache{}, false, map[string]bool{}}
			_, err := m.remember(t.Context(), &stagev1.Remember{Name: c.name, Value: c.value})
			if (err != nil) != c.refused {
				t.Errorf("remember: error %v, want one %t", err, c.refused)
			}
			if c.value == nil || len(c.value) > stage.MaxPage {
				return
			}
			grant, err := m.recall(t.Context(), &stagev1.Recall{Name: c.name, Since: 2000})
			if (err != nil) != c.refused || err == nil && (!grant.GetGranted() || len(grant.GetValue()) != len(c.value)) {
				t.Errorf("recall: %d bytes, renew %t, error %v", len(grant.GetValue()), grant.GetGranted(), err)
			}
		})
	}
	if _, err := (memory{"feeds", true, &pageCache{}, true, nil}).remember(t.Context(), &stagev1.Remember{Name: "feed", Value: []byte("page")}); err == nil {
		t.Error("a call with an account's own secrets: got a page remembered for others, want it refused")
	}
	busy := memory{"feeds", true, &pageCache{busy: time.UnixMilli(5000)}, false, nil}
	if grant, err := busy.recall(t.Context(), &stagev1.Recall{Name: "feed", Since: 2000}); err != nil || grant.GetGranted() || grant.GetRetryAt() != 5000 {
		t.Errorf("while another call reads: %v, error %v; want no grant until 5000", grant, err)
	}
}

// TestReleaseAtTheEnd: the pages that a call was to read and did not, are free for others when it
// has ended, however that was.
func TestReleaseAtTheEnd(t *testing.T) {
	t.Parallel()
	pages := &pageCache{}
	m := memory{"feeds", true, pages, false, map[string]bool{}}
	for _, name := range []string{"read", "left"} {
		if grant, err := m.recall(t.Context(), &stagev1.Recall{Name: name, Since: 2000}); err != nil || !grant.GetGranted() {
			t.Fatalf("recall: %v, error %v; want it granted", grant, err)
		}
	}
	if _, err := m.recall(t.Context(), &stagev1.Recall{Name: "looked at", Since: 500}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.remember(t.Context(), &stagev1.Remember{Name: "read", Value: []byte("page")}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if m.release(ctx); !slices.Equal(pages.released, []string{"left"}) {
		t.Errorf("got %q released, want left alone", pages.released)
	}
}
