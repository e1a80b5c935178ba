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

	"github.com/scrollery/scrollery/plugins/internal/sources"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// shortly is the longest wait that a 429 may ask for and still mean a pause; a
// longer one, or none, means the day's allowance.
const shortly = time.Minute

// api is one call's connection to the interface.
type api struct {
	call    *stage.Call
	site    *site.Site
	asker   *asker
	service *yt.Service
	// days is how far back searches look; 0 is any time.
	days int

	// channelParts and videoParts are asked of channels and videos.
	channelParts, videoParts *sources.Names
	// noStats is set once YouTube does not answer videos.batchGetStats.
	noStats bool

	// spent says of each quota that the interface has answered enough.
	spent   map[string]*site.Stop
	retries sources.Retries
	// followers are the subscribers of the channels that were read, nil if unknown.
	followers map[string]*int64
}

// errPlaylist is a playlist that is not there.
var errPlaylist = errors.New("there is no such playlist")

// get asks until there is an answer, and gives its bytes. Every try is paid for,
// as it is at Google. The error is errPlaylist, a *site.Stop, a *sources.Refused or the
// context's.
func (a *api) get(ctx context.Context, quota string, do func() error) ([]byte, error) {
	err := a.retries.Do(ctx, a.site, "YouTube", 2*time.Second, func() error {
		if stop := a.spent[quota]; stop != nil {
			return stop
		}
		if err := a.call.Spend(ctx, quota, 1); err != nil {
			return site.OverQuota(err, scope(quota))
		}
		return a.judge(ctx, quota, do())
	})
	return a.asker.body, err
}

// scope is what ends with a quota: searches alone, the fast way to refresh alone, or
// everything.
func scope(quota string) site.Scope {
	switch quota {
	case searchQuota:
		return site.Kind
	case statsQuota:
		return site.Seed
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
		return &sources.Transient{Detail: "YouTube: " + lost.Reason}
	case errors.As(err, &refused):
		return a.refusal(quota, refused)
	case a.asker.status != http.StatusOK:
		return &site.Stop{Status: stage.Changed, Detail: fmt.Sprintf("YouTube answers %d", a.asker.status)}
	case !json.Valid(a.asker.body):
		return &sources.Transient{Detail: "YouTube: the answer is no whole JSON"}
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
		return &sources.Transient{Detail: detail, Wait: wait}
	case is("playlistNotFound"):
		return errPlaylist
	case is("channelNotFound", "videoNotFound"):
		return stop(stage.NotFound, site.Seed)
	case is("playlistItemsNotAccessible"):
		return stop(stage.Empty, site.Seed)
	case e.Code == http.StatusUnauthorized, e.Code == http.StatusForbidden, is("keyInvalid"), strings.Contains(e.Message, "API key"):
		return stop(stage.Misconfigured, site.All)
	case e.Code >= 500:
		return &sources.Transient{Detail: detail, Wait: wait}
	case e.Code == http.StatusBadRequest && (len(reasons) == 0 || is("unknownPart", "unexpectedPart", "invalidPart", "invalidParameter", "badRequest")):
		return &sources.Refused{Message: e.Message, Stop: &site.Stop{Status: stage.Changed, Detail: detail}}
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
