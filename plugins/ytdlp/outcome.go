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

// sign is a part of a complaint, and what it means.
type sign struct {
	says   string
	status stage.Status
}

// kept is a video that is kept from the country of this server, or from all who are not signed in:
// blocked, and for as long as that is so. It says nothing of the site.
const kept stage.Status = "kept"

// refusals come before all else that is said: YouTube words its limit as "Video
// unavailable. This content isn't available, try again later", and begins the same
// way what it says to some countries alone. "Sign in to confirm" begins what it says of robots and of
// ages.
var refusals = []sign{
	{"Unsupported URL", stage.Misconfigured},
	{"HTTP Error 429", stage.Quota},
	{"Too Many Requests", stage.Quota},
	{"rate-limited by YouTube", stage.Quota},
	{"try again later", stage.Quota},
	{"captcha challenge", stage.Blocked},
	{"in your country", kept},
	{"in your region", kept},
	{"from your location", kept},
	{"geo restriction", kept},
	{"geo-restricted", kept},
	{"confirm your age", kept},
	{"members-only content", kept},
	{"Restricted Video", kept},
	{"Log in for access", kept},
	{"only available for registered users", kept},
}

// signs say what the program's other complaints mean; the first that fits counts.
// The texts are those of yt-dlp 2023 to 2026.
var signs = []sign{
	{"keeps sending the same page", stage.Partial},
	{"account is private", stage.Empty},
	{"either private or all of their videos are private", stage.Empty},
	{"does not have any videos", stage.Empty},
	{"does not have a shorts tab", stage.Empty},
	{"does not have a videos, shorts, or live tab", stage.Empty},
	{"HTTP Error 404", stage.NotFound},
	{"does not exist", stage.NotFound},
	{"Video unavailable", stage.NotFound},
	{"Private video", stage.NotFound},
	{"Video not available", stage.NotFound},
	{"do not have permission to view", stage.NotFound},
	{"requiring login", stage.Blocked},
	{"login required", stage.Blocked},
	{"Sign in to confirm", stage.Blocked},
	{"rate-limit reached", stage.Blocked},
	{"exceeded the rate-limit", stage.Blocked},
	{"empty media response", stage.Blocked},
	{"Your IP address is blocked", stage.Blocked},
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

func (s sign) isIn(words string) bool {
	return strings.Contains(strings.ToLower(words), strings.ToLower(s.says))
}

// read is the status of the first sign that is in the words; empty for none.
func read(signs []sign, words string) stage.Status {
	for _, sign := range signs {
		if sign.isIn(words) {
			return sign.status
		}
	}
	return ""
}

// meaning is the status of a run that brought nothing new to say it better.
func meaning(r result) stage.Status {
	if status := failing(r); status != "" {
		return status
	}
	if status := read(signs, r.words); status != "" {
		return status
	}
	if r.code == 0 {
		return stage.Empty
	}
	return stage.Changed
}

// failing is the status of a run that says nothing of what was asked for; empty
// where it may.
func failing(r result) stage.Status {
	switch {
	case errors.Is(r.err, errSilent), errors.Is(r.err, errFlood):
		return stage.Blocked
	case r.code == 2:
		return stage.Misconfigured // options that this version does not know
	}
	return read(refusals, r.words)
}

// outcome is the account of one run for a seed.
func (t *tool) outcome(seed stage.Seed, platform string, asked, returned int, r result) stage.Outcome {
	return t.judged(seed, platform, asked, returned, r, meaning)
}

// judged is the same by another reading of a run that brought nothing.
func (t *tool) judged(seed stage.Seed, platform string, asked, returned int, r result, meaning func(result) stage.Status) stage.Outcome {
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
	switch o.Status {
	case kept:
		o.Status = stage.Blocked
	case stage.Blocked, stage.Quota:
		at := time.Now().Add(retryAfter).UnixMilli()
		o.RetryAt = &at
	}
	if !clean || o.Status != stage.Empty {
		o.Detail = fmt.Sprintf("yt-dlp %s: exit code %d: %s", t.version, r.code, r.reason())
		if r.err != nil {
			o.Detail = fmt.Sprintf("yt-dlp %s: %v: %s", t.version, r.err, r.reason())
		}
		if older(t.version) {
			o.Detail += ". This version is too old, update it: " + Install
		}
	}
	return o
}

// maxBlocked is after how many failures in a row a site counts as out of reach.
const maxBlocked = 3

// away reports whether a site is to be left alone for the rest of the call: it has
// had enough, or it does not answer.
type away struct {
	blocked int
	last    stage.Outcome
}

func (a *away) note(o stage.Outcome) {
	a.last = o
	switch {
	case o.Status == stage.Quota:
		a.blocked = maxBlocked
	case o.Status == stage.Blocked && o.RetryAt != nil:
		a.blocked++
	default: // it answers, though it may keep this one from us
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
