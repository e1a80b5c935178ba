package scrolls

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	changefeed "github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/scrolls/coverage"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Imported is the result of an import.
type Imported struct {
	// ScrollID is the scroll of the import; 0 if nothing was new.
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

// importLimits returns the limits of an import: no subscription and no budget applies to an
// operator's, and a customer's was charged when it was queued. room bounds a customer's.
func importLimits(room int) Limits {
	return Limits{Active: true, MaxFeedSize: math.MaxInt, Unmetered: true, Room: room}
}

// Source are the readings of an import that a customer queued.
type Source struct {
	// Next returns readings, in the end [io.EOF].
	Next func() ([]Reading, error)
	// Total is how many readings there are.
	Total int
}

// Run is how far the scroll of a queued import is.
type Run struct {
	// Ended and Completed: a run that ended without being completed failed, or was cancelled.
	Ended, Completed bool
	Percent          float64
	// New and Again count videos, and NoRoom new ones that the library may not have.
	New, Again, NoRoom int
	// Cause is why it failed, in words for its tenant.
	Cause string
}

// RunOf returns how far the scroll of a queued import is. One that is gone has failed.
func (s *Service) RunOf(ctx context.Context, scrollID int64) (Run, error) {
	scroll, err := s.load(ctx, scrollID)
	if err != nil {
		return Run{}, err
	}
	if scroll == nil {
		return Run{Ended: true, Cause: "The scroll is gone."}, nil
	}
	run := Run{
		Ended: scroll.Ended(), Completed: scroll.Status == Completed, Percent: scroll.Progress.Percent,
		New: scroll.NewVideos, Again: scroll.Progress.Reobserved,
	}
	for _, drop := range scroll.Progress.DroppedByRule {
		if drop.Rule == LibraryFull {
			run.NoRoom = drop.Videos
		}
	}
	switch f := scroll.failure(); {
	case scroll.Status == Cancelled:
		run.Cause = "The scroll was cancelled."
	case f != nil:
		run.Cause = f.Cause
	}
	return run, nil
}

// QueueImport queues a scroll of the template `import` in the transaction, for the readings
// that the need Imports returns for it. It returns the scroll's id.
func (s *Service) QueueImport(ctx context.Context, tx *store.Tx) (int64, error) {
	account, _, ok := viewer.Tenant(ctx)
	if !ok || account == 0 {
		return 0, errors.New("queue import: no tenant in the context")
	}
	subject, briefed, err := s.needs.Workspaces.Subject(ctx)
	switch {
	case err != nil:
		return 0, fmt.Errorf("queue import: workspace: %w", err)
	case !briefed:
		return 0, errUnbriefed()
	}
	name := importTemplate
	scroll, err := s.insert(ctx, tx, account, subject, Start{Template: &name})
	if err != nil {
		return 0, fmt.Errorf("queue import: %w", err)
	}
	return scroll.ID, nil
}

func errUnbriefed() error {
	return apierr.New(apierr.WorkspaceRequired, "Set a workspace before you import videos.")
}

// Import loads readings into the tenant's library, in a scroll of the template `import`
// whose source they are, so they are screened, observed, rated and counted like any other
// records. next ends with io.EOF. Import returns when the scroll has ended.
//
// The steps take one batch after another, and nothing is staged: what next returns is the
// journal. An import can be repeated after any failure: a reading that the library has is
// not added twice, and an earlier import of the tenant that was cut off is ended first,
// with what it archived. One that finds nothing new leaves no scroll, since an empty
// scroll would show no growth.
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
		return done, errUnbriefed()
	}
	if err := (importers{s}).endLostImports(ctx, account); err != nil {
		return done, fmt.Errorf("import: end an earlier one: %w", err)
	}
	r := s.newRun(&claimRow{ID: s.db.NewID(), Account: account, Template: importTemplate}, importLimits(0))
	r.alone, r.atOnce = true, min(importBatch, s.cfg.MaxRecords)
	if err := (planning{r}).prepare(ctx); err != nil {
		return done, fmt.Errorf("import: %w", err)
	}
	r.in = importing{r}.newIntake(next, 0)
	switch err := r.in.look(ctx); {
	case errors.Is(err, io.EOF):
		return Imported{Parts: r.in.tallies}, nil
	case err != nil:
		return Imported{Parts: r.in.tallies}, fmt.Errorf("import: %w", err)
	}
	err = importing{r}.runImport(ctx)
	return Imported{ScrollID: r.id, Parts: r.in.tallies}, err
}

