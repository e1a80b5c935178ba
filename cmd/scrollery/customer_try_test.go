package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	customers "github.com/scrollery/scrollery/cmd/scrollery/customer"
	"github.com/scrollery/scrollery/plugins/youtubefeed/feedtest"
)

// TestFirstMinute: from an empty data folder, one command shows the outliers of three channels.
func TestFirstMinute(t *testing.T) {
	t.Parallel()
	began := time.Now()
	feeds := feedtest.New(t)
	feeds.Channels = feedtest.Watched("ada", "bob", "cyd")
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.SetStage("YOUTUBE_FEED", "yes")
		cfg.Plugins.Settings = map[string]map[string]string{"youtube-feed": {"url": feeds.URL}}
	})
	caller := running.Account(t, "pro")
	c := newTerminal(t, map[string]string{"SCROLLERY_KEY": caller.Key, "SCROLLERY_SERVER": running.BaseURL})
	got := c.must(t, exitDone, "scroll", "try", "@ada", "https://www.youtube.com/@bob", "youtube.com/channel/"+feeds.Channels[2].ID, "--json", "outliers")
	var answer struct {
		Outliers []struct {
			Score float64
			Video struct{ ExternalID, SourceURL string }
		}
	}
	if err := json.Unmarshal([]byte(got.stdout), &answer); err != nil {
		t.Fatalf("%v: %s", err, got.stdout)
	}
	found := map[string]bool{}
	for _, o := range answer.Outliers {
		found[o.Video.SourceURL] = o.Score > 5
	}
	for _, id := range []string{"ada0000007", "bob0000007", "cyd0000007"} {
		if !found["https://www.youtube.com/shorts/"+id] {
			t.Errorf("no outlier %s among %v, want one of each channel", id, found)
		}
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v, want at most a minute", took)
	}
	if asked := len(feeds.Asked()); asked != 5 {
		t.Errorf("%d requests: %v; want 2 pages of handles and 3 feeds", asked, feeds.Asked())
	}
	t.Run("again, in words", func(t *testing.T) {
		if got := c.must(t, exitDone, "scroll", "try", "@ada", "@bob"); !strings.Contains(got.stdout, "30 videos") || len(feeds.Asked()) != 5 {
			t.Errorf("got %q after %d requests, want 30 videos of the same hour", got.stdout, len(feeds.Asked()))
		}
	})
	t.Run("a brief of one's own stays", func(t *testing.T) {
		c.must(t, exitDone, "brief", "set", "--name", "Mine", "--description", "A grinder", "--competitor", "@ada")
		if got := c.run(t.Context(), "", "scroll", "try", "@bob"); got.code == exitDone || !strings.Contains(got.stderr, "brief set") {
			t.Errorf("exit %d and %q, want a refusal that says what to do", got.code, got.stderr)
		}
	})
}

// TestFirstMinuteOfAFailingSite: what the site does to some channels costs those alone, and each is
// named with its outcome.
func TestFirstMinuteOfAFailingSite(t *testing.T) {
	t.Parallel()
	feeds, want := feedtest.Troubled(t)
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.SetStage("YOUTUBE_FEED", "yes")
		cfg.Plugins.Settings = map[string]map[string]string{"youtube-feed": {"url": feeds.URL}}
	})
	c := newTerminal(t, map[string]string{"SCROLLERY_KEY": running.Account(t, "pro").Key, "SCROLLERY_SERVER": running.BaseURL})
	creators := []string{"@ada"}
	for name := range want {
		creators = append(creators, "@"+name)
	}
	got := c.must(t, exitDone, append([]string{"scroll", "try"}, creators...)...)
	if !strings.Contains(got.stdout, "15 videos") || !strings.Contains(got.stdout, "ada 7") {
		t.Errorf("got %q, want the 15 videos of ada and its outlier", got.stdout)
	}
	for name, outcome := range want {
		if !strings.Contains(got.stderr, name+": "+outcome) {
			t.Errorf("got %q, want %s of %s", got.stderr, outcome, name)
		}
	}
}

// TestFirstMinuteAgain: a try that was cancelled while the site was asked leaves nothing that the
// next one waits for.
func TestFirstMinuteAgain(t *testing.T) {
	t.Parallel()
	feeds := feedtest.New(t)
	feeds.Channels = feedtest.Watched("ada")
	asked, hang := make(chan struct{}), atomic.Bool{}
	hang.Store(true)
	feeds.Intercept = func(_ http.ResponseWriter, r *http.Request) bool {
		if hang.Swap(false) {
			close(asked)
			<-r.Context().Done()
		}
		return false
	}
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.SetStage("YOUTUBE_FEED", "yes")
		cfg.Plugins.Settings = map[string]map[string]string{"youtube-feed": {"url": feeds.URL}}
	})
	caller := running.Account(t, "pro")
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, running.BaseURL+"/v1/sources/try", strings.NewReader(`{"source":"youtube-feed","seed":"@ada"}`))
		if err == nil {
			request.Header.Set("Authorization", "Bearer "+caller.Key)
			request.Header.Set("Content-Type", "application/json")
			_, err = http.DefaultClient.Do(request)
		}
		gone <- err
	}()
	<-asked
	cancel()
	if err := <-gone; err == nil {
		t.Fatal("got an answer, want the call cancelled")
	}
	var got struct {
		Status   *string
		Returned int
		Failure  *string
	}
	for range 100 { // the cancelled one is being ended
		answer := caller.Do(t, `POST /v1/sources/try {"source":"youtube-feed","seed":"@ada"}`, "")
		if answer.Status == http.StatusTooManyRequests {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		if err := json.Unmarshal(answer.Body, &got); err != nil {
			t.Fatal(err)
		}
		break
	}
	if got.Status == nil || *got.Status != "ok" || got.Returned == 0 {
		t.Errorf("got %+v, want videos: the page is free again", got)
	}
}

