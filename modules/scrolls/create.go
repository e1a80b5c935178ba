package scrolls

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/paging"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Start is what a caller asks for. Nil is absent.
type Start struct {
	Prompt, Template, IdempotencyKey *string
	// Schedule repeats the scroll every so many days.
	Schedule *int
}

// checkTemplate refuses a template that no caller may name; nil is the default one.
func (s *Service) checkTemplate(name *string) error {
	if _, known := s.cfg.template(name); !known {
		return apierr.Invalid("template", "There is no template of this name.")
	}
	return nil
}

// Create starts a scroll, or returns the one that its idempotency key started.
func (s *Service) Create(ctx context.Context, start Start) (scroll *Scroll, created bool, err error) {
	account, _, ok := viewer.Tenant(ctx)
	if !ok || account == 0 {
		return nil, false, errors.New("create scroll: no tenant in the context")
	}
	if err := s.checkTemplate(start.Template); err != nil {
		return nil, false, err
	}
	limits, err := s.needs.Plans.Limits(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("create scroll: limits: %w", err)
	}
	subject, briefed, err := s.needs.Workspaces.Subject(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("create scroll: workspace: %w", err)
	}
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		scroll, created = nil, false
		// One start of an account decides at a time.
		if err = tx.Lock(ctx, "scrolls", account); err != nil {
			return err
		}
		if start.IdempotencyKey != nil {
			if scroll, err = s.hot.findByKey(ctx, tx, *start.IdempotencyKey); scroll != nil || err != nil {
				tx.Unchanged()
				return err
			}
		}
		if !briefed {
			return apierr.New(apierr.WorkspaceRequired, "Set a workspace before you start a scroll.")
		}
		if err := s.checkActive(ctx, tx, limits.ActiveScrolls); err != nil {
			return err
		}
		created = true
		scroll, err = s.insert(ctx, tx, account, subject, start)
		if err != nil || start.Schedule == nil {
			return err
		}
		now := scroll.CreatedAt
		return schedules{s}.replaceRecurrence(ctx, tx, account, start, now, nextTime(account, now, *start.Schedule, time.UnixMilli(now)))
	})
	if err != nil {
		return nil, false, fmt.Errorf("create scroll: %w", err)
	}
	return scroll, created, nil
}

// noLimit of active scrolls is one that no tenant comes to, so none of theirs are counted:
// a start costs the same however many wait.
const noLimit = 1_000_000

// checkActive refuses one more active scroll than the limit.
func (s *Service) checkActive(ctx context.Context, tx *store.Tx, limit int) error {
	if limit >= noLimit {
		return nil
	}
	active, err := s.hot.countActive(ctx, tx)
	if err == nil && active >= limit {
		return apierr.New(apierr.ScrollActiveLimit, "%d of %d scrolls are already active; wait until one has ended, or cancel it.", active, limit)
	}
	return err
}

const day = 24 * time.Hour

// StartDue starts the scrolls of all recurrences whose time has come. Any number of
// processes may do so at once: each start is claimed by its row. The failure of one
// tenant's start does not stop the others; it is tried again by the next call.
func (s *Service) StartDue(ctx context.Context) error {
	var faults []error
	var last dueRow
	for now := s.now().UnixMilli(); ; {
		rows, err := schedules{s}.due(viewer.System(ctx), now, last)
		if err != nil {
			return errors.Join(append(faults, fmt.Errorf("find due recurrences: %w", err))...)
		}
		if len(rows) == 0 {
			return errors.Join(faults...)
		}
		last = rows[len(rows)-1]
		// Processes that read the same rows take them in different orders.
		rand.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for _, row := range rows {
			if err := (schedules{s}).startDue(viewer.As(ctx, row.AccountID), row); err != nil {
				faults = append(faults, fmt.Errorf("recurrence %d: %w", row.ID, err))
			}
			if ctx.Err() != nil {
				return errors.Join(append(faults, context.Cause(ctx))...)
			}
		}
	}
}

// basis is what a start without a request depends on: admission does not see it.
type basis struct {
	active, spent bool // the subscription; the budget
	subject       string
	briefed       bool
}

