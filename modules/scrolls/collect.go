package scrolls

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/scrolls/coverage"
	"github.com/scrollery/scrollery/modules/scrolls/plan"
	"github.com/scrollery/scrollery/plugins/stage"
)

// errFull stops sources once a scroll has as many records as it may have.
var errFull = errors.New("the scroll has all the records it may have")

// collector takes what the sources deliver side by side.
type collector struct {
	r     *run
	waits coverage.Waits

	mu       sync.Mutex
	seen     map[stage.Ref]int64 // the ids of the items
	returned coverage.Tally
	trimmed  coverage.Tally
	full     bool
	// truncated are the sources that reached a bound, in the order in which they did.
	truncated []Truncated
}

// failedSource is the outcome, for metrics, of a source that failed as a whole.
const failedSource = "failed"

// collect asks all sources of the template. It starts over where an earlier start
// was cut off, since a source may have had more to send.
func (r *run) collect(ctx context.Context) error {
	err := r.commit(ctx, true, func(ctx context.Context, tx *store.Tx, next *state) error {
		next.step, next.progress = Collect, Progress{Percent: r.state.progress.Percent, Plan: r.state.progress.Plan}
		return r.s.hot.forget(ctx, tx, r.id)
	})
	if err != nil {
		return err
	}
	last, err := r.coverageBefore(ctx, 1)
	if err != nil {
		return fmt.Errorf("last coverage: %w", err)
	}
	c := &collector{r: r, waits: coverage.NewWaits(last), seen: map[stage.Ref]int64{}, returned: coverage.Tally{}, trimmed: coverage.Tally{}}
	r.place.rest() // the platforms decide how long it takes
	answers := c.ask(ctx)
	if err := r.place.enter(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	if ctx.Err() != nil {
		if errors.Is(context.Cause(ctx), errDeadline) {
			c.cover(ctx, answers)
		}
		return context.Cause(ctx)
	}
	if at := slices.IndexFunc(answers, func(a *coverage.Answer) bool { return errors.Is(a.Err, errLost) }); at >= 0 {
		return answers[at].Err
	}
	if err := coverage.Failure(answers); err != nil {
		c.cover(ctx, answers)
		return err
	}
	return c.finish(ctx, answers)
}

// ask runs the sources and waits for all of them. They run side by side, but for those that
// come after others.
func (c *collector) ask(ctx context.Context) []*coverage.Answer {
	var answers []*coverage.Answer
	var sources []Stage
	done := map[string]chan struct{}{}
	for _, id := range c.r.template.Sources {
		source := c.r.stages.Find(id)
		if !source.called() {
			continue
		}
		sources = append(sources, source)
		answers = append(answers, &coverage.Answer{Source: id, Serves: source.Platforms, Searches: source.Searches, Leads: map[coverage.Key]string{}})
		done[id] = make(chan struct{})
	}
	var all sync.WaitGroup
	for i, source := range sources {
		a := answers[i]
		all.Go(func() {
			defer close(done[a.Source])
			var first []*coverage.Answer
			for _, other := range answers {
				if other != a && slices.Contains(source.After, other.Source) {
					<-done[other.Source] // it ends with the step
					first = append(first, other)
				}
			}
			if !source.Fallback {
				first = nil
			}
			c.run(ctx, a, source, coverage.Unanswered(c.r.seeds, a.Serves, first))
		})
	}
	all.Wait()
	return answers
}

// run takes what one source delivers for seeds, and writes it in batches.
func (c *collector) run(ctx context.Context, a *coverage.Answer, source Stage, seeds []stage.Seed) {
	var waiting []stage.Outcome
	if len(seeds) == 0 && len(c.r.seeds) > 0 && a.Searches {
		return
	}
	seeds = coverage.Served(seeds, a.Serves)
	if a.Searches { // a folder has no site that could ask to wait
		seeds, waiting = c.waits.Due(seeds, a.Serves, c.r.call.Now)
	}
	if len(waiting) > 0 && len(seeds) == 0 {
		a.Outcomes = waiting
		return
	}
	a.Seeds = seeds
	name := cmp.Or(source.Keeps, source.ID)
	before, err := c.r.rows.states.find(ctx, name, seeds)
	if err != nil {
		a.Err = err
		return
	}
	var batch []item
	states := &seedStates{before: before}
	kept := 0
	flush := func() error {
		err := c.write(ctx, batch, name, states.take())
		batch = nil
		return err
	}
	states.full = func() error { return c.r.place.busy(ctx, flush) }
	call := c.r.call
	call.States = states
	a.Outcomes, a.Err = c.r.stages.Collect(ctx, a.Source, call, seeds, func(records []stage.Record) error {
		return c.r.place.busy(ctx, func() (err error) {
			a.Records += len(records)
			had := len(batch)
			batch, err = c.admit(batch, records, a)
			kept += len(batch) - had
			if err == nil && len(batch) < c.r.s.cfg.BatchSize {
				return nil
			}
			return errors.Join(flush(), err)
		})
	})
	a.Outcomes = append(a.Outcomes, waiting...)
	if err := c.r.place.busy(ctx, flush); err != nil {
		a.Err = errors.Join(err, a.Err)
	}
	c.mu.Lock()
	full := c.full
	c.mu.Unlock()
	switch {
	case full && !errors.Is(a.Err, errLost):
		a.Err, a.Full = nil, true
		c.truncate(a, "scrolls.max_records", kept)
	case a.Err == nil && source.MostRecords > 0 && a.Records >= source.MostRecords:
		a.Full = true
		c.truncate(a, source.MostSetting, kept)
	}
	if a.Err != nil {
		c.r.log.Warn("source failed", "source", a.Source, "records", a.Records, "error", a.Err)
	}
	if a.Err != nil && len(a.Outcomes) == 0 {
		c.r.s.cfg.Observer.Asked(a.Source, failedSource)
	}
	for _, o := range a.Outcomes {
		c.r.s.cfg.Observer.Asked(a.Source, string(o.Status))
		if o.Detail != "" {
			c.r.log.Info("source reported", "source", a.Source, "seed", o.Seed, "platform", o.Platform, "outcome", o.Status, "detail", o.Detail)
		}
	}
}

// truncate notes that a source reached a bound.
func (c *collector) truncate(a *coverage.Answer, setting string, kept int) {
	t := Truncated{Source: a.Source, Setting: setting, Kept: kept}
	for _, o := range a.Outcomes {
		t.Found += o.Returned
	}
	t.Found = max(t.Found, a.Records)
	c.r.log.Warn("source had more than was taken", "source", a.Source, "setting", setting, "kept", kept, "found", t.Found)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.truncated = append(c.truncated, t)
}

// admit adds records to a batch. It leaves out those that no database can store, and
// those that the scroll already has.
func (c *collector) admit(batch []item, records []stage.Record, a *coverage.Answer) ([]item, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, rec := range records {
		rec.Platform = strings.ToLower(rec.Platform)
		if !storable(rec) {
			continue
		}
		if _, again := c.seen[rec.Ref]; again {
			continue
		}
		if len(c.seen) >= c.r.s.cfg.MaxRecords {
			c.full = true
			return batch, errFull
		}
		next := item{id: c.r.s.db.NewID(), record: rec, source: a.Source}
		c.r.s.receive(&next.record, c.r.seeds)
		next.seed = coverage.Lead(next.record, a.Source, a.Searches, c.r.seeds)
		if rec.Seed != "" && rec.Seed != next.seed {
			a.Leads[coverage.Key{Seed: rec.Seed, Platform: rec.Platform}] = next.seed
		}
		c.seen[rec.Ref] = next.id
		c.returned[next.key()]++
		if next.record.Trimmed || next.record.Unread {
			c.trimmed[next.key()]++
		}
		batch = append(batch, next)
	}
	return batch, nil
}

// maxAhead is how far the time of a reading may be ahead of the server's clock.
const maxAhead = time.Hour

// receive completes a record as it is collected: its time of publication, where its id
// gives it, and its origin. It refuses a reading from the future; the video stays.
func (s *Service) receive(rec *stage.Record, seeds []stage.Seed) {
	if rec.PostedAt == nil {
		rec.PostedAt = stage.PostedByID(rec.Ref)
	}
	refuseFuture(rec, s.now())
	plan.Attribute(rec, seeds)
}

func refuseFuture(rec *stage.Record, now time.Time) {
	if at := rec.Metrics.ObservedAt; at != nil && *at > now.Add(maxAhead).UnixMilli() {
		rec.Metrics, rec.Unread = stage.Metrics{}, true
	}
}

// storable reports whether a record has the parts that a database needs.
func storable(rec stage.Record) bool {
	return rec.Platform != "" && rec.ExternalID != "" && !strings.ContainsRune(rec.Platform+rec.ExternalID+rec.Seed, 0)
}

// write commits items, each marked as known where the library has it, and the states that
// a source kept after it delivered them. New ones of a kind that the template does not want
// are left out, and so is what was deleted from the library.
func (c *collector) write(ctx context.Context, items []item, source string, kept []keptState) error {
	if len(items) == 0 && len(kept) == 0 {
		return nil
	}
	known, err := c.r.known(ctx, items)
	if err != nil {
		return err
	}
	collected := len(items)
	if items, err = c.r.welcome(ctx, items); err != nil {
		return err
	}
	wanted := items[:0]
	for _, i := range items {
		kind := ""
		if i.record.Source != nil {
			kind = i.record.Source.Kind
		}
		if _, i.known = known[i.record.Ref]; i.known || c.r.template.options(0).Wants(kind) {
			wanted = append(wanted, i)
		}
	}
	err = c.r.commit(ctx, false, func(ctx context.Context, tx *store.Tx, next *state) error {
		next.progress.Collected += collected
		n := float64(next.progress.Collected)
		next.progress.raise(percent(Collect, n/(n+500))) // how much there is is not known
		if err := c.r.rows.writeItems(ctx, tx, wanted); err != nil {
			return err
		}
		return c.r.rows.states.write(ctx, tx, c.r, source, kept)
	})
	c.r.pause(ctx, Collect, "batch")
	return err
}

// fold returns the coverage of the answers.
func (c *collector) fold(answers []*coverage.Answer, before []coverage.Entry) []coverage.Entry {
	return coverage.Fold(coverage.Input{
		Seeds: c.r.seeds, Answers: answers, Returned: c.returned, Trimmed: c.trimmed, Before: before, Waits: c.waits, Now: c.r.call.Now,
	})
}

// cover writes the coverage of a step that failed: it shows which seeds had trouble.
// A later start of the step writes its own.
func (c *collector) cover(ctx context.Context, answers []*coverage.Answer) {
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	entries := c.fold(answers, nil)
	err := c.r.commit(after, true, func(_ context.Context, _ *store.Tx, next *state) error {
		next.progress.Coverage = coverage.Add(next.progress.Coverage, entries)
		return nil
	})
	if err != nil {
		c.r.log.Warn("coverage not written", "error", err)
	}
}

// finish writes the coverage and the checkpoint.
func (c *collector) finish(ctx context.Context, answers []*coverage.Answer) error {
	before, err := c.r.coverageBefore(ctx, lookBack)
	if err != nil {
		return fmt.Errorf("earlier coverage: %w", err)
	}
	entries := c.fold(answers, before)
	return c.r.finish(ctx, Collect, func(_ context.Context, _ *store.Tx, next *state) error {
		next.progress.Coverage = coverage.Add(next.progress.Coverage, entries)
		next.progress.Truncated = c.truncated
		return nil
	})
}

// welcome leaves out what the library would not take, so that no screen or stage works on it and no
// verdict names it.
func (r *run) welcome(ctx context.Context, items []item) ([]item, error) {
	records := make([]*stage.Record, len(items))
	for i := range items {
		records[i] = &items[i].record
	}
	welcome, err := r.s.needs.Archiver.Welcome(ctx, records)
	if err != nil || len(welcome) == len(items) {
		return items, err
	}
	left := make(map[stage.Ref]bool, len(welcome))
	for _, r := range welcome {
		left[r.Ref] = true
	}
	return slices.DeleteFunc(slices.Clone(items), func(i item) bool { return !left[i.record.Ref] }), nil
}

// known asks the library about the videos of items, in portions.
func (r *run) known(ctx context.Context, items []item) (map[stage.Ref]bool, error) {
	known := make(map[stage.Ref]bool)
	for part := range slices.Chunk(items, 500) {
		refs := make([]stage.Ref, len(part))
		for i := range part {
			refs[i] = part[i].record.Ref
		}
		some, err := r.s.needs.Library.Known(ctx, refs)
		if err != nil {
			return nil, fmt.Errorf("ask library: %w", err)
		}
		for ref, evidence := range some {
			known[ref] = evidence
		}
	}
	return known, nil
}
