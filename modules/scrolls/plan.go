package scrolls

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/scrolls/plan"
	"github.com/scrollery/scrollery/plugins/stage"
)

// byKeywords is the planning method of the server itself.
const byKeywords = "keywords"

// Planned is where a scroll searches, and how that was decided.
type Planned struct {
	// Method is `keywords`, or the id of the plan stage that found the terms.
	Method string       `json:"method"`
	Seeds  []stage.Seed `json:"seeds,omitempty"`
	// Pages are the addresses of the tenant's own that were read for words.
	Pages []string `json:"pages,omitempty"`
	// Notes say what was tried without success.
	Notes []string `json:"notes,omitempty"`
}

// planning finds the seeds of a scroll.
type planning struct{ *run }

// prepare loads what every start needs: the brief and the rules as they are now, and
// the seeds, which the step plan decides once.
func (r planning) prepare(ctx context.Context) error {
	brief, subject, ok, err := r.s.needs.Workspaces.Brief(ctx)
	if err != nil {
		return fmt.Errorf("brief: %w", err)
	}
	if !ok {
		return errors.New("the workspace is gone")
	}
	version, rules, err := r.s.needs.Rules.Active(ctx)
	if err != nil {
		return fmt.Errorf("rules: %w", err)
	}
	r.call.Brief, r.call.Rules = brief, rules
	if r.call.Number, err = r.s.runNumber(ctx); err != nil {
		return fmt.Errorf("count runs: %w", err)
	}
	if planned := r.state.progress.Plan; planned != nil {
		r.seeds = planned.Seeds
	}
	if r.state.checkpoint == "" {
		r.state.subject, r.state.rulesVersion = subject, version
	}
	return nil
}

// plan makes sure that there is a source to ask, decides where to search, and stores
// the brief's subject and the version of the rules that the scroll runs for.
func (r planning) plan(ctx context.Context) error {
	planned, err := r.findSeeds(ctx)
	if err != nil {
		return err
	}
	named := slices.ContainsFunc(planned.Seeds, func(seed stage.Seed) bool { return seed.Handle != "" })
	if !slices.ContainsFunc(r.template.Sources, func(id string) bool {
		source := r.stages.Find(id)
		return source.called() && (!source.Fallback || named) // a fallback reads creators alone
	}) {
		return &stage.CallError{Stage: Plan, Failure: stage.NoSources, Cause: fmt.Errorf("template %q has no usable source", r.name)}
	}
	r.seeds = planned.Seeds
	return r.finish(ctx, Plan, func(_ context.Context, _ *store.Tx, next *state) error {
		next.progress.Plan = planned
		return nil
	})
}

// findSeeds decides where to search. Pages and plan stages are asked only where a
// source searches; their failures are noted and do not fail the scroll.
func (r planning) findSeeds(ctx context.Context) (*Planned, error) {
	planned := &Planned{Method: byKeywords}
	online := slices.ContainsFunc(r.template.Sources, func(id string) bool {
		source := r.stages.Find(id)
		return source.called() && source.Searches
	})
	brief := r.call.Brief
	if online {
		r.readPages(ctx, planned)
		for _, page := range r.call.Pages {
			brief.Description += "\n" + page.Title + "\n" + page.Text
		}
	}
	options := r.template.options(r.s.cfg.Terms)
	planned.Seeds = plan.Seeds(brief, r.call.Rules, r.call.Prompt, options)
	for _, id := range r.template.Plans {
		if planner := r.stages.Find(id); !online || !planner.Usable || planner.Kind != stage.PlanKind {
			continue
		}
		found, err := r.stages.Plan(ctx, id, r.call, planned.Seeds)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		seeds := plan.WithTerms(planned.Seeds, found, options)
		if err == nil && len(seeds) == 0 {
			err = fmt.Errorf("stage %s: it found no terms", id)
		}
		if err == nil {
			planned.Method, planned.Seeds = id, seeds
			break
		}
		r.log.Warn("plan stage failed; the terms are keywords", "stage", id, "error", err)
		planned.Notes = append(planned.Notes, id+" could not plan: the terms are keywords")
	}
	return planned, nil
}

// readPages reads the tenant's own website and app for words.
func (r planning) readPages(ctx context.Context, planned *Planned) {
	if r.s.needs.Pages == nil {
		return
	}
	for _, address := range []string{r.call.Brief.Website, r.call.Brief.AppStoreURL} {
		if address == "" {
			continue
		}
		page, err := r.s.needs.Pages.Read(ctx, address)
		if err != nil {
			r.log.Info("page not read", "error", err)
			planned.Notes = append(planned.Notes, "could not read "+address)
			continue
		}
		planned.Pages = append(planned.Pages, page.URL)
		r.call.Pages = append(r.call.Pages, page)
	}
}
