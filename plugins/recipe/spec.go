package recipe

import (
	"context"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// ID is the compiled stage that serves every recipe. In the templates of scrolls it stands for all
// of them.
const ID = "http"

// textSetting has the text of the recipe in a call. No operator sets it.
const textSetting = "recipe"

// Server is the stage that serves the calls of every recipe. The host gives it the recipe with the
// call, by Given.
func Server() stage.Spec { return server(site.Options{}) }

func server(options site.Options) stage.Spec {
	parse := func(call *stage.Call) (*Recipe, error) {
		recipe, err := Parse([]byte(call.Settings[textSetting]))
		if err != nil {
			return nil, stage.Misconfiguredf("the recipe: %v", err)
		}
		return recipe, nil
	}
	return stage.Spec{
		ID: ID, Version: "1.0.0", Kind: stage.SourceKind, Summary: "Serves recipes.",
		Collect: func(ctx context.Context, call *stage.Call, seeds []stage.Seed, emit func(stage.Record) error) ([]stage.Outcome, error) {
			recipe, err := parse(call)
			if err != nil {
				return nil, err
			}
			return recipe.collect(ctx, call, options, seeds, emit)
		},
		Refresh: func(ctx context.Context, call *stage.Call, refs []stage.Ref, emit func(stage.Record) error) ([]stage.Outcome, error) {
			recipe, err := parse(call)
			if err != nil {
				return nil, err
			}
			return recipe.refresh(ctx, call, options, refs, emit)
		},
		Check: func(ctx context.Context, call *stage.Call) (string, error) {
			recipe, err := parse(call)
			if err != nil {
				return "", err
			}
			return recipe.checked(ctx, call, options)
		},
	}
}

// Given is what the host adds to the settings of each call of the recipe.
func (c *Recipe) Given() map[string]string { return map[string]string{textSetting: c.Text} }

// Spec is the recipe as a source. It is asked after the sources that are named, and only for the
// seeds that they brought nothing for: what is free, or paid before, comes first.
func (c *Recipe) Spec(after ...string) stage.Spec { return c.spec(site.Options{}, after) }

func (c *Recipe) spec(options site.Options, after []string) stage.Spec {
	spec := stage.Spec{
		ID: c.ID, Version: "1.0.0", Kind: stage.SourceKind, Platforms: c.names, Summary: c.Summary, Hosts: c.hosts(),
		Settings: []stage.Setting{
			{Name: "url", Endpoint: true, Help: "Address that is asked in place of the provider's, such as a proxy of your own."},
			{Name: "patience", Default: "1m", Type: stage.Duration, Min: "0s", Help: "How long the waits of one call may take together; 0s never waits."},
		},
		// One call at a time on a server, so that the rate is kept.
		Limits: stage.Limits{Calls: 1},
		After:  after, Fallback: true,
		Collect: func(ctx context.Context, call *stage.Call, seeds []stage.Seed, emit func(stage.Record) error) ([]stage.Outcome, error) {
			return c.collect(ctx, call, options, seeds, emit)
		},
	}
	if c.secret.header+c.secret.query != "" {
		spec.Secrets, spec.RequiredSecrets = []string{c.secret.name}, []string{c.secret.name}
	}
	if c.check != nil {
		spec.Check = func(ctx context.Context, call *stage.Call) (string, error) { return c.checked(ctx, call, options) }
	}
	paid := false
	for _, requests := range c.requests {
		for kind, q := range requests {
			paid = paid || *q.price != price{}
			if kind == byID {
				spec.Refresh = func(ctx context.Context, call *stage.Call, refs []stage.Ref, emit func(stage.Record) error) ([]stage.Outcome, error) {
					return c.refresh(ctx, call, options, refs, emit)
				}
			}
			_, requests := q.usual()
			switch kind {
			case byHandle:
				spec.Requests.Handle = max(spec.Requests.Handle, requests)
			case byTerm:
				spec.Requests.Term = max(spec.Requests.Term, requests)
			}
		}
	}
	if spec.Refresh != nil {
		spec.Settings = append(spec.Settings, stage.Setting{Name: "refreshes", Own: len(spec.Secrets) > 0, Default: "20", Type: stage.Number, Min: "0", Max: "500", Help: "How many known videos a scroll may read again, at a request each."})
	}
	if paid {
		setting, cost := stage.Budget(c.budget, len(spec.Secrets) > 0, c.usual())
		spec.Settings, spec.Quotas = append(spec.Settings, setting), []stage.Allowance{cost}
	}
	return spec
}

// usual is what the requests for a seed of the usual size cost, and how many they are.
func (q *request) usual() (cost, requests int64) {
	size, pages := fallback, 1
	if q.pages.size > 0 {
		size = min(size, q.pages.size)
		if q.pages.cursor+q.pages.link != "" || q.pages.numbered || q.pages.offset {
			pages = min((fallback+size-1)/size, q.pages.most)
		}
	}
	return int64(pages) * (q.price.call + q.price.record*int64(size)), int64(pages)
}

// usual is the cost of a seed on the dearest platform.
func (c *Recipe) usual() (cost stage.Cost) {
	for _, requests := range c.requests {
		if q := requests[byHandle]; q != nil {
			dear, _ := q.usual()
			cost.Handle = max(cost.Handle, dear)
		}
		if q := requests[byTerm]; q != nil {
			dear, _ := q.usual()
			cost.Term = max(cost.Term, dear)
		}
	}
	return cost
}

// envName is an id as a part of a variable's name.
func envName(id string) string { return strings.ToUpper(strings.ReplaceAll(id, "-", "_")) }
