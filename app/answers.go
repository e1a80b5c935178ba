package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/scrollery/scrollery/app/pluginhost"
	"github.com/scrollery/scrollery/modules/account"
	"github.com/scrollery/scrollery/modules/billing"
	"github.com/scrollery/scrollery/modules/billing/credits"
	"github.com/scrollery/scrollery/modules/changes"
	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/kernel/webpage"
	"github.com/scrollery/scrollery/modules/keys"
	"github.com/scrollery/scrollery/modules/library"
	"github.com/scrollery/scrollery/modules/oauth"
	"github.com/scrollery/scrollery/modules/quota"
	"github.com/scrollery/scrollery/modules/scrolls"
	"github.com/scrollery/scrollery/modules/usage"
	"github.com/scrollery/scrollery/plugins/stage"
)

// The answers of bindings.go that convert between the types of two modules, or
// choose by the configuration.

// ledger implements billing's need of credits.
type ledger struct{ *credits.Service }

func (l ledger) Balance(ctx context.Context, account int64) (int64, error) {
	now, err := l.Service.Balance(ctx, account)
	return now.Free(), err
}

// siteQuotas implements the host's need of quotas.
type siteQuotas struct{ ledger *quota.Service }

func (p siteQuotas) Spend(ctx context.Context, plugin string, a stage.Allowance, units int64, item string) (bool, time.Time, error) {
	answer, err := p.ledger.Spend(ctx, quotaOf(plugin, a), units, item)
	return answer.Granted, answer.RetryAt, err
}

func quotaOf(plugin string, a stage.Allowance) quota.Allowance {
	return quota.Allowance{Plugin: plugin, Name: a.Name, Limit: a.Limit, Window: quota.Window(a.Window)}
}

// mailer is the configured mail server or, without one, the outbox folder.
func mailer(cfg Config, log *slog.Logger) (keys.Mailer, error) {
	if cfg.SMTPURL != "" {
		return mail.NewSMTP(cfg.SMTPURL, cfg.MailFrom, log)
	}
	return mail.NewOutbox(cfg.Outbox(), cfg.MailFrom)
}

// paymentProvider is Stripe if its key is set, otherwise the test checkout, with its
// pages.
func paymentProvider(cfg billing.Config, test *billing.TestCheckout, log *slog.Logger) (billing.Provider, checkoutPages, error) {
	if cfg.Stripe.SecretKey == "" {
		return test, test, nil
	}
	pages, err := billing.NewReturned(log)
	return billing.NewStripe(cfg), pages, err
}

// checkoutPages are the pages under /checkout/.
type checkoutPages interface{ http.Handler }

// plans returns the limits of the tenant of the context.
type plans struct {
	subscriptions *billing.Subscriptions
	usage         *usage.Service
}

func (p plans) Limits(ctx context.Context) (scrolls.Limits, error) {
	account, _, _ := viewer.Tenant(ctx)
	limits, err := p.subscriptions.Limits(ctx, account)
	return scrolls.Limits{Active: limits.Active, MaxFeedSize: limits.MaxFeedSize, ActiveScrolls: limits.ActiveScrolls}, err
}

func (p plans) BudgetLeft(ctx context.Context) (scrolls.Budget, error) {
	account, _, _ := viewer.Tenant(ctx)
	limits, err := p.subscriptions.Limits(ctx, account)
	if err != nil {
		return scrolls.Budget{}, err
	}
	left, wait, err := p.usage.Left(ctx, usage.Budget{Daily: limits.DailyUnits, Monthly: limits.MonthlyUnits})
	return scrolls.Budget{Daily: left.Daily, Monthly: left.Monthly, Wait: wait}, err
}

// sourceQuotas implements the scrolls' need of quotas.
type sourceQuotas struct {
	ledger *quota.Service
	host   *pluginhost.Host
}

func (q sourceQuotas) Left(ctx context.Context, source string, handles, terms int) (all []scrolls.QuotaLeft, err error) {
	for _, known := range q.host.Quotas() {
		if known.Plugin != source {
			continue
		}
		one := scrolls.QuotaLeft{Name: known.Name, Limit: known.Limit, Needed: known.Cost.Handle*int64(handles) + known.Cost.Term*int64(terms)}
		left, answer, err := q.ledger.Left(ctx, quotaOf(source, known.Allowance), one.Needed)
		if err != nil {
			return nil, err
		}
		if one.Left = left; !answer.RetryAt.IsZero() {
			at := answer.RetryAt.UnixMilli()
			one.RetryAt = &at
		}
		all = append(all, one)
	}
	return all, nil
}

// exportedChanges implements the need of exports of the change feed.
type exportedChanges struct{ feed *changes.Service }

