package ytdlp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

// login ends what the program says of pages for people who are signed in.
const login = ` Use --cookies-from-browser or --cookies for the authentication. See  https://github.com/yt-dlp/yt-dlp/wiki/FAQ#how-do-i-pass-cookies-to-yt-dlp  for how to manually pass cookies`

// TestFaultsOfLists has the program end as it does where a site changes or refuses. The words are
// those of yt_dlp/extractor/tiktok.py and yt_dlp/extractor/youtube of commit 81ecd58, of 2026-08-20.
func TestFaultsOfLists(t *testing.T) {
	says := func(words string) string { return fmt.Sprintf("printf '%%s\\n' %q >&2; exit 1", words) }
	for name, c := range map[string]struct {
		script  string
		records int
		status  stage.Status
		retry   bool
	}{
		"a field that no page names": {"cat <<'X'\n" + strings.Replace(video, "{", `{"brand_new":{"deep":[1]},`, 1) + "\nX", 1, stage.OK, false},
		"a member renamed":           {"cat <<'X'\n" + strings.Replace(video, `"id"`, `"brand_new"`, 1) + "\nX", 0, stage.Empty, false},
		"an empty list":              {"exit 0", 0, stage.Empty, false},
		"no videos":                  {says("ERROR: [tiktok:user] beans: This account does not have any videos posted"), 0, stage.Empty, false},
		"a private account":          {says("ERROR: [tiktok:user] beans: This user's account is private. Log into an account that has access." + login), 0, stage.Empty, false},
		"all videos private":         {says("ERROR: [tiktok:user] beans: This user's account is likely either private or all of their videos are private. Log into an account that has access." + login), 0, stage.Empty, false},
		"429":                        {says("ERROR: [tiktok:user] beans: Unable to download webpage: HTTP Error 429: Too Many Requests (caused by <HTTPError 429: Too Many Requests>)"), 0, stage.Quota, true},
		"a robot":                    {says("ERROR: [youtube:tab] beans: Sign in to confirm you’re not a bot." + login), 0, stage.Blocked, true},
		"HTML":                       {says(`ERROR: [tiktok:user] beans: beans: Failed to parse JSON (caused by JSONDecodeError("Expecting value in '': line 1 column 1 (char 0)")); please report this issue on  https://github.com/yt-dlp/yt-dlp/issues?q=`), 0, stage.Changed, false},
		"a page that changed":        {says(`ERROR: [tiktok:user] beans: Unable to extract secondary user ID. If you are able to get the channel_id from a video posted by this user, try using "tiktokuser:channel_id" as the input URL`), 0, stage.Changed, false},
		"the same page again":        {says("ERROR: [tiktok:user] beans: TikTok API keeps sending the same page. Try again with a different device_id"), 0, stage.Partial, false},
	} {
		t.Run(name, func(t *testing.T) {
			records, outcomes, err := stagetest.Collect(t, Spec(), fake(t, c.script, "brand_new", "deep"), beans)
			if err != nil || len(records) != c.records || len(outcomes) != 1 || outcomes[0].Status != c.status {
				t.Fatalf("got %d records, outcomes %+v, error %v; want %d, %s", len(records), outcomes, err, c.records, c.status)
			}
			if got := outcomes[0].RetryAt != nil; got != c.retry {
				t.Errorf("got %+v, want a time to retry: %v", outcomes[0], c.retry)
			}
		})
	}
}

// TestSilenceThatEnds: what counts is the time since the program last said anything.
func TestSilenceThatEnds(t *testing.T) {
	tl, err := find(t.Context(), prepared(t, fake(t, "for n in 1 2; do sleep 3; cat <<'X'\n"+video+"\nX\ndone")))
	if err != nil {
		t.Fatal(err)
	}
	tl.silence = 5 * time.Second
	o, err := tl.list(t.Context(), beans[0], tiktok, "https://www.tiktok.com/@beans", 5, func(stage.Record) error { return nil })
	if err != nil || o.Status != stage.OK || o.Returned == 0 {
		t.Errorf("got %+v, error %v; want %s", o, err, stage.OK)
	}
}