func (s *Service) basis(ctx context.Context) (on basis, err error) {
	limits, err := s.needs.Plans.Limits(ctx)
	if err != nil {
		return on, fmt.Errorf("limits: %w", err)
	}
	if on.subject, on.briefed, err = s.needs.Workspaces.Subject(ctx); err != nil {
		return on, fmt.Errorf("workspace: %w", err)
	}
	budget, err := s.needs.Plans.BudgetLeft(ctx)
	if err != nil {
		return on, fmt.Errorf("budget: %w", err)
	}
	on.active, on.spent = limits.Active && !limits.Blocked, budget.Wait > 0
	return on, nil
}

// schedules are the scrolls that repeat.
type schedules struct{ *Service }

// startDue starts one, unless the subscription is not active, the budget is used up or
// a scroll is active; in each case it is due again at the next time. Admission does
// not see a scheduled start, so what it would refuse is refused here.
func (s schedules) startDue(ctx context.Context, row dueRow) error {
	on, err := s.basis(ctx)
	if err != nil {
		return err
	}
	start := Start{Prompt: row.Prompt, Template: row.Template, Schedule: &row.EveryDays}
	_, known := s.cfg.template(start.Template)
	return s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.Lock(ctx, "scrolls", row.AccountID); err != nil {
			return err
		}
		next := nextTime(row.AccountID, row.NextAt, row.EveryDays, s.now())
		if mine, err := advance(ctx, tx, row, next); err != nil || !mine {
			return err
		}
		if err := s.enqueuePass(ctx, tx, passArgs{row.AccountID, row.ID, s.now().UnixMilli(), next}); err != nil {
			return err
		}
		active, err := s.hot.countActive(ctx, tx)
		if err != nil {
			return err
		}
		if !on.active || on.spent || !on.briefed || !known || active > 0 {
			s.log.Info("scheduled scroll skipped", "account", publicid.Format(publicid.Account, row.AccountID),
				"subscription", on.active, "spent", on.spent, "workspace", on.briefed, "template", known, "active", active)
			return nil
		}
		if _, err := s.insert(ctx, tx, row.AccountID, on.subject, start); err != nil {
			return err
		}
		return s.needs.Charger.Charge(ctx, tx, row.AccountID, s.cfg.StartUnits)
	})
}

// passArgs say which pass over the young videos of an account is due.
type passArgs struct {
	Account    int64 `json:"account"`
	Recurrence int64 `json:"recurrence"`
	// At is when the pass is due, and before it when the scheduled scroll was. Until is
	// when the next scheduled one is: a recurrence that is due at another time has passes
	// of its own.
	At    int64 `json:"at"`
	Until int64 `json:"until"`
}

// enqueuePass queues the pass that follows another one, or the scheduled scroll, unless
// the next scheduled scroll comes first.
func (s schedules) enqueuePass(ctx context.Context, tx *store.Tx, last passArgs) error {
	every, next := s.cfg.ObserveYoung.Milliseconds(), last
	if every == 0 {
		return nil
	}
	// Those that came due while no process worked are left out.
	next.At += every * (max(0, s.now().UnixMilli()-last.At)/every + 1)
	if next.At >= next.Until {
		return nil
	}
	return tx.Enqueue(ctx, store.Job{
		Kind: passJob, Args: next, RunAt: time.UnixMilli(next.At), UniqueKey: fmt.Sprintf("%d:%d", next.Recurrence, next.At),
	})
}

// pass starts a pass over the young videos, a scroll of its own, so that it is charged,
// followed, stopped and resumed as any other. Doing it twice starts one.
func (s schedules) pass(ctx context.Context, args passArgs) error {
	on, err := s.basis(ctx)
	if err != nil {
		return err
	}
	stages, end, err := s.needs.Stages.Session(ctx)
	if err != nil {
		return fmt.Errorf("find the stages: %w", err)
	}
	defer end()
	refreshes := slices.ContainsFunc(resolved(stages, s.cfg.Templates[youngTemplate]).Sources, func(id string) bool {
		source := stages.Find(id)
		return source.Usable && source.Refreshes
	})
	name, key := youngTemplate, fmt.Sprintf("%s:%d:%d", youngTemplate, args.Recurrence, args.At)
	return s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.Lock(ctx, "scrolls", args.Account); err != nil {
			return err
		}
		due, err := dueAt(ctx, tx, args.Recurrence)
		if err != nil {
			return err
		}
		before, err := s.hot.findByKey(ctx, tx, key)
		if err != nil || before != nil || due != args.Until || s.cfg.ObserveYoung == 0 {
			tx.Unchanged()
			return err
		}
		if err := s.enqueuePass(ctx, tx, args); err != nil {
			return err
		}
		busy, err := isPassing(ctx, tx)
		if err != nil {
			return err
		}
		active, err := s.hot.countActive(ctx, tx)
		if err != nil {
			return err
		}
		if !on.active || on.spent || !on.briefed || !refreshes || busy || active > 0 {
			s.log.Info("pass over young videos skipped", "account", publicid.Format(publicid.Account, args.Account), "subscription", on.active,
				"spent", on.spent, "workspace", on.briefed, "source", refreshes, "passing", busy, "active", active)
			return nil
		}
		if _, err := s.insert(ctx, tx, args.Account, on.subject, Start{Template: &name, IdempotencyKey: &key}); err != nil {
			return err
		}
		return s.needs.Charger.Charge(ctx, tx, args.Account, s.cfg.YoungUnits)
	})
}

