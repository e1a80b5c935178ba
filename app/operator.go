package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"go.uber.org/fx"

	"github.com/scrollery/scrollery/app/pluginhost"
	"github.com/scrollery/scrollery/modules/billing"
	"github.com/scrollery/scrollery/modules/billing/credits"
	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/keys"
	"github.com/scrollery/scrollery/modules/quota"
	"github.com/scrollery/scrollery/modules/scrolls"
)

// Operator is the command line's way to the rooms. It opens the database itself,
// beside a running server, and neither listens nor works on jobs.
type Operator struct {
	graph   *fx.App
	db      *store.DB
	keys    *keys.Service
	scrolls *scrolls.Service
	billing *billing.Service
	subs    *billing.Subscriptions
	credits *credits.Service
	quotas  *quota.Service
	host    *pluginhost.Host
}

// NewOperator opens the database and brings it to this version's schema.
func NewOperator(ctx context.Context, cfg Config, log *slog.Logger) (*Operator, error) {
	o := &Operator{}
	o.graph = fx.New(rooms(cfg, log), fx.Populate(&o.db, &o.keys, &o.scrolls, &o.billing, &o.subs, &o.credits, &o.quotas, &o.host))
	if err := o.graph.Err(); err != nil {
		return nil, cause(err)
	}
	return o, o.graph.Start(ctx)
}

// Close closes the database.
func (o *Operator) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return o.graph.Stop(ctx)
}

// KeyOrder asks for a key of a complimentary account.
type KeyOrder struct {
	// Email of the account; a known one gets one more key.
	Email string
	// Plan is `standard` or `pro`.
	Plan string
	// Scopes are all when empty.
	Scopes []string
	// TTL above 0 makes a session key.
	TTL time.Duration
}

// maxTTL is the longest life of a session key.
const maxTTL = 24 * time.Hour

// Validate reports what cannot be made.
func (k KeyOrder) Validate() error {
	var faults []error
	if _, ok := mail.Address(k.Email); !ok {
		faults = append(faults, fmt.Errorf("--email %q is not an e-mail address", k.Email))
	}
	if k.Plan != "standard" && k.Plan != "pro" {
		faults = append(faults, fmt.Errorf("--plan %q is neither standard nor pro", k.Plan))
	}
	for _, scope := range k.Scopes {
		if !slices.Contains(viewer.AllScopes(), scope) {
			faults = append(faults, fmt.Errorf("--scopes: there is no %q; there are %s", scope, strings.Join(viewer.AllScopes(), ", ")))
		}
	}
	if k.TTL < 0 || k.TTL > maxTTL {
		faults = append(faults, fmt.Errorf("--ttl %v is not between 0 and %v", k.TTL, maxTTL))
	}
	return errors.Join(faults...)
}

// CreateKey returns a new key; it is not shown again.
func (o *Operator) CreateKey(ctx context.Context, order KeyOrder) (string, error) {
	return o.keys.CreateForEmail(asOperator(ctx), order.Email, order.Plan, order.Scopes, order.TTL)
}

// KeyLine is a key as a list shows it.
type KeyLine struct {
	ID, Hint, State string
	Created         time.Time
	Scopes          []string
}

// Keys lists the keys of an address.
func (o *Operator) Keys(ctx context.Context, email string) ([]KeyLine, error) {
	found, err := o.keys.List(viewer.System(ctx), email)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no account has the address %s", email)
	}
	lines := make([]KeyLine, 0, len(found))
	for _, key := range found {
		line := KeyLine{ID: key.ID, Hint: key.Hint, State: "active", Created: key.CreatedAt.UTC(), Scopes: key.Scopes}
		switch {
		case !key.RevokedAt.IsZero():
			line.State = "revoked"
		case !key.ExpiresAt.IsZero() && key.ExpiresAt.Before(time.Now()):
			line.State = "expired"
		case key.Session:
			line.State = "session"
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// RevokeKey ends a key and its session keys.
func (o *Operator) RevokeKey(ctx context.Context, id string) error {
	return o.keys.Revoke(asOperator(ctx), id)
}

// tenant returns a context that acts for the account of an address.
func (o *Operator) tenant(ctx context.Context, email string) (context.Context, error) {
	account, ok, err := o.keys.AccountOf(viewer.System(ctx), email)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("no account has the address %s", email)
	}
	return viewer.As(ctx, account), nil
}

// ScrollLine is a scroll as a list shows it.
type ScrollLine struct {
	ID, Status, Failure string
	Videos              int
	Created             time.Time
}

// listedScrolls is how many scrolls a list shows.
const listedScrolls = 100

// Scrolls lists an account's newest scrolls.
func (o *Operator) Scrolls(ctx context.Context, email string) ([]ScrollLine, error) {
	ctx, err := o.tenant(ctx, email)
	if err != nil {
		return nil, err
	}
	found, _, err := o.scrolls.List(ctx, listedScrolls, "")
	if err != nil {
		return nil, err
	}
	lines := make([]ScrollLine, 0, len(found))
	for _, scroll := range found {
		line := ScrollLine{ID: publicid.Format(publicid.Scroll, scroll.ID), Status: scroll.Status, Videos: scroll.NewVideos, Created: time.UnixMilli(scroll.CreatedAt).UTC()}
		if scroll.FailureCode != nil {
			line.Failure = *scroll.FailureCode
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// VerdictLine is what the screens said of a video, as a list shows it.
type VerdictLine struct {
	Platform, ExternalID string
	// Verdict is `kept` or `dropped`.
	Verdict, Rule, Reason string
	Rank                  float64
}

// listedVerdicts is how many verdicts a list shows.
const listedVerdicts = 1000

// Verdicts shows an account's newest verdicts, or those of one scroll.
func (o *Operator) Verdicts(ctx context.Context, email, scroll string, droppedOnly bool, show func(VerdictLine)) error {
	ctx, err := o.tenant(ctx, email)
	if err != nil {
		return err
	}
	filter := scrolls.VerdictFilter{Scroll: scroll}
	if droppedOnly {
		filter.Dropped = &droppedOnly
	}
	found, _, err := o.scrolls.Verdicts(ctx, filter, listedVerdicts, "")
	if err != nil {
		return err
	}
	for _, v := range found {
		line := VerdictLine{Platform: v.Platform, ExternalID: v.ExternalID, Verdict: "kept", Rule: v.DroppedBy, Reason: v.Reason, Rank: v.Rank}
		if v.DroppedBy != "" {
			line.Verdict = "dropped"
		}
		show(line)
	}
	return nil
}

// CancelScroll cancels a scroll of any account.
func (o *Operator) CancelScroll(ctx context.Context, id string) error {
	scroll, err := o.scrolls.Cancel(viewer.System(ctx), id)
	switch {
	case err != nil:
		return err
	case scroll == nil:
		return fmt.Errorf("there is no scroll %s", id)
	case scroll.Status != scrolls.Cancelled:
		return fmt.Errorf("scroll %s has already %s", id, scroll.Status)
	}
	return nil
}

// Quotas tells how much is used of what sites allow.
func (o *Operator) Quotas(ctx context.Context) ([]quota.Status, error) {
	var all []quota.Status
	for _, q := range o.host.Quotas() {
		status, err := o.quotas.Status(ctx, quotaOf(q.Plugin, q.Allowance))
		if err != nil {
			return nil, err
		}
		all = append(all, status)
	}
	return all, nil
}
