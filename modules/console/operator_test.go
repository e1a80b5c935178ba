package console

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

const operatorKey = "a key of thirty-two bytes or more"

func TestOperatorLinks(t *testing.T) {
	t.Parallel()
	begin := time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		made, opened time.Duration // since the process began
		key          string
		change       func(string) string
		want         bool
	}{
		"a new link opens":                              {made: time.Minute, opened: 2 * time.Minute, want: true},
		"a link of eleven minutes ago does not":         {made: time.Minute, opened: 12*time.Minute + time.Second},
		"a link from before the process began does not": {made: -time.Second, opened: time.Minute},
		"a link of the future does not":                 {made: time.Hour, opened: time.Minute},
		"a link made with another key does not":         {made: time.Minute, opened: time.Minute, key: "another key of thirty-two bytes!!"},
		"a link with a changed digit does not":          {made: time.Minute, opened: time.Minute, change: func(c string) string { return "0" + flip(c[1:2]) + c[2:] }},
		"a link that is cut off does not":               {made: time.Minute, opened: time.Minute, change: func(c string) string { return c[:len(c)-2] }},
		"an empty link does not":                        {made: time.Minute, opened: time.Minute, change: func(string) string { return "" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := NewOperators(operatorKey, slog.New(slog.DiscardHandler))
			o.since, o.now = begin, func() time.Time { return begin.Add(c.opened) }
			key := operatorKey
			if c.key != "" {
				key = c.key
			}
			code := OperatorCode(key, begin.Add(c.made))
			if c.change != nil {
				code = c.change(code)
			}
			token, err := o.enter(code)
			if (err == nil) != c.want || (token != "") != c.want {
				t.Fatalf("got token %q, error %v; want to be let in: %v", token, err, c.want)
			}
			if _, err := o.enter(code); err == nil {
				t.Error("the link again: got no error, want one")
			}
		})
	}
}

func flip(digit string) string {
	if digit == "0" {
		return "1"
	}
	return "0"
}

