package scrolls

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/scrolls/plan"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Imported is the result of an import.
type Imported struct {
	// ScrollID is the scroll of the import; 0 where nothing was new.
	ScrollID int64
	// Parts are the tallies by [Reading.Part].
	Parts []Tally
}

// Sum returns the tally of all parts.
func (i Imported) Sum() (sum Tally) {
	for _, t := range i.Parts {
		sum.New += t.New
		sum.Again += t.Again
		sum.Same += t.Same
		sum.Repeated += t.Repeated
		sum.Refused += t.Refused
	}
	return sum
}

// importLimits returns the limits of an import: it belongs to the operator, so no
// subscription and no budget applies.
func importLimits() Limits { return Limits{Active: true, MaxFeedSize: math.MaxInt, Unmetered: true} }

// Import loads readings into the tenant's library. They are the only source of a
// scroll, so they are observed, rated and counted like any other records. next ends
// with io.EOF. Import returns when the scroll has ended.
//
// Readings are archived batch by batch, each in one transaction, and nothing is staged:
// what next returns is the journal. An import can be repeated after any failure: a
// reading that the library has is not added twice, and an earlier import of the tenant
// that was cut off is ended first, with what it archived. One that finds nothing new
// leaves no scroll, since an empty scroll would show no growth.
func (s *Service) Import(ctx context.Context, next func() ([]Reading, error)) (done Imported, err error) {
	account, _, ok := viewer.Tenant(ctx)
	if !ok || account == 0 {
		return done, errors.New("import: no tenant in the context")
	}
	_, briefed, err := s.needs.Workspaces.Subject(ctx)
	switch {
	case err != nil:
		return done, fmt.Errorf("import: workspace: %w", err)
	case !briefed:
		return done, apierr.New(apierr.WorkspaceRequired, "Set a workspace before you import videos.")
	}
	if err := s.endLostImports(ctx, account); err != nil {
		return done, fmt.Errorf("import: end an earlier one: %w", err)
	}
	r := s.newRun(&claimRow{ID: s.db.NewID(), Account: account, Template: importTemplate}, importLimits())
	in, err := r.newIntake(ctx, next)
	if err != nil {
		return done, fmt.Errorf("import: %w", err)
	}
	switch err := in.look(ctx); {
	case errors.Is(err, io.EOF):
		return Imported{Parts: in.tallies}, nil
	case err != nil:
		return Imported{Parts: in.tallies}, fmt.Errorf("import: %w", err)
	}
	err = r.runImport(ctx, in)
	return Imported{ScrollID: r.id, Parts: in.tallies}, err
}

// newIntake prepares the run for the readings of next.
func (r *run) newIntake(ctx context.Context, next func() ([]Reading, error)) (*intake, error) {
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	return &intake{r: r, next: next, seeds: plan.Seeds(r.call.Brief, nil, "", r.template.options(0)), seen: map[stage.Ref]sighting{}}, nil
}

// runImport archives an intake that has fresh readings, and scores the library.
func (r *run) runImport(ctx context.Context, in *intake) error {
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.state.step, r.state.checkpoint = Collect, Plan
	r.state.progress.raise(percent(Plan, 1))
	err := r.s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return r.insertImport(ctx, tx) })
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	if end, ok := r.s.signals.begin(r.id, cancel); ok {
		defer end()
	}
	if err := r.takeAll(running, cancel, in); err != nil {
		if errors.Is(context.Cause(running), errLost) {
			err = fmt.Errorf("%w: %w", errLost, err)
		}
		return errors.Join(fmt.Errorf("import: %w", err), r.abandon(ctx, err))
	}
	return nil
}

// takeAll performs the steps of an import: it archives batches until none is left, and
// scores.
func (r *run) takeAll(ctx context.Context, cancel context.CancelCauseFunc, in *intake) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	stop := r.beat(ctx, cancel)
	defer stop()
	settle, err := r.s.db.Bulk(ctx)
	if err != nil {
		return &stepError{Archive, err}
	}
	defer settle()
	stages, end := r.stages.Session()
	defer end()
	r.stages = stages
	r.pause(ctx, Collect, "begin")
	var results []Looked
	faults := map[string]int{}
	for {
		before, had := slices.Clone(in.tallies), r.snapshot().newVideos
		batch, err := in.batch(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			results, err = r.takeBatch(ctx, in, batch, results, faults)
		}
		if err == nil {
			err = in.recount(ctx, batch, r.snapshot().newVideos-had)
		}
		if err != nil {
			in.tallies = before // they count what is stored
			return &stepError{Archive, err}
		}
	}
	if err := r.finish(ctx, Archive, nil); err != nil {
		return &stepError{Archive, err}
	}
	return r.perform(ctx, Score)
}

