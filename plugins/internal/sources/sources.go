// Package sources has what the sources of official interfaces share: reading their
// settings, asking again while a site fails, and the outcomes of a refresh.
package sources

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// Misconfigured is a Stop of the whole call over a setting or a secret.
func Misconfigured(detail string) *site.Stop {
	return &site.Stop{Status: stage.Misconfigured, Detail: detail, Scope: site.All}
}

// Open returns the call's site, as patient as the setting `patience` says; example
// is a value of it for the error.
func Open(call *stage.Call, options site.Options, example string) (*site.Site, error) {
	patience, err := time.ParseDuration(call.Settings["patience"])
	if err != nil || patience < 0 {
		return nil, Misconfigured("the setting `patience` is no duration such as " + example)
	}
	options.Patience, options.Impatient = patience, patience == 0
	return site.New(call, options), nil
}

// Tag is a term as a hashtag: its letters, marks, digits and underscores.
func Tag(term string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, term)
}

// HasList reports whether an object has a member that is a list with something in it. Where
// the list that a source reads is absent, this tells an answer that is empty from one whose
// list was renamed.
func HasList(object []byte) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return false
	}
	for _, value := range members {
		var list []json.RawMessage
		if json.Unmarshal(value, &list) == nil && len(list) > 0 {
			return true
		}
	}
	return false
}

const (
	// maxTries is how often the same is asked for while the site fails.
	maxTries = 4
	// maxLost is after how many seeds in a row the site counts as down.
	maxLost = 3
	// down is when another try makes sense after that.
	down = 15 * time.Minute
)

// Transient is a failure that another try may get past.
type Transient struct {
	Detail string
	// Wait is what the site asks for; 0 if it asks for none.
	Wait time.Duration
}

func (e *Transient) Error() string { return e.Detail }

// Retries asks again while a site fails. The zero value is ready.
type Retries struct {
	// impatient allows a seed one try; lost counts the seeds in a row that gave up.
	impatient bool
	lost      int
}

// Do asks until the error is no *Transient. The first wait is pause, each later one
// twice as long. It returns that error, a *site.Stop, or the context's.
func (r *Retries) Do(ctx context.Context, s *site.Site, name string, pause time.Duration, ask func() error) error {
	for failed := 1; ; failed++ {
		err := ask()
		var passing *Transient
		if !errors.As(err, &passing) {
			if err == nil {
				*r = Retries{}
			}
			return err
		}
		stop := &site.Stop{Status: stage.Blocked, RetryAt: s.Now().Add(down), Detail: passing.Detail}
		if failed >= maxTries || r.impatient {
			r.impatient = true
			if r.lost++; r.lost >= maxLost {
				stop.Scope = site.All
			}
			return stop
		}
		err = s.Wait(ctx, max(pause<<(failed-1), passing.Wait), "waiting for "+name)
		if errors.Is(err, site.ErrPatience) {
			stop.Scope = site.All
			return stop
		}
		if err != nil {
			return err
		}
	}
}

// Known takes refs apart, each once: the ids that can be asked for, and outcomes for
// the others.
func Known(platform string, refs []stage.Ref, valid func(id string) bool, detail string) (ids []string, outcomes []stage.Outcome) {
	seen := map[stage.Ref]bool{}
	for _, ref := range refs {
		switch {
		case seen[ref]:
		case ref.Platform == platform && valid(ref.ExternalID):
			ids = append(ids, ref.ExternalID)
		default:
			outcomes = append(outcomes, stage.Outcome{Seed: ref.ExternalID, Platform: platform, Status: stage.Unsupported, Asked: 1, Detail: detail})
		}
		seen[ref] = true
	}
	return ids, outcomes
}

// Refresh looks groups of ids up and accounts for each id; absent is the outcome of
// one that a whole answer leaves out. A Stop of scope All ends what is left, and a *Short
// makes what was found partial. wrong, if not nil, is why nothing can be asked for.
func Refresh(ctx context.Context, groups [][]string, absent stage.Outcome, wrong error, look func(ctx context.Context, ids []string) (map[string]bool, error)) ([]stage.Outcome, error) {
	inner, cancel := site.Early(ctx)
	defer cancel()
	var outcomes []stage.Outcome
	var over *site.Stop
	for _, ids := range groups {
		var found map[string]bool
		var short *Short
		stop := over
		if stop == nil {
			err := wrong
			if err == nil {
				found, err = look(inner, ids)
			}
			if errors.As(err, &short) {
				err = nil
			}
			if stop = site.Stopped(ctx, inner, err); stop == nil && err != nil {
				return outcomes, err
			}
		}
		if stop != nil && stop.Scope == site.All {
			over = stop
		}
		for _, id := range ids {
			o := stage.Outcome{Seed: id, Platform: absent.Platform, Status: stage.OK, Asked: 1}
			switch {
			case found[id]:
				o.Returned = 1
				if short != nil {
					o.Status, o.Detail = stage.Partial, short.Error()
				}
			case stop != nil:
				o = stop.Outcome(o)
			default:
				o.Status, o.Detail = absent.Status, absent.Detail
			}
			outcomes = append(outcomes, o)
		}
	}
	return outcomes, nil
}