// TestWhatIsKeptFromUs: a page for people who are signed in says nothing of the site, and the other
// videos are still looked up; a private one is gone.
func TestWhatIsKeptFromUs(t *testing.T) {
	for words, status := range map[string]stage.Status{
		"[youtube] %s: Sign in to confirm your age. This video may be inappropriate for some users." + login:                                              stage.Blocked,
		"[youtube] %s: Join this channel to get access to members-only content like this video, and other exclusive perks.":                               stage.Blocked,
		"[TikTok] %s: This post may not be comfortable for some audiences. Log in for access." + login:                                                    stage.Blocked,
		"[Instagram] %s: Restricted Video: You must be 18 years old or over to see this video." + login:                                                   stage.Blocked,
		"[TikTok] %s: You do not have permission to view this post. Log into an account that has access." + login:                                         stage.NotFound,
		"[Instagram] %s: The webpage request was redirected to the login page. You have exceeded the rate-limit for accessing posts anonymously." + login: "away",
		"[youtube] %s: Sign in to confirm you’re not a bot." + login:                                                                                      "away",
		"[youtube] %s: Video unavailable. YouTube is requiring a captcha challenge before playback":                                                       "away",
	} {
		t.Run(words[:40], func(t *testing.T) {
			ids := []string{"aaaaaaaaaaa", "bbbbbbbbbbb", "ccccccccccc", "ddddddddddd", "eeeeeeeeeee"}
			script := `for last in "$@"; do :; done; id=${last##*/}; echo x >> "$here/runs"; ` +
				fmt.Sprintf(`printf 'ERROR: '%q'\n' "$id" >&2; exit 1`, words)
			call := fake(t, script)
			_, outcomes, err := stagetest.Refresh(t, Spec(), call, shorts(ids...))
			if err != nil {
				t.Fatal(err)
			}
			want, runs, away := status, len(ids), status == "away"
			if away {
				want, runs = stage.Blocked, maxBlocked
			}
			if outcomes[0].Status != want || (outcomes[0].RetryAt != nil) != away || (len(outcomes) == 1+len(ids)) != (want == stage.NotFound) {
				t.Errorf("got %+v, want %s, and a time to retry: %v", outcomes, want, away)
			}
			if got := runsOf(t); got != runs {
				t.Errorf("got %d videos looked up, want %d", got, runs)
			}
		})
	}
}

// runsOf counts the lines that a double wrote into its file runs.
func runsOf(t *testing.T) int {
	t.Helper()
	folder, _, _ := strings.Cut(os.Getenv("PATH"), ":")
	raw, err := os.ReadFile(filepath.Join(folder, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(raw), "x")
}

// TestEveryOptionIsOnThePage: the double refuses any other, in every way in which the program is used.
func TestEveryOptionIsOnThePage(t *testing.T) {
	call := fake(t, "cat <<'X'\n"+video+"\nX")
	call.Settings["ca_file"] = "/none"
	if _, outcomes, err := stagetest.Collect(t, Spec(), call, beans); err != nil || outcomes[0].Status != stage.OK {
		t.Errorf("collect: got %+v, error %v; want %s", outcomes, err, stage.OK)
	}
	if _, outcomes, err := stagetest.Refresh(t, Spec(), call, []stage.Ref{{Platform: tiktok, ExternalID: "7411111111111111111"}}); err != nil || outcomes[0].Status != stage.OK {
		t.Errorf("refresh: got %+v, error %v; want %s", outcomes, err, stage.OK)
	}
	call = fake(t, `while [ "$1" != --output ]; do shift; done; echo film > "${2%.*}.mp4"`)
	call.Scratch = t.TempDir()
	if files, outcomes, err := stagetest.Media(t, Spec(), call, shorts("aaaaaaaaaaa")); err != nil || len(files) != 1 || outcomes[0].Status != stage.OK {
		t.Errorf("media: got %d files, outcomes %+v, error %v; want one", len(files), outcomes, err)
	}
	fake(t, "echo curl_cffi")
	if got := say(t.Context(), program, "--ignore-config", "--list-impersonate-targets", "--", "x"); got == "" {
		t.Error("setup: got nothing, want the options accepted")
	}
	for name, c := range map[string]struct{ args, words string }{
		"unknown":         {"--dump-jsons -- x", "no such option: --dump-jsons"},
		"without a value": {"--retries", "--retries option requires 1 argument"},
		"no address":      {"--dump-json --", "You must provide at least one URL."},
	} {
		t.Run(name, func(t *testing.T) {
			tl, err := find(t.Context(), prepared(t, call))
			if err != nil {
				t.Fatal(err)
			}
			r := tl.run(t.Context(), strings.Fields(c.args), discard)
			if r.code != 2 || !strings.Contains(r.words, "yt-dlp: error: "+c.words) || meaning(r) != stage.Misconfigured {
				t.Errorf("got exit code %d and %q, want 2 and %q", r.code, r.words, c.words)
			}
		})
	}
}
