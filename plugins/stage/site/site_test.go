package site_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
	"github.com/scrollery/scrollery/plugins/stage/site/sitetest"
)

const secret = "EAAG/secret+token"

func call() *stage.Call { return &stage.Call{Secrets: map[string]string{"token": secret}} }

func ask(t *testing.T, s *site.Site, address string) (site.Answer, error) {
	t.Helper()
	return s.Ask(t.Context(), site.Request{Method: http.MethodGet, URL: address})
}

// TestErrorsTellNoSecret: net/http's own would show the whole address.
func TestErrorsTellNoSecret(t *testing.T) {
	t.Parallel()
	s := site.New(call(), site.Options{Timeout: time.Second})
	for _, address := range []string{
		"http://127.0.0.1:1/v1?access_token=" + url.QueryEscape(secret),
		"http://" + url.QueryEscape(secret) + ".invalid/",
		"ftp://x/?t=" + url.QueryEscape(secret),
		"://" + secret,
	} {
		t.Run(address, func(t *testing.T) {
			_, err := ask(t, s, address)
			var lost *site.Unreachable
			if !errors.As(err, &lost) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "/v1") || err.Error() == "" {
				t.Errorf("%v", err)
			}
		})
	}
	if got := s.Clean("bad\ntoken " + secret + " \xff" + strings.Repeat("x", 999)); strings.Contains(got, "secret") || len(got) > 310 || strings.Contains(got, "\n") {
		t.Errorf("%q", got)
	}
}

// TestSecretsThatBeginAlike: the end of the longer one is not left over.
func TestSecretsThatBeginAlike(t *testing.T) {
	t.Parallel()
	for range 20 { // in any order
		c := call()
		c.Secrets = map[string]string{"key": "abcdef", "secret": "abcdef-and-the-rest", "id": "abc"}
		s := site.New(c, site.Options{})
		s.Hide("abcdef-and")
		if got, want := s.Clean("no abcdef-and-the-rest, abcdef-and or abcdef here"), "no …, … or … here"; got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

// TestOneAtATime: however many ask at once, the site sees one request, and a pause.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		most.Store(max(most.Load(), now.Add(1)))
		time.Sleep(5 * time.Millisecond)
		now.Add(-1)
	}))
	defer server.Close()
	clock := sitetest.NewClock(time.Now())
	began := clock.Now()
	s := site.New(call(), site.Options{Clock: clock, Gap: time.Minute})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { _, _ = ask(t, s, server.URL) })
	}
	all.Wait()
	if most.Load() != 1 || clock.Now().Sub(began) != 7*time.Minute {
		t.Errorf("%d at once within %v, want most 1 and span %v", most.Load(), clock.Now().Sub(began), 7*time.Minute)
	}
}