// nextTime is the first time after now that is a whole number of intervals after
// last, moved to the account's own second of that hour: the schedules of one hour are
// spread over it. Days have 24 hours: the calendar is UTC.
func nextTime(account, last int64, everyDays int, now time.Time) int64 {
	step := (time.Duration(everyDays) * day).Milliseconds()
	if passed := now.UnixMilli() - last; passed >= 0 {
		last += (passed/step + 1) * step
	}
	hash := fnv.New64a()
	_ = binary.Write(hash, binary.BigEndian, account) // to memory
	hour := time.Hour.Milliseconds()
	next := last - last%hour + int64(hash.Sum64()%3600)*1000
	if next <= now.UnixMilli() { // it has run in this hour
		next += step
	}
	return next
}

// NamedTemplate is a template as callers see it.
type NamedTemplate struct {
	Name string
	// Kinds are the kinds of seeds and of new videos; empty stands for all.
	Kinds  []string
	Stages []TemplateStage
}

// TemplateStage is one stage of a template.
type TemplateStage struct {
	// Kind is `plan`, `source`, `screen` or `evidence`.
	ID, Kind  string
	Usable    bool
	Platforms []string
	// RestsUntil as in Stage.
	RestsUntil *int64
}

// Templates returns a page of the templates that a caller may name, by name. next is
// empty at the end.
func (s *Service) Templates(ctx context.Context, size int, token string) (page []NamedTemplate, next string, err error) {
	after, err := paging.Start(token)
	if err != nil {
		return nil, "", err
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(s.cfg.Templates)), isOwn)
	names = names[min(int(after), len(names)):]
	if len(names) > size {
		names = names[:size]
		next = paging.Token(after + int64(size))
	}
	stages, end, err := s.needs.Stages.Session(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("list templates: %w", err)
	}
	defer end()
	for _, name := range names {
		page = append(page, describe(stages, name, resolved(stages, s.cfg.Templates[name])))
	}
	return page, next, nil
}

// resolved is a template with the sources that its groups stand for now.
func resolved(stages Stages, template Template) Template {
	var sources []string
	for _, id := range template.Sources {
		sources = append(sources, stages.Group(id)...)
	}
	template.Sources = sources
	return template
}

func describe(stages Stages, name string, template Template) NamedTemplate {
	out := NamedTemplate{Name: name, Kinds: template.Kinds}
	for _, step := range []struct {
		kind stage.Kind
		ids  []string
	}{
		{stage.PlanKind, template.Plans},
		{stage.SourceKind, template.Sources},
		{stage.ScreenKind, screensOf(stages, template, false)},
		{stage.EvidenceKind, template.Evidence},
		{stage.ScreenKind, screensOf(stages, template, true)},
	} {
		for _, id := range step.ids {
			found := stages.Find(id)
			out.Stages = append(out.Stages, TemplateStage{ID: id, Kind: string(step.kind), Usable: found.Usable, RestsUntil: found.RestsUntil, Platforms: found.Platforms})
		}
	}
	return out
}

// Recurrence is the schedule of a tenant's scrolls. Times in Unix milliseconds.
type Recurrence struct {
	EveryDays         int
	Prompt, Template  *string
	NextAt, CreatedAt int64
}

// Schedule returns the tenant's recurrence; nil if nothing repeats.
func (s *Service) Schedule(ctx context.Context) (*Recurrence, error) {
	found, err := schedules{s}.recurrence(ctx)
	if err != nil {
		return nil, fmt.Errorf("load schedule: %w", err)
	}
	return found, nil
}
