package site_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
	"github.com/scrollery/scrollery/plugins/stage/site/sitetest"
)

// TestTrySaysWhoseFaultItIs: a site that fails is asked three times, and one that refuses once.
func TestTrySaysWhoseFaultItIs(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		statuses []int // the last one goes on
		after    string
		asked    int
		waited   time.Duration
		fault    stage.Fault
		retryAt  time.Time
	}{
		"an answer":                    {[]int{200}, "", 1, 0, "", time.Time{}},
		"it recovers":                  {[]int{503, 429, 201}, "", 3, 3 * time.Second, "", time.Time{}},
		"it stays down":                {[]int{500}, "", 3, 3 * time.Second, stage.FaultBusy, time.Time{}},
		"it says how long":             {[]int{429, 200}, "20", 2, 20 * time.Second, "", time.Time{}},
		"it says a time":               {[]int{429, 200}, "Tue, 01 Sep 2026 12:00:25 GMT", 2, 25 * time.Second, "", time.Time{}},
		"it wants too long a wait":     {[]int{429}, "3000", 1, 0, stage.FaultQuota, noon.Add(50 * time.Minute)},
		"an allowance without a time":  {[]int{402}, "", 1, 0, stage.FaultQuota, noon.Add(time.Hour)},
		"it refuses the credentials":   {[]int{401}, "", 1, 0, stage.FaultRefused, time.Time{}},
		"there is nothing":             {[]int{404}, "", 1, 0, stage.FaultNotFound, time.Time{}},
		"a redirect":                   {[]int{302}, "", 1, 0, stage.FaultInternal, time.Time{}},
		"a request that it can't read": {[]int{422}, "", 1, 0, stage.FaultInternal, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if c.after != "" {
					w.Header().Set("Retry-After", c.after)
				}
				w.WriteHeader(c.statuses[min(asked, len(c.statuses)-1)])
				asked++
			}))
			defer server.Close()
			clock := sitetest.NewClock(noon)
			s := site.New(call(), site.Options{Clock: clock})
			_, err := s.Try(t.Context(), site.Request{Method: http.MethodPost, URL: server.URL, Body: []byte("{}")})
			var fault stage.Error
			if typed := new(stage.Error); errors.As(err, &typed) {
				fault = *typed
			}
			if (err == nil) != (c.fault == "") || fault.Fault != c.fault || asked != c.asked {
				t.Errorf("asked %d times, error %v (%s); want %d and %q", asked, err, fault.Fault, c.asked, c.fault)
			}
			if !fault.RetryAt.Equal(c.retryAt) || clock.Waited() != c.waited {
				t.Errorf("retry at %v, waited %v; want %v, %v", fault.RetryAt, clock.Waited(), c.retryAt, c.waited)
			}
		})
	}
}

// TestTryWithoutAnAnswer is busy, after as many tries.
func TestTryWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	clock := sitetest.NewClock(time.Now())
	s := site.New(call(), site.Options{Clock: clock})
	_, err := s.Try(t.Context(), site.Request{Method: http.MethodGet, URL: "http://127.0.0.1:1/"})
	var fault *stage.Error
	if !errors.As(err, &fault) || fault.Fault != stage.FaultBusy || clock.Waited() != 3*time.Second {
		t.Errorf("%v after %v, want busy after two waits", err, clock.Waited())
	}
}