// takeBatch has evidence stages examine a batch, and archives it. Meanwhile, and until the
// next batch is made, they examine what is likely to be in that one. results and faults are
// those of the evidence stages in the batches before.
func (r *run) takeBatch(whole context.Context, in *intake, batch []fresh, results []Looked, faults map[string]int) ([]Looked, error) {
	ctx, cancel := context.WithTimeoutCause(whole, r.s.cfg.deadline(Archive), errDeadline)
	defer cancel()
	x := newExamination(r, ctx, nil)
	defer x.cancel()
	x.results, x.faults = results, faults
	if err := x.examineBatch(batch, in.examined); err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	ahead := make(chan *examined, 1)
	in.examining = ahead
	go func() { ahead <- r.examineAhead(whole, in, batch, faults) }()
	return x.results, r.archiveBatch(ctx, batch, x.results)
}

// examined is what evidence stages found before the batch of the records was made.
type examined struct {
	// records are the times, by which the records are told from others of the same video.
	records map[stage.Ref]*int64
	found   map[string]map[stage.Ref]*stage.Finding
}

// has reports whether the stage was asked about the record, and what it found; nil for
// nothing.
func (e *examined) has(id string, rec *stage.Record) (*stage.Finding, bool) {
	if e == nil || e.found[id] == nil {
		return nil, false
	}
	at, asked := e.records[rec.Ref]
	if !asked || at != rec.Metrics.ObservedAt {
		return nil, false
	}
	return e.found[id][rec.Ref], true
}

// examineAhead has evidence stages examine the readings that come after a batch, as long as
// all are new: what is known is mostly not examined. It returns nil where they were not, or
// a stage failed. It runs until the next batch is made, or on by itself where there is none
// after an error, and counts nothing: most of the records, or all, are in the next batch.
func (r *run) examineAhead(ctx context.Context, in *intake, batch []fresh, faults map[string]int) (e *examined) {
	defer func() {
		if cause := recover(); cause != nil { // the next batch meets it again
			e = nil
		}
	}()
	if slices.ContainsFunc(batch, func(f fresh) bool { return f.known }) {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.s.cfg.deadline(Archive), errDeadline)
	defer cancel()
	x := newExamination(r, ctx, nil)
	defer x.cancel()
	x.faults = faults
	if len(x.plain) == 0 {
		return nil
	}
	e = &examined{map[stage.Ref]*int64{}, map[string]map[stage.Ref]*stage.Finding{}}
	var asked []*stage.Record
	for _, rec := range in.coming() {
		if _, twice := e.records[rec.Ref]; twice {
			continue
		}
		if _, now := in.seen[rec.Ref]; !now {
			e.records[rec.Ref], asked = rec.Metrics.ObservedAt, append(asked, rec)
		}
	}
	for _, id := range x.plain {
		if len(asked) == 0 || x.faults[id] >= maxFaults {
			continue
		}
		fresh, _, err := x.ask(id, asked)
		if err != nil {
			return nil
		}
		x.add(fresh)
		e.found[id] = fresh
	}
	return e
}

// examineBatch adds to the readings what the evidence stages find that read records: for
// new videos, and for known ones that neither the library nor the reading has evidence of.
// What was examined before is not examined again.
func (x *examination) examineBatch(batch []fresh, before *examined) error {
	if len(x.plain) == 0 {
		return nil
	}
	var lacking []item
	for i := range batch {
		if batch[i].known && batch[i].Record.Evidence == nil {
			lacking = append(lacking, item{record: stage.Record{Ref: batch[i].Record.Ref}})
		}
	}
	lacking, err := x.r.lacking(x.outer, lacking)
	if err != nil {
		return err
	}
	wanted := make(map[stage.Ref]bool, len(lacking))
	for _, i := range lacking {
		wanted[i.record.Ref] = true
	}
	var asked []*stage.Record
	var of []*fresh
	for i := range batch {
		if !batch[i].known || wanted[batch[i].Record.Ref] {
			asked, of = append(asked, &batch[i].Record), append(of, &batch[i])
		}
	}
	for _, id := range x.plain {
		if err := x.passBatch(id, asked, before); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
	}
	for i, rec := range asked {
		if finding := x.found[rec.Ref]; finding != nil {
			said := *rec
			of[i].said = &said
			apply(rec, finding)
		}
	}
	return nil
}

