package scrolls

import (
	"context"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/scrolls/coverage"
	"github.com/scrollery/scrollery/modules/scrolls/plan"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Estimate is what a scroll that started now would search for and take.
type Estimate struct {
	Seeds   []stage.Seed
	Sources []SourceEstimate
	// MinUnits are those of the start, MaxUnits those of the new videos too.
	MinUnits, MaxUnits int
	Budget             Budget
	// Active of MaxActive scrolls are queued or running.
	Active, MaxActive int
	// Obstacles are the codes of what holds a scroll back now.
	Obstacles []string
	// NextAt is when a scroll can start and a source has what it needs, Unix
	// milliseconds; nil if no time is known.
	NextAt *int64
	// Notes say what may differ in the scroll.
	Notes []string
}

// budgetSpent is the obstacle of a budget that is used up.
const budgetSpent = "budget_spent"

// SourceEstimate is what one source would be asked.
type SourceEstimate struct {
	Source string
	Usable bool
	// Seeds is how many it would be asked for, Waiting how many not yet.
	Seeds, Waiting int
	// Requests that the seeds usually take; nil if that is not known.
	Requests *int64
	Quotas   []QuotaLeft
	// RetryAt is when it can be asked for all of it; nil if that is now or never.
	RetryAt *int64
	// never: a quota is smaller than what the seeds take.
	never bool
}

// able reports whether the source can be asked for something now.
func (e SourceEstimate) able() bool {
	return e.Usable && !slices.ContainsFunc(e.Quotas, func(q QuotaLeft) bool { return q.Left < q.Needed }) &&
		(e.Seeds > 0 || e.Waiting == 0)
}

// Estimate plans a scroll without starting it. It asks no stage and no site, reads no
// page, and spends nothing: the terms are keywords, which a scroll may replace.
func (s *Service) Estimate(ctx context.Context, prompt, template *string) (*Estimate, error) {
	if err := s.checkTemplate(template); err != nil {
		return nil, err
	}
	pipeline, _ := s.cfg.template(template)
	pipeline = resolved(s.needs.Stages, pipeline)
	brief, subject, ok, err := s.needs.Workspaces.Brief(ctx)
	if err != nil {
		return nil, fmt.Errorf("estimate scroll: brief: %w", err)
	}
	if !ok {
		return nil, apierr.New(apierr.WorkspaceRequired, "Set a workspace before you estimate a scroll.")
	}
	_, rules, err := s.needs.Rules.Active(ctx)
	if err != nil {
		return nil, fmt.Errorf("estimate scroll: rules: %w", err)
	}
	text, name := "", defaultTemplate
	if prompt != nil {
		text = *prompt
	}
	if template != nil {
		name = *template
	}
	last, err := s.coverageOf(ctx, subject, name, 1)
	if err != nil {
		return nil, fmt.Errorf("estimate scroll: last coverage: %w", err)
	}
	e := &Estimate{Seeds: plan.Seeds(brief, rules, text, pipeline.options(s.cfg.Terms))}
	stages, end, err := s.needs.Stages.Session(ctx)
	if err != nil {
		return nil, fmt.Errorf("estimate scroll: find the stages: %w", err)
	}
	defer end()
	asking := estimates{s, stages}
	online := false
	for _, id := range pipeline.Sources {
		one, searches, err := asking.estimateSource(ctx, id, e.Seeds, coverage.NewWaits(last))
		if err != nil {
			return nil, fmt.Errorf("estimate scroll: source %s: %w", id, err)
		}
		online = online || one.Usable && searches
		e.Sources = append(e.Sources, one)
	}
	if online {
		e.Notes = asking.estimateNotes(pipeline, brief)
	}
	return e, asking.estimateStart(ctx, e)
}

// estimates say what a scroll would take.
type estimates struct {
	*Service
	stages Stages // of the tenant
}

// estimateSource is the estimate of one source for the seeds of a plan.
func (s estimates) estimateSource(ctx context.Context, id string, seeds []stage.Seed, waits coverage.Waits) (e SourceEstimate, searches bool, err error) {
	source := s.stages.Find(id)
	e = SourceEstimate{Source: id, Usable: source.Usable}
	var waiting []stage.Outcome
	asked := coverage.Served(seeds, source.Platforms)
	if source.Searches {
		asked, waiting = waits.Due(asked, source.Platforms, s.now().UnixMilli())
	}
	e.Seeds, e.Waiting = len(asked), len(waiting)
	for _, outcome := range waiting {
		e.RetryAt = latest(e.RetryAt, outcome.RetryAt)
	}
	if !source.Searches {
		return e, false, nil
	}
	handles := 0
	for _, seed := range asked {
		if seed.Handle != "" {
			handles++
		}
	}
	terms := len(asked) - handles
	if source.Requests != (stage.Cost{}) {
		requests := source.Requests.Handle*int64(handles) + source.Requests.Term*int64(terms)
		e.Requests = &requests
	}
	if s.needs.Quotas == nil {
		return e, true, nil
	}
	if e.Quotas, err = s.needs.Quotas.Left(ctx, id, handles, terms); err != nil {
		return e, true, err
	}
	for _, q := range e.Quotas {
		e.RetryAt = latest(e.RetryAt, q.RetryAt)
		e.never = e.never || q.Needed > q.Limit
	}
	if e.never {
		e.RetryAt = nil
	}
	return e, true, nil
}

// estimateNotes say what may change the terms in a scroll.
func (s estimates) estimateNotes(pipeline Template, brief stage.Brief) (notes []string) {
	for _, id := range pipeline.Plans {
		if planner := s.stages.Find(id); planner.Usable && planner.Kind == stage.PlanKind {
			notes = append(notes, fmt.Sprintf("stage %s may replace the niche terms by at most %d others", id, s.cfg.Terms))
			break
		}
	}
	if s.needs.Pages != nil && (brief.Website != "" || brief.AppStoreURL != "") {
		notes = append(notes, "the scroll reads the pages of the brief, which may change the niche terms")
	}
	return notes
}

// estimateStart adds what a start costs, what holds it back, and until when.
func (s estimates) estimateStart(ctx context.Context, e *Estimate) error {
	limits, err := s.needs.Plans.Limits(ctx)
	if err != nil {
		return fmt.Errorf("estimate scroll: limits: %w", err)
	}
	if e.Budget, err = s.needs.Plans.BudgetLeft(ctx); err != nil {
		return fmt.Errorf("estimate scroll: budget: %w", err)
	}
	if e.Active, _, err = store.One[int](ctx, s.hot.active); err != nil {
		return fmt.Errorf("estimate scroll: active ones: %w", err)
	}
	e.MaxActive, e.MinUnits, e.MaxUnits = limits.ActiveScrolls, s.cfg.StartUnits, s.cfg.StartUnits
	if !limits.Unmetered {
		e.MaxUnits += limits.MaxFeedSize
	}
	now := s.now().UnixMilli()
	at := now + e.Budget.Wait.Milliseconds()
	known := true
	if e.Budget.Wait > 0 {
		e.Obstacles = append(e.Obstacles, budgetSpent)
	}
	if e.Active >= e.MaxActive {
		e.Obstacles, known = append(e.Obstacles, string(apierr.ScrollActiveLimit)), false
	}
	switch first := firstAble(e.Sources, now); {
	case !slices.ContainsFunc(e.Sources, func(one SourceEstimate) bool { return one.Usable }):
		e.Obstacles, known = append(e.Obstacles, string(stage.NoSources)), false
	case first == nil:
		e.Obstacles, known = append(e.Obstacles, string(stage.SourceQuota)), false
	case *first > now:
		e.Obstacles = append(e.Obstacles, string(stage.SourceQuota))
		at = max(at, *first)
	}
	if known {
		e.NextAt = &at
	}
	return nil
}

// firstAble is when the first of the sources can be asked; nil if none says when.
func firstAble(sources []SourceEstimate, now int64) (first *int64) {
	for _, one := range sources {
		switch {
		case one.able():
			return &now
		case one.Usable && one.RetryAt != nil && (first == nil || *one.RetryAt < *first):
			first = one.RetryAt
		}
	}
	return first
}

// latest is the later of two times; nil is none.
func latest(a, b *int64) *int64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}
