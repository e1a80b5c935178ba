// Package removal deletes parts of a library for its account: a video, a creator, what an import
// brought, what a source read. What was deleted is gone for the next read and leaves tombstones,
// which keep it out of the library until the account undoes the deletion. For a day it is kept,
// sealed, and an undo brings it back as it was.
//
// A deletion is a row and a job in one transaction. The call goes on for a moment, and the job
// does the rest: each step is a short transaction that begins where the last one ended.
package removal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Imports is the need of the files that customers brought.
type Imports interface {
	// ScrollsOf returns the scrolls of an import. found is false if there is no such import,
	// and ended while it is under way.
	ScrollsOf(ctx context.Context, importID int64) (scrolls []int64, found, ended bool, err error)
}

// Kept is the need of the log of removals, which is kept apart from the database.
type Kept interface {
	// Flush has the log what was committed. What it cannot write is written later.
	Flush(ctx context.Context)
}

// The states of a deletion.
const (
	running = videos.DeletionRuns
	deleted = videos.DeletionEnded
	undoing = "undoing"
	undone  = "undone"
)

// What a deletion deletes.
const (
	ofVideo   = "video"
	ofCreator = "creator"
	ofImport  = "import"
	ofSource  = "source"
)

// The origins of a deletion.
const (
	customer = "customer"
)

const (
	// UndoFor is how long a deletion can be undone.
	UndoFor = 24 * time.Hour
	// pause is what a job leaves to others after each transaction.
	pause = 2 * time.Millisecond
)

// Target is what a deletion deletes, one of its members.
type Target struct {
	Video    int64               `json:"video,omitempty"`
	Creator  *videos.CreatorName `json:"creator,omitempty"`
	Scrolls  []int64             `json:"scrolls,omitempty"`
	SourceID string              `json:"source,omitempty"`
}

func (t *Target) what() string {
	switch {
	case t.Video != 0:
		return ofVideo
	case t.Creator != nil:
		return ofCreator
	case t.SourceID != "":
		return ofSource
	default:
		return ofImport
	}
}

// Deletion is a request to delete a part of the library. Times are Unix milliseconds.
type Deletion struct {
	ID               int64
	Status, What     string
	Videos, Readings int
	CreatedAt        int64
	// UndoUntil is 0 unless the deletion can bring videos back.
	UndoUntil int64

	target []byte
}

// Service deletes parts of libraries. It is safe for concurrent use.
type Service struct {
	// Patience is how long a call deletes before it leaves the rest to the job. Default 1 s.
	Patience time.Duration

	db        *store.DB
	videos    *videos.Service
	deletions videos.Deletions
	sweeps    videos.Sweeps
	imports   Imports
	kept      Kept
	// retention and thinning are what Sweep deletes.
	retention []videos.Retention
	thinning  videos.Thinning
	now       func() time.Time
}

// New returns the service. retention and thinning are what the policy deletes for its age.
func New(db *store.DB, v *videos.Service, imports Imports, kept Kept, retention []videos.Retention, thinning videos.Thinning) *Service {
	deletions := videos.NewDeletions(v)
	return &Service{
		db: db, videos: v, deletions: deletions, sweeps: deletions.Sweeps(), imports: imports, kept: kept,
		retention: retention, thinning: thinning, now: time.Now, Patience: time.Second,
	}
}

// Order is a request of a caller: one of the four is set.
type Order struct {
	VideoID, ImportID, SourceID string
	// Platform with Handle, CreatorID or both.
	Platform, Handle, CreatorID string
}

// find returns the target of an order; nil if the library has no such video or import.
func (s *Service) find(ctx context.Context, o Order) (*Target, error) {
	switch {
	case o.VideoID != "":
		id, ok := publicid.Parse(publicid.Video, o.VideoID)
		if !ok {
			return nil, nil
		}
		return &Target{Video: id}, nil
	case o.ImportID != "":
		id, ok := publicid.Parse(publicid.Import, o.ImportID)
		if !ok {
			return nil, nil
		}
		scrolls, found, ended, err := s.imports.ScrollsOf(ctx, id)
		if err != nil || !found {
			return nil, err
		}
		if !ended {
			return nil, apierr.New(apierr.OperationError, "The import is under way. Delete what it brought once it has ended.")
		}
		return &Target{Scrolls: scrolls}, nil
	case o.SourceID != "":
		return &Target{SourceID: o.SourceID}, nil
	}
	creator, err := videos.CreatorNamed(o.Platform, o.Handle, o.CreatorID)
	return &Target{Creator: &creator}, err
}