// importing carries out an import, whose videos come in batches.
type importing struct{ *run }

// runImport performs the steps of a command's import that has fresh readings.
func (r importing) runImport(ctx context.Context) error {
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.beginImport()
	err := r.s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return r.insertImport(ctx, tx) })
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	if end, ok := r.s.signals.begin(r.id, cancel); ok {
		defer end()
	}
	settle, err := r.s.db.Bulk(ctx)
	if err == nil {
		err = r.execute(running, cancel)
		settle()
	}
	if err != nil {
		if errors.Is(context.Cause(running), errLost) {
			err = fmt.Errorf("%w: %w", errLost, err)
		}
		return errors.Join(fmt.Errorf("import: %w", err), r.abandon(ctx, err))
	}
	return nil
}

// beginImport skips the step plan: the readings are what there is to collect.
func (r importing) beginImport() {
	if r.state.checkpoint == "" {
		r.state.step, r.state.checkpoint = Collect, Plan
		r.state.progress.raise(percent(Plan, 1))
	}
}

// openImport finds the readings of a queued import. It fails if they were a command's that
// is gone, and nothing of them is archived.
func (r importing) openImport(ctx context.Context) error {
	source, err := r.s.needs.Imports.Readings(ctx, r.id)
	switch {
	case err != nil:
		return fmt.Errorf("open the readings: %w", err)
	case source != nil:
		r.beginImport()
		r.in, r.limits.MaxFeedSize = r.newIntake(source.Next, source.Total), r.room+r.state.newVideos
		r.state.progress.Dropped, r.state.progress.DroppedByRule = 0, nil // they are read again
	case r.state.checkpoint == "" || r.state.checkpoint == Plan:
		return &stepError{Collect, &stage.CallError{Stage: Collect, Failure: internalFailure, Cause: errors.New("the command that imported is gone")}}
	}
	return nil
}

// executeImport takes each batch of the readings through the steps from collect to archive,
// until none is left, and scores. An import whose command is gone is scored with what it
// archived.
func (r importing) executeImport(ctx context.Context) error {
	if r.in == nil {
		if err := r.openImport(ctx); err != nil {
			return err
		}
	}
	r.pause(ctx, Collect, "begin")
	for r.in != nil && r.snapshot().checkpoint != Archive {
		more, err := r.takeBatch(ctx)
		if err != nil {
			return &stepError{Archive, err}
		}
		if !more {
			break
		}
		if err := r.place.yield(ctx); err != nil {
			return err
		}
	}
	if r.snapshot().checkpoint != Archive {
		if err := r.finish(ctx, Archive, nil); err != nil {
			return &stepError{Archive, err}
		}
	}
	return r.perform(ctx, Score)
}

