package webhooks

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/changes"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/weburl"
)

// The states of a webhook.
const (
	Active = "active"
	Paused = "paused"
	// Failed: the retries are used up. It rests until its owner starts it again.
	Failed = "failed"
	// Gone: it answered 410.
	Gone = "gone"
)

// MaxWebhooks is the most webhooks of an account.
const MaxWebhooks = 5

// allTypes stands for every kind of change.
const allTypes = "*"

// Webhook is an address that receives an account's changes.
type Webhook struct {
	ID, Account int64
	URL         string
	// Types are the kinds of changes; empty for all.
	Types  changes.Types
	Status string
	// Cursor is the number of the last change that was delivered or left out.
	Cursor int64
	// Failures counts the failed attempts to deliver the change after the cursor.
	Failures int
	// NextAt, PriorUntil, CreatedAt and UpdatedAt are Unix milliseconds.
	NextAt, PriorUntil, CreatedAt, UpdatedAt int64

	turn   int64
	secret []byte // sealed
	prior  []byte // sealed; nil for none
}

// Change is what a caller changes. Nil is absent.
type Change struct {
	URL    *string
	Types  []string
	Paused *bool
}

// Outcomes of an attempt.
const (
	Delivered   = "delivered"
	Refused     = "refused"
	Redirected  = "redirected"
	TimedOut    = "timeout"
	Unreachable = "unreachable"
	Blocked     = "blocked"
	Expired     = "expired"
)

// Delivery is one attempt to deliver one message.
type Delivery struct {
	ID        int64
	MessageID string
	Kind      string
	// Attempt counts from 1.
	Attempt int
	Outcome string
	// Status is the HTTP status of the answer; 0 for none.
	Status int
	Took   time.Duration
	// At is Unix milliseconds.
	At int64
}

// checkURL refuses an address that is not public https. The address is kept as it was
// sent; the IP address is judged again whenever it is dialled.
func checkURL(text string) error {
	if _, err := weburl.Parse(text); err != nil {
		return err
	}
	parsed, err := url.Parse(text)
	if err != nil || parsed.Host == "" || parsed.User != nil {
		return errors.New("is not an https address")
	}
	if parsed.Fragment != "" || strings.HasSuffix(text, "#") {
		return errors.New("must not have a fragment")
	}
	return nil
}

// parseTypes reads the kinds of a request; `*` alone stands for all.
func parseTypes(names []string) (changes.Types, []apierr.Issue) {
	if len(names) == 1 && names[0] == allTypes {
		return nil, nil
	}
	var issues []apierr.Issue
	var types changes.Types
	for i, name := range names {
		if !slices.Contains(feed.Kinds(), feed.Kind(name)) {
			issues = append(issues, apierr.Issue{Path: fmt.Sprintf("types[%d]", i), Message: "is no kind of change"})
		}
		types = append(types, feed.Kind(name))
	}
	return types, issues
}

// retryWaits are the waits after each failed attempt; after one more the webhook rests.
func retryWaits() []time.Duration {
	return []time.Duration{
		5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
}
