package scrolls

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// errFull stops sources once a scroll has as much as it may have.
var errFull = errors.New("the scroll has all the records it may have")

// collector gathers what the sources deliver side by side.
type collector struct {
	r *run
	// last is what came of the same seeds before.
	last waits

	mu       sync.Mutex
	seen     map[stage.Ref]bool
	returned tally
	full     bool
}

// delivery is what came of one source.
type delivery struct {
	source   string
	serves   []string     // platforms; none stands for all
	searches bool         // it looks for what it is asked for, elsewhere
	seeds    []stage.Seed // it was asked for these
	records  int
	outcomes []stage.Outcome
	err      error
}

// collect asks all sources of the template. It starts over where a start before was
// cut off: what a source had sent by then is not known to be whole.
func (r *run) collect(ctx context.Context) error {
	if r.imported {
		return r.collectImport(ctx)
	}
	if err := r.clear(ctx); err != nil {
		return err
	}
	last, err := r.s.last(ctx, r)
	if err != nil {
		return fmt.Errorf("last coverage: %w", err)
	}
	c := &collector{r: r, last: last, seen: map[stage.Ref]bool{}, returned: tally{}}
	deliveries := c.ask(ctx)
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if err := verdictOn(deliveries); err != nil {
		return err
	}
	return c.finish(ctx, deliveries)
}

// ask runs the sources and waits for all of them.
func (c *collector) ask(ctx context.Context) []*delivery {
	var deliveries []*delivery
	var all sync.WaitGroup
	for _, id := range c.r.template.Sources {
		serves, _, ok := c.r.s.needs.Sources.Source(id)
		if !ok {
			continue
		}
		d := &delivery{source: id, serves: serves, searches: c.r.s.needs.Planners.Searches(id)}
		deliveries = append(deliveries, d)
		all.Go(func() { c.run(ctx, d) })
	}
	all.Wait()
	return deliveries
}

// run takes what one source sends, and writes it in batches.
func (c *collector) run(ctx context.Context, d *delivery) {
	var waiting []stage.Outcome
	seeds := served(c.r.seeds, d.serves)
	if d.searches { // else there is no site that could have told it to wait
		seeds, waiting = c.last.due(seeds, d.serves, c.r.call.Now)
	}
	if len(waiting) > 0 && len(seeds) == 0 {
		d.outcomes = waiting
		return
	}
	d.seeds = seeds
	var batch []item
	flush := func() error {
		err := c.write(ctx, batch)
		batch = nil
		return err
	}
	d.outcomes, d.err = c.r.s.needs.Sources.Collect(ctx, d.source, c.r.call, seeds, func(records []stage.Record) error {
		d.records += len(records)
		fresh, err := c.admit(records, d.source)
		batch = append(batch, fresh...)
		if err == nil && len(batch) < c.r.s.cfg.BatchSize {
			return nil
		}
		return errors.Join(flush(), err)
	})
	d.outcomes = append(d.outcomes, waiting...)
	if err := flush(); err != nil {
		d.err = errors.Join(err, d.err)
	}
	if c.isFull() && !errors.Is(d.err, errLost) {
		d.err = nil
	}
	if d.err != nil {
		c.r.log.Warn("source failed", "source", d.source, "records", d.records, "error", d.err)
	}
	for _, o := range d.outcomes {
		if o.Detail != "" {
			c.r.log.Info("source told", "source", d.source, "seed", o.Seed, "platform", o.Platform, "outcome", o.Status, "detail", o.Detail)
		}
	}
}

func (c *collector) isFull() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.full
}

// admit turns records into items, leaving out what the scroll has already and what
// no database could keep.
func (c *collector) admit(records []stage.Record, source string) ([]item, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	items := make([]item, 0, len(records))
	for _, rec := range records {
		rec.Platform = strings.ToLower(rec.Platform)
		if rec.Platform == "" || rec.ExternalID == "" || strings.ContainsRune(rec.Platform+rec.ExternalID+rec.Seed, 0) || c.seen[rec.Ref] {
			continue
		}
		if len(c.seen) >= c.r.s.cfg.MaxRecords {
			c.full = true
			return items, errFull
		}
		c.seen[rec.Ref] = true
		next := item{id: c.r.s.db.NewID(), record: rec, seed: rec.Seed}
		if next.seed == "" {
			next.seed = source
		}
		c.r.attribute(&next.record)
		c.returned[next.key()]++
		items = append(items, next)
	}
	return items, nil
}

// write commits items, each with the word whether the library has it.
func (c *collector) write(ctx context.Context, items []item) error {
	if len(items) == 0 {
		return nil
	}
	known, err := c.r.known(ctx, items)
	if err != nil {
		return err
	}
	kept := items[:0]
	for _, i := range items {
		if _, i.known = known[i.record.Ref]; i.known || c.r.wanted(i.record) {
			kept = append(kept, i)
		}
	}
	err = c.r.commit(ctx, false, func(ctx context.Context, tx *store.Tx, next *state) error {
		next.progress.Collected += len(items)
		n := float64(next.progress.Collected)
		next.progress.raise(percent(Collect, n/(n+500))) // nobody knows how much there is
		return c.r.insertItems(ctx, tx, kept)
	})
	c.r.pause(ctx, Collect, "batch")
	return err
}

// wanted tells whether the template keeps new videos of this kind.
func (r *run) wanted(rec stage.Record) bool {
	return len(r.template.Kinds) == 0 || slices.Contains(r.template.Kinds, rec.Source.Kind)
}

// attribute fills in how a video was come by, where its source left that open.
func (r *run) attribute(rec *stage.Record) {
	source := stage.Source{}
	if rec.Source != nil {
		source = *rec.Source
	}
	rec.Source = &source
	for _, seed := range r.seeds {
		mine := seed.Platform == "" || seed.Platform == rec.Platform
		byHandle := seed.Handle != "" && source.Handle != "" && strings.EqualFold(bare(seed.Handle), bare(source.Handle))
		bySeed := rec.Seed != "" && strings.EqualFold(bare(seed.Text()), bare(rec.Seed))
		if !mine || !(byHandle || bySeed) {
			continue
		}
		if source.Kind == "" {
			source.Kind = seed.Kind
		}
		if source.SeededBy == "" && bySeed && !byHandle {
			source.SeededBy = seed.Text()
		}
		break
	}
	if source.Kind == "" {
		source.Kind = niche
	}
}

// asked are the seeds that somebody was asked for.
func (c *collector) asked(deliveries []*delivery) []stage.Seed {
	if len(deliveries) == 0 {
		return nil
	}
	return c.r.seeds
}

// finish writes the coverage and the checkpoint.
func (c *collector) finish(ctx context.Context, deliveries []*delivery) error {
	before, err := c.r.s.coverageBefore(ctx, c.r)
	if err != nil {
		return fmt.Errorf("earlier coverage: %w", err)
	}
	planned := map[string]bool{}
	for _, seed := range c.r.seeds {
		planned[seed.Text()] = true
	}
	silent := stage.Outcome{Status: stage.Empty}
	for _, d := range deliveries {
		if d.err != nil {
			silent = d.loss()
			before = nil // silence says nothing while a source is out
		}
	}
	return c.r.finish(ctx, Collect, func(_ context.Context, _ *store.Tx, next *state) error {
		next.progress.Coverage = unanswered(coverage(told(deliveries), c.returned, planned, before), c.asked(deliveries), before, silent, lookedOn(deliveries))
		c.last.postpone(next.progress.Coverage, c.r.call.Now)
		return nil
	})
}