// Count returns how many videos and readings a deletion would delete; found is false if there is
// nothing of that name.
func (s *Service) Count(ctx context.Context, o Order) (counted videos.Counted, found bool, err error) {
	t, err := s.find(ctx, o)
	if err != nil || t == nil {
		return videos.Counted{}, false, err
	}
	switch t.what() {
	case ofVideo:
		counted, err = s.videos.Targets.CountVideo(ctx, t.Video)
	case ofCreator:
		var named videos.CreatorName
		if named, err = s.videos.Targets.WithNames(ctx, nil, *t.Creator); err == nil {
			counted, err = s.videos.Targets.CountOfCreator(ctx, named)
		}
	case ofImport:
		counted, err = s.videos.Targets.CountOfScrolls(ctx, t.Scrolls)
	case ofSource:
		counted, err = s.videos.Targets.CountReadBy(ctx, t.SourceID)
	}
	return counted, err == nil && (counted.Videos > 0 || counted.Readings > 0), err
}

// Delete deletes what an order names. It returns nil if there is nothing of that name; for a
// creator without a video it leaves a tombstone.
func (s *Service) Delete(ctx context.Context, o Order) (*Deletion, error) {
	t, err := s.find(ctx, o)
	if err != nil || t == nil {
		return nil, err
	}
	if t.SourceID != "" {
		if found, err := s.videos.Targets.HasRead(ctx, t.SourceID); err != nil || !found {
			return nil, err
		}
	}
	d, err := s.begin(ctx, t)
	if err != nil || d == nil {
		return nil, err
	}
	return asFar(ctx, s, d, s.finish), nil
}

// asFar is what has become of a deletion, or an undo, that is committed with its job, once the call
// has done what it can of it. It is no failure of the call where that ends: the job does the rest,
// and says why it could not.
func asFar(ctx context.Context, s *Service, d *Deletion, do func(context.Context, *Deletion) error) *Deletion {
	part, cancel := context.WithTimeout(ctx, s.Patience)
	defer cancel()
	_ = do(part, d)
	if now, err := s.load(context.WithoutCancel(ctx), d.ID); err == nil && now != nil {
		return now
	}
	return d
}

// begin stores a deletion with its job, and deletes a single video in the same transaction.
func (s *Service) begin(ctx context.Context, t *Target) (*Deletion, error) {
	account, err := videos.Account(ctx)
	if err != nil {
		return nil, err
	}
	id := s.db.NewID()
	d := &Deletion{ID: id, Status: running, What: t.what(), CreatedAt: s.now().UnixMilli()}
	found := true
	err = s.videos.Hold(ctx, func(ctx context.Context, tx *store.Tx) error {
		if t.Creator != nil {
			if *t.Creator, err = s.deletions.BuryCreator(ctx, tx, id, *t.Creator); err != nil {
				return err
			}
		}
		if d.target, err = t.sealed(s.videos.Vault, account, id); err != nil {
			return err
		}
		if err := s.videos.Tombstones.BuryScrolls(ctx, tx, id, t.Scrolls); err != nil {
			return err
		}
		if t.Video != 0 {
			d.Videos, d.Readings, err = s.deletions.Delete(ctx, tx, []int64{t.Video}, videos.Removal{Deletion: id, Undo: true})
			if found = d.Videos > 0; err != nil || !found {
				return err
			}
			s.end(d)
		}
		if err := insert(ctx, tx, account, d); err != nil {
			return err
		}
		if err := s.videos.Tombstones.NoteDeletion(ctx, tx, id, d.What, t.Scrolls, d.CreatedAt); err != nil || d.Status == deleted {
			return err
		}
		return tx.Enqueue(ctx, store.Job{Kind: deleteKind, Args: job{account, id}, RunAt: s.now().Add(2 * s.Patience), MaxAttempts: attempts})
	})
	if err != nil {
		return nil, fmt.Errorf("delete from the library: %w", err)
	}
	if !found {
		return nil, nil
	}
	s.kept.Flush(ctx)
	return d, nil
}

