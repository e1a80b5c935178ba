package tiktok

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/internal/sources"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// session is one call's connection to the interface.
type session struct {
	site *site.Site
	call *stage.Call
	base string
	// fields are what is asked of each video.
	fields *sources.Names

	token   string
	expires time.Time
	// tries is how often a seed may ask a site that fails; lost counts the seeds
	// in a row that gave up over it.
	tries, lost int
}

// The kinds of trouble that a request may run into and get out of again.
type trouble int

const (
	busy    trouble = iota + 1 // the site failed: 5xx, no whole answer
	garbled                    // an answer that is not JSON, or cut short
	paced                      // too many requests in too short a time
	stale                      // the search id or cursor is not known, or not yet
)

// failure is a trouble with the site's own words.
type failure struct {
	what   trouble
	wait   time.Duration // what the site asks for; zero if it does not
	detail string
}

func (f *failure) Error() string { return f.detail }

// status is what becomes of a seed that did not get out of it.
func (f *failure) status() stage.Status {
	if f.what == paced {
		return stage.Quota
	}
	return stage.Blocked
}

// fault is the error object of every answer.
type fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// post asks once; a token that is not taken is replaced once. The error is a
// *failure, a *site.Stop, a *sources.Refused, or the context's.
func (s *session) post(ctx context.Context, path string, body []byte, records int) (json.RawMessage, error) {
	for renewed := false; ; renewed = true {
		if err := s.authorize(ctx); err != nil {
			return nil, err
		}
		// An answer that fails is counted by TikTok too, so it is spent beforehand.
		for _, cost := range []struct {
			quota string
			units int
		}{{"requests", 1}, {"records", records}} {
			if err := s.call.Spend(ctx, cost.quota, int64(cost.units)); err != nil {
				return nil, site.OverQuota(err, site.All)
			}
		}
		answer, err := s.ask(ctx, site.Request{
			Method: http.MethodPost, URL: s.base + path, Body: body,
			Header: http.Header{"Authorization": {"Bearer " + s.token}, "Content-Type": {"application/json"}},
		})
		if err != nil {
			return nil, err
		}
		data, problem := read(answer)
		if problem.Code == "access_token_invalid" && !renewed {
			s.token = ""
			continue
		}
		return data, s.judge(answer, problem)
	}
}

func (s *session) ask(ctx context.Context, r site.Request) (site.Answer, error) {
	answer, err := s.site.Ask(ctx, r)
	var lost *site.Unreachable
	if errors.As(err, &lost) {
		return answer, &failure{what: busy, detail: "TikTok: " + lost.Reason}
	}
	return answer, err
}

// read takes the envelope apart; one that is none has the code `garbled`.
func read(answer site.Answer) (json.RawMessage, fault) {
	var envelope struct {
		Data  json.RawMessage `json:"data"`
		Error fault           `json:"error"`
	}
	if err := json.Unmarshal(answer.Body, &envelope); err != nil {
		return nil, fault{Code: "garbled", Message: "the answer is no whole JSON"}
	}
	return envelope.Data, envelope.Error
}

// judge says what an answer means; nil is a good one.
func (s *session) judge(answer site.Answer, problem fault) error {
	detail := s.site.Clean("TikTok answers " + strconv.Itoa(answer.Status) + " " + problem.Code + ": " + problem.Message)
	refused := &site.Stop{Status: stage.Misconfigured, Detail: detail, Scope: site.All}
	switch problem.Code {
	case "ok", "":
	case "access_token_invalid", "scope_not_authorized", "scope_permission_missed":
		return refused
	case "daily_quota_limit_exceeded":
		return &site.Stop{Status: stage.Quota, RetryAt: midnight(s.site.Now()), Detail: detail, Scope: site.All}
	case "rate_limit_exceeded":
		return &failure{what: paced, wait: retryAfter(answer), detail: detail}
	case "internal_error":
		return &failure{what: busy, wait: retryAfter(answer), detail: detail}
	case "invalid_params":
		if text := strings.ToLower(problem.Message); strings.Contains(text, "search id") || strings.Contains(text, "cursor") {
			return &failure{what: stale, detail: detail}
		}
		return &sources.Refused{Message: problem.Message, Stop: &site.Stop{Status: stage.Changed, Detail: detail}}
	}
	switch status := answer.Status; {
	case status == http.StatusOK && problem.Code == "garbled":
		return &failure{what: garbled, detail: detail}
	case status == http.StatusOK && (problem.Code == "ok" || problem.Code == ""):
		return nil
	case status == http.StatusTooManyRequests:
		return &failure{what: paced, wait: retryAfter(answer), detail: detail}
	case status >= 500:
		return &failure{what: busy, wait: retryAfter(answer), detail: detail}
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return refused
	}
	return &site.Stop{Status: stage.Changed, Detail: detail}
}

// retryAfter is the wait in seconds that the site names, if it does.
func retryAfter(answer site.Answer) time.Duration {
	seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	if err != nil || seconds < 1 || seconds > 24*3600 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// midnight is when the day's allowance is renewed.
func midnight(now time.Time) time.Time {
	return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
}

// authorize gets a token if there is none, or none that lives long enough.
func (s *session) authorize(ctx context.Context) error {
	if s.token != "" && s.site.Now().Before(s.expires) {
		return nil
	}
	form := url.Values{
		"client_key": {s.call.Secrets["client_key"]}, "client_secret": {s.call.Secrets["client_secret"]},
		"grant_type": {"client_credentials"},
	}
	answer, err := s.ask(ctx, site.Request{
		Method: http.MethodPost, URL: s.base + "/v2/oauth/token/", Body: []byte(form.Encode()),
		Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
	})
	if err != nil {
		return err
	}
	var body struct {
		Token   string          `json:"access_token"`
		Expires site.Count      `json:"expires_in"`
		Error   json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(answer.Body, &body); err != nil || answer.Status >= 500 || answer.Status == http.StatusTooManyRequests {
		return &failure{what: busy, wait: retryAfter(answer), detail: "TikTok answers " + strconv.Itoa(answer.Status) + " to the request for a token"}
	}
	if body.Token == "" {
		detail := s.site.Clean("TikTok gives no token: " + string(body.Error))
		return &site.Stop{Status: stage.Misconfigured, Detail: detail, Scope: site.All}
	}
	life := time.Hour
	if n := body.Expires.N; n != nil && *n <= 24*3600 {
		life = time.Duration(*n) * time.Second
	}
	s.site.Hide(body.Token)
	s.token, s.expires = body.Token, s.site.Now().Add(life-time.Minute)
	return nil
}
