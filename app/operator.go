package app

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"go.uber.org/fx"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/modules/account"
	"github.com/scrollery/scrollery/modules/billing"
	"github.com/scrollery/scrollery/modules/billing/credits"
	"github.com/scrollery/scrollery/modules/changes/webhooks"
	"github.com/scrollery/scrollery/modules/imports"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/removals"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/keys"
	"github.com/scrollery/scrollery/modules/library/removal"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/modules/operator"
	"github.com/scrollery/scrollery/modules/quota"
	"github.com/scrollery/scrollery/modules/rules"
	"github.com/scrollery/scrollery/modules/scrolls"
	"github.com/scrollery/scrollery/modules/sources"
	"github.com/scrollery/scrollery/modules/workspace"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Operator is the API of the command line. It opens the database itself, beside a
// running server, and neither listens nor runs jobs.
type Operator struct {
	*operator.Service
	Billing *billing.Service
	graph   *fx.App
	db      *store.DB
}

// NewOperator opens the database. It never migrates: it fails if the schema is not
// this version's.
func NewOperator(ctx context.Context, cfg Config, log *slog.Logger) (*Operator, error) {
	o := &Operator{}
	o.graph = fx.New(modules(cfg, log, store.Module), operator.Module, fx.Provide(operatorNeeds), fx.Populate(&o.Service, &o.Billing, &o.db))
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

// operatorNeeds implements the needs of the module operator. Its types have the same
// fields as the types of the other modules, and are converted.
func operatorNeeds(cfg Config, k *keys.Service, b *billing.Subscriptions, c *credits.Service, s *scrolls.Service, i *imports.Service, q *quota.Service, h *host.Host, w *workspace.Service, r *rules.Service, l *videos.Service, d *removal.Service, m *webhooks.Service, a *sources.Accounts, e *account.Service) (operator.Config, operator.Needs) {
	return operator.Config{SandboxDir: cfg.Sandbox.Dir, TokensDir: newStageTokens(cfg).folder, RemovedDir: filepath.Join(cfg.DataDir, removals.Folder), KeyFile: filepath.Join(cfg.DataDir, secretKeyFile), Keys: cfg.keyRing()}, operator.Needs{
		Keys: k, Accounts: accountLists{k}, Subscriptions: subscriptions{b}, Credits: creditLists{c},
		Scrolls: scrollLists{s}, Importer: importer{i}, Quotas: quotaLists{q, h}, Restorer: restorer{w, r, l}, Leavers: e.Eraser,
		Creators: creators{d}, Secrets: sealed{m, d, a, newStageTokens(cfg)},
	}
}

// each converts the items of a list.
func each[From, To any](from []From, err error, to func(From) To) ([]To, error) {
	all := make([]To, len(from))
	for i := range from {
		all[i] = to(from[i])
	}
	return all, err
}

type accountLists struct{ keys *keys.Service }

func (a accountLists) List(ctx context.Context, email string) ([]operator.Key, error) {
	found, err := a.keys.List(ctx, email)
	return each(found, err, func(k keys.Key) operator.Key { return operator.Key(k) })
}

func (a accountLists) Accounts(ctx context.Context, after int64, limit int) ([]operator.AccountRow, error) {
	found, err := a.keys.Accounts(ctx, after, limit)
	return each(found, err, func(r keys.AccountRow) operator.AccountRow { return operator.AccountRow(r) })
}

func (a accountLists) Block(ctx context.Context, account int64, lift bool) (bool, error) {
	return a.keys.Block(ctx, account, lift)
}

type subscriptions struct{ all *billing.Subscriptions }

func (s subscriptions) Of(ctx context.Context, account int64) (operator.Subscription, error) {
	found, err := s.all.Of(ctx, account)
	return operator.Subscription(found), err
}

func (s subscriptions) Change(ctx context.Context, account int64, plan string) error {
	return s.all.Change(ctx, account, plan)
}

func (s subscriptions) Limit(ctx context.Context, account int64, changes []string) error {
	return s.all.Limit(ctx, account, changes)
}

type creditLists struct{ ledger *credits.Service }

func (c creditLists) Balance(ctx context.Context, account int64) (operator.Balance, error) {
	balance, err := c.ledger.Balance(ctx, account)
	return operator.Balance(balance), err
}

func (c creditLists) Entries(ctx context.Context, account int64, limit int) ([]operator.Movement, error) {
	found, err := c.ledger.Entries(ctx, account, limit)
	return each(found, err, func(e credits.Entry) operator.Movement { return operator.Movement(e) })
}

func (c creditLists) Grant(ctx context.Context, account, amount int64, reference string) (operator.Balance, error) {
	balance, err := c.ledger.Grant(ctx, account, amount, reference)
	return operator.Balance(balance), err
}

func (c creditLists) Take(ctx context.Context, account, amount int64, reference string) (operator.Balance, error) {
	balance, err := c.ledger.Take(ctx, account, amount, reference)
	return operator.Balance(balance), err
}

type scrollLists struct{ scrolls *scrolls.Service }

func (s scrollLists) List(ctx context.Context, status string, limit int) ([]operator.ScrollLine, error) {
	found, err := scrolls.All{Service: s.scrolls}.Newest(ctx, status, limit)
	return each(found, err, func(scroll scrolls.Held) operator.ScrollLine {
		line := operator.ScrollLine{ID: publicid.Format(publicid.Scroll, scroll.ID), Account: publicid.Format(publicid.Account, scroll.Account), Status: scroll.Status, Videos: scroll.NewVideos, Created: time.UnixMilli(scroll.CreatedAt).UTC()}
		if scroll.FailureCode != nil {
			line.Failure = *scroll.FailureCode
		}
		return line
	})
}

func (s scrollLists) Again(ctx context.Context, id string) (string, error) {
	scroll, err := scrolls.All{Service: s.scrolls}.Again(ctx, id)
	if err != nil || scroll == nil {
		return "", err
	}
	return publicid.Format(publicid.Scroll, scroll.ID), nil
}

func (s scrollLists) Stop(ctx context.Context, account int64) error {
	return scrolls.All{Service: s.scrolls}.Stop(ctx, account)
}

func (s scrollLists) Verdicts(ctx context.Context, scroll string, droppedOnly bool, limit int) ([]stage.Verdict, error) {
	filter := scrolls.VerdictFilter{Scroll: scroll}
	if droppedOnly {
		filter.Dropped = &droppedOnly
	}
	found, _, err := s.scrolls.Verdicts(ctx, filter, limit, "")
	return each(found, err, func(v scrolls.Verdict) stage.Verdict { return v.Verdict })
}

func (s scrollLists) Cancel(ctx context.Context, id string) (status string, done bool, err error) {
	scroll, err := s.scrolls.Cancel(ctx, id)
	if err != nil || scroll == nil {
		return "", false, err
	}
	return scroll.Status, scroll.Status == scrolls.Cancelled, nil
}

type creators struct{ removal *removal.Service }

func (c creators) Erase(ctx context.Context, o operator.EraseOrder) (*operator.Receipt, error) {
	r, err := c.removal.Erase(ctx, o.Platform, o.Handle, o.CreatorID, o.Reason)
	return (*operator.Receipt)(r), err
}

func (c creators) Held(ctx context.Context) ([]operator.Held, error) {
	all, err := c.removal.Held(ctx)
	return each(all, err, func(h removal.Held) operator.Held { return operator.Held(h) })
}

func (c creators) CheckReceipt(text []byte) (*operator.Receipt, error) {
	r, err := c.removal.CheckReceipt(text)
	return (*operator.Receipt)(r), err
}

// sealed is all that the server's key seals.
type sealed struct {
	webhooks *webhooks.Service
	removal  *removal.Service
	accounts *sources.Accounts
	tokens   stageTokens
}

func (s sealed) Reseal(ctx context.Context) (resealed int, err error) {
	for _, reseal := range []func(context.Context) (int, error){s.webhooks.Reseal, s.removal.Reseal, s.accounts.Reseal, s.tokens.Reseal} {
		n, err := reseal(ctx)
		if resealed += n; err != nil {
			return resealed, err
		}
	}
	return resealed, nil
}

type importer struct{ imports *imports.Service }

func (i importer) Import(ctx context.Context, order operator.ReadingOrder) (operator.Imported, error) {
	done, err := i.imports.Load(ctx, imports.Order{Stream: order.Stream, Stored: order.Stored, Next: func() ([]imports.Reading, error) {
		batch, err := order.Next()
		return each(batch, err, func(r operator.Reading) imports.Reading { return imports.Reading(r) })
	}})
	parts, err := each(done.Parts, err, func(t imports.Tally) operator.Tally { return operator.Tally(t) })
	return operator.Imported{ScrollID: done.ScrollID, Parts: parts}, err
}

type quotaLists struct {
	ledger *quota.Service
	host   *host.Host
}

func (q quotaLists) Quotas(ctx context.Context) (all []operator.Quota, err error) {
	for _, known := range q.host.Quotas() {
		s, err := q.ledger.Status(ctx, quotaOf(known.Plugin, known.Allowance))
		if err != nil {
			return nil, err
		}
		all = append(all, operator.Quota{
			Plugin: s.Plugin, Name: s.Name, Window: string(s.Window), Used: s.Used, Limit: s.Limit, Tenants: s.Tenants, RenewsAt: s.RenewsAt, Money: known.Money,
		})
	}
	return all, nil
}

// restorer implements the operator's need of what an export has.
type restorer struct {
	workspace *workspace.Service
	rules     *rules.Service
	library   *videos.Service
}

func (r restorer) Brief(ctx context.Context, brief operator.ExportedBrief) error {
	if set, err := r.workspace.Get(ctx); err != nil || set != nil {
		return err
	}
	_, _, err := r.workspace.Set(ctx, workspace.Change{
		Description: brief.Description, Website: brief.Website, AppStoreURL: brief.AppStoreURL, Name: brief.Name, Competitors: &brief.Competitors,
	})
	return explained(err)
}

func (r restorer) Rules(ctx context.Context, text string) error {
	if version, err := r.rules.Version(ctx); err != nil || version > 0 {
		return err
	}
	_, _, err := r.rules.Put(ctx, text)
	return explained(err)
}

// explained is an error with the first fault that it lists, for people.
func explained(err error) error {
	if refused := apierr.As(err); refused != nil && len(refused.Issues) > 0 {
		return fmt.Errorf("%s %s: %w", refused.Issues[0].Path, refused.Issues[0].Message, err)
	}
	return err
}

func (r restorer) Mark(ctx context.Context, ref stage.Ref, marks operator.Marks) error {
	id, found, err := r.library.Catalog.IDOf(ctx, ref)
	if err != nil || !found {
		return err
	}
	edits := videos.Edits{Service: r.library}
	if len(marks.Annotations) > 0 && string(marks.Annotations) != "null" {
		if _, _, err := edits.Annotate(ctx, id, marks.Annotations); err != nil {
			return explained(err)
		}
	}
	for _, one := range []struct{ archived, hookOnly bool }{{marks.HookArchived, true}, {marks.Archived, false}} {
		if one.archived {
			if _, err := edits.ArchiveVideo(ctx, id, one.hookOnly, true); err != nil {
				return err
			}
		}
	}
	return nil
}
