package ytdlp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

func TestRefresh(t *testing.T) {
	call := fake(t, `case "$*" in *7411111111111111111*) echo '`+video+`';; *) echo 'ERROR: [TikTok] 2: This video is private' >&2; exit 1;; esac`)
	refs := []stage.Ref{{Platform: "tiktok", ExternalID: "7411111111111111111"}, {Platform: "tiktok", ExternalID: "2"}}
	records, outcomes, err := stagetest.Refresh(t, Spec(), call, refs)
	if err != nil || len(records) != 1 || len(outcomes) != 2 || outcomes[0].Status != stage.Partial || outcomes[0].Asked != 2 || outcomes[0].Returned != 1 ||
		outcomes[1].Status != stage.NotFound || outcomes[1].Seed != "2" || outcomes[1].Platform != "tiktok" {
		t.Errorf("got records %v, outcomes %+v, error %v; want 1 record, %v with 1 of 2 returned, and %v of tiktok/2", records, outcomes, err, stage.Partial, stage.NotFound)
	}
}

// TestRefreshLeavesTheRest: a source that brought the video may know more of it.
func TestRefreshLeavesTheRest(t *testing.T) {
	call := fake(t, `echo '{"id":"7","extractor_key":"TikTok","title":"Pulled #espresso","view_count":5,"timestamp":1780000000}'`)
	records, _, err := stagetest.Refresh(t, Spec(), call, []stage.Ref{{Platform: tiktok, ExternalID: "7"}})
	if err != nil || len(records) != 1 {
		t.Fatalf("got %+v, error %v; want 1 record", records, err)
	}
	if r := records[0]; r.Metadata != nil || r.SourceURL != "" || *r.Metrics.Views != 5 || *r.PostedAt != 1780000000000 {
		t.Errorf("got %+v %s, want 5 views, posted at 1780000000000, without metadata and address", r, r.Metadata)
	}
}

// TestRefreshTakesNoLineWithoutNumbers: it would put a made-up title in the place of
// the caption, and nothing in the place of the numbers.
func TestRefreshTakesNoLineWithoutNumbers(t *testing.T) {
	line := `{"id":"abcdefghijk","extractor_key":"Youtube","title":"youtube video #abcdefghijk","view_count":%s,"like_count":null}`
	ref := []stage.Ref{{Platform: "youtube", ExternalID: "abcdefghijk"}}
	records, outcomes, err := stagetest.Refresh(t, Spec(), fake(t, "echo '"+fmt.Sprintf(line, "null")+"'"), ref)
	if err != nil || len(records) > 0 || outcomes[0].Returned != 0 || outcomes[0].Status == stage.OK {
		t.Errorf("got records %+v, outcomes %+v, error %v; want no record, 0 returned and another status than %v", records, outcomes, err, stage.OK)
	}
	records, outcomes, err = stagetest.Refresh(t, Spec(), fake(t, "echo '"+fmt.Sprintf(line, "0")+"'"), ref)
	if err != nil || len(records) != 1 || outcomes[0].Status != stage.OK || *records[0].Metrics.Views != 0 {
		t.Errorf("0 is a number: got records %+v, outcomes %+v, error %v; want 1 record with 0 views, and %v", records, outcomes, err, stage.OK)
	}
}

