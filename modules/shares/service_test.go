package shares

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// readAgain is when the second video has to be read again.
var readAgain = time.Now().Add(50 * 24 * time.Hour).Truncate(time.Second)

// stocked is a library with the videos 1 and 2.
type stocked struct{}

func (stocked) Present(_ context.Context, _ *store.Tx, ids []int64) (there []int64, err error) {
	for _, id := range ids {
		if id <= 2 {
			there = append(there, id)
		}
	}
	return there, nil
}

// KeptUntil: the second video is of a platform that wants it read again.
func (stocked) KeptUntil(_ context.Context, ids []int64) (time.Time, error) {
	if slices.Contains(ids, 2) {
		return readAgain, nil
	}
	return time.Time{}, nil
}

func (stocked) Video(_ context.Context, id string) ([]byte, error) {
	if number, _ := publicid.Parse(publicid.Video, id); number < 1 || number > 2 {
		return []byte(`{"found":false,"video":null,"outlier":null,"hook":null}`), nil
	}
	return []byte(`{"found":true,"video":{"platform":"tiktok","sourceUrl":"javascript:alert(1)","source":{"handle":"moka"},"agentMetadata":{"secret":"mine"},
"metadata":{"caption":"<script>alert(1)</script> ` + id + `"},"metrics":{"views":12000,"observedAt":1760000000000}},
"outlier":{"score":12,"baselineViews":1000,"sampleCount":30},"hook":{"spoken":"Stop","onScreenText":null}}`), nil
}

func (stocked) Blocked(_ context.Context, account int64) (bool, error) { return account == 9, nil }

func (stocked) First(context.Context, string, int) ([]string, bool, error) {
	return []string{publicid.Format(publicid.Video, 1), publicid.Format(publicid.Video, 2)}, true, nil
}

// TestASharedPage: it shows what was frozen and nothing else, loses deleted videos, counts, and
// ends by hand and by date with the answer of an unknown one.
func TestASharedPage(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := New(Config{BaseURL: "https://scrollery.test"}, db, stocked{}, stocked{})
		site, err := NewPage(s, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		ctx := viewer.As(t.Context(), 7)
		read := func(address string) (int, string) {
			t.Helper()
			answer := httptest.NewRecorder()
			site.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimPrefix(address, "https://scrollery.test"), nil))
			return answer.Code, answer.Body.String()
		}
		made := func(o Order) (*Share, string) {
			t.Helper()
			share, address, err := s.Create(ctx, o)
			if err != nil || share == nil {
				t.Fatalf("create: got %+v, error %v; want a share", share, err)
			}
			return share, address
		}
		unknown, missing := read("https://scrollery.test" + Path + strings.Repeat("a", 43))
		if unknown != http.StatusNotFound {
			t.Fatalf("an unknown token: got %d, want 404", unknown)
		}
		gone := func(when, address string) {
			t.Helper()
			if code, text := read(address); code != http.StatusNotFound || text != missing {
				t.Errorf("%s: got %d and another page than for an unknown token: %s", when, code, text)
			}
		}
		collected, address := made(Order{Kind: ofCollection, ID: "col_a", Title: "Two"})
		code, text := read(address)
		for _, want := range []string{"12,000 views", "12.0 times its usual views (1,000 views are usual, by 30 videos)", "9 October 2025", "&lt;script&gt;", "@<bdi>moka</bdi>", `content="noindex`} {
			if code != http.StatusOK || !strings.Contains(text, want) {
				t.Errorf("the page: got %d without %q: %s", code, want, text)
			}
		}
		for _, secret := range []string{"<script", "href", "mine", publicid.Format(publicid.Account, 7), "col_a"} {
			if strings.Contains(text, secret) {
				t.Errorf("the page has %q: %s", secret, text)
			}
		}
		first := publicid.Format(publicid.Video, 1)
		_, brief := made(Order{Kind: "brief", Title: "Pour", Sentences: []string{"Both do well.", "One more."}, Videos: []string{first, publicid.Format(publicid.Video, 2)}})
		_, video := made(Order{Kind: ofVideo, ID: first, Title: "One"})
		if share, _, err := s.Create(ctx, Order{Kind: ofVideo, ID: publicid.Format(publicid.Video, 3), Title: "x"}); err != nil || share != nil {
			t.Errorf("a video that is not there: got %+v, error %v; want none", share, err)
		}
		forget := func(account int64) {
			t.Helper()
			err := db.Write(viewer.As(t.Context(), account), func(ctx context.Context, tx *store.Tx) error { return NewParts().Forget(ctx, tx, []int64{1}) })
			if err != nil {
				t.Fatal(err)
			}
		}
		forget(8)
		if _, text := read(brief); !strings.Contains(text, "Both do well.") {
			t.Errorf("after another account's deletion: got %s", text)
		}
		forget(7)
		gone("the share of a deleted video", video)
		if _, text := read(brief); strings.Contains(text, "Both do well.") || strings.Contains(text, "One more.") || strings.Count(text, "<li>") != 1 {
			t.Errorf("a brief on a deleted video: got %s", text)
		}
		if _, text := read(address); strings.Contains(text, first) || strings.Count(text, "<li>") != 1 {
			t.Errorf("a collection with a deleted video: got %s", text)
		}
		all, err := s.List(ctx, 0, 10)
		if err != nil || len(all) != 3 || all[2].Views != 2 {
			t.Errorf("list: got %+v, error %v; want 3, the first read twice", all, err)
		}
		if found, err := s.Revoke(viewer.As(t.Context(), 8), collected.ID); err != nil || found {
			t.Errorf("another account revokes: got %t, error %v", found, err)
		}
		if found, err := s.Revoke(ctx, collected.ID); err != nil || !found {
			t.Errorf("revoke: got %t, error %v", found, err)
		}
		gone("a revoked share", address)
		s.now = func() time.Time { return time.Now().Add(usual + time.Minute) }
		gone("an ended share", brief)
		if err := s.sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := db.Ent().ShareItem.Query().CountX(ctx) + db.Ent().Share.Query().CountX(ctx); n != 0 {
			t.Errorf("after the sweep: got %d rows, want none", n)
		}
	})
}

