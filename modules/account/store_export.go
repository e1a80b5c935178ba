package account

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect/sql"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/auditentry"
	"github.com/scrollery/scrollery/ent/checkout"
	"github.com/scrollery/scrollery/ent/creditentry"
	"github.com/scrollery/scrollery/ent/fileimport"
	"github.com/scrollery/scrollery/ent/key"
	"github.com/scrollery/scrollery/ent/ruleitem"
	"github.com/scrollery/scrollery/ent/ruleset"
	"github.com/scrollery/scrollery/ent/scroll"
	"github.com/scrollery/scrollery/ent/trend"
	"github.com/scrollery/scrollery/ent/usagecounter"
	"github.com/scrollery/scrollery/ent/usageevent"
	"github.com/scrollery/scrollery/ent/verdict"
	"github.com/scrollery/scrollery/modules/kernel/deflate"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// rowsAtOnce is how many narrow rows are read at once.
const rowsAtOnce = 500

// eachByID calls do with each row that fetch returns, page by page. fetch returns the
// rows of ids above one, by id.
func eachByID[T any](ctx context.Context, fetch func(after int64) ([]T, error), id func(T) int64, do func(T) error) error {
	for after := int64(0); ; {
		rows, err := fetch(after)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := do(row); err != nil {
				return err
			}
			after = id(row)
		}
		if len(rows) < rowsAtOnce || ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// smallNames are the files of an account without its videos, in their order.
var smallNames = []string{
	"workspace", "rules", "ruleItems", "schedule", "scrolls", "imports", "verdicts", "trends", "keys", "subscription",
	"payments", "ledger", "usage", "audit", "events", "changes", "webhooks", "deliveries", "sources", "collections", "collectionVideos", "frames",
}

// further are the scopes that a key needs for a file of the export besides account:export,
// by the file's name. An entry of the audit can tell of keys and of money.
var further = map[string][]string{
	"keys": {"keys:read"}, "events": {"keys:read"}, "audit": {"keys:read", "billing:write"},
	"subscription": {"billing:write"}, "payments": {"billing:write"}, "ledger": {"billing:write"},
	"webhooks": {"webhooks:read"}, "deliveries": {"webhooks:read"}, "sources": {"sources:read"}, filesName: {"sandbox:write"},
}

// lacks returns a scope that the caller lacks for a file; empty for none.
func lacks(ctx context.Context, name string) string {
	caller := viewer.FromContext(ctx)
	for _, scope := range further[name] {
		if caller == nil || !caller.Has(scope) {
			return scope
		}
	}
	return ""
}

// small are the entities of these files.
func (e *exporter) small() []entity {
	rows := map[string]func() entity{
		"workspace": e.workspace, "rules": e.rulesets, "ruleItems": e.ruleItems, "schedule": e.schedule,
		"scrolls": e.scrolls, "imports": e.imports, "verdicts": e.verdicts, "trends": e.trends, "keys": e.keys,
		"subscription": e.subscription, "payments": e.payments, "ledger": e.ledger, "usage": e.usage,
		"audit": e.audit, "events": e.events, "changes": e.changes, "webhooks": e.webhooks, "deliveries": e.deliveries, "sources": e.sources,
		"collections": e.collections, "collectionVideos": e.collectionVideos, "frames": e.frames,
	}
	all := make([]entity, len(smallNames))
	for i, name := range smallNames {
		all[i] = rows[name]()
		all[i].name = name
	}
	return all
}

func (e *exporter) workspace() entity {
	return entity{
		columns: []column{"id", "description", "website", "appStoreUrl", "competitors", "subjectType", "subjectUrl", "canonicalId", "name", "createdAt", "updatedAt"},
		rows: func(ctx context.Context, do func(...any) error) error {
			w, err := e.db.Ent().Workspace.Query().First(ctx)
			if err != nil {
				return noneIsFine(err)
			}
			return do(publicid.Format(publicid.Workspace, w.ID), w.Description, w.Website, w.AppStoreURL, jsontext.Value(w.Competitors),
				w.SubjectType, w.SubjectURL, w.CanonicalID, w.Name, w.CreatedAt, w.UpdatedAt)
		},
	}
}

func noneIsFine(err error) error {
	if ent.IsNotFound(err) {
		return nil
	}
	return err
}

func (e *exporter) rulesets() entity {
	return entity{
		columns: []column{"version", "text", "createdAt"},
		rows: func(ctx context.Context, do func(...any) error) error {
			return eachByID(ctx, func(after int64) ([]*ent.Ruleset, error) {
				return e.db.Ent().Ruleset.Query().Where(ruleset.VersionGT(int(after))).Order(ruleset.ByVersion()).Limit(rowsAtOnce).All(ctx)
			}, func(r *ent.Ruleset) int64 { return int64(r.Version) }, func(r *ent.Ruleset) (err error) {
				text := r.Text
				if len(r.Packed) > 0 {
					if text, err = deflate.Unpack(r.Packed); err != nil {
						return err
					}
				}
				return do(r.Version, text, r.CreatedAt)
			})
		},
	}
}

func (e *exporter) ruleItems() entity {
	return entity{
		columns: []column{"id", "text", "position", "archived", "archivedAt", "createdAt"},
		rows: func(ctx context.Context, do func(...any) error) error {
			return eachByID(ctx, func(after int64) ([]*ent.RuleItem, error) {
				return e.db.Ent().RuleItem.Query().Where(ruleitem.IDGT(after)).Order(ruleitem.ByID()).Limit(rowsAtOnce).All(ctx)
			}, func(r *ent.RuleItem) int64 { return r.ID }, func(r *ent.RuleItem) error {
				return do(publicid.Format(publicid.Rule, r.ID), r.Text, r.Position, r.Archived, r.ArchivedAt, r.CreatedAt)
			})
		},
	}
}

func (e *exporter) schedule() entity {
	return entity{
		columns: []column{"everyDays", "prompt", "template", "nextAt", "createdAt"},
		rows: func(ctx context.Context, do func(...any) error) error {
			r, err := e.db.Ent().Recurrence.Query().First(ctx)
			if err != nil {
				return noneIsFine(err)
			}
			return do(r.EveryDays, r.Prompt, r.Template, r.NextAt, r.CreatedAt)
		},
	}
}

func (e *exporter) scrolls() entity {
	return entity{
		columns: []column{
			"id", "status", "stage", "progress", "newVideos", "failureCode", "schedule", "template", "prompt", "rulesVersion", "subject",
			"idempotencyKey", "createdAt", "updatedAt", "startedAt", "completedAt",
		},
		rows: func(ctx context.Context, do func(...any) error) error {
			return eachByID(ctx, func(after int64) ([]*ent.Scroll, error) {
				return e.db.Ent().Scroll.Query().Where(scroll.IDGT(after)).Order(scroll.ByID()).Limit(rowsAtOnce).All(ctx)
			}, func(r *ent.Scroll) int64 { return r.ID }, func(r *ent.Scroll) error {
				return do(publicid.Format(publicid.Scroll, r.ID), r.Status, r.Stage, jsontext.Value(r.Progress), r.NewVideos, r.FailureCode,
					r.Schedule, r.Template, r.Prompt, r.RulesVersion, r.Subject, r.IdempotencyKey, r.CreatedAt, r.UpdatedAt, r.StartedAt, r.CompletedAt)
			})
		},
	}
}

func (e *exporter) verdicts() entity {
	return entity{
		columns: []column{"platform", "externalId", "scrollId", "dropped", "rule", "ruleId", "rank", "reason", "judgedAt"},
		rows: func(ctx context.Context, do func(...any) error) error {
			return eachByID(ctx, func(after int64) ([]*ent.Verdict, error) {
				return e.db.Ent().Verdict.Query().Where(verdict.IDGT(after)).Order(verdict.ByID()).Limit(rowsAtOnce).All(ctx)
			}, func(r *ent.Verdict) int64 { return r.ID }, func(r *ent.Verdict) error {
				return do(r.Platform, r.ExternalID, publicid.Format(publicid.Scroll, r.ScrollID), r.Dropped, r.DroppedBy, r.RuleID, r.Rank, r.Reason, r.JudgedAt)
			})
		},
	}
}

// trends are read without the lists of their videos, which have megabytes in a large library.
func (e *exporter) trends() entity {
	read := []string{
		trend.FieldSubject, trend.FieldKey, trend.FieldLabel, trend.FieldWithArchived, trend.FieldListed, trend.FieldVideoCount, trend.FieldHead,
		trend.FieldExample1, trend.FieldExample2, trend.FieldExample3,
	}
	return entity{
		columns: []column{"subject", "key", "label", "includeArchived", "listed", "videoCount", "trend", "exampleIds"},
		rows: func(ctx context.Context, do func(...any) error) error {
			if err := e.needs.Trends.CountTrends(ctx); err != nil {
				return err
			}
			return eachByID(ctx, func(after int64) ([]*ent.Trend, error) {
				return e.db.Ent().Trend.Query().Where(trend.IDGT(after)).Order(trend.ByID()).Limit(rowsAtOnce).Select(read...).All(ctx)
			}, func(r *ent.Trend) int64 { return r.ID }, func(r *ent.Trend) error {
				examples := []byte{'['}
				for _, id := range []*int64{r.Example1, r.Example2, r.Example3} {
					if id == nil {
						continue
					}
					if len(examples) > 1 {
						examples = append(examples, ',')
					}
					examples = appendValue(examples, publicid.Format(publicid.Video, *id))
				}
				return do(r.Subject, r.Key, r.Label, r.WithArchived == 1, r.Listed == 1, r.VideoCount,
					jsontext.Value(r.Head+"]}"), jsontext.Value(append(examples, ']')))
			})
		},
	}
}

func (e *exporter) keys() entity {
	return entity{
		columns: []column{"id", "parentId", "scopes", "hint", "createdAt", "expiresAt", "revokedAt"},
		rows: func(ctx context.Context, do func(...any) error) error {
			return e.eachKey(ctx, func(r *ent.Key) error {
				var parent *string
				if r.ParentID != nil {
					id := publicid.Format(publicid.Key, *r.ParentID)
					parent = &id
				}
				return do(publicid.Format(publicid.Key, r.ID), parent, r.Scopes, r.Hint, r.CreatedAt, r.ExpiresAt, r.RevokedAt)
			})
		},
	}
}

func (e *exporter) eachKey(ctx context.Context, do func(*ent.Key) error) error {
	return eachByID(ctx, func(after int64) ([]*ent.Key, error) {
		return e.db.Ent().Key.Query().Where(key.IDGT(after)).Order(key.ByID()).Limit(rowsAtOnce).All(ctx)
	}, func(r *ent.Key) int64 { return r.ID }, do)
}

func (e *exporter) subscription() entity {
	return entity{
		columns: []column{"plan", "interval", "status", "periodEnd", "limits", "createdAt", "updatedAt"},
		rows: func(ctx context.Context, do func(...any) error) error {
			r, err := e.db.Ent().Subscription.Query().First(ctx)
			if err != nil {
				return noneIsFine(err)
			}
			return do(r.Plan, r.Interval, r.Status, r.PeriodEnd, r.Limits, r.CreatedAt, r.UpdatedAt)
		},
	}
}

// payments are the checkouts of the account, without what opens or claims them.
func (e *exporter) payments() entity {
	return entity{
		columns: []column{"purpose", "plan", "interval", "amountCents", "refundedCents", "disputedCents", "status", "email", "createdAt"},
		rows: func(ctx context.Context, do func(...any) error) error {
			account, _, _ := viewer.Tenant(ctx)
			return eachByID(ctx, func(after int64) ([]*ent.Checkout, error) {
				return e.db.Ent().Checkout.Query().Where(checkout.AccountID(account), checkout.IDGT(after)).Order(checkout.ByID()).Limit(rowsAtOnce).All(ctx)
			}, func(r *ent.Checkout) int64 { return r.ID }, func(r *ent.Checkout) error {
				return do(r.Purpose, r.Plan, r.Interval, r.AmountCents, r.RefundedCents, r.DisputedCents, r.Status, r.Email, r.CreatedAt)
			})
		},
	}
}

func (e *exporter) ledger() entity {
	return entity{
		columns: []column{"amount", "owed", "balance", "reason", "reference", "createdAt"},
		rows: func(ctx context.Context, do func(...any) error) error {
			return eachByID(ctx, func(after int64) ([]*ent.CreditEntry, error) {
				return e.db.Ent().CreditEntry.Query().Where(creditentry.IDGT(after)).Order(creditentry.ByID()).Limit(rowsAtOnce).All(ctx)
			}, func(r *ent.CreditEntry) int64 { return r.ID }, func(r *ent.CreditEntry) error {
				return do(r.Amount, r.Owed, r.Balance, r.Reason, r.Reference, r.CreatedAt)
			})
		},
	}
}

func (e *exporter) usage() entity {
	return entity{
		columns: []column{"day", "units"},
		rows: func(ctx context.Context, do func(...any) error) error {
			return eachByID(ctx, func(after int64) ([]*ent.UsageCounter, error) {
				return e.db.Ent().UsageCounter.Query().Where(usagecounter.DayGT(int(after))).Order(usagecounter.ByDay()).Limit(rowsAtOnce).All(ctx)
			}, func(r *ent.UsageCounter) int64 { return int64(r.Day) }, func(r *ent.UsageCounter) error { return do(r.Day, r.Units) })
		},
	}
}

func (e *exporter) audit() entity {
	return entity{
		columns: []column{"actor", "action", "subject", "detail", "createdAt"},
		rows: func(ctx context.Context, do func(...any) error) error {
			return eachByID(ctx, func(after int64) ([]*ent.AuditEntry, error) {
				return e.db.Ent().AuditEntry.Query().Where(auditentry.IDGT(after)).Order(auditentry.ByID()).Limit(rowsAtOnce).All(ctx)
			}, func(r *ent.AuditEntry) int64 { return r.ID }, func(r *ent.AuditEntry) error {
				return do(r.Actor, r.Action, r.Subject, r.Detail, r.CreatedAt)
			})
		},
	}
}

// events are those of the keys that the account still has, key by key: events have no
// index by account.
func (e *exporter) events() entity {
	return entity{
		columns: []column{"keyId", "op", "status", "ts", "count"},
		rows: func(ctx context.Context, do func(...any) error) error {
			return e.eachKey(ctx, func(k *ent.Key) error {
				shown := publicid.Format(publicid.Key, k.ID)
				return eachByID(ctx, func(after int64) ([]*ent.UsageEvent, error) {
					return e.db.Ent().UsageEvent.Query().Where(usageevent.KeyID(k.ID), usageevent.IDGT(after)).Order(usageevent.ByID()).Limit(rowsAtOnce).All(ctx)
				}, func(r *ent.UsageEvent) int64 { return r.ID }, func(r *ent.UsageEvent) error {
					return do(shown, r.Op, r.Status, r.Ts, r.Count)
				})
			})
		},
	}
}

// afterRef selects the videos behind one in the order of platform and external id, as one
// range of the unique index.
func afterRef(platform, externalID string) func(*sql.Selector) {
	return func(q *sql.Selector) {
		q.Where(sql.P(func(b *sql.Builder) {
			b.WriteString(fmt.Sprintf("(%s, %s) > (", q.C("platform"), q.C("external_id"))).Arg(platform).Comma().Arg(externalID).WriteString(")")
		}))
	}
}

// imports are the reports on files that the account sent. The files are not kept.
func (e *exporter) imports() entity {
	return entity{
		columns: []column{"id", "name", "bytes", "status", "options", "report", "failure", "createdAt", "completedAt"},
		rows: func(ctx context.Context, do func(...any) error) error {
			fetch := func(after int64) ([]*ent.FileImport, error) {
				return e.db.Ent().FileImport.Query().Where(fileimport.IDGT(after)).Order(ent.Asc(fileimport.FieldID)).Limit(rowsAtOnce).All(ctx)
			}
			return eachByID(ctx, fetch, func(i *ent.FileImport) int64 { return i.ID }, func(i *ent.FileImport) error {
				return do(publicid.Format(publicid.Import, i.ID), i.Name, i.Bytes, i.Status, jsontext.Value(i.Options), orNull(i.Report),
					i.Failure, i.CreatedAt, i.CompletedAt)
			})
		},
	}
}

// orNull is a JSON text; null for none.
func orNull(text string) jsontext.Value {
	if text == "" {
		return jsontext.Value("null")
	}
	return jsontext.Value(text)
}
