package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/modules/account"
	"github.com/scrollery/scrollery/modules/admission"
	"github.com/scrollery/scrollery/modules/billing"
	"github.com/scrollery/scrollery/modules/billing/credits"
	"github.com/scrollery/scrollery/modules/briefs"
	"github.com/scrollery/scrollery/modules/changes"
	"github.com/scrollery/scrollery/modules/collections"
	"github.com/scrollery/scrollery/modules/imports"
	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/removals"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/kernel/webpage"
	"github.com/scrollery/scrollery/modules/keys"
	"github.com/scrollery/scrollery/modules/keys/form"
	"github.com/scrollery/scrollery/modules/library/insight"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/removal"
	"github.com/scrollery/scrollery/modules/library/scoring"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/modules/oauth"
	"github.com/scrollery/scrollery/modules/quota"
	"github.com/scrollery/scrollery/modules/sandbox"
	"github.com/scrollery/scrollery/modules/scrolls"
	"github.com/scrollery/scrollery/modules/shares"
	"github.com/scrollery/scrollery/modules/sources"
	"github.com/scrollery/scrollery/modules/usage"
	"github.com/scrollery/scrollery/modules/workspace"
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

// collected implements the collections' need of the library.
type collected struct {
	videos.Catalog
	*insight.Service
}

// dependants are what customers keep of videos beside the library. An undo puts videos back into
// collections, but not on a page that others read.
type dependants struct {
	*collections.Members
	pages *shares.Parts
}

func (d dependants) Forget(ctx context.Context, tx *store.Tx, ids []int64) error {
	if err := d.Members.Forget(ctx, tx, ids); err != nil {
		return err
	}
	return d.pages.Forget(ctx, tx, ids)
}

// sharedParts implements the shares' need of the library.
type sharedParts struct {
	videos.Catalog
	insight     *insight.Service
	collections *collections.Service
}

func (p sharedParts) Video(ctx context.Context, id string) ([]byte, error) {
	return p.insight.Video(ctx, id)
}

func (p sharedParts) First(ctx context.Context, id string, most int) ([]string, bool, error) {
	return p.collections.First(ctx, id, most)
}

// agentCharges implements the sandbox's need of charges.
type agentCharges struct{ *credits.Service }

func (c agentCharges) Open(ctx context.Context, account, fee int64) (context.Context, sandbox.Charge, error) {
	return c.Service.Open(ctx, account, fee, credits.Agent)
}

// briefCharges implements the briefs' need of charges.
type briefCharges struct{ *credits.Service }

func (c briefCharges) Open(ctx context.Context, account, fee int64) (context.Context, briefs.Charge, error) {
	return c.Service.Open(ctx, account, fee, credits.Brief)
}

// siteQuotas implements the host's need of quotas.
type siteQuotas struct{ ledger *quota.Service }

func (p siteQuotas) Spend(ctx context.Context, plugin string, a stage.Allowance, units int64, item string) (bool, time.Time, error) {
	answer, err := p.ledger.Spend(ctx, quotaOf(plugin, a), units, item)
	return answer.Granted, answer.RetryAt, err
}