// takeBatch takes the next batch through the steps; more is false if there was none. Tallies
// count what is stored.
func (r importing) takeBatch(whole context.Context) (more bool, err error) {
	in, before, had := r.in, slices.Clone(r.in.tallies), r.snapshot().newVideos
	defer func() {
		if err != nil {
			in.tallies = before
		}
	}()
	batch, err := in.batch(whole)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if batch, err = in.welcome(whole, batch); err != nil || len(batch) == 0 {
		return err == nil, err
	}
	ctx, cancel := context.WithTimeoutCause(whole, r.s.cfg.deadline(Archive), errDeadline)
	defer cancel()
	r.staged = newStagedBatch(batch)
	if err := r.observeCollected(ctx); err != nil {
		return false, err
	}
	judged, err := r.judge(ctx)
	if err != nil {
		return false, err
	}
	if in.looked, err = r.examine(ctx, in.looked, in.faults); err != nil {
		return false, err
	}
	again, err := secondPass(r).judge(ctx)
	if err != nil {
		return false, err
	}
	if _, err := archiving(r).archiveKept(ctx); err != nil {
		return false, err
	}
	if err := r.noteBatch(ctx, batch, judged, again); err != nil {
		return false, err
	}
	return true, in.recount(ctx, batch, r.snapshot().newVideos-had)
}

// noteBatch counts a batch that is archived, and what each pass of the screens dropped.
func (r importing) noteBatch(ctx context.Context, batch []item, passes ...*screening) error {
	returned, trimmed := coverage.Tally{}, coverage.Tally{}
	for i := range batch {
		if returned[batch[i].key()]++; batch[i].record.Trimmed || batch[i].record.Unread {
			trimmed[batch[i].key()]++
		}
	}
	covered := coverage.Fold(coverage.Input{
		Answers:  []*coverage.Answer{{Source: importTemplate, Records: len(batch)}},
		Returned: returned, Trimmed: trimmed, Now: r.call.Now,
	})
	left, err := r.staged.itemIDs(ctx, kept())
	if err != nil {
		return err
	}
	r.in.passed += len(batch)
	return r.note(ctx, func(next *state) {
		if len(left) > 0 {
			next.progress.drop(LibraryFull, len(left))
		}
		next.progress.Collected += len(batch)
		next.progress.Coverage = coverage.Add(next.progress.Coverage, covered)
		next.progress.Evidence = r.in.looked
		for _, judged := range passes {
			_ = judged.sum(ctx, nil, next) // it only counts
		}
		next.progress.raise(r.in.percent(Archive, 1))
	})
}

// beginArchive notes, with the first videos that an import archives, that a later start can
// end it: there is something to score.
func (r importing) beginArchive(ctx context.Context, tx *store.Tx, next *state) error {
	if r.name != importTemplate || next.checkpoint != Plan {
		return nil
	}
	next.checkpoint, next.step = Evidence, Archive
	return changefeed.Append(ctx, tx, changefeed.Change{Kind: changefeed.ScrollStage, Scroll: r.id, Word: Archive})
}

// LibraryFull stands, in place of a rule, for the plan's bound of videos.
const LibraryFull = "library_full"

// percent is the progress at a fraction of a step. An import repeats the steps, so that its
// progress is the share of its readings; a scroll has a nil intake.
func (in *intake) percent(step string, fraction float64) float64 {
	if in == nil {
		return percent(step, fraction)
	}
	done, total := float64(in.passed), float64(in.total)
	if total == 0 {
		total = done + 5000 // how much there is is not known
	}
	return percent(Archive, 0.9*done/max(total, 1))
}

// abandon fails an import that was cut off before it stored a portion. The next
// import ends any other.
func (r importing) abandon(ctx context.Context, cause error) error {
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if r.snapshot().checkpoint == Plan {
		return r.fail(after, internalFailure, cause)
	}
	return ignoreLost(r.s.db.Write(after, func(ctx context.Context, tx *store.Tx) error {
		return r.putDown(ctx, tx, r.attempt)
	}))
}

// importers find the imports of an account and their ends.
type importers struct{ *Service }

// endLostImports ends the tenant's imports whose command was lost. Such an import
// archives the portion that it had stored. Where its worker may still be alive, the
// call waits for a heartbeat.
func (s importers) endLostImports(ctx context.Context, account int64) error {
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
func (s importers) isLost(ctx context.Context, id, first int64) (bool, error) {
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
