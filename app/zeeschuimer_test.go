package app_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

// extension speaks as Zeeschuimer 1.14.2 does, after its popup/interface.js
// (https://github.com/digitalmethodsinitiative/zeeschuimer, commit ffa27814 of 2026-06-30):
// set_4cat_url, the branch upload-to-4cat of button_handler, and upload_poll. Its answers are
// those of 4CAT (https://github.com/digitalmethodsinitiative/4cat, commit 227bead1 of
// 2026-08-19): import_dataset and check_dataset of webtool/views/api_tool.py.
type extension struct {
	// address as set_4cat_url keeps it.
	address string
	// sent are the credentials of each request.
	sent []string
	// said is what the extension shows, its last words at the end.
	said []string
	// opened is the link of a finished upload, and rows its number of items.
	opened string
	rows   int
}

// setAddress is set_4cat_url: what follows the host is cut off.
func (e *extension) setAddress(typed string) {
	if typed != "" {
		if !strings.Contains(typed, "://") {
			typed = "http://" + typed
		}
		parts := strings.Split(typed, "/")
		typed = strings.Join(parts[:min(3, len(parts))], "/")
	}
	e.address = typed
}

// request does as Firefox does with the user-info of an address: it is no part of the first
// request, and the credentials of a second one, if the first was refused with a challenge.
func (e *extension) request(t *testing.T, method, path, platform, body string) (int, string) {
	t.Helper()
	address, err := url.Parse(strings.TrimSpace(e.address) + path)
	if err != nil {
		t.Fatal(err)
	}
	info := address.User
	address.User = nil
	for attempt := 0; ; attempt++ {
		request, err := http.NewRequestWithContext(t.Context(), method, address.String(), strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Origin", "moz-extension://8c1f6a5e-5a0e-4f0b-9c57-2e5a8d1b7a10")
		if platform != "" {
			request.Header.Set("X-Zeeschuimer-Platform", platform)
			request.Header.Set("Content-Type", "application/x-ndjson") // that of the blob
		}
		if attempt > 0 {
			password, _ := info.Password()
			request.SetBasicAuth(info.Username(), password)
		}
		e.sent = append(e.sent, request.Header.Get("Authorization"))
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode == http.StatusUnauthorized && attempt == 0 && info != nil && strings.HasPrefix(answer.Header.Get("WWW-Authenticate"), "Basic ") {
			continue
		}
		return answer.StatusCode, strings.ReplaceAll(string(text), "\n", "")
	}
}

func (e *extension) say(text string) { e.said = append(e.said, text) }

// upload is the button "to 4CAT"; it follows the upload as the page does, within a minute.
func (e *extension) upload(t *testing.T, platform, ndjson string) {
	t.Helper()
	e.opened = ""
	status, text := e.request(t, "POST", "/api/import-dataset/", platform, ndjson)
	switch {
	case status == 200:
		e.say("File uploaded. Waiting for processing to finish.")
	case status == 429:
		e.say("4CAT server refused upload, too soon after previous one. Try again in a minute.")
		return
	case status == 403:
		e.say("Could not log in to 4CAT server. Make sure to log in to 4CAT in this browser.")
		return
	case status == 404 && strings.Contains(text, "Unknown platform or source format"):
		e.say("The 4CAT server does not accept " + platform + " datasets.")
		return
	default:
		e.say("Error " + http.StatusText(status) + " during upload. Is the URL correct?")
		return
	}
	var response struct{ Key string }
	if json.Unmarshal([]byte(text), &response) != nil {
		e.say("Error during upload: malformed response from 4CAT server.")
		return
	}
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		status, text := e.request(t, "GET", "/api/check-query/?key="+response.Key, "", "")
		if status != 200 {
			e.say("Error while checking for upload status.")
			return
		}
		var progress struct {
			Done        bool
			Status, URL string
			Rows        int
		}
		if json.Unmarshal([]byte(text), &progress) != nil {
			e.say("Error during upload: malformed response from 4CAT server.")
			return
		}
		if progress.Done {
			e.say("Upload completed! View dataset.")
			e.opened, e.rows = progress.URL, progress.Rows
			return
		}
		if e.say("Processing upload: " + progress.Status); strings.Contains(progress.Status, "failed") {
			return // the page would show this until it is closed
		}
	}
	t.Fatalf("the upload did not end: %q", e.said)
}