// TestFirstMinuteWithoutNetwork says so, and where videos are that need none.
func TestFirstMinuteWithoutNetwork(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.SetStage("YOUTUBE_FEED", "yes")
		cfg.Plugins.Settings = map[string]map[string]string{"youtube-feed": {"url": "http://127.0.0.1:1"}}
		cfg.Scrolls.MaxAttempts = 1
	})
	caller := running.Account(t, "pro")
	c := newTerminal(t, map[string]string{"SCROLLERY_KEY": caller.Key, "SCROLLERY_SERVER": running.BaseURL})
	got := c.run(t.Context(), "", "scroll", "try", "@ada")
	if got.code != customers.ExitScroll || !strings.Contains(got.stderr, "no network") || !strings.Contains(got.stderr, "--sample") {
		t.Errorf("exit %d and %q, want %d and the sample", got.code, got.stderr, customers.ExitScroll)
	}
}

// TestPluginsTry makes one real request with the operator's settings.
func TestPluginsTry(t *testing.T) {
	t.Parallel()
	feeds := feedtest.New(t)
	feeds.Channels = feedtest.Watched("ada")
	feeds.Channels[0].Shorts[0].Likes = -1
	config := filepath.Join(t.TempDir(), "scrollery.yaml")
	if err := os.WriteFile(config, []byte("plugins: {settings: {youtube-feed: {url: \""+feeds.URL+"\"}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	try := func(args ...string) result {
		command := program(t.Context(), t.TempDir(), append([]string{"plugins", "try"}, args...)...)
		command.Env = append(command.Env, "SCROLLERY_YOUTUBE_FEED=yes", "SCROLLERY_CONFIG="+config)
		var stdout, stderr strings.Builder
		command.Stdout, command.Stderr = &stdout, &stderr
		code := 0
		if err := command.Run(); err != nil {
			code = command.ProcessState.ExitCode()
		}
		return result{code, stdout.String(), stderr.String()}
	}
	got := try("youtube-feed", "--seed", "@ada", "--limit", "10", "--json")
	var report struct {
		Source, Seed, Status string
		Asked, Returned      int
		Fields               map[string]int
	}
	if err := json.Unmarshal([]byte(got.stdout), &report); err != nil || got.code != 0 {
		t.Fatalf("exit %d, %v: %s%s", got.code, err, got.stdout, got.stderr)
	}
	if report.Source != "youtube-feed" || report.Seed != "@ada" || report.Status != "ok" || report.Returned != 10 ||
		report.Fields["metrics.views"] != 10 || report.Fields["metrics.likes"] != 9 || report.Fields["metrics.comments"] != 0 || report.Fields["metadata.caption"] != 10 {
		t.Errorf("got %+v, want 10 videos with views, 9 with likes", report)
	}
	seeds := filepath.Join(t.TempDir(), "seeds.jsonl")
	if err := os.WriteFile(seeds, []byte(`{"kind":"competitor","handle":"ada","limit":10}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := try("youtube-feed", "--verb", "collect", "--input", seeds); got.code != 0 || strings.Count(got.stdout, "record ") != 10 || !strings.Contains(got.stdout, "10 answers") {
		t.Errorf("exit %d: %s%s; want the 10 videos", got.code, got.stdout, got.stderr)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a verb without input":      {[]string{"youtube-feed", "--verb", "refresh"}, "a verb needs --input"},
		"a seed of another verb":    {[]string{"youtube-feed", "--verb", "refresh", "--seed", "@ada"}, "--seed is for the verb collect"},
		"a seed beside input":       {[]string{"youtube-feed", "--input", seeds, "--seed", "@ada"}, "--seed is for the verb collect"},
		"no check":                  {[]string{"youtube-feed", "--verb", "check"}, "cannot check its connection"},
		"a verb that it lacks":      {[]string{"youtube-feed", "--verb", "media", "--input", seeds}, "no such verb"},
		"a handle that no one has":  {[]string{"youtube-feed", "--seed", "@nobody"}, "not_found"},
		"no such source":            {[]string{"nowhere", "--seed", "@ada"}, "there is no source"},
		"a source that is not set":  {[]string{"youtube", "--seed", "@ada"}, "SCROLLERY_YOUTUBE"},
		"a stage that is no source": {[]string{"rules", "--seed", "@ada"}, "no source"},
		"no seed":                   {[]string{"youtube-feed"}, "--seed"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := try(c.args...); got.code == 0 || !strings.Contains(got.stdout+got.stderr, c.want) {
				t.Errorf("exit %d: %s%s; want a failure with %q", got.code, got.stdout, got.stderr, c.want)
			}
		})
	}
}