// TestWhatIsGone: no refresh asks again for a video that is missing, so that it is that
// only where the program says so, of this video, and last of all.
func TestWhatIsGone(t *testing.T) {
	limit := "Video unavailable. This content isn't available, try again later. The current session has been rate-limited by YouTube for up to an hour."
	cases := map[string]struct {
		words  string
		status stage.Status
		away   bool
	}{
		"removed":              {"Video unavailable. This video has been removed by the uploader", stage.NotFound, false},
		"against the rules":    {"This video has been removed for violating YouTube's Terms of Service", stage.NotFound, false},
		"private":              {"Private video. Sign in if you've been granted access to this video", stage.NotFound, false},
		"account ended":        {"Video unavailable. This video is no longer available because the YouTube account associated with this video has been terminated.", stage.NotFound, false},
		"not any more":         {"Video unavailable. This video isn’t available any more", stage.NotFound, false},
		"no more than that":    {"Video unavailable", stage.NotFound, false},
		"never there":          {"This video does not exist.", stage.NotFound, false},
		"limit":                {limit, stage.Quota, true},
		"limit, in brief":      {"This content isn't available, try again later.", stage.Quota, true},
		"country":              {"Video unavailable. The uploader has not made this video available in your country", stage.Blocked, false},
		"rights in a country":  {"Video unavailable. This video contains content from Beans, who has blocked it in your country on copyright grounds", stage.Blocked, false},
		"geo":                  {"This video is not available from your location due to geo restriction", stage.Blocked, false},
		"address":              {"Your IP address is blocked from accessing this post", stage.Blocked, true},
		"session":              {"Video unavailable. This content isn’t available.", stage.Changed, false},
		"kept from a program":  {"Video unavailable. Playback on other websites has been disabled by the video owner", stage.Changed, false},
		"an unknown reason":    {"Video unavailable. This video is not available", stage.Changed, false},
		"TikTok's many things": {"Video not available, status code 10204; please report this issue on  https://github.com/yt-dlp/yt-dlp/issues?q=", stage.Changed, false},
		"no interface":         {"Unable to download API page: HTTP Error 404: Not Found", stage.Blocked, true},
		"robot":                {"Sign in to confirm you’re not a bot", stage.Blocked, true},
	}
	ways := map[string]string{
		"error":   `printf 'WARNING: [youtube] HTTP Error 404: Not Found. Retrying (1/2)...\nERROR: [youtube] abcdefghijk: %%s\n' %q >&2; exit 1`,
		"warning": `printf 'WARNING: [youtube] HTTP Error 404: Not Found. Retrying (1/2)...\nWARNING: [youtube] %%s\nWARNING: Requested format is not available\n' %q >&2; echo '{"id":"abcdefghijk","extractor_key":"Youtube","title":"youtube video #abcdefghijk"}'`,
	}
	for name, c := range cases {
		for way, script := range ways {
			t.Run(name+", "+way, func(t *testing.T) {
				call := fake(t, fmt.Sprintf(script, c.words))
				records, outcomes, err := stagetest.Refresh(t, Spec(), call, shorts("abcdefghijk"))
				if err != nil || len(records) > 0 || outcomes[0].Status != c.status || !strings.Contains(outcomes[0].Detail, "2026.08.19") {
					t.Fatalf("got records %+v, outcomes %+v, error %v; want no record, %s with the version", records, outcomes, err, c.status)
				}
				if gone := len(outcomes) == 2 && outcomes[1].Seed == "abcdefghijk" && outcomes[1].Status == stage.NotFound; gone != (c.status == stage.NotFound) {
					t.Errorf("got outcomes of the video %+v, want %v: %v", outcomes[1:], stage.NotFound, c.status == stage.NotFound)
				}
				if (outcomes[0].RetryAt != nil) != c.away {
					t.Errorf("got time to retry %v, want one: %v", outcomes[0].RetryAt, c.away)
				}
			})
		}
	}
	for name, script := range map[string]string{
		"another's":    `echo 'WARNING: [youtube] Skipping player response of another: Video unavailable' >&2; echo 'ERROR: [youtube] abcdefghijk: KeyError' >&2; exit 1`,
		"a warning":    `echo 'WARNING: [youtube] This video is private' >&2; echo 'ERROR: [youtube] abcdefghijk: KeyError' >&2; exit 1`,
		"killed":       `echo 'ERROR: [youtube] abcdefghijk: This video is private: KeyError' >&2; kill -9 $$`,
		"says nothing": `exit 0`,
	} {
		t.Run(name, func(t *testing.T) {
			_, outcomes, err := stagetest.Refresh(t, Spec(), fake(t, script), shorts("abcdefghijk"))
			if err != nil || len(outcomes) != 1 || outcomes[0].Status != stage.Changed {
				t.Errorf("got %+v, error %v; want 1 outcome, %s", outcomes, err, stage.Changed)
			}
		})
	}
	call := fake(t, `echo 'WARNING: [youtube] Unable to download webpage: HTTP Error 404: Not Found' >&2`)
	_, outcomes, err := stagetest.Refresh(t, Spec(), call, shorts("abcdefghijk"))
	if err != nil || len(outcomes) != 1 || outcomes[0].Status != stage.Blocked {
		t.Errorf("a page on the way: got %+v, error %v; want 1 outcome, %v", outcomes, err, stage.Blocked)
	}
	call = fake(t, `echo 'ERROR: [TikTok] 7: Unable to download webpage: HTTP Error 404: Not Found' >&2; exit 1`)
	_, outcomes, err = stagetest.Refresh(t, Spec(), call, []stage.Ref{{Platform: tiktok, ExternalID: "7"}})
	if err != nil || len(outcomes) != 2 || outcomes[1].Status != stage.NotFound {
		t.Errorf("no page: got %+v, error %v; want 2 outcomes, the second %v", outcomes, err, stage.NotFound)
	}
}

// TestAnHourlyLimitEndsARefresh, and a country's alone does not.
func TestAnHourlyLimitEndsARefresh(t *testing.T) {
	for words, want := range map[string]int{"try again later": 1, "The uploader has not made this video available in your country": 5} {
		t.Run(words, func(t *testing.T) {
			folder := t.TempDir()
			call := fake(t, "echo x >> "+folder+"/runs; echo 'WARNING: [youtube] Video unavailable. "+words+"' >&2")
			if _, _, err := stagetest.Refresh(t, Spec(), call, shorts("aaaaaaaaaaa", "bbbbbbbbbbb", "ccccccccccc", "ddddddddddd", "eeeeeeeeeee")); err != nil {
				t.Fatal(err)
			}
			if raw, _ := os.ReadFile(filepath.Join(folder, "runs")); strings.Count(string(raw), "x") != want {
				t.Errorf("got the site asked %d times, want %d", strings.Count(string(raw), "x"), want)
			}
		})
	}
}