// TestAPageEndsWithItsVideos: nothing that a platform wants deleted is shown longer than the library keeps it.
func TestAPageEndsWithItsVideos(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		now := time.Now()
		s := New(Config{}, db, stocked{}, stocked{})
		s.now = func() time.Time { return now }
		ctx := viewer.As(t.Context(), 7)
		one, two := publicid.Format(publicid.Video, 1), publicid.Format(publicid.Video, 2)
		end := func(id string, asked time.Time) (int64, error) {
			t.Helper()
			o := Order{Kind: "finding", Title: "a", Sentences: []string{"b"}, Videos: []string{id}}
			if !asked.IsZero() {
				o.ExpiresAt = asked.UnixMilli()
			}
			share, _, err := s.Create(ctx, o)
			if err != nil {
				return 0, err
			}
			return share.ExpiresAt, nil
		}
		for _, c := range []struct {
			name, id    string
			now, asked  time.Time
			want        time.Time
			wantMessage string
		}{
			{name: "the usual time", id: one, want: time.Now().Add(usual)},
			{name: "a year without an end", id: one, asked: time.Now().Add(longest - time.Hour), want: time.Now().Add(longest - time.Hour)},
			{name: "the usual time before the end", id: two, want: time.Now().Add(usual)},
			{name: "the usual time after the end", id: two, now: readAgain.Add(-time.Hour), want: readAgain},
			{name: "a time before the end", id: two, asked: readAgain.Add(-time.Hour), want: readAgain.Add(-time.Hour)},
			{name: "a time after the end", id: two, asked: readAgain.Add(time.Second), wantMessage: readAgain.UTC().Format(time.RFC3339)},
			{name: "after the end", id: two, now: readAgain.Add(time.Second), wantMessage: "read too long ago"},
		} {
			if now = c.now; now.IsZero() {
				now = time.Now()
			}
			got, err := end(c.id, c.asked)
			if c.wantMessage != "" {
				text := fmt.Sprint(err)
				if refused := (*apierr.Error)(nil); errors.As(err, &refused) {
					text += fmt.Sprint(refused.Issues)
				}
				if err == nil || !strings.Contains(text, c.wantMessage) {
					t.Errorf("%s: got %d, error %v; want an error with %q", c.name, got, err, c.wantMessage)
				}
				continue
			}
			if err != nil || time.UnixMilli(got).Sub(c.want).Abs() > time.Minute {
				t.Errorf("%s: got %v, error %v; want %v", c.name, time.UnixMilli(got), err, c.want)
			}
		}
	})
}
