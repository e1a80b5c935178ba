package keys

import (
	"context"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/paging"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// defaultPage is the length of a list of keys when the caller names none.
const defaultPage = 25

// OwnKey is a key as its account sees it.
type OwnKey struct {
	Key
	// ParentID is empty for a lasting key.
	ParentID string
	// Current: the call was made with it.
	Current bool
	// Active: it is in force, and so is its parent.
	Active bool
}

// Own returns a page of the keys of the caller's account, newest first. next is empty
// at the end.
func (s *Service) Own(ctx context.Context, size int, token string) (keys []OwnKey, next string, err error) {
	caller := viewer.FromContext(ctx)
	if caller == nil || caller.AccountID == 0 {
		return nil, "", Refused()
	}
	from, err := paging.Start(token)
	if err != nil {
		return nil, "", err
	}
	found, err := s.rows.own(ctx, from, size+1)
	if err != nil {
		return nil, "", err
	}
	found, next = paging.Cut(found, size, func(row *ownRow) int64 { return row.id })
	for _, row := range found {
		keys = append(keys, row.shown(caller.KeyID, s.now()))
	}
	return keys, next, nil
}

// Calling returns the key that made the call.
func (s *Service) Calling(ctx context.Context) (*OwnKey, error) {
	caller := viewer.FromContext(ctx)
	if caller == nil || caller.KeyID == 0 {
		return nil, Refused()
	}
	found, err := s.rows.ownByID(ctx, s.db.Ent(), caller.KeyID)
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, Refused()
	}
	shown := found.shown(caller.KeyID, s.now())
	return &shown, nil
}

// RevokeOwn ends a key of the caller's account, and returns it as it is then; nil if
// there is none. Ending it twice is once. A key that may not end the others learns
// nothing about them, not even whether they exist.
func (s *Service) RevokeOwn(ctx context.Context, id string) (*OwnKey, error) {
	caller := viewer.FromContext(ctx)
	if caller == nil || caller.KeyID == 0 {
		return nil, Refused()
	}
	number, ok := publicid.Parse(publicid.Key, id)
	var ended *ownRow
	err := s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		ended = nil
		// A checkout that promised something to the account's keys decides first.
		if err := s.hold(ctx, tx, caller.AccountID); err != nil {
			return err
		}
		var row *ownRow
		if ok {
			if row, err = s.rows.ownByID(ctx, tx.Ent(), number); err != nil {
				return err
			}
		}
		itsOwn := row != nil && (row.id == caller.KeyID || row.parentID == caller.KeyID)
		if !itsOwn && !caller.Has("keys:write") {
			return forbidden("keys:write", caller.Scopes, "To end another key than itself and its session keys, a key needs the scope keys:write.")
		}
		if row == nil {
			return nil
		}
		ended, err = row, s.rows.revokeOwn(ctx, tx, row, s.now())
		return err
	})
	if err != nil || ended == nil {
		return nil, err
	}
	shown := ended.shown(caller.KeyID, s.now())
	return &shown, nil
}

// ownRow is a key with what its parent says.
type ownRow struct {
	Key
	id, accountID, parentID int64
	state                   State
}

// shown is the row as the key with the id caller sees it.
func (r *ownRow) shown(caller int64, at time.Time) OwnKey {
	k := OwnKey{Key: r.Key, Current: r.id == caller, Active: r.state.Check(at) == nil}
	if r.parentID != 0 {
		k.ParentID = publicid.Format(publicid.Key, r.parentID)
	}
	return k
}

// EmailOf returns the address of an account; ok is false for one without an address.
func (s *Service) EmailOf(ctx context.Context, accountID int64) (email string, ok bool, err error) {
	found, err := s.rows.emailOf(ctx, accountID)
	if err != nil || found == nil {
		return "", false, err
	}
	return *found, true, nil
}
