package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// TestServerKilledInEveryStage kills the server with SIGKILL in each stage of a
// scroll, and at random moments, until 8 or 20 kills are done: every scroll completes,
// and no video is there twice.
func TestServerKilledInEveryStage(t *testing.T) {
	t.Parallel()
	kills := 8 // one a stage
	if storetest.Long() {
		kills = 20
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		newChaos(t, "").run(t, kills)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		newChaos(t, apptest.ScratchPostgres(t)).run(t, kills)
	})
}

const chaosVideos = 600

// chaosConfig notices a lost worker soon, and lets the test look all the time.
const chaosConfig = `
scrolls: {heartbeat: 100ms, stale: 400ms, rescue_every: 300ms, retry_after: 100ms, batch_size: 100}
billing: {pro: {daily_units: 100000000, monthly_units: 100000000}}
`

type chaos struct {
	*served
	key string
}

func newChaos(t *testing.T, databaseURL string, env ...string) *chaos {
	t.Helper()
	return newChaosWith(t, databaseURL, chaosConfig, env...)
}

func newChaosWith(t *testing.T, databaseURL, config string, env ...string) *chaos {
	t.Helper()
	dir := t.TempDir()
	feed := filepath.Join(dir, "feed")
	writeChaosFeed(t, feed)
	c := &chaos{served: newServed(t, dir, databaseURL, config, append(env, "SCROLLERY_FEED_DIR="+feed)...)}
	c.start(t)
	create := program(t.Context(), dir, "keys", "create", "--email", "chaos@example.com", "--plan", "pro")
	create.Env = append(create.Env, c.env...)
	secret, err := create.Output()
	if err != nil {
		t.Fatalf("keys create: %v", err)
	}
	c.key = strings.TrimSpace(string(secret))
	c.mustCall(t, "POST", "/v1/workspace", `{"description":"coffee"}`, nil)
	return c
}

// writeChaosFeed writes one folder: every run sees the same videos with more views.
func writeChaosFeed(t *testing.T, dir string) {
	t.Helper()
	for run := 1; run <= 12; run++ {
		folder := filepath.Join(dir, fmt.Sprint(run))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		var lines bytes.Buffer
		for i := range chaosVideos {
			fmt.Fprintf(&lines, `{"platform":"tiktok","externalId":"c%d","postedAt":1700000000000,"source":{"kind":"competitor","handle":"maker%d"},"metadata":{"caption":"espresso %d #espresso","hashtags":["espresso"]},"metrics":{"views":%d,"likes":3},"evidence":{"spoken":"hello %d"}}`+"\n",
				i, i%17, i, 1000+i*7+run*1000, i)
		}
		if err := os.WriteFile(filepath.Join(folder, "videos.jsonl"), lines.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (c *chaos) call(ctx context.Context, method, path, body string, out any) error {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s", method, path, response.Status)
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(out)
}

func (c *chaos) mustCall(t *testing.T, method, path, body string, out any) {
	t.Helper()
	if err := c.call(t.Context(), method, path, body, out); err != nil {
		t.Fatal(err)
	}
}

func (c *chaos) run(t *testing.T, kills int) {
	targets := []string{"plan", "collect", "observe", "screen", "evidence", "archive", "score", ""}
	hit := map[string]int{}
	for scroll := 1; kills > 0; scroll++ {
		var started struct{ Scroll apptest.Scroll }
		c.mustCall(t, "POST", "/v1/scrolls", fmt.Sprintf(`{"idempotencyKey":"chaos-run-%d"}`, scroll), &started)
		for range min(2, kills) { // the third start of a scroll must be left alone
			target := targets[kills%len(targets)]
			if stage, alive := c.waitFor(t, started.Scroll.ID, target); alive {
				c.kill()
				kills--
				hit[stage]++
				c.start(t)
			}
		}
		ended := c.await(t, started.Scroll.ID)
		if ended.Status != "completed" || ended.Progress.Percent != 100 {
			t.Fatalf("scroll %d: got %+v, want it completed at 100 percent\n%s", scroll, ended, c.stderr)
		}
		want := 0
		if scroll == 1 {
			want = chaosVideos
		}
		if ended.ResultCounts.Videos != want {
			t.Errorf("scroll %d archived %d videos, want %d", scroll, ended.ResultCounts.Videos, want)
		}
		var again struct{ Outcome string }
		c.mustCall(t, "POST", "/v1/scrolls", fmt.Sprintf(`{"idempotencyKey":"chaos-run-%d"}`, scroll), &again)
		if again.Outcome != "existing" {
			t.Errorf(`the answered start of scroll %d is lost: %s, want "existing"`, scroll, again.Outcome)
		}
	}
	if videos := c.countVideos(t); videos != chaosVideos {
		t.Errorf("the library has %d videos, want %d", videos, chaosVideos)
	}
	t.Logf("killed in %v", hit)
}

// waitFor returns when the scroll is in the stage, or at a random moment for no
// stage, or with alive false when the scroll has ended before.
func (c *chaos) waitFor(t *testing.T, id, stage string) (at string, alive bool) {
	t.Helper()
	random := time.Now().Add(time.Duration(rand.IntN(400)) * time.Millisecond)
	for {
		var got struct {
			Scroll struct {
				Status string
				Stage  *string
			}
		}
		c.mustCall(t, "GET", "/v1/scrolls?id="+id, "", &got)
		current := "queued"
		if got.Scroll.Stage != nil {
			current = *got.Scroll.Stage
		}
		switch {
		case got.Scroll.Status == "completed" || got.Scroll.Status == "failed":
			return got.Scroll.Status, false
		case stage != "" && current == stage, stage == "" && time.Now().After(random):
			return current, true
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func (c *chaos) await(t *testing.T, id string) apptest.Scroll {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for time.Now().Before(deadline) {
		var got struct{ Scroll apptest.Scroll }
		c.mustCall(t, "GET", "/v1/scrolls?id="+id, "", &got)
		if got.Scroll.Status != "queued" && got.Scroll.Status != "running" {
			return got.Scroll
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("scroll %s: got no end within 2 minutes, want one: %s", id, c.stderr)
	return apptest.Scroll{}
}

func (c *chaos) countVideos(t *testing.T) int {
	t.Helper()
	seen := map[string]bool{}
	cursor := ""
	for {
		var page struct {
			Videos     []struct{ ExternalID string }
			NextCursor *string
		}
		c.mustCall(t, "GET", "/v1/library?limit=25"+cursor, "", &page)
		for _, video := range page.Videos {
			if seen[video.ExternalID] {
				t.Errorf("got video %s twice, want each once", video.ExternalID)
			}
			seen[video.ExternalID] = true
		}
		if page.NextCursor == nil {
			return len(seen)
		}
		cursor = "&cursor=" + *page.NextCursor
	}
}
