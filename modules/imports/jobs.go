package imports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
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

// Workers returns the worker of the module.
func (s *Service) Workers() []store.Worker {
	return []store.Worker{{
		Kind: runJob, Timeout: readingWithin, Concurrency: 8,
		Work: func(ctx context.Context, raw json.RawMessage) error {
			var args jobArgs
			if err := json.Unmarshal(raw, &args); err != nil {
				return store.Cancel(fmt.Errorf("read arguments: %w", err))
			}
			return s.work(viewer.As(ctx, args.Account), args.Import)
		},
	}}
}

// Periodics returns the periodic tasks of the module.
func (s *Service) Periodics() []store.Periodic {
	return []store.Periodic{
		{Kind: rescueJob, Every: s.cfg.Stale, Everywhere: true, Run: s.Rescue},
		{Kind: sweepJob, Every: time.Hour, Run: s.Sweep},
	}
}

// work does what an import needs next.
func (s *Service) work(ctx context.Context, id int64) error {
	claimed, err := s.claim(ctx, id)
	if err != nil {
		return err
	}
	if claimed != nil {
		if err := s.readFile(ctx, claimed); err != nil {
			if errors.Is(err, errLost) {
				return nil
			}
			return fmt.Errorf("read import %s: %w", publicid.Format(publicid.Import, id), err)
		}
	}
	now, err := s.load(ctx, id)
	switch {
	case err != nil || now == nil:
		return err
	case now.Status == ReadingIt:
		return store.Snooze(s.cfg.Stale) // another worker reads it, or is lost by then
	case now.Status == Running:
		return s.watch(ctx, now)
	case now.Status == Undoing:
		return s.undo(ctx, now)
	}
	return nil
}

// watch goes on with a running import once its run has ended.
func (s *Service) watch(ctx context.Context, i *Import) error {
	run, err := s.needs.Scrolls.RunOf(ctx, i.ScrollID)
	if err != nil {
		return fmt.Errorf("read the run of an import: %w", err)
	}
	if !run.Ended {
		if err := s.look(ctx, i.ID); err != nil {
			return err
		}
		return store.Snooze(s.cfg.PollEvery)
	}
	ended, err := s.advance(ctx, i, run)
	switch {
	case errors.Is(err, errLost):
		return nil
	case err != nil:
		return fmt.Errorf("go on with import %s: %w", publicid.Format(publicid.Import, i.ID), err)
	case !ended:
		return store.Snooze(s.cfg.PollEvery)
	}
	return s.deleteParts(ctx, i.ID, allParts)
}

// undo has the library forget the runs of an import.
func (s *Service) undo(ctx context.Context, i *Import) error {
	var scrolls []int64
	for _, run := range i.Report.Runs {
		if run.ScrollID != 0 {
			scrolls = append(scrolls, run.ScrollID)
		}
	}
	stop := s.beat(ctx, func(ctx context.Context) error { return s.look(ctx, i.ID) }, func(error) {})
	defer stop()
	err := s.needs.Library.Forget(ctx, scrolls, func(ctx context.Context, tx *store.Tx, videos, readings int) error {
		return s.countUndone(ctx, tx, i.ID, videos, readings)
	})
	if err != nil {
		return fmt.Errorf("undo import %s: %w", publicid.Format(publicid.Import, i.ID), err)
	}
	if err := s.endUndo(ctx, i); err != nil && !errors.Is(err, errLost) {
		return err
	}
	return nil
}

// beat calls pulse at every heartbeat until stop, and lost with its first error that is final.
func (s *Service) beat(ctx context.Context, pulse func(context.Context) error, lost func(error)) (stop func()) {
	ctx, end := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(s.cfg.Heartbeat)
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
				s.log.Warn("heartbeat of an import failed", "error", err)
			}
		}
	}()
	return func() { end(); <-done }
}

// readFile has the file read, and stores what was found in place of it.
func (s *Service) readFile(ctx context.Context, i *Import) error {
	if i.Attempt > maxAttempts {
		return s.refuse(ctx, i, nil, "The server could not read the file.")
	}
	if err := s.deleteParts(ctx, i.ID, 0); err != nil { // of an earlier attempt
		return err
	}
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := s.beat(running, func(ctx context.Context) error { return s.pulse(ctx, i) }, cancel)
	defer stop()
	sorted := newSeries(s.cfg.MaxRuns, func(run, number int, part []byte) error {
		packed, err := pack(part)
		if err != nil {
			return fmt.Errorf("pack readings: %w", err)
		}
		if err := s.pulse(running, i); err != nil {
			return err
		}
		return s.storePart(running, i.ID, run, number, packed)
	})
	upload := i.upload()
	limits, err := s.needs.Plans.Limits(running)
	if err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	against := s.compare(limits)
	understood, err := s.read(running, upload, sorted, against, func(out io.Writer) error { return s.writeFile(running, i.ID, out) }, nil)
	if err == nil {
		err = sorted.handAll()
	}
	s.pause("read")
	var fault *FileError
	switch {
	case errors.As(err, &fault):
		return s.refuse(ctx, i, nil, fault.Message)
	case err != nil && running.Err() != nil:
		return context.Cause(running)
	case err != nil:
		return err
	}
	report := reportOf(upload, understood, sorted)
	against.describe(&report)
	if report.Read == 0 {
		return s.refuse(ctx, i, &report, nothingRead(report))
	}
	if err := s.begin(ctx, i, report); err != nil {
		if refused(err) {
			return s.refuse(ctx, i, &report, err.Error())
		}
		return err
	}
	return s.deleteParts(ctx, i.ID, filePartRun)
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
func (s *Service) refuse(ctx context.Context, i *Import, report *Report, message string) error {
	if err := s.fail(ctx, i, report, message); err != nil {
		return err
	}
	return s.deleteParts(ctx, i.ID, allParts)
}

func (s *Service) pause(point string) {
	if s.cfg.Pause != nil {
		s.cfg.Pause(point)
	}
}

// writeFile writes the parts of a file.
func (s *Service) writeFile(ctx context.Context, id int64, out io.Writer) error {
	for number := 0; ; number++ {
		part, err := partOf(ctx, s.db, id, filePartRun, number)
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

// Rescue queues a look at imports that no worker has looked after for too long.
func (s *Service) Rescue(ctx context.Context) error {
	rows, err := s.idle(viewer.System(ctx), s.now().Add(-s.cfg.Stale).UnixMilli())
	if err != nil {
		return fmt.Errorf("find idle imports: %w", err)
	}
	for _, row := range rows {
		err := s.db.Write(viewer.As(ctx, row.AccountID), func(ctx context.Context, tx *store.Tx) error {
			return s.enqueue(ctx, tx, row.AccountID, row.ID, row.HeartbeatAt+1)
		})
		if err != nil {
			return fmt.Errorf("rescue import %s: %w", publicid.Format(publicid.Import, row.ID), err)
		}
	}
	return nil
}

// KeepParts is the age of parts that may be left over: an upload takes less.
const KeepParts = 24 * time.Hour

// Sweep deletes parts of uploads that broke off, and of imports that have ended.
func (s *Service) Sweep(ctx context.Context) error {
	left, err := s.leftovers(viewer.System(ctx), s.now().Add(-KeepParts))
	if err != nil {
		return fmt.Errorf("find left parts: %w", err)
	}
	for _, part := range left {
		if err := s.deleteParts(viewer.As(ctx, part.AccountID), part.ImportID, allParts); err != nil {
			return fmt.Errorf("sweep parts: %w", err)
		}
	}
	return nil
}
