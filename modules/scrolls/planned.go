package scrolls

import (
	"context"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/plugins/stage"
)

// byKeywords is the planning method of the house itself.
const byKeywords = "keywords"

// Planned is where a scroll looks, and how it came to look there.
type Planned struct {
	// Method is `keywords`, or the id of the plan stage that found the terms.
	Method string       `json:"method"`
	Seeds  []stage.Seed `json:"seeds,omitempty"`
	// Pages are the addresses of the tenant's own that were read for words.
	Pages []string `json:"pages,omitempty"`
	// Notes say what was tried in vain.
	Notes []string `json:"notes,omitempty"`
}

// workOut finds out where to look. Pages and plan stages can only better the terms, so that
// what is wrong with them is noted and costs the scroll nothing; and they are asked
// only where some source goes by terms at all.
func (r *run) workOut(ctx context.Context) (*Planned, error) {
	planned := &Planned{Method: byKeywords}
	online := slices.ContainsFunc(r.template.Sources, r.s.needs.Planners.Searches)
	if online {
		r.readPages(ctx, planned)
	}
	known := seeds(withPages(r.call.Brief, r.call.Pages), r.call.Rules, r.call.Prompt, r.template, r.s.cfg.Terms)
	planned.Seeds = known
	for _, id := range r.template.Plans {
		if !online || !r.s.needs.Planners.Planner(id) {
			continue
		}
		found, err := r.s.needs.Planners.Plan(ctx, id, r.call, known)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		terms := r.accepted(known, found)
		if err == nil && len(terms) == 0 {
			err = fmt.Errorf("stage %s: it found no terms", id)
		}
		if err != nil {
			r.log.Warn("plan stage failed; the keywords stand", "stage", id, "error", err)
			planned.Notes = append(planned.Notes, id+" could not plan: the terms are keywords")
			continue
		}
		planned.Method, planned.Seeds = id, terms
		break
	}
	return planned, nil
}

// readPages reads the tenant's own website and app for words.
func (r *run) readPages(ctx context.Context, planned *Planned) {
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

// withPages adds what the tenant's pages say to the description.
func withPages(brief stage.Brief, pages []stage.Page) stage.Brief {
	for _, page := range pages {
		brief.Description += "\n" + page.Title + "\n" + page.Text
	}
	return brief
}

// accepted puts the terms that a plan stage found in the place of the house's. What
// the tenant named, the own account and the competitors, stays; found is empty
// where the stage has no term at all to offer.
func (r *run) accepted(known, found []stage.Seed) []stage.Seed {
	all := slices.DeleteFunc(slices.Clone(known), func(s stage.Seed) bool { return s.Kind == niche })
	named, terms := len(all), 0
	for _, seed := range found {
		seed.Limit = r.template.SeedLimit
		if seed.Kind != niche || terms == r.s.cfg.Terms || slices.ContainsFunc(all, seed.Same) || !r.template.wants(niche) {
			continue
		}
		all = append(all, seed)
		terms++
	}
	if len(all) == named && r.template.wants(niche) {
		return nil
	}
	return all
}

// wants tells whether the template asks for seeds of a kind.
func (t Template) wants(kind string) bool {
	return len(t.Kinds) == 0 || slices.Contains(t.Kinds, kind)
}