func (p siteQuotas) GiveBack(ctx context.Context, plugin string, a stage.Allowance, units int64, since time.Time) error {
	return p.ledger.GiveBack(ctx, quotaOf(plugin, a), units, since)
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

// keyStates implements admission's need of keys.
type keyStates struct{}

func (keyStates) Digest(text string) (hash []byte, session, ok bool) { return form.Digest(text) }

func (keyStates) Check(key admission.Key, at time.Time) error { return keys.State(key).Check(at) }

// spending implements admission's need of usage.
type spending struct{ usage *usage.Service }

func (s spending) Counters(at time.Time) (day, month int) { return usage.Day(at), usage.Month(at) }

func (s spending) Unstored(accountID int64, at time.Time) (daily, monthly int64) {
	spent := s.usage.Unstored(accountID, at)
	return spent.Daily, spent.Monthly
}

func (s spending) Wait(ctx context.Context, daily, monthly int64) (time.Duration, error) {
	return s.usage.Wait(ctx, usage.Budget{Daily: daily, Monthly: monthly})
}

// callingKeys implements the account's need of the calling key.
type callingKeys struct{ keys *keys.Service }

func (c callingKeys) Calling(ctx context.Context) (account.Key, error) {
	k, err := c.keys.Calling(ctx)
	if err != nil {
		return account.Key{}, err
	}
	return account.Key{ID: k.ID, Hint: k.Hint, Session: k.Session, Scopes: k.Scopes, CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt}, nil
}

// balances implements the account's need of credits.
type balances struct{ credits *credits.Service }

func (b balances) Balance(ctx context.Context, accountID int64) (free, held int64, err error) {
	now, err := b.credits.Balance(ctx, accountID)
	return max(now.Credits-now.Held, 0), now.Held, err
}

// Units implements the account's need of usage.
func (s spending) Units(ctx context.Context) (daily, monthly account.Units, err error) {
	day, month, err := s.usage.Units(ctx)
	return account.Units(day), account.Units(month), err
}

// changedNames implements the change feed's need of names.
type changedNames struct {
	videos *videos.Service
	lists  *lists.Service
}

func (c changedNames) Names(ctx context.Context, ids []int64) ([]changes.Named, error) {
	found, err := c.videos.Catalog.Names(ctx, ids)
	return each(found, err, func(v videos.Named) changes.Named { return changes.Named(v) })
}

func (c changedNames) ListedTrends(ctx context.Context) ([]changes.Trend, error) {
	found, err := c.lists.Listed(ctx)
	return each(found, err, func(t lists.ListedTrend) changes.Trend {
		return changes.Trend{Key: t.Key, Label: t.Label, Hash: scoring.KeyHash(t.Key)}
	})
}

// plans returns the limits of the tenant of the context.
type plans struct {
	subscriptions *billing.Subscriptions
	usage         *usage.Service
	library       *videos.Service
	keys          *keys.Service
}

func (p plans) Limits(ctx context.Context) (scrolls.Limits, error) {
	account, _, _ := viewer.Tenant(ctx)
	limits, err := p.subscriptions.Limits(ctx, account)
	if err != nil {
		return scrolls.Limits{}, err
	}
	blocked, err := p.keys.Blocked(ctx, account)
	if err != nil {
		return scrolls.Limits{}, err
	}
	room, err := p.room(ctx, limits)
	return scrolls.Limits{
		Active: limits.Active, Blocked: blocked, MaxFeedSize: min(limits.MaxFeedSize, room), ActiveScrolls: limits.ActiveScrolls, Room: room, FramedVideos: limits.FramedVideos,
	}, err
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

// room is how many more videos the library of the tenant of the context may have.
func (p plans) room(ctx context.Context, limits billing.Limits) (int, error) {
	size, err := p.library.Catalog.Size(ctx)
	return max(0, limits.MaxVideos-size), err
}

// importPlans implements the need of imports.
type importPlans struct {
	plans
	workspace *workspace.Reader
}

func (p importPlans) Limits(ctx context.Context) (imports.Limits, error) {
	account, _, _ := viewer.Tenant(ctx)
	limits, err := p.subscriptions.Limits(ctx, account)
	if err != nil {
		return imports.Limits{}, err
	}
	room, err := p.room(ctx, limits)
	return imports.Limits{MaxBytes: limits.MaxImportBytes, MaxVideos: limits.MaxVideos, Room: room}, err
}

func (p importPlans) Briefed(ctx context.Context) (bool, error) {
	_, briefed, err := p.workspace.Subject(ctx)
	return briefed, err
}

// importLibrary implements the need of imports of the library.
type importLibrary struct {
	videos.Catalog
	videos.Deletions
}

// importRuns implements the need of imports of runs.
type importRuns struct{ scrolls *scrolls.Service }

func (r importRuns) QueueImport(ctx context.Context, tx *store.Tx) (int64, error) {
	return r.scrolls.QueueImport(ctx, tx)
}

func (r importRuns) RunOf(ctx context.Context, scrollID int64) (imports.Run, error) {
	run, err := r.scrolls.RunOf(ctx, scrollID)
	return imports.Run(run), err
}

func (r importRuns) Import(ctx context.Context, next func() ([]imports.Reading, error)) (imports.Imported, error) {
	done, err := r.scrolls.Import(ctx, func() ([]scrolls.Reading, error) {
		batch, err := next()
		return each(batch, err, func(r imports.Reading) scrolls.Reading { return scrolls.Reading(r) })
	})
	parts, err := each(done.Parts, err, func(t scrolls.Tally) imports.Tally { return imports.Tally(t) })
	return imports.Imported{ScrollID: done.ScrollID, Parts: parts}, err
}

// importReadings implements the need of scrolls of what queued imports read.
type importReadings struct{ imports *imports.Readings }

func (i importReadings) Readings(ctx context.Context, scrollID int64) (*scrolls.Source, error) {
	total, next, err := i.imports.Of(ctx, scrollID)
	if err != nil || next == nil {
		return nil, err
	}
	return &scrolls.Source{Total: total, Next: func() ([]scrolls.Reading, error) {
		batch, err := next()
		return each(batch, err, func(r imports.Reading) scrolls.Reading { return scrolls.Reading(r) })
	}}, nil
}

// sourceQuotas implements the scrolls' need of quotas.
type sourceQuotas struct {
	ledger *quota.Service
	host   *host.Host
}

func (q sourceQuotas) Left(ctx context.Context, source string, handles, terms int) (all []scrolls.QuotaLeft, err error) {
	owned, err := q.host.Owned(ctx)
	if err != nil {
		return nil, err
	}
	left, err := q.left(ctx, q.host.QuotasOf(source, owned[source]), handles, terms)
	for _, known := range left {
		one := scrolls.QuotaLeft{Name: known.Name, Money: known.Money, Limit: known.Limit, Needed: known.Needed, Left: known.Left}
		if !known.answer.RetryAt.IsZero() {
			at := known.answer.RetryAt.UnixMilli()
			one.RetryAt = &at
		}
		all = append(all, one)
	}
	return all, err
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

// lives is how long this configuration keeps what it stores; 0 is as long as the account.
func lives(cfg Config) map[string]time.Duration {
	return map[string]time.Duration{
		"library":            0,
		"frames":             0,
		"deletions":          removal.UndoFor,
		"tombstones":         0,
		"removal_log":        removals.KeepEnded,
		"dropped_verdicts":   cfg.Scrolls.KeepDrops,
		"changes":            feed.Keep,
		"webhook_deliveries": feed.Keep,
		"usage_events":       cfg.Usage.KeepEvents,
		"recovery_codes":     keys.KeepEnded,
		"sessions":           keys.KeepEnded,
		"authorizations":     oauth.KeepEnded,
		"upload_parts":       imports.KeepParts,
		"source_pages":       sources.Kept,
		"quota_entries":      quota.Kept,
		"unpaid_checkouts":   billing.KeepEnded,
		"payment_events":     billing.KeepEvents,
		"failed_jobs":        jobs.KeepFailed,
		"ended_shares":       shares.KeepEnded,
		"account":            0,
	}
}

// archiver stores the batches of a scroll in the library.
type archiver struct {
	videos  *videos.Service
	scoring *scoring.Service
}

func (a archiver) Archive(ctx context.Context, tx *store.Tx, batch scrolls.Batch) (added []stage.Ref, reobserved int, err error) {
	return a.videos.Archive(ctx, tx, videos.Batch(batch))
}

func (a archiver) Renew(ctx context.Context, tx *store.Tx, batch scrolls.Batch) (changed int, err error) {
	return a.videos.Renew(ctx, tx, videos.Batch(batch))
}

func (a archiver) Gone(ctx context.Context, tx *store.Tx, refs []stage.Ref, at int64) (marked int, err error) {
	return a.videos.Gone(ctx, tx, refs, at)
}

func (a archiver) Welcome(ctx context.Context, records []*stage.Record) ([]*stage.Record, error) {
	return a.videos.Tombstones.Welcome(ctx, nil, records)
}

func (a archiver) Erased(ctx context.Context, tx *store.Tx, platform string, handles []string) (map[string]bool, error) {
	return a.videos.Tombstones.Erased(ctx, tx, platform, handles)
}

func (a archiver) KeepFrames(ctx context.Context, kept int) error {
	return a.videos.KeepFrames(ctx, kept)
}

func (a archiver) Score(ctx context.Context, scrollID int64) error {
	return a.scoring.Score(ctx, scrollID)
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
	return a.keys.Codes.AskSignIn(ctx, tx, email)
}

func (a signIns) Try(ctx context.Context, email, code, client string, then func(ctx context.Context, tx *store.Tx) error) (oauth.Tried, error) {
	status, err := a.keys.Codes.SignIn(ctx, email, code, client, then)
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