func TestAnswersEnd(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/big":
			fmt.Fprint(w, strings.Repeat("x", 1001))
		case "/fits":
			fmt.Fprint(w, strings.Repeat("x", 999)+"\x00")
		case "/slow":
			<-r.Context().Done()
		case "/away":
			http.Redirect(w, r, "/fits", http.StatusFound)
		}
	}))
	defer server.Close()
	s := site.New(call(), site.Options{Body: 1000, Timeout: 200 * time.Millisecond, Gap: 1})
	for path, good := range map[string]bool{"/big": false, "/slow": false, "/fits": true, "/away": true} {
		t.Run(path, func(t *testing.T) {
			answer, err := ask(t, s, server.URL+path)
			if (err == nil) != good || (path == "/fits" && string(answer.Body) != strings.Repeat("x", 999)+" ") || (path == "/away" && answer.Status != http.StatusFound) {
				t.Errorf("%s: %+v %v", path, answer.Status, err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Ask(ctx, site.Request{URL: server.URL}); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was given up ends with %v, want %v", err, context.Canceled)
	}
}

func TestWaitKnowsItsBounds(t *testing.T) {
	t.Parallel()
	clock := sitetest.NewClock(time.Now())
	s := site.New(call(), site.Options{Clock: clock, Patience: time.Minute})
	if err := s.Wait(t.Context(), 50*time.Second, ""); err != nil || clock.Waited() != 50*time.Second {
		t.Errorf("got error %v, %v waited; want %v", err, clock.Waited(), 50*time.Second)
	}
	if longest := clock.Longest(); longest > 10*time.Second {
		t.Errorf("no sign of life for %v, want at most %v", longest, 10*time.Second)
	}
	if err := s.Wait(t.Context(), 11*time.Second, ""); !errors.Is(err, site.ErrPatience) {
		t.Errorf("%v, want %v", err, site.ErrPatience)
	}
	ctx, cancel := context.WithDeadline(t.Context(), clock.Now().Add(5*time.Second))
	defer cancel()
	if err := s.Wait(ctx, 6*time.Second, ""); !errors.Is(err, site.ErrPatience) {
		t.Errorf("a wait beyond the deadline: %v, want %v", err, site.ErrPatience)
	}
	never := site.New(call(), site.Options{Clock: clock, Impatient: true})
	if err := never.Wait(t.Context(), 1, ""); !errors.Is(err, site.ErrPatience) {
		t.Errorf("%v, want %v", err, site.ErrPatience)
	}
}

func TestEach(t *testing.T) {
	t.Parallel()
	seeds := []stage.Seed{
		{Term: "tea"},
		{Handle: "@Ada"},
		{Handle: "ada", Platform: "x"},
		{Handle: "bob", Platform: "y"},
		{Handle: "cid"},
		{Handle: "dee"},
		{Term: "cups", Limit: 3},
	}
	later := time.Now().Add(time.Hour)
	var asked []string
	outcomes, err := site.Each(t.Context(), "x", seeds, 9, func(_ context.Context, seed stage.Seed) (int, error) {
		asked = append(asked, seed.Text())
		switch seed.Text() {
		case "@Ada":
			return 4, nil
		case "cid":
			return 2, &site.Stop{Status: stage.Quota, RetryAt: later, Detail: "enough", Scope: site.Kind}
		case "cups":
			return 0, stage.ErrEnough
		}
		return 0, nil
	})
	at := later.UnixMilli()
	want := []stage.Outcome{
		{Seed: "@Ada", Status: stage.OK, Asked: 9, Returned: 4},
		{Seed: "ada", Status: stage.OK, Asked: 9, Returned: 4},
		{Seed: "cid", Status: stage.Partial, Asked: 9, Returned: 2, RetryAt: &at, Detail: "enough"},
		{Seed: "dee", Status: stage.Quota, Asked: 9, RetryAt: &at, Detail: "enough"},
		{Seed: "tea", Status: stage.Empty, Asked: 9},
		{Seed: "cups", Status: stage.Partial, Asked: 3, Detail: "the call may give no more videos"},
	}
	if err != nil || len(outcomes) != len(want) || strings.Join(asked, " ") != "@Ada cid tea cups" {
		t.Fatalf(`asked %q: %+v %v, want no error, %v outcomes and text "@Ada cid tea cups"`, asked, outcomes, err, len(want))
	}
	for i, o := range outcomes {
		if w := want[i]; o.Seed != w.Seed || o.Platform != "x" || o.Status != w.Status || o.Asked != w.Asked || o.Returned != w.Returned ||
			o.Detail != w.Detail || (o.RetryAt == nil) != (w.RetryAt == nil) || o.RetryAt != nil && *o.RetryAt != at {
			t.Errorf("%+v, want %+v", o, w)
		}
	}
}

// TestTheAccountArrives: a call whose time is nearly up still answers for each seed.
func TestTheAccountArrives(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	seeds := []stage.Seed{{Handle: "ada"}, {Term: "tea"}}
	outcomes, err := site.Each(ctx, "x", seeds, 9, func(ctx context.Context, _ stage.Seed) (int, error) {
		<-ctx.Done()
		return 1, context.Cause(ctx)
	})
	if err != nil || ctx.Err() != nil || len(outcomes) != 2 || outcomes[0].Status != stage.Partial || outcomes[1].Status != stage.Partial {
		t.Errorf("got outcomes %+v, error %v, context %v; want 2 outcomes, %v and %v", outcomes, err, ctx.Err(), stage.Partial, stage.Partial)
	}
	broken := errors.New("broken")
	if _, err := site.Each(t.Context(), "x", seeds, 9, func(context.Context, stage.Seed) (int, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
}
