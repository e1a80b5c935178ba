package imports

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/fileimport"
	"github.com/scrollery/scrollery/ent/importpart"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

const (
	// filePartRun has the parts of the file itself.
	filePartRun = -1
	// allParts are those of the file and of all runs.
	allParts = -2
)

// errLost is what a worker gets whose import another one has.
var errLost = errors.New("the import has another worker or has ended")

func fromRow(row *ent.FileImport) (*Import, error) {
	i := &Import{
		ID: row.ID, AccountID: row.AccountID, Status: row.Status, Name: row.Name, Bytes: row.Bytes, ScrollID: row.ScrollID, Failure: row.Failure,
		Attempt: row.Attempt, Key: row.IdempotencyKey, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, CompletedAt: row.CompletedAt,
	}
	if err := json.Unmarshal([]byte(row.Options), &i.Options); err != nil {
		return nil, fmt.Errorf("import %s: read its options: %w", publicid.Format(publicid.Import, row.ID), err)
	}
	if row.Report == "" {
		return i, nil
	}
	if err := json.Unmarshal([]byte(row.Report), &i.Report); err != nil {
		return nil, fmt.Errorf("import %s: read its report: %w", publicid.Format(publicid.Import, row.ID), err)
	}
	return i, nil
}

func found(row *ent.FileImport, err error) (*Import, error) {
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("load an import: %w", err)
	}
	return fromRow(row)
}

func (s *Service) load(ctx context.Context, id int64) (*Import, error) {
	return importOf(ctx, s.db, id)
}

func importOf(ctx context.Context, db *store.DB, id int64) (*Import, error) {
	return found(db.Ent().FileImport.Query().Where(fileimport.ID(id)).Only(ctx))
}

func (s *Service) byKey(ctx context.Context, key string) (*Import, error) {
	return found(s.db.Ent().FileImport.Query().Where(fileimport.IdempotencyKey(key)).Only(ctx))
}

func byScroll(ctx context.Context, db *store.DB, scroll int64) (*Import, error) {
	return found(db.Ent().FileImport.Query().Where(fileimport.ScrollID(scroll)).Only(ctx))
}

// page reads the tenant's imports below an id, newest first; 0 starts with the newest.
func (s *Service) page(ctx context.Context, before int64, limit int) ([]*Import, error) {
	query := s.db.Ent().FileImport.Query().Order(ent.Desc(fileimport.FieldID)).Limit(limit)
	if before > 0 {
		query.Where(fileimport.IDLT(before))
	}
	rows, err := query.All(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]*Import, len(rows))
	for i, row := range rows {
		if all[i], err = fromRow(row); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// countActive counts the tenant's imports that have not ended.
func (s *Service) countActive(ctx context.Context) (int, error) {
	n, err := s.db.Ent().FileImport.Query().Where(fileimport.StatusIn(Queued, ReadingIt, Running, Undoing)).Count(ctx)
	if err != nil {
		return 0, fmt.Errorf("count imports: %w", err)
	}
	return n, nil
}

// insert writes a queued import with its job, unless another one has its key.
func (s *Service) insert(ctx context.Context, account, id, size int64, upload Upload) (made *Import, created bool, err error) {
	upload = upload.timed(s.now())
	options := Options{Map: upload.Map, Format: upload.Format, ObservedAt: upload.ObservedAt, TimeFrom: upload.TimeFrom, Most: upload.Most, SeededBy: upload.SeededBy}
	text, err := json.Marshal(options)
	if err != nil {
		return nil, false, fmt.Errorf("render options: %w", err)
	}
	var key *string
	if upload.Key != "" {
		key = &upload.Key
	}
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		made, created = nil, false
		if err := tx.Lock(ctx, "imports", account); err != nil {
			return err
		}
		if key != nil {
			made, err = found(tx.Ent().FileImport.Query().Where(fileimport.IdempotencyKey(*key)).Only(ctx))
			if made != nil || err != nil {
				return err
			}
		}
		now := s.now().UnixMilli()
		row, err := tx.Ent().FileImport.Create().SetID(id).SetAccountID(account).SetStatus(Queued).SetName(upload.Name).SetBytes(size).
			SetOptions(string(text)).SetNillableIdempotencyKey(key).SetCreatedAt(now).SetUpdatedAt(now).SetHeartbeatAt(now).Save(ctx)
		if err != nil {
			return err
		}
		created = true
		if made, err = fromRow(row); err != nil {
			return err
		}
		return s.enqueue(ctx, tx, account, id, now)
	})
	if err != nil {
		return nil, false, fmt.Errorf("store an import: %w", err)
	}
	return made, created, nil
}

// storePart stores a part of a file, or of a run.
func (s *Service) storePart(ctx context.Context, id int64, run, number int, data []byte) error {
	account, err := tenantOf(ctx)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return tx.Ent().ImportPart.Create().SetID(s.db.NewID()).SetAccountID(account).SetImportID(id).SetRun(run).SetNumber(number).
			SetData(data).SetCreatedAt(s.now().UnixMilli()).Exec(ctx)
	})
}

