package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

// TestASharedPageTellsStrangersNothingElse: whatever they try, they read what was frozen or that
// there is no such page, and other accounts and keys with less can do nothing about it.
func TestASharedPageTellsStrangersNothingElse(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, running *apptest.Running) {
		owner, other, stranger := running.Account(t, "pro"), running.Account(t, "pro"), running.Anonymous()
		owner.Get(t, setBrief, &struct{}{})
		owner.Scroll(t, "{}")
		var library struct {
			Videos []struct {
				ID       string
				Metadata struct{ Caption string }
			}
		}
		owner.Get(t, "GET /v1/library?limit=2", &library)
		first, second := library.Videos[0].ID, library.Videos[1].ID
		collection := collectionOf(t, owner, first, second)
		share := func(body string) (id, path string) {
			t.Helper()
			var made struct {
				URL   string
				Share struct{ ID string }
			}
			owner.Get(t, "POST /v1/shares/create "+body, &made)
			return made.Share.ID, made.URL[strings.Index(made.URL, "/share/"):]
		}
		id, path := share(fmt.Sprintf(`{"kind":"collection","id":%q,"title":"<b>Openings</b> & more"}`, collection))
		_, alone := share(fmt.Sprintf(`{"kind":"video","id":%q,"title":"One"}`, first))

		page := stranger.Do(t, "GET "+path, "")
		text := string(page.Body)
		if page.Status != http.StatusOK || strings.Count(text, "<li>") != 2 || !strings.Contains(text, "&lt;b&gt;Openings&lt;/b&gt; &amp; more") {
			t.Fatalf("the page: got %d %s, want two videos under an inert title", page.Status, text)
		}
		for name, want := range map[string]string{
			"X-Robots-Tag": "noindex", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "Content-Security-Policy": "default-src 'none'", "Content-Type": "text/html; charset=utf-8",
		} {
			if got := page.Header.Get(name); !strings.Contains(got, want) {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
		if page.Header.Get("Set-Cookie") != "" {
			t.Errorf("got a cookie, want none")
		}
		for _, secret := range []string{"<script", "href=", "src=", first, second, id, collection, owner.Email, owner.Key, "acct_"} {
			if secret == "" || strings.Contains(text, secret) {
				t.Errorf("the page has %q: %s", secret, text)
			}
		}

		unknown := stranger.Do(t, "GET /share/"+strings.Repeat("a", len(path)-len("/share/")), "")
		missing := func(what, call, header string, caller *apptest.Caller) {
			t.Helper()
			if got := caller.Do(t, call, header); got.Status != http.StatusNotFound || string(got.Body) != string(unknown.Body) {
				t.Errorf("%s: got %d %s, want the answer of an unknown page", what, got.Status, got.Body)
			}
		}
		for _, wrong := range []string{path[:len(path)-1], path + "a", path + "/", path + "%00", strings.ToUpper(path[7:]), "' OR 1=1", "%2e%2e%2fv1%2flibrary", id} {
			if at, found := strings.CutPrefix(wrong, "/share/"); found {
				wrong = at
			}
			missing(wrong, "GET /share/"+strings.ReplaceAll(wrong, " ", "%20"), "", stranger)
		}
		if got := stranger.Do(t, "POST "+path+" {}", ""); got.Status != http.StatusMethodNotAllowed {
			t.Errorf("POST: got %d, want 405", got.Status)
		}
		if got := other.Read(t, "GET "+path); got != text {
			t.Errorf("with another account's key: got another page")
		}
		if got := stranger.Do(t, "HEAD "+path, ""); got.Status != http.StatusOK || len(got.Body) != 0 {
			t.Errorf("HEAD: got %d %s, want 200 alone", got.Status, got.Body)
		}
		var list struct {
			Shares []struct {
				ID    string
				Views int
			}
		}
		owner.Get(t, "GET /v1/shares/list", &list)
		if len(list.Shares) != 2 || list.Shares[1].ID != id || list.Shares[1].Views != 2 {
			t.Errorf("the list: got %+v, want two, the page read twice", list)
		}
		other.Get(t, "GET /v1/shares/list", &list)
		if len(list.Shares) != 0 {
			t.Errorf("another account's list: got %+v, want none", list)
		}
		var found struct{ Found bool }
		other.Get(t, fmt.Sprintf(`POST /v1/shares/revoke {"id":%q}`, id), &found)
		if found.Found {
			t.Error("another account revokes it, want not found")
		}
		for _, of := range []string{first, collection} {
			kind := map[bool]string{true: "video", false: "collection"}[of == first]
			other.Get(t, fmt.Sprintf(`POST /v1/shares/create {"kind":%q,"id":%q,"title":"a"}`, kind, of), &found)
			if found.Found {
				t.Errorf("another account shares the %s, want not found", kind)
			}
		}
		less := owner.Do(t, `POST /v1/api_keys/sessions {"scopes":["shares:write"],"ttlSeconds":600}`, "").JSON(t)["apiKey"].(string)
		refused := owner.WithKey(less).Do(t, fmt.Sprintf(`POST /v1/shares/create {"kind":"video","id":%q,"title":"a"}`, first), "")
		if refused.WantError(t, "forbidden"); refused.JSON(t)["requiredScope"] != "library:read" {
			t.Errorf("a key that cannot read the library: got %s, want library:read required", refused.Body)
		}

		owner.Get(t, fmt.Sprintf(`POST /v1/library/delete {"videoId":%q}`, first), &struct{}{})
		missing("the page of a deleted video", "GET "+alone, "", stranger)
		if text := stranger.Read(t, "GET "+path); strings.Count(text, "<li>") != 1 {
			t.Errorf("after the deletion: got %s, want one video", text)
		}
		owner.Get(t, fmt.Sprintf(`POST /v1/shares/revoke {"id":%q}`, id), &found)
		if !found.Found {
			t.Error("revoke: got not found")
		}
		missing("a revoked page", "GET "+path, "", stranger)
	}, sampleFeed)
}

// TestSharesAreOff: an operator's word ends all pages, and makes none.
func TestSharesAreOff(t *testing.T) {
	t.Parallel()
	owner := apptest.Start(t, func(cfg *app.Config) { cfg.Shares.Off = true }).Account(t, "pro")
	owner.Do(t, `POST /v1/shares/create {"kind":"finding","title":"a","sentences":["b"]}`, "").WantError(t, "operation_error")
	owner.Get(t, "GET /v1/shares/list", &struct{}{})
}