// passBatch has one stage examine records, with what earlier ones found, and keeps its result.
func (x *examination) passBatch(id string, records []*stage.Record, before *examined) error {
	if len(records) == 0 || x.faults[id] >= maxFaults {
		return nil
	}
	known := map[stage.Ref]*stage.Finding{}
	var left []*stage.Record
	for _, rec := range records {
		finding, asked := before.has(id, rec)
		if !asked {
			left = append(left, rec)
		} else if finding != nil {
			known[rec.Ref] = finding
		}
	}
	fresh, asked, err := x.ask(id, left)
	asked += len(records) - len(left)
	maps.Copy(fresh, known)
	x.add(fresh)
	return x.result(Looked{Stage: id, Asked: asked, Found: len(fresh)}, err)
}

// ask streams records through one stage, which sees what earlier ones found. It returns what
// the stage found, and how many records it took.
func (x *examination) ask(id string, records []*stage.Record) (fresh map[stage.Ref]*stage.Finding, took int, err error) {
	fresh = map[stage.Ref]*stage.Finding{}
	if len(records) == 0 {
		return fresh, 0, nil
	}
	asked := make(map[stage.Ref]bool, len(records))
	next := func() ([]stage.Record, error) {
		if len(asked) == len(records) {
			return nil, io.EOF
		}
		part := records[len(asked):min(len(records), len(asked)+x.r.s.cfg.BatchSize)]
		shown := make([]stage.Record, len(part))
		for i, rec := range part {
			shown[i], asked[rec.Ref] = *rec, true
			apply(&shown[i], x.found[rec.Ref])
		}
		return shown, nil
	}
	err = x.r.stages.Evidence(x.ctx, id, x.r.call, next, func(findings []stage.Finding) error {
		for _, f := range findings {
			if asked[f.Ref] {
				fresh[f.Ref] = &f
			}
		}
		return nil
	})
	return fresh, len(asked), err
}

// abandon fails an import that was cut off before it stored a portion. The next
// import ends any other.
func (r *run) abandon(ctx context.Context, cause error) error {
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if r.snapshot().checkpoint == Plan {
		return r.fail(after, internalFailure, cause)
	}
	return ignoreLost(r.s.db.Write(after, func(ctx context.Context, tx *store.Tx) error {
		return r.putDown(ctx, tx, r.attempt)
	}))
}

// endLostImports ends the tenant's imports whose command was lost. Such an import
// archives the portion that it had stored. Where its worker may still be alive, the
// call waits for a heartbeat.
func (s *Service) endLostImports(ctx context.Context, account int64) error {
	rows, err := s.runningImports(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		lost, err := s.isLost(ctx, row.ID, row.HeartbeatAt)
		if err != nil {
			return err
		}
		if !lost {
			continue
		}
		s.log.Info("an import was cut off: ending it", "scroll", publicid.Format(publicid.Scroll, row.ID))
		if err := s.work(ctx, jobArgs{account, row.ID, row.Attempt + 1}); err != nil {
			s.log.Warn("could not end an import that was cut off", "scroll", publicid.Format(publicid.Scroll, row.ID), "error", err)
		}
	}
	return nil
}

// isLost waits until a running import has a new heartbeat, or had none for too long.
func (s *Service) isLost(ctx context.Context, id, first int64) (bool, error) {
	for {
		row, err := s.importPulse(ctx, id)
		switch {
		case err != nil:
			return false, err
		case row == nil || row.HeartbeatAt != first:
			return false, nil
		case first == 0 || s.now().Sub(time.UnixMilli(first)) > s.cfg.Stale:
			return true, nil
		}
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-time.After(min(s.cfg.Heartbeat, 500*time.Millisecond)):
		}
	}
}

// commandless are the stages of an import whose command is gone: what it archived is
// scored, and nothing more can be collected.
type commandless struct{ Stages }

// Find describes the source of the import, or another stage.
func (c commandless) Find(id string) Stage {
	if id != importTemplate {
		return c.Stages.Find(id)
	}
	return Stage{ID: id, Kind: stage.SourceKind, Usable: true}
}

// Session begins one of the installed stages.
func (c commandless) Session() (Stages, func()) {
	stages, end := c.Stages.Session()
	return commandless{stages}, end
}

// Collect fails: the command had the readings.
func (commandless) Collect(context.Context, string, stage.Run, []stage.Seed, func([]stage.Record) error) ([]stage.Outcome, error) {
	return nil, &stage.CallError{Stage: Collect, Failure: internalFailure, Cause: errors.New("the command that imported is gone")}
}