func TestOperatorPageIsReadBySignedInOperatorsAlone(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	for name := range types {
		files[name] = &fstest.MapFile{Data: []byte(name)}
	}
	log := slog.New(slog.DiscardHandler)
	c, err := New(files, NewCodes(log), log)
	if err != nil {
		t.Fatal(err)
	}
	o := NewOperators(operatorKey, log)
	handler, err := c.Operator(o, OperatorNeeds{
		Overview: func(*http.Request) (any, error) { return map[string]int{"queue": 7}, nil },
		Reload:   func(*http.Request) (any, error) { return nil, errors.New("no such setting") },
		Check: func(_ *http.Request, plugin string) (any, error) {
			if plugin != "acme" {
				return nil, errors.New("no such plugin")
			}
			return map[string]string{"check": "signed in"}, nil
		},
		Account: func(_ *http.Request, order AccountOrder) (any, error) {
			if order.Do == "plan" {
				return nil, errors.New("no such plan")
			}
			return order, nil
		},
		Scroll: func(_ *http.Request, order ScrollOrder) (any, error) { return order, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	call := func(method, path, body string, header ...string) *httptest.ResponseRecorder {
		request := httptest.NewRequest(method, path, strings.NewReader(body))
		for i := 0; i+1 < len(header); i += 2 {
			request.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, request)
		return w
	}
	enter := `{"code":"` + OperatorCode(operatorKey, time.Now()) + `"}`
	for _, refused := range []struct {
		name string
		got  *httptest.ResponseRecorder
		want int
	}{
		{"without a token", call("GET", "/operator/status", ""), 401},
		{"with a wrong token", call("GET", "/operator/status", "", "Authorization", "Bearer x"), 401},
		{"another site", call("POST", "/operator/enter", enter, "Content-Type", "application/json", "Sec-Fetch-Site", "cross-site"), 403},
		{"a form", call("POST", "/operator/enter", enter, "Content-Type", "text/plain"), 415},
		{"a reload without a token", call("POST", "/operator/reload", ""), 401},
		{"a check without a token", call("POST", "/operator/check", `{"plugin":"acme"}`, "Content-Type", "application/json"), 401},
		{"an order without a token", call("POST", "/operator/account", `{"account":"a@b.example","do":"block"}`, "Content-Type", "application/json"), 401},
		{"a scroll's order without a token", call("POST", "/operator/scroll", `{"scroll":"scr_1","do":"cancel"}`, "Content-Type", "application/json"), 401},
		{"a change", call("DELETE", "/operator/status", ""), 405},
		{"another file", call("GET", "/operator/console.js", ""), 404},
	} {
		if refused.got.Code != refused.want {
			t.Errorf("%s: got %d, want %d", refused.name, refused.got.Code, refused.want)
		}
	}
	page := call("GET", "/operator/", "")
	if got := page.Header().Get("Content-Security-Policy"); page.Code != 200 || got != Policy || page.Body.String() != operatorDocument {
		t.Errorf("the page: got %d, policy %q, %q; want 200 with the page and %q", page.Code, got, page.Body, Policy)
	}
	in := call("POST", "/operator/enter", enter, "Content-Type", "application/json")
	token := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(in.Body.String()), `{"token":"`), `"}`)
	status := call("GET", "/operator/status", "", "Authorization", "Bearer "+token)
	if status.Code != 200 || strings.TrimSpace(status.Body.String()) != `{"queue":7}` {
		t.Errorf("signed in: got %d %s, want 200 with a queue of 7", status.Code, status.Body)
	}
	for body, want := range map[string]string{
		`{"plugin":"acme"}`: `200 {"check":"signed in"}`, `{"plugin":"x"}`: "422 no such plugin", `{"all":true}`: "400 The body cannot be read.",
	} {
		got := call("POST", "/operator/check", body, "Content-Type", "application/json", "Authorization", "Bearer "+token)
		if got := fmt.Sprint(got.Code, " ", strings.TrimSpace(got.Body.String())); got != want {
			t.Errorf("check %s: got %s, want %s", body, got, want)
		}
	}
	if got := call("POST", "/operator/scroll", `{"scroll":"scr_1","do":"retry"}`, "Content-Type", "application/json", "Authorization", "Bearer "+token); got.Code != 200 {
		t.Errorf("a scroll's order: got %d, want 200", got.Code)
	}
	order := func(media, body string) string {
		got := call("POST", "/operator/account", body, "Content-Type", media, "Authorization", "Bearer "+token)
		return fmt.Sprint(got.Code, " ", strings.TrimSpace(got.Body.String()))
	}
	for _, c := range []struct{ media, body, want string }{
		{"application/json", `{"account":"acct_1","do":"limits","values":["max_videos=5"]}`, `200 {"account":"acct_1","do":"limits","values":["max_videos=5"]}`},
		{"application/json", `{"account":"acct_1","do":"plan"}`, "422 no such plan"},
		{"application/json", `{"account":"acct_1","and":"block"}`, "400 The body cannot be read."},
		{"text/plain", `{"account":"acct_1","do":"block"}`, "415 Send JSON."},
	} {
		if got := order(c.media, c.body); got != c.want {
			t.Errorf("%s %s: got %s, want %s", c.media, c.body, got, c.want)
		}
	}
	if got := call("POST", "/operator/leave", "", "Authorization", "Bearer x").Code; got != 204 {
		t.Errorf("sign out with a wrong token: got %d, want 204", got)
	}
	now := time.Now()
	o.now = func() time.Time { return now.Add(operatorLife - time.Minute) }
	if got := call("GET", "/operator/status", "", "Authorization", "Bearer "+token).Code; got != 200 {
		t.Errorf("before the session's end: got %d, want 200", got)
	}
	o.now = func() time.Time { return now.Add(operatorLife + time.Minute) }
	if got := call("GET", "/operator/status", "", "Authorization", "Bearer "+token).Code; got != 401 {
		t.Errorf("after the session's end: got %d, want 401", got)
	}
	o.now = time.Now
	if got := call("POST", "/operator/leave", "", "Authorization", "Bearer "+token).Code; got != 204 {
		t.Errorf("sign out: got %d, want 204", got)
	}
	if got := call("GET", "/operator/status", "", "Authorization", "Bearer "+token).Code; got != 401 {
		t.Errorf("after signing out: got %d, want 401", got)
	}
	public := httptest.NewRecorder()
	c.ServeHTTP(public, httptest.NewRequest("GET", Path+"operator.js", nil))
	if public.Code != 404 {
		t.Errorf("the operator's script at the public console: got %d, want 404", public.Code)
	}
}
