package instagram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/internal/sources"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// throttled is how long a limit lasts that does not say so: they are hourly.
const throttled = time.Hour

// graph is one call's connection to the interface.
type graph struct {
	site *site.Site
	call *stage.Call
	base string
	user string
	// handles and tags are the fields of posts that are asked for, of an account and of a
	// hashtag.
	handles, tags *sources.Names
	// size is how many posts a page is asked to have.
	size int

	// spent is set once the interface says that it has answered enough.
	spent   *site.Stop
	retries sources.Retries
}

// fault is the error object of an answer.
type fault struct {
	Message   site.Text  `json:"message"`
	Code      site.Count `json:"code"`
	Subcode   site.Count `json:"error_subcode"`
	Transient bool       `json:"is_transient"`
}

// get asks until there is an answer. The token travels in a header: as a parameter
// it would end up in the logs of every proxy on the way. The error is a *site.Stop
// or the context's.
func (g *graph) get(ctx context.Context, path string, parameters url.Values) (json.RawMessage, error) {
	var body json.RawMessage
	err := g.retries.Do(ctx, g.site, "Instagram", 5*time.Second, func() (err error) {
		if g.spent != nil {
			return g.spent
		}
		body, err = g.once(ctx, path, parameters)
		return err
	})
	return body, err
}

func (g *graph) once(ctx context.Context, path string, parameters url.Values) (json.RawMessage, error) {
	answer, err := g.site.Ask(ctx, site.Request{
		Method: http.MethodGet, URL: g.base + path + "?" + parameters.Encode(),
		Header: http.Header{"Authorization": {"Bearer " + g.call.Secrets["access_token"]}},
	})
	var lost *site.Unreachable
	if errors.As(err, &lost) {
		return nil, &sources.Transient{Detail: "Instagram: " + lost.Reason}
	}
	if err != nil {
		return nil, err
	}
	used := usageOf(answer.Header)
	g.pace(used)
	var envelope struct {
		Error *fault `json:"error"`
	}
	if err := json.Unmarshal(answer.Body, &envelope); err != nil {
		return nil, g.judge(answer.Status, fault{Message: "the answer is no whole JSON"}, used)
	}
	if envelope.Error != nil {
		return nil, g.judge(answer.Status, *envelope.Error, used)
	}
	if answer.Status != http.StatusOK {
		return nil, g.judge(answer.Status, fault{Message: "an answer without a reason"}, used)
	}
	return answer.Body, nil
}

// judge says what an error means. The code decides; the HTTP status only where
// there is none.
func (g *graph) judge(status int, f fault, used usage) error {
	code := -1
	if f.Code.N != nil && *f.Code.N < 1<<31 {
		code = int(*f.Code.N)
	}
	detail := g.site.Clean(fmt.Sprintf("Instagram answers %d code %d: %s", status, code, string(f.Message)))
	stop := func(status stage.Status, scope site.Scope) error {
		return &site.Stop{Status: status, Detail: detail, Scope: scope}
	}
	switch {
	case code == 4, code == 17, code == 32, code == 613, code == 80002, code < 0 && status == http.StatusTooManyRequests:
		g.spent = &site.Stop{Status: stage.Quota, RetryAt: used.until(g.site.Now()), Detail: detail, Scope: site.All}
		return g.spent
	case code == 190, code < 0 && (status == http.StatusUnauthorized || status == http.StatusForbidden):
		return stop(stage.Misconfigured, site.All)
	case code == 10, code >= 200 && code <= 299, code == 100 && aboutRights(string(f.Message)):
		return stop(stage.Misconfigured, site.Kind)
	case code == 110, code == 24:
		return stop(stage.NotFound, site.Seed)
	case code == 18: // too many different hashtags, says who uses it
		return &site.Stop{Status: stage.Quota, RetryAt: g.site.Now().Add(24 * time.Hour), Detail: detail, Scope: site.Kind}
	case code == 368:
		return stop(stage.Blocked, site.All)
	case code == 1 && strings.Contains(strings.ToLower(string(f.Message)), "reduce the amount of data"):
		return &tooMuch{&site.Stop{Status: stage.Blocked, RetryAt: g.site.Now().Add(throttled), Detail: detail}}
	case code == 100:
		return &sources.Refused{Message: string(f.Message), Stop: &site.Stop{Status: stage.Changed, Detail: detail}}
	case code == 1, code == 2, f.Transient, code < 0 && (status >= 500 || status == http.StatusOK):
		return &sources.Transient{Detail: detail}
	}
	return stop(stage.Changed, site.Seed)
}

// tooMuch is the refusal of a page that is too large for the interface.
type tooMuch struct{ stop *site.Stop }

func (e *tooMuch) Error() string { return e.stop.Detail }

// Unwrap is what it means where no smaller page helps.
func (e *tooMuch) Unwrap() error { return e.stop }

// minPage is the smallest page that is asked for.
const minPage = 3

// paged asks with a page of half the size for as long as the interface refuses the larger
// one; the call goes on with the size that it took.
func (g *graph) paged(ask func() error) error {
	for {
		err := ask()
		var much *tooMuch
		if !errors.As(err, &much) || g.size/2 < minPage {
			return err
		}
		g.size /= 2
	}
}

// aboutRights reports a missing permission, as against a wrong question: both have code 100.
func aboutRights(message string) bool {
	message = strings.ToLower(message)
	for _, word := range []string{"permission", "feature", "app token", "secret proof"} {
		if strings.Contains(message, word) {
			return true
		}
	}
	return false
}