// partOf reads a part; nil if there is none.
func partOf(ctx context.Context, db *store.DB, id int64, run, number int) ([]byte, error) {
	row, err := db.Ent().ImportPart.Query().Where(importpart.ImportID(id), importpart.Run(run), importpart.Number(number)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read a part: %w", err)
	}
	return row.Data, nil
}

// deletedAtOnce is how many parts one transaction deletes.
const deletedAtOnce = 32

// deleteParts deletes parts of an import: those of the file, of all runs from 0, or all.
func (s *Service) deleteParts(ctx context.Context, id int64, which int) error {
	for {
		n := 0
		err := s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
			query := tx.Ent().ImportPart.Query().Where(importpart.ImportID(id))
			switch which {
			case allParts:
			case filePartRun:
				query.Where(importpart.Run(filePartRun))
			default:
				query.Where(importpart.RunGTE(0))
			}
			ids, err := query.Limit(deletedAtOnce).IDs(ctx)
			if n = len(ids); err != nil || n == 0 {
				return err
			}
			_, err = tx.Ent().ImportPart.Delete().Where(importpart.IDIn(ids...)).Exec(ctx)
			return err
		})
		if err != nil {
			return fmt.Errorf("delete parts: %w", err)
		}
		if n < deletedAtOnce {
			return nil
		}
	}
}

// claim makes the caller the one that reads a file; nil if another one does, or did.
func (r *runner) claim(ctx context.Context, id int64) (claimed *Import, err error) {
	err = r.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		claimed = nil
		now := r.now().UnixMilli()
		n, err := tx.Ent().FileImport.Update().
			Where(fileimport.ID(id), fileimport.Or(
				fileimport.Status(Queued),
				fileimport.And(fileimport.Status(ReadingIt), fileimport.HeartbeatAtLTE(now-r.cfg.Stale.Milliseconds())),
			)).
			SetStatus(ReadingIt).AddAttempt(1).SetHeartbeatAt(now).SetUpdatedAt(now).Save(ctx)
		if err != nil || n == 0 {
			return err
		}
		claimed, err = found(tx.Ent().FileImport.Query().Where(fileimport.ID(id)).Only(ctx))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claim an import: %w", err)
	}
	return claimed, nil
}

// pulse writes the heartbeat of a reading, or fails with errLost.
func (r *runner) pulse(ctx context.Context, i *Import) error {
	return r.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return mine(tx.Ent().FileImport.Update().
			Where(fileimport.ID(i.ID), fileimport.Status(ReadingIt), fileimport.Attempt(i.Attempt)).SetHeartbeatAt(r.now().UnixMilli()).Save(ctx))
	})
}

func mine(changed int, err error) error {
	if err == nil && changed == 0 {
		return errLost
	}
	return err
}

// begin ends the reading: it writes the report, charges it and queues the first run.
func (r *runner) begin(ctx context.Context, i *Import, report Report) error {
	return r.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		next := report
		next.Runs = append([]DayRun(nil), report.Runs...)
		scroll, err := r.needs.Scrolls.QueueImport(ctx, tx)
		if err != nil {
			return err
		}
		next.Runs[0].ScrollID = scroll
		text, err := json.Marshal(next)
		if err != nil {
			return fmt.Errorf("render the report: %w", err)
		}
		now := r.now().UnixMilli()
		err = mine(tx.Ent().FileImport.Update().Where(fileimport.ID(i.ID), fileimport.Status(ReadingIt), fileimport.Attempt(i.Attempt)).
			SetStatus(Running).SetReport(string(text)).SetScrollID(scroll).SetHeartbeatAt(now).SetUpdatedAt(now).Save(ctx))
		if err != nil {
			return err
		}
		if units := r.imports.units(next.Read); units > 0 {
			return r.needs.Charger.Charge(ctx, tx, i.AccountID, units)
		}
		return nil
	})
}

// advance notes that the run of a running import has ended, and queues the next one; it ends
// the import after the last.
func (r *runner) advance(ctx context.Context, i *Import, run Run) (ended bool, err error) {
	at := i.Report.run(i.ScrollID)
	if at < 0 {
		return false, fmt.Errorf("import %s has no run of its scroll", publicid.Format(publicid.Import, i.ID))
	}
	err = r.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		report, now := i.Report, r.now().UnixMilli()
		report.Runs = append([]DayRun(nil), i.Report.Runs...)
		report.Runs[at].Counts = Counts{New: run.New, Again: run.Again, NoRoom: run.NoRoom}
		update := tx.Ent().FileImport.Update().
			Where(fileimport.ID(i.ID), fileimport.Status(Running), fileimport.ScrollID(i.ScrollID)).SetHeartbeatAt(now).SetUpdatedAt(now)
		switch ended = true; {
		case !run.Completed:
			update.SetStatus(Failed).SetFailure(run.Cause).SetCompletedAt(now)
		case at+1 < len(report.Runs):
			scroll, err := r.needs.Scrolls.QueueImport(ctx, tx)
			if err != nil {
				return err
			}
			ended, report.Runs[at+1].ScrollID = false, scroll
			update.SetScrollID(scroll)
		default:
			update.SetStatus(Completed).SetCompletedAt(now)
		}
		text, err := json.Marshal(report)
		if err != nil {
			return fmt.Errorf("render the report: %w", err)
		}
		return mine(update.SetReport(string(text)).Save(ctx))
	})
	return ended, err
}

