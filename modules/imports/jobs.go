package imports

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

// The kinds of jobs. Queues of running servers hold them: never rename one.
const (
	runJob    = "imports.run"
	rescueJob = "imports.rescue"
	sweepJob  = "imports.sweep"
)

// readingWithin bounds one job: the reading of a file, or the undoing of an import.
const readingWithin = 30 * time.Minute

// runner reads the files of imports, follows their runs and undoes them.
type runner struct {
	imports *Service
	db      *store.DB
	cfg     Config
	needs   Needs
	log     *slog.Logger
	now     func() time.Time
}

func newRunner(s *Service) *runner {
	return &runner{imports: s, db: s.db, cfg: s.cfg, needs: s.needs, log: s.log, now: s.now}
}

// maxAttempts is how often a file is begun to be read.
const maxAttempts = 5

// jobArgs say which import to look at.
type jobArgs struct {
	Account int64 `json:"account"`
	Import  int64 `json:"import"`
}

// enqueue queues a look at an import. That of one heartbeat is queued once, so that a look
// that is lost with its worker never blocks the next one.
func (s *Service) enqueue(ctx context.Context, tx *store.Tx, account, id, heartbeat int64) error {
	return tx.Enqueue(ctx, store.Job{
		Kind: runJob, Args: jobArgs{account, id},
		UniqueKey: strconv.FormatInt(id, 10) + ":" + strconv.FormatInt(heartbeat, 10),
	})
}

// workers returns the worker of the module.
func (r *runner) workers() []jobs.Worker {
	return []jobs.Worker{{
		Kind: runJob, Timeout: readingWithin, Concurrency: 8,
		Work: func(ctx context.Context, raw json.RawMessage) error {
			var args jobArgs
			if err := json.Unmarshal(raw, &args); err != nil {
				return jobs.Cancel(fmt.Errorf("read arguments: %w", err))
			}
			return r.work(viewer.As(ctx, args.Account), args.Import)
		},
	}}
}

// periodics returns the periodic tasks of the module.
func (r *runner) periodics() []jobs.Periodic {
	return []jobs.Periodic{
		{Kind: rescueJob, Every: r.cfg.Stale, Everywhere: true, Run: r.rescue},
		{Kind: sweepJob, Every: time.Hour, Run: r.sweep},
	}
}

// work does what an import needs next.
func (r *runner) work(ctx context.Context, id int64) error {
	claimed, err := r.claim(ctx, id)
	if err != nil {
		return err
	}
	if claimed != nil {
		if err := r.readFile(ctx, claimed); err != nil {
			if errors.Is(err, errLost) {
				return nil
			}
			return fmt.Errorf("read import %s: %w", publicid.Format(publicid.Import, id), err)
		}
	}
	now, err := r.imports.load(ctx, id)
	switch {
	case err != nil || now == nil:
		return err
	case now.Status == ReadingIt:
		return jobs.Snooze(r.cfg.Stale) // another worker reads it, or is lost by then
	case now.Status == Running:
		return r.watch(ctx, now)
	case now.Status == Undoing:
		return r.undo(ctx, now)
	}
	return nil
}

// watch goes on with a running import once its run has ended.
func (r *runner) watch(ctx context.Context, i *Import) error {
	run, err := r.needs.Scrolls.RunOf(ctx, i.ScrollID)
	if err != nil {
		return fmt.Errorf("read the run of an import: %w", err)
	}
	if !run.Ended {
		if err := r.look(ctx, i.ID); err != nil {
			return err
		}
		return jobs.Snooze(r.cfg.PollEvery)
	}
	ended, err := r.advance(ctx, i, run)
	switch {
	case errors.Is(err, errLost):
		return nil
	case err != nil:
		return fmt.Errorf("go on with import %s: %w", publicid.Format(publicid.Import, i.ID), err)
	case !ended:
		return jobs.Snooze(r.cfg.PollEvery)
	}
	return r.imports.deleteParts(ctx, i.ID, allParts)
}