func (e *extension) last() string { return e.said[len(e.said)-1] }

// captureOf has n videos as the extension keeps them.
func captureOf(n int) string {
	var lines strings.Builder
	for i := range n {
		id := "73000000000000" + string(rune('0'+i%10)) + "4821"
		lines.WriteString(`{"nav_index":"1:2:0","item_id":"` + id + `","timestamp_collected":1764518118000,"last_updated":1764518119000,"source_platform":"tiktok.com",` +
			`"source_platform_url":"https://www.tiktok.com/@kettlefern","data":{"id":"` + id + `","desc":"slow bar","createTime":1704499196,` +
			`"author":{"uniqueId":"kettlefern"},"stats":{"playCount":500}}}` + "\n")
	}
	return lines.String()
}

// TestZeeschuimersUploadButton presses it.
func TestZeeschuimersUploadButton(t *testing.T) {
	t.Parallel()
	apptest.OnEach(t, func(t *testing.T, address string) {
		log := &lines{}
		running := apptest.StartBy(t, func(ctx context.Context, cfg app.Config, _ *slog.Logger) (*app.Service, error) {
			return app.Start(ctx, cfg, app.NewLog(log, slog.LevelDebug))
		}, quickImports, func(cfg *app.Config) { cfg.DatabaseURL = address })
		host := strings.TrimPrefix(running.BaseURL, "http://")
		keyOf := func(account *apptest.Caller, scopes string) string {
			return account.Do(t, `POST /v1/api_keys/sessions {"scopes":[`+scopes+`],"ttlSeconds":600}`, "").JSON(t)["apiKey"].(string)
		}
		account := importing(t, running)
		key := keyOf(account, `"library:write"`)
		button := func(typed string) *extension {
			e := &extension{}
			e.setAddress(typed)
			return e
		}
		e := button("http://" + key + "@" + host + "/console/")
		t.Run("a capture becomes an import", func(t *testing.T) {
			e.upload(t, "tiktok.com", captureOf(4))
			if e.opened != running.BaseURL+"/console/library" || e.rows != 4 {
				t.Fatalf("got %q, %d rows; want the link to the library and 4 rows", e.said, e.rows)
			}
			var page struct {
				Videos []struct {
					Source struct{ Handle, SeededBy string }
				}
			}
			account.Get(t, "GET /v1/library?limit=25", &page)
			if len(page.Videos) != 4 || page.Videos[0].Source.SeededBy != "seen by you" || page.Videos[0].Source.Handle != "kettlefern" {
				t.Errorf("got %+v, want 4 videos of kettlefern, seen by you", page.Videos)
			}
		})
		var list struct{ Imports []fileImport }
		t.Run("sent again it is the same import until that is undone", func(t *testing.T) {
			e.upload(t, "tiktok.com", captureOf(4))
			account.Get(t, "GET /v1/imports/list", &list)
			if e.opened == "" || len(list.Imports) != 1 {
				t.Fatalf("got %q and %d imports, want one", e.said, len(list.Imports))
			}
			account.Get(t, `POST /v1/imports/undo {"id":"`+list.Imports[0].ID+`"}`, &struct{}{})
			awaitImport(t, account, list.Imports[0].ID, "undone")
			if e.upload(t, "tiktok.com", captureOf(4)); e.opened == "" || listed(t, account) != 4 {
				t.Errorf("got %q and %d videos, want 4 again", e.said, listed(t, account))
			}
		})
		t.Run("the user name may be any", func(t *testing.T) {
			e := button("http://me:" + key + "@" + host)
			if e.upload(t, "tiktok.com", captureOf(4)); e.opened == "" {
				t.Errorf("got %q, want it done", e.said)
			}
		})
		t.Run("why nothing was imported is shown", func(t *testing.T) {
			e.upload(t, "tiktok.com", `{"source_platform":"tiktok.com","data":{"cid":"1"}}`+"\n")
			if want := "Processing upload: the import failed. No video could be read"; !strings.HasPrefix(e.last(), want) {
				t.Errorf("got %q, want %q", e.last(), want)
			}
		})
		t.Run("refused", func(t *testing.T) {
			other := importing(t, running)
			for name, c := range map[string]struct{ typed, platform, want string }{
				"platforms that are not read": {key + "@", "twitter.com", "The 4CAT server does not accept twitter.com datasets."},
				"comments":                    {key + "@", "tiktok-comments", "The 4CAT server does not accept tiktok-comments datasets."},
				"pages without the header":    {key + "@", "", "The 4CAT server does not accept  datasets."},
				"a wrong key":                 {"scr_live_wrong@", "tiktok.com", "Could not log in to 4CAT server. Make sure to log in to 4CAT in this browser."},
				"a key that may do more":      {other.Key + "@", "tiktok.com", "Could not log in to 4CAT server. Make sure to log in to 4CAT in this browser."},
				"a key that may only read":    {keyOf(other, `"library:read"`) + "@", "tiktok.com", "Could not log in to 4CAT server. Make sure to log in to 4CAT in this browser."},
				"no key":                      {"", "tiktok.com", "Error Unauthorized during upload. Is the URL correct?"},
				"no capture at all":           {key + "@", "tiktok.com", "Error Bad Request during upload. Is the URL correct?"},
			} {
				e := button("http://" + c.typed + host)
				text := captureOf(1)
				if name == "no capture at all" {
					text = ""
				}
				if e.upload(t, c.platform, text); e.last() != c.want {
					t.Errorf("%s: got %q, want %q", name, e.last(), c.want)
				}
			}
			if n := listed(t, other); n != 0 {
				t.Errorf("got %d videos, want none", n)
			}
		})
		t.Run("an upload without a key is read to its end", func(t *testing.T) {
			// Firefox sends all of it before it reads the answer.
			const size = 24 << 20
			sent := &io.LimitedReader{R: zeros{}, N: size}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, running.BaseURL+"/api/import-dataset/", sent)
			if err != nil {
				t.Fatal(err)
			}
			request.ContentLength = size
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != 401 || sent.N != 0 {
				t.Errorf("got %d with %d bytes unread, want 401 and none", answer.StatusCode, sent.N)
			}
		})
		t.Run("another account's upload is nowhere", func(t *testing.T) {
			other := button("http://" + keyOf(importing(t, running), `"library:write"`) + "@" + host)
			for _, of := range []string{"zeeschuimer-00", "zeeschuimer-" + strings.Repeat("0", 40) + "-0", "x", ""} {
				if status, text := other.request(t, "GET", "/api/check-query/?key="+of, "", ""); status != 404 || !strings.Contains(text, "Dataset does not exist.") {
					t.Errorf("%q: got %d %s, want 404", of, status, text)
				}
			}
		})
		t.Run("the key is in no log line and no metric", func(t *testing.T) {
			text := log.String()
			if !strings.Contains(text, "createImport") {
				t.Fatal("got a log without the uploads, want them")
			}
			metrics, err := http.Get(running.OpsURL + "/metrics")
			if err != nil {
				t.Fatal(err)
			}
			defer metrics.Body.Close()
			shown, err := io.ReadAll(metrics.Body)
			if err != nil {
				t.Fatal(err)
			}
			for _, sent := range append(e.sent, key) {
				if sent = strings.TrimPrefix(sent, "Basic "); sent != "" && strings.Contains(text+string(shown), sent) {
					t.Errorf("got %q in the log or the metrics", sent)
				}
			}
		})
	})
}