// look writes that a running import is looked after.
func (r *runner) look(ctx context.Context, id int64) error {
	return r.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return tx.Ent().FileImport.Update().Where(fileimport.ID(id)).SetHeartbeatAt(r.now().UnixMilli()).Exec(ctx)
	})
}

// fail ends an import whose file cannot be read.
func (r *runner) fail(ctx context.Context, i *Import, report *Report, message string) error {
	text := ""
	if report != nil {
		raw, err := json.Marshal(report)
		if err != nil {
			return fmt.Errorf("render the report: %w", err)
		}
		text = string(raw)
	}
	return r.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		now := r.now().UnixMilli()
		return mine(tx.Ent().FileImport.Update().Where(fileimport.ID(i.ID), fileimport.StatusIn(ReadingIt, Running), fileimport.Attempt(i.Attempt)).
			SetStatus(Failed).SetFailure(message).SetReport(text).SetUpdatedAt(now).SetCompletedAt(now).Save(ctx))
	})
}

// beginUndo queues the undoing of an import that has ended.
func (s *Service) beginUndo(ctx context.Context, i *Import) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		now := s.now().UnixMilli()
		n, err := tx.Ent().FileImport.Update().Where(fileimport.ID(i.ID), fileimport.StatusIn(Completed, Failed)).
			SetStatus(Undoing).SetHeartbeatAt(now).SetUpdatedAt(now).Save(ctx)
		if err != nil || n == 0 { // another call began it
			return err
		}
		return s.enqueue(ctx, tx, i.AccountID, i.ID, now)
	})
}

// countUndone adds to the report what an undo deletes in the transaction.
func (r *runner) countUndone(ctx context.Context, tx *store.Tx, id int64, videos, readings int) error {
	i, err := found(tx.Ent().FileImport.Query().Where(fileimport.ID(id)).Only(ctx))
	if err != nil || i == nil {
		return err
	}
	i.Report.DeletedVideos += videos
	i.Report.DeletedReadings += readings
	text, err := json.Marshal(i.Report)
	if err != nil {
		return fmt.Errorf("render the report: %w", err)
	}
	return tx.Ent().FileImport.Update().Where(fileimport.ID(id)).SetReport(string(text)).Exec(ctx)
}

// endUndo notes that an import is undone.
func (r *runner) endUndo(ctx context.Context, i *Import) error {
	return r.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return mine(tx.Ent().FileImport.Update().Where(fileimport.ID(i.ID), fileimport.Status(Undoing)).
			SetStatus(Undone).SetUpdatedAt(r.now().UnixMilli()).Save(ctx))
	})
}

// idle are imports of all tenants that have not ended, and that no worker has looked after
// since a time.
func (r *runner) idle(ctx context.Context, since int64) ([]*ent.FileImport, error) {
	return r.db.Ent().FileImport.Query().
		Where(fileimport.StatusIn(Queued, ReadingIt, Running, Undoing), fileimport.HeartbeatAtLTE(since)).
		Order(ent.Asc(fileimport.FieldID)).Limit(100).
		Select(fileimport.FieldID, fileimport.FieldAccountID, fileimport.FieldHeartbeatAt).All(ctx)
}

// leftovers are imports, of all tenants, that have parts from before a time and that have
// ended, or never began.
func (r *runner) leftovers(ctx context.Context, before time.Time) ([]*ent.ImportPart, error) {
	parts, err := r.db.Ent().ImportPart.Query().Where(importpart.CreatedAtLT(before.UnixMilli())).
		Order(ent.Asc(importpart.FieldCreatedAt)).Limit(1000).
		Select(importpart.FieldID, importpart.FieldAccountID, importpart.FieldImportID).All(ctx)
	if err != nil || len(parts) == 0 {
		return nil, err
	}
	var ids []int64
	for _, part := range parts {
		ids = append(ids, part.ImportID)
	}
	active, err := r.db.Ent().FileImport.Query().Where(fileimport.IDIn(ids...), fileimport.StatusIn(Queued, ReadingIt, Running)).IDs(ctx)
	if err != nil {
		return nil, err
	}
	known := map[int64]bool{}
	for _, id := range active {
		known[id] = true
	}
	var left []*ent.ImportPart
	for _, part := range parts {
		if !known[part.ImportID] {
			known[part.ImportID] = true
			left = append(left, part)
		}
	}
	return left, nil
}

// pack makes a part of readings smaller.
func pack(data []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	return packed.Bytes(), err
}

func unpack(packed []byte) ([]byte, error) {
	r := flate.NewReader(bytes.NewReader(packed))
	defer r.Close() //nolint:errcheck // it reads memory
	return io.ReadAll(io.LimitReader(r, 64<<20))
}

// refused reports whether an error is for the caller of the API.
func refused(err error) bool { return apierr.As(err) != nil }