// undo has the library forget the runs of an import.
func (r *runner) undo(ctx context.Context, i *Import) error {
	var scrolls []int64
	for _, run := range i.Report.Runs {
		if run.ScrollID != 0 {
			scrolls = append(scrolls, run.ScrollID)
		}
	}
	stop := r.beat(ctx, func(ctx context.Context) error { return r.look(ctx, i.ID) }, func(error) {})
	defer stop()
	err := r.needs.Library.Forget(ctx, scrolls, func(ctx context.Context, tx *store.Tx, videos, readings int) error {
		return r.countUndone(ctx, tx, i.ID, videos, readings)
	})
	if err != nil {
		return fmt.Errorf("undo import %s: %w", publicid.Format(publicid.Import, i.ID), err)
	}
	if err := r.endUndo(ctx, i); err != nil && !errors.Is(err, errLost) {
		return err
	}
	return nil
}

// beat calls pulse at every heartbeat until stop, and lost with its first error that is final.
func (r *runner) beat(ctx context.Context, pulse func(context.Context) error, lost func(error)) (stop func()) {
	ctx, end := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(r.cfg.Heartbeat)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			switch err := pulse(ctx); {
			case errors.Is(err, errLost):
				lost(err)
				return
			case err != nil && ctx.Err() == nil:
				r.log.Warn("heartbeat of an import failed", "error", err)
			}
		}
	}()
	return func() { end(); <-done }
}

// readFile has the file read, and stores what was found in place of it.
func (r *runner) readFile(ctx context.Context, i *Import) error {
	if i.Attempt > maxAttempts {
		return r.refuse(ctx, i, nil, "The server could not read the file.")
	}
	if err := r.imports.deleteParts(ctx, i.ID, 0); err != nil { // of an earlier attempt
		return err
	}
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := r.beat(running, func(ctx context.Context) error { return r.pulse(ctx, i) }, cancel)
	defer stop()
	sorted := newSeries(r.cfg.MaxRuns, func(run, number int, part []byte) error {
		packed, err := pack(part)
		if err != nil {
			return fmt.Errorf("pack readings: %w", err)
		}
		if err := r.pulse(running, i); err != nil {
			return err
		}
		return r.imports.storePart(running, i.ID, run, number, packed)
	})
	upload := i.upload()
	limits, err := r.needs.Plans.Limits(running)
	if err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	against := r.imports.compare(limits)
	understood, err := r.imports.read(running, upload, sorted, against, func(out io.Writer) error { return r.writeFile(running, i.ID, out) }, nil)
	if err == nil {
		err = sorted.handAll()
	}
	r.pause("read")
	var fault *FileError
	switch {
	case errors.As(err, &fault):
		return r.refuse(ctx, i, nil, fault.Message)
	case err != nil && running.Err() != nil:
		return context.Cause(running)
	case err != nil:
		return err
	}
	report := reportOf(upload, understood, sorted)
	against.describe(&report)
	if report.Read == 0 {
		return r.refuse(ctx, i, &report, nothingRead(report))
	}
	if err := r.begin(ctx, i, report); err != nil {
		if refused(err) {
			return r.refuse(ctx, i, &report, err.Error())
		}
		return err
	}
	return r.imports.deleteParts(ctx, i.ID, filePartRun)
}

// nothingRead says why a file had no video.
func nothingRead(report Report) string {
	if len(report.Skips) == 0 {
		return "There is no video in the file."
	}
	first := report.Skips[0]
	text := fmt.Sprintf("No video could be read: %s, %d times", first.Reason, first.Count)
	if first.Line > 0 {
		text += fmt.Sprintf(", first in line %d", first.Line)
	}
	if first.Detail != "" {
		text += ": " + first.Detail
	}
	return text + "."
}

