package console_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scrollery/scrollery/modules/console"
)

func exchange(handler http.Handler, body string, header ...string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodPost, console.ExchangePath, strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer
}

func key(context.Context) (string, error) { return "scr_sess_abc", nil }

func TestACodeOpensItsKeyOnce(t *testing.T) {
	t.Parallel()
	handler, codes := open(t, nil)
	body := `{"code":"` + codes.Issue(key) + `"}`
	first := exchange(handler, body)
	if first.Code != http.StatusOK || strings.TrimSpace(first.Body.String()) != `{"apiKey":"scr_sess_abc"}` || first.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("first: got %d %q, headers %v; want 200 with the key, and Cache-Control no-store", first.Code, first.Body.String(), first.Header())
	}
	if second := exchange(handler, body); second.Code != http.StatusNotFound {
		t.Errorf("second: got %d, want 404", second.Code)
	}
}

func TestRefusedExchanges(t *testing.T) {
	t.Parallel()
	handler, codes := open(t, nil)
	code := codes.Issue(key)
	body := `{"code":"` + code + `"}`
	for name, c := range map[string]struct {
		body   string
		header []string
		want   int
	}{
		"an unknown code":          {`{"code":"guess"}`, nil, http.StatusNotFound},
		"no code":                  {`{}`, nil, http.StatusNotFound},
		"another site":             {body, []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		"another site, old header": {body, []string{"Origin", "https://evil.example"}, http.StatusForbidden},
		"a form":                   {body, []string{"Content-Type", "text/plain"}, http.StatusUnsupportedMediaType},
		"a long body":              {`{"code":"` + strings.Repeat("a", 2000) + `"}`, nil, http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			if got := exchange(handler, c.body, c.header...); got.Code != c.want {
				t.Errorf("got %d, want %d", got.Code, c.want)
			}
		})
	}
	if got := exchange(handler, body); got.Code != http.StatusOK {
		t.Errorf("after the refusals: got %d, want 200", got.Code)
	}
	failing := codes.Issue(func(context.Context) (string, error) { return "", errors.New("disk full") })
	if got := exchange(handler, `{"code":"`+failing+`"}`); got.Code != http.StatusInternalServerError || strings.Contains(got.Body.String(), "disk") {
		t.Errorf("a failing mint: got %d %q, want 500 without the cause", got.Code, got.Body.String())
	}
}

func TestCodesEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		handler, codes := open(t, nil)
		old := codes.Issue(key)
		for range 15 {
			if codes.Issue(key) == "" {
				t.Fatal("got fewer than 16 codes, want 16 that wait")
			}
		}
		if codes.Issue(key) != "" {
			t.Error("got a 17th code, want no more than 16 that wait")
		}
		time.Sleep(console.CodeLife)
		if got := exchange(handler, `{"code":"`+old+`"}`); got.Code != http.StatusNotFound {
			t.Errorf("after its life: got %d, want 404", got.Code)
		}
		if codes.Issue(key) == "" {
			t.Error("got no code after the others ended, want one")
		}
	})
}