func (e exportedChanges) After(ctx context.Context, seq int64, most int) (all []account.Change, next int64, err error) {
	page, err := e.feed.Read(ctx, seq, nil, most)
	if apierr.Is(err, apierr.CursorExpired) { // at the start, or deleted meanwhile
		if seq, err = e.feed.Start(ctx, changes.From{Oldest: true}); err == nil {
			page, err = e.feed.Read(ctx, seq, nil, most)
		}
	}
	for i := range page.Changes {
		all = append(all, account.Change(page.Changes[i].Show()))
	}
	return all, page.Next, err
}

// kept is how long this configuration keeps what it stores for an account.
func kept(cfg Config) []account.Kept {
	return []account.Kept{
		{Data: "library", Description: "Videos with their observations, scores, hooks and annotations."},
		{Data: "dropped_verdicts", For: cfg.Scrolls.KeepDrops, Description: "Verdicts on videos that were dropped."},
		{Data: "changes", For: feed.Keep, Description: "The change feed."},
		{Data: "webhook_deliveries", For: feed.Keep, Description: "Attempts to deliver to webhooks."},
		{Data: "usage_events", For: cfg.Usage.KeepEvents, Description: "Calls that were made with the keys of the account."},
		{Data: "recovery_codes", For: 24 * time.Hour, Description: "Codes and links for lost keys, and sign-ins of agents, after they have ended."},
		{Data: "account", Description: "Everything else: workspace, rules, scrolls, keys, payments, credits and sandbox files."},
	}
}

// archiver stores the batches of a scroll in the library.
type archiver struct{ library *library.Service }

func (a archiver) Archive(ctx context.Context, tx *store.Tx, batch scrolls.Batch) (added []stage.Ref, reobserved int, err error) {
	return a.library.Archive(ctx, tx, library.Batch(batch))
}

func (a archiver) Renew(ctx context.Context, tx *store.Tx, batch scrolls.Batch) (changed int, err error) {
	return a.library.Renew(ctx, tx, library.Batch(batch))
}

func (a archiver) Gone(ctx context.Context, tx *store.Tx, refs []stage.Ref, at int64) (marked int, err error) {
	return a.library.Gone(ctx, tx, refs, at)
}

func (a archiver) Score(ctx context.Context, scrollID int64) error {
	return a.library.Score(ctx, scrollID)
}

// pages reads the pages of tenants, unless READ_PAGES is off.
func pages(cfg Config) scrolls.Pages {
	if !cfg.ReadPages {
		return nil
	}
	return webpage.New(cfg.Pages)
}

// signIns answers oauth.Mails.
type signIns struct{ keys *keys.Service }

func (a signIns) Ask(ctx context.Context, tx *store.Tx, email string) error {
	return a.keys.AskSignIn(ctx, tx, email)
}

func (a signIns) Try(ctx context.Context, email, code, client string, then func(ctx context.Context, tx *store.Tx) error) (oauth.Tried, error) {
	status, err := a.keys.SignIn(ctx, email, code, client, then)
	return map[string]oauth.Tried{keys.ReissueCompleted: oauth.Right, keys.ReissueRateLimited: oauth.TooMany}[status], err
}

func (a signIns) Accounts(ctx context.Context, email string) ([]oauth.Account, error) {
	found, err := a.keys.OwnedBy(ctx, email)
	out := make([]oauth.Account, len(found))
	for i, account := range found {
		out[i] = oauth.Account(account)
	}
	return out, err
}

// agentSessions answers oauth.Sessions.
type agentSessions struct{ keys *keys.Service }

func (a agentSessions) Anchor(ctx context.Context, tx *store.Tx, accountID int64, scopes []string, since time.Time) (int64, error) {
	id, err := a.keys.Anchor(ctx, tx, accountID, scopes, since)
	if errors.Is(err, keys.ErrKeysChanged) {
		err = oauth.ErrKeysChanged
	}
	return id, err
}

func (a agentSessions) Mint(ctx context.Context, tx *store.Tx, accountID, parentID int64, scopes []string) (oauth.Session, bool, error) {
	made, id, ok, err := a.keys.MintUnder(ctx, tx, accountID, parentID, scopes)
	return oauth.Session{Secret: made.Secret, KeyID: id, Scopes: made.Scopes, ExpiresAt: made.ExpiresAt}, ok, err
}

func (a agentSessions) End(ctx context.Context, tx *store.Tx, accountID, keyID int64) error {
	return a.keys.End(ctx, tx, accountID, keyID)
}

// protocols answers oauth.Protocols.
type protocols struct{ mux *api.Mux }

func (p protocols) Client(r *http.Request) string { return p.mux.ClientOf(r) }

func (p protocols) Spend(r *http.Request, name string, quota int) time.Duration {
	return p.mux.SpendMinute(r, name, quota)
}

func (p protocols) AgentScopes() []string { return p.mux.AgentScopes() }
