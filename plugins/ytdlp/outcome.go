package ytdlp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// retryAfter is when to ask again a site that turned the program away.
const retryAfter = time.Hour

// signs tell what the program's complaints mean; the first that fits counts. The
// texts are those of yt-dlp 2023 to 2026.
var signs = []struct {
	says   string
	status stage.Status
}{
	{"Unsupported URL", stage.BadlySetUp},
	{"HTTP Error 429", stage.OverQuota},
	{"Too Many Requests", stage.OverQuota},
	{"keeps sending the same page", stage.Partial},
	{"account is private", stage.Empty},
	{"does not have any videos", stage.Empty},
	{"does not have a shorts tab", stage.Empty},
	{"does not have a videos, shorts, or live tab", stage.Empty},
	{"HTTP Error 404", stage.Missing},
	{"does not exist", stage.Missing},
	{"Video unavailable", stage.Missing},
	{"Private video", stage.Missing},
	{"Video not available", stage.Missing},
	{"requiring login", stage.Blocked},
	{"login required", stage.Blocked},
	{"Sign in to confirm", stage.Blocked},
	{"rate-limit reached", stage.Blocked},
	{"empty media response", stage.Blocked},
	{"Unable to extract universal data", stage.Blocked},
	{"Unexpected response from webpage request", stage.Blocked},
	{"Unable to solve JS challenge", stage.Blocked},
	{"HTTP Error 403", stage.Blocked},
	{"timed out", stage.Blocked},
	{"Unable to connect", stage.Blocked},
	{"Unable to download", stage.Blocked},
	{"Connection refused", stage.Blocked},
	{"Unable to extract", stage.Changed},
	{"Failed to parse JSON", stage.Changed},
	{"KeyError", stage.Changed},
	{"please report this issue", stage.Changed},
}

// meaning is the status of a run that brought nothing new to say it better.
func meaning(r result) stage.Status {
	switch {
	case errors.Is(r.err, errSilent), errors.Is(r.err, errFlood):
		return stage.Blocked
	case r.code == 2:
		return stage.BadlySetUp // options that this version does not know
	}
	lower := strings.ToLower(r.words)
	for _, sign := range signs {
		if strings.Contains(lower, strings.ToLower(sign.says)) {
			return sign.status
		}
	}
	if r.code == 0 {
		return stage.Empty
	}
	return stage.Changed
}

// outcome is the account of one run for a seed.
func (t *tool) outcome(seed stage.Seed, platform string, asked, returned int, r result) stage.Outcome {
	o := stage.Outcome{Seed: seed.Text(), Platform: platform, Asked: asked, Returned: returned, Status: stage.OK}
	// 101 is a limit of ours that was reached.
	clean := r.err == nil && (r.code == 0 || r.code == 101)
	switch {
	case clean && returned > 0:
		return o
	case returned > 0:
		o.Status = stage.Partial
	default:
		o.Status = meaning(r)
	}
	if o.Status == stage.Blocked || o.Status == stage.OverQuota {
		at := time.Now().Add(retryAfter).UnixMilli()
		o.RetryAt = &at
	}
	if !clean {
		o.Detail = fmt.Sprintf("yt-dlp %s: exit code %d: %s", t.version, r.code, r.reason())
		if r.err != nil {
			o.Detail = fmt.Sprintf("yt-dlp %s: %v: %s", t.version, r.err, r.reason())
		}
	}
	return o
}

// maxBlocked is after how many failures in a row a site counts as out of reach.
const maxBlocked = 3

// away tells whether a site is to be left alone for the rest of the call: it has
// had enough, or it does not answer.
type away struct {
	blocked int
	last    stage.Outcome
}

func (a *away) note(o stage.Outcome) {
	a.last = o
	switch o.Status {
	case stage.OverQuota:
		a.blocked = maxBlocked
	case stage.Blocked:
		a.blocked++
	default:
		a.blocked = 0
	}
}

func (a *away) isSo() bool { return a.blocked >= maxBlocked }

// fatal is an error that ends the call: the caller's own, not the site's.
func fatal(ctx context.Context, r result) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case r.err == nil, errors.Is(r.err, errSilent), errors.Is(r.err, errFlood):
		return nil
	}
	return r.err
}
