package youtube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a confined process may not find the system's zones

	"google.golang.org/api/googleapi"
	yt "google.golang.org/api/youtube/v3"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

const (
	// maxTries is how often the same is asked for while the site fails.
	maxTries = 4
	// maxLost is after how many seeds in a row the site counts as down.
	maxLost = 3
	// down is when another try makes sense after that.
	down = 15 * time.Minute
	// shortly is the longest wait that a 429 may ask for and still mean a pause; a
	// longer one, or none, means the day's allowance.
	shortly = time.Minute
)

// api is one call's connection to the interface.
type api struct {
	call    *stage.Call
	site    *site.Site
	asker   *asker
	service *yt.Service

	// spent says of each quota that the interface has answered enough.
	spent map[string]*site.Stop
	// tries is how often a seed may ask a site that fails; lost counts the seeds in
	// a row that gave up over it.
	tries, lost int
}

// errTransient is a failure that another try may get past.
type errTransient struct {
	detail string
	wait   time.Duration // that it asks for; 0 where it asks for none
}

func (e *errTransient) Error() string { return e.detail }

// errPlaylist is a playlist that is not there.
var errPlaylist = errors.New("there is no such playlist")

// get asks until there is an answer, and gives its bytes. Every try is paid for,
// as it is at Google. The error is errPlaylist, a *site.Stop or the context's.
func (a *api) get(ctx context.Context, quota string, do func() error) ([]byte, error) {
	for failed := 1; ; failed++ {
		if stop := a.spent[quota]; stop != nil {
			return nil, stop
		}
		if err := a.call.Spend(ctx, quota, 1); err != nil {
			return nil, site.OverQuota(err, scope(quota))
		}
		err := a.judge(ctx, quota, do())
		var passing *errTransient
		if !errors.As(err, &passing) {
			if err == nil {
				a.tries, a.lost = maxTries, 0
			}
			return a.asker.body, err
		}
		if failed >= a.tries {
			return nil, a.lose(passing)
		}
		wait := max(2*time.Second<<(failed-1), passing.wait)
		if err := a.site.Wait(ctx, wait, "waiting for YouTube"); errors.Is(err, site.ErrPatience) {
			return nil, &site.Stop{Status: stage.Blocked, RetryAt: a.site.Now().Add(down), Detail: passing.detail, Scope: site.All}
		} else if err != nil {
			return nil, err
		}
	}
}

// lose gives the seed up. The next ones get one try each, and after some the site
// counts as down.
func (a *api) lose(e *errTransient) error {
	a.tries = 1
	a.lost++
	stop := &site.Stop{Status: stage.Blocked, RetryAt: a.site.Now().Add(down), Detail: e.detail}
	if a.lost >= maxLost {
		stop.Scope = site.All
	}
	return stop
}

// scope is what ends with a quota: searches alone, or everything.
func scope(quota string) site.Scope {
	if quota == searchQuota {
		return site.Kind
	}
	return site.All
}

// judge says what the end of a request means.
func (a *api) judge(ctx context.Context, quota string, err error) error {
	var lost *site.Unreachable
	var refused *googleapi.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &lost):
		return &errTransient{detail: "YouTube: " + lost.Reason}
	case errors.As(err, &refused):
		return a.refusal(quota, refused)
	case a.asker.status != http.StatusOK:
		return &site.Stop{Status: stage.Changed, Detail: fmt.Sprintf("YouTube answers %d", a.asker.status)}
	case !json.Valid(a.asker.body):
		return &errTransient{detail: "YouTube: the answer is no whole JSON"}
	}
	return nil // what the library could not read of it, we can
}

// refusal says what an error of the interface means. The reason decides.
func (a *api) refusal(quota string, e *googleapi.Error) error {
	var reasons []string
	for _, one := range e.Errors {
		reasons = append(reasons, one.Reason)
	}
	is := func(some ...string) bool {
		return slices.ContainsFunc(some, func(reason string) bool { return slices.Contains(reasons, reason) })
	}
	detail := a.site.Clean(fmt.Sprintf("YouTube answers %d %s: %s", e.Code, strings.Join(reasons, ", "), e.Message))
	stop := func(status stage.Status, scope site.Scope) error {
		return &site.Stop{Status: status, Detail: detail, Scope: scope}
	}
	wait := a.wait()
	switch {
	case is("quotaExceeded", "dailyLimitExceeded"), e.Code == http.StatusTooManyRequests && (wait <= 0 || wait > shortly):
		over := &site.Stop{Status: stage.Quota, RetryAt: midnight(a.site.Now()), Detail: detail, Scope: scope(quota)}
		if a.spent == nil {
			a.spent = map[string]*site.Stop{}
		}
		a.spent[quota] = over
		return over
	case e.Code == http.StatusTooManyRequests, is("rateLimitExceeded", "userRateLimitExceeded"):
		return &errTransient{detail: detail, wait: wait}
	case is("playlistNotFound"):
		return errPlaylist
	case is("channelNotFound", "videoNotFound"):
		return stop(stage.NotFound, site.Seed)
	case is("playlistItemsNotAccessible"):
		return stop(stage.Empty, site.Seed)
	case e.Code == http.StatusUnauthorized, e.Code == http.StatusForbidden, is("keyInvalid"), strings.Contains(e.Message, "API key"):
		return stop(stage.Misconfigured, site.All)
	case e.Code >= 500:
		return &errTransient{detail: detail, wait: wait}
	}
	return stop(stage.Changed, site.Seed)
}

// wait is what the last answer asks for.
func (a *api) wait() time.Duration {
	seconds, err := strconv.Atoi(a.asker.after)
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, 24*60*60)) * time.Second
}