// sealed is the target for its deletion's row.
func (t *Target) sealed(v videos.Vault, account, deletion int64) ([]byte, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	return v.Seal(account, deletion, text)
}

// end makes a deletion one that has ended.
func (s *Service) end(d *Deletion) { d.Status, d.UndoUntil = deleted, s.now().Add(UndoFor).UnixMilli() }

// finish deletes what is left of a running deletion, until it is done or the context ends.
func (s *Service) finish(ctx context.Context, d *Deletion) error {
	if d.Status != running {
		return nil
	}
	account, err := videos.Account(ctx)
	if err != nil {
		return err
	}
	text, err := s.videos.Vault.Unseal(account, d.ID, d.target)
	if err != nil {
		return fmt.Errorf("open deletion %d: %w", d.ID, err)
	}
	var t Target
	if err := json.Unmarshal(text, &t); err != nil {
		return fmt.Errorf("read deletion %d: %w", d.ID, err)
	}
	by, next := videos.Removal{Deletion: d.ID, Undo: true}, s.next(t)
	for done := false; !done; {
		ids, last, err := next(ctx)
		if err != nil {
			return err
		}
		err = s.videos.Hold(videos.WithMore(ctx, !last), func(ctx context.Context, tx *store.Tx) error {
			var n, readings int
			var err error
			if t.what() == ofImport {
				n, readings, err = s.deletions.ForgetSome(ctx, tx, t.Scrolls, by)
				last = readings == 0
			} else {
				n, readings, err = s.deletions.Delete(ctx, tx, ids, by)
			}
			if err != nil {
				return err
			}
			return s.count(ctx, tx, d.ID, n, readings, last)
		})
		if errors.Is(err, errEnded) {
			return nil
		}
		if err != nil {
			return err
		}
		s.kept.Flush(ctx)
		if done = last; !done {
			if err := rest(ctx); err != nil {
				return err
			}
		}
	}
	return s.deletions.ScoreNow(ctx)
}

// rest leaves a moment to others.
func rest(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(pause):
		return nil
	}
}

// next returns what finds the next videos of a target, at most videos.DeletedAtOnce; last with
// the last ones. An import finds its own.
func (s *Service) next(t Target) func(ctx context.Context) (ids []int64, last bool, err error) {
	var after stage.Ref
	var found []int64 // of a source, not deleted yet
	var ended bool
	return func(ctx context.Context) (ids []int64, last bool, err error) {
		switch t.what() {
		case ofVideo:
			return []int64{t.Video}, true, nil
		case ofCreator:
			ids, err = s.videos.Targets.OfCreator(ctx, *t.Creator)
			return ids[:min(len(ids), videos.DeletedAtOnce)], len(ids) <= videos.DeletedAtOnce, err
		case ofSource:
			for len(found) == 0 && !ended && err == nil {
				found, after, ended, err = s.videos.Targets.ReadBy(ctx, t.SourceID, after)
			}
			ids = found[:min(len(found), videos.DeletedAtOnce)]
			found = found[len(ids):]
			return ids, ended, err
		}
		return nil, false, nil
	}
}

// Undo undoes a deletion: it brings its videos back, if it can, and removes its tombstones. It
// returns nil for an unknown one.
func (s *Service) Undo(ctx context.Context, id string) (*Deletion, error) {
	number, ok := publicid.Parse(publicid.Deletion, id)
	if !ok {
		return nil, nil
	}
	d, err := s.beginUndo(ctx, number)
	if err != nil || d == nil {
		return nil, err
	}
	return asFar(ctx, s, d, s.finishUndo), nil
}

// finishUndo brings back what is left of a deletion that is being undone.
func (s *Service) finishUndo(ctx context.Context, d *Deletion) error {
	if d.Status != undoing {
		return nil
	}
	for more := true; more; {
		for some := true; some; {
			n, err := s.deletions.RestoreSome(videos.WithMore(ctx, true), d.ID)
			if err != nil && !errors.Is(err, videos.ErrChanged) { // another process brings them back
				return err
			}
			if some = n > 0 || err != nil; some {
				if err := rest(ctx); err != nil {
					return err
				}
			}
		}
		err := s.deletions.ScoreNow(ctx)
		if err == nil {
			more, err = s.lift(ctx, d.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
