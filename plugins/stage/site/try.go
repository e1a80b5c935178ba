package site

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	// tries is how often Try asks in all; pause is the first wait, and longest the longest one.
	tries          = 3
	pause, longest = time.Second, 30 * time.Second
	// renewal is when an allowance that is used up is thought to be renewed.
	renewal = time.Hour
)

// Try asks until an answer of 2xx comes. While the site fails, or asks to wait for at most 30
// seconds, it is asked again, three times in all, within the site's patience. The error is then a
// *stage.Error that says whose fault it is: FaultRefused (401, 403), FaultNotFound (404, 410),
// FaultQuota (402, 429, with the time of Retry-After), FaultBusy (408, 5xx, no answer), else
// FaultInternal; or the context's. Use Ask for a site whose statuses mean anything else.
func (s *Site) Try(ctx context.Context, r Request) (Answer, error) {
	for n := 1; ; n++ {
		answer, err := s.Ask(ctx, r)
		var lost *Unreachable
		if err != nil && !errors.As(err, &lost) {
			return answer, err
		}
		wait := max(pause<<(n-1), RetryAfter(answer.Header, s.Now()))
		again := lost != nil || answer.Status == 408 || answer.Status == 429 || answer.Status >= 500
		if again && n < tries && wait <= longest {
			switch err := s.Wait(ctx, wait, "waiting for the site"); {
			case err == nil:
				continue
			case !errors.Is(err, ErrPatience):
				return answer, err
			}
		}
		if lost != nil {
			return answer, stage.Busyf(0, "the site does not answer: %s", lost.Reason)
		}
		return answer, s.fault(answer)
	}
}

// fault is whose fault an answer is; nil for one of 2xx.
func (s *Site) fault(answer Answer) error {
	wait := RetryAfter(answer.Header, s.Now())
	switch status := answer.Status; {
	case status >= 200 && status < 300:
		return nil
	case status == 401 || status == 403:
		return stage.Refusedf("the site answers %d: it refuses the credentials", status)
	case status == 404 || status == 410:
		return stage.NotFoundf("the site answers %d", status)
	case status == 402 || status == 429:
		if wait == 0 {
			wait = renewal
		}
		return stage.Quotaf(s.Now().Add(wait), "the site answers %d: it has had enough for now", status)
	case status == 408 || status >= 500:
		return stage.Busyf(wait, "the site answers %d", status)
	default:
		return &stage.Error{Fault: stage.FaultInternal, Message: "the site answers " + strconv.Itoa(status) + ", which this stage does not know"}
	}
}

// RetryAfter is how long an answer asks to wait, at most a day; 0 if it does not.
func RetryAfter(header http.Header, now time.Time) time.Duration {
	const most = 24 * time.Hour
	text := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil && seconds > 0 {
		return time.Duration(min(seconds, int(most/time.Second))) * time.Second
	}
	if when, err := http.ParseTime(text); err == nil {
		return min(max(when.Sub(now), 0), most)
	}
	return 0
}
