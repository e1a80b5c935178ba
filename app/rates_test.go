package app_test

import (
	"io"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

// threeProcesses serve from one database, with limits of rates.
func threeProcesses(t *testing.T) (servers []*apptest.Running) {
	t.Helper()
	address := apptest.ScratchPostgres(t)
	for range 3 {
		servers = append(servers, apptest.Start(t, func(cfg *app.Config) {
			cfg.DatabaseURL, cfg.RateLimit, cfg.Roles, cfg.DatabasePool = address, true, []string{"api"}, 4
			cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		}))
	}
	return servers
}

// TestFloorOfSharedRates hammers three processes: together they let through the rate of one,
// and at most a block of 10 more each.
func TestFloorOfSharedRates(t *testing.T) {
	measured(t)
	servers := threeProcesses(t)
	account := servers[0].Account(t, "pro")
	hammer := func(path, key string, length time.Duration) (passed int, took time.Duration) {
		var all sync.WaitGroup
		var count, refused atomic.Int64
		start := time.Now()
		for _, server := range servers {
			all.Go(func() {
				for time.Since(start) < length {
					request, err := http.NewRequest(http.MethodGet, server.BaseURL+path, nil)
					if err != nil {
						t.Error(err)
						return
					}
					if key != "" {
						request.Header.Set("Authorization", "Bearer "+key)
					}
					answer, err := http.DefaultClient.Do(request)
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, answer.Body)
					answer.Body.Close()
					if answer.StatusCode != http.StatusTooManyRequests {
						count.Add(1)
					} else if refused.Add(1); answer.Header.Get("Retry-After") == "" {
						t.Errorf("429 without Retry-After: got %q, want Retry-After not empty", answer.Header.Get("Retry-After"))
					}
				}
			})
		}
		all.Wait()
		if refused.Load() == 0 {
			t.Errorf("%s: nothing was refused: the hammer is too slow to show anything, want refused not 0", path)
		}
		return int(count.Load()), time.Since(start)
	}
	for _, c := range []struct {
		name, path, key string
		rate, burst     float64
	}{
		{"one account", "/v1/usage", account.Key, 10, 50},
		{"one address", "/v1/pricing", "", 1, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			passed, took := hammer(c.path, c.key, 5*time.Second)
			promised := c.burst + c.rate*took.Seconds()
			if least, most := promised-15, promised+30; float64(passed) < least || float64(passed) > most {
				t.Errorf("%d calls passed in %v, want %.0f to %.0f", passed, took, least, most)
			}
			t.Logf("%d calls passed in %v, promised %.0f", passed, took, promised)
		})
	}
}

// TestProcessesShareTheStrictMinute asks three processes in turns for more codes than an
// address may have.
func TestProcessesShareTheStrictMinute(t *testing.T) {
	t.Parallel()
	servers := threeProcesses(t)
	passed := 0
	for i := range 12 {
		request, err := http.NewRequest(http.MethodPost, servers[i%3].BaseURL+"/v1/api_keys/recover", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Forwarded-For", "203.0.113.9") // an address with its burst
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusTooManyRequests {
			passed++
		}
	}
	if passed != 5 {
		t.Errorf("%d calls passed within a minute, want 5", passed)
	}
}