// refuse fails an import, and deletes its parts.
func (r *runner) refuse(ctx context.Context, i *Import, report *Report, message string) error {
	if err := r.fail(ctx, i, report, message); err != nil {
		return err
	}
	return r.imports.deleteParts(ctx, i.ID, allParts)
}

func (r *runner) pause(point string) {
	if r.cfg.Pause != nil {
		r.cfg.Pause(point)
	}
}

// writeFile writes the parts of a file.
func (r *runner) writeFile(ctx context.Context, id int64, out io.Writer) error {
	for number := 0; ; number++ {
		part, err := partOf(ctx, r.db, id, filePartRun, number)
		if err != nil || part == nil {
			return err
		}
		if _, err := out.Write(part); err != nil {
			return err
		}
	}
}

// read sorts the readings of a file, whose upload has its time, and compares them with the
// library; see, if set, is called with each of them.
func (s *Service) read(ctx context.Context, upload Upload, sorted *series, against *comparison, write func(io.Writer) error, see func(*stage.Record)) (Understood, error) {
	most := s.cfg.MaxReadings
	if upload.Most > 0 {
		most = upload.Most
	}
	count, unnamed := 0, 0
	file := File{Name: upload.Name, Map: upload.Map, Format: upload.Format, ObservedAt: upload.ObservedAt, Write: write}
	understood, err := s.needs.Reader.Read(ctx, file, func(records []stage.Record) error {
		for i := range records {
			rec := &records[i]
			if _, err := rec.Clean(); err != nil { // the process is not trusted
				unnamed++
				continue
			}
			if rec.Metrics.ObservedAt == nil {
				rec.Metrics.ObservedAt = &upload.ObservedAt
			}
			if upload.SeededBy != "" {
				if rec.Source == nil {
					rec.Source = &stage.Source{}
				}
				rec.Source.SeededBy = cmp.Or(rec.Source.SeededBy, upload.SeededBy)
			}
			if count++; count > most {
				return &FileError{fmt.Sprintf("The file has more than %d readings; send it in parts.", most)}
			}
			if err := sorted.add(rec, 0); errors.Is(err, errRuns) {
				return &FileError{fmt.Sprintf("The file has readings of more than %d days; send it in parts.", s.cfg.MaxRuns)}
			} else if err != nil {
				return err
			}
			if see != nil {
				see(rec)
			}
		}
		return against.look(ctx, records)
	})
	if unnamed > 0 {
		understood.Skips = append(understood.Skips, Skip{Reason: "no_id", Count: unnamed})
	}
	return understood, err
}

// rescue queues a look at imports that no worker has looked after for too long.
func (r *runner) rescue(ctx context.Context) error {
	rows, err := r.idle(viewer.System(ctx), r.now().Add(-r.cfg.Stale).UnixMilli())
	if err != nil {
		return fmt.Errorf("find idle imports: %w", err)
	}
	for _, row := range rows {
		err := r.db.Write(viewer.As(ctx, row.AccountID), func(ctx context.Context, tx *store.Tx) error {
			return r.imports.enqueue(ctx, tx, row.AccountID, row.ID, row.HeartbeatAt+1)
		})
		if err != nil {
			return fmt.Errorf("rescue import %s: %w", publicid.Format(publicid.Import, row.ID), err)
		}
	}
	return nil
}

// KeepParts is the age of parts that may be left over: an upload takes less.
const KeepParts = 24 * time.Hour

// sweep deletes parts of uploads that broke off, and of imports that have ended.
func (r *runner) sweep(ctx context.Context) error {
	left, err := r.leftovers(viewer.System(ctx), r.now().Add(-KeepParts))
	if err != nil {
		return fmt.Errorf("find left parts: %w", err)
	}
	for _, part := range left {
		if err := r.imports.deleteParts(viewer.As(ctx, part.AccountID), part.ImportID, allParts); err != nil {
			return fmt.Errorf("sweep parts: %w", err)
		}
	}
	return nil
}
