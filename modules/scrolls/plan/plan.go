// Package plan decides where the sources of a scroll search: it turns a brief, rules
// and a prompt into seeds. It is pure: it reads no page, asks no stage and stores nothing.
package plan

import (
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
)

// The kinds of seeds.
const (
	Own        = "own"
	Competitor = "competitor"
	Niche      = "niche"
)

// Options are the bounds of a plan.
type Options struct {
	// Kinds are the wanted kinds of seeds; empty stands for all.
	Kinds []string
	// Limit is how many videos are asked of a seed; 0 leaves it to the source.
	Limit int
	// Terms is the most niche terms.
	Terms int
}

// Wants reports whether seeds of a kind are wanted.
func (o Options) Wants(kind string) bool { return len(o.Kinds) == 0 || slices.Contains(o.Kinds, kind) }

// Seeds returns the seeds of a brief: the own account, the competitors, and as niche
// terms the best keywords of the brief, the rules and the prompt.
func Seeds(brief stage.Brief, rules []stage.Rule, prompt string, o Options) []stage.Seed {
	var all []stage.Seed
	add := func(seed stage.Seed, kind string) {
		seed.Kind, seed.Limit = kind, o.Limit
		if o.Wants(kind) && seed.Text() != "" && !slices.ContainsFunc(all, seed.Same) {
			all = append(all, seed)
		}
	}
	if seed, ok := profile(brief.Website); ok {
		add(seed, Own)
	} else {
		add(stage.Seed{Term: brief.Name}, Own)
	}
	for _, text := range brief.Competitors {
		add(rival(text), Competitor)
	}
	for _, term := range keywords(brief, rules, prompt, o.Terms) {
		add(stage.Seed{Term: term}, Niche)
	}
	return all
}

// WithTerms replaces the niche terms of known by those that a plan stage found. The
// own account and the competitors stay. It returns nil if niche terms are wanted
// and found has none.
func WithTerms(known, found []stage.Seed, o Options) []stage.Seed {
	all := slices.DeleteFunc(slices.Clone(known), func(s stage.Seed) bool { return s.Kind == Niche })
	if !o.Wants(Niche) {
		return all
	}
	named := len(all)
	for _, seed := range found {
		seed.Limit = o.Limit
		if seed.Kind == Niche && len(all)-named < o.Terms && !slices.ContainsFunc(all, seed.Same) {
			all = append(all, seed)
		}
	}
	if len(all) == named {
		return nil
	}
	return all
}

// Attribute sets the kind of a record's origin, and the seed that led to it, where
// its source left them empty. A record that fits no seed is of the niche, unless nothing
// is known of its origin: then it has none.
func Attribute(rec *stage.Record, seeds []stage.Seed) {
	source := stage.Source{}
	if rec.Source != nil {
		source = *rec.Source
	}
	for _, seed := range seeds {
		byHandle := seed.Handle != "" && source.Handle != "" && sameHandle(seed.Handle, source.Handle)
		bySeed := rec.Seed != "" && sameHandle(seed.Text(), rec.Seed)
		if seed.Platform != "" && seed.Platform != rec.Platform || !byHandle && !bySeed {
			continue
		}
		if source.Kind == "" {
			source.Kind = seed.Kind
		}
		if source.SeededBy == "" && !byHandle {
			source.SeededBy = seed.Text()
		}
		break
	}
	if source == (stage.Source{}) {
		rec.Source = nil
		return
	}
	if source.Kind == "" {
		source.Kind = Niche
	}
	rec.Source = &source
}

func sameHandle(a, b string) bool { return strings.EqualFold(Handle(a), Handle(b)) }
