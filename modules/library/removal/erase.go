package removal

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// Receipt says what an erasure deleted. It names no one: a caller with the name and the server's
// key can make its hash. Times are Unix milliseconds.
type Receipt struct {
	ID       string `json:"id"`
	Platform string `json:"platform"`
	// Creator is the keyed hash of the name that was asked for.
	Creator string `json:"creator"`
	Reason  string `json:"reason"`
	// Accounts had a video of the creator.
	Accounts   int   `json:"accounts"`
	Videos     int   `json:"videos"`
	Readings   int   `json:"readings"`
	StartedAt  int64 `json:"startedAt"`
	FinishedAt int64 `json:"finishedAt"`
	// Signature is made of the other members with the server's key.
	Signature string `json:"signature"`
}

// erasure is the deletion of a creator from all libraries.
type erasure struct {
	id    int64
	names videos.CreatorName
}

// ErrNoName is the error of an erasure without a handle or an id.
var ErrNoName = errors.New("name the creator: a handle, or the platform's id")

// Erase deletes a creator from the libraries of all tenants, keeps them out from then on, and
// returns the receipt. It works through short transactions, a tenant after the other. One that was
// cut off goes on when it is asked for again.
func (s *Service) Erase(ctx context.Context, platform, handle, creatorID, reason string) (*Receipt, error) {
	asked, err := videos.CreatorNamed(platform, handle, creatorID)
	if err != nil {
		return nil, err
	}
	if len(asked.Keys) == 0 {
		return nil, ErrNoName
	}
	e, err := s.beginErasure(viewer.System(ctx), asked, reason)
	if err != nil {
		return nil, fmt.Errorf("erase a creator: %w", err)
	}
	s.kept.Flush(ctx)
	// Once more after the last that was found: a library may know another name of the creator.
	for left := true; left; {
		if err := s.videos.Tombstones.AwaitArchiving(viewer.System(ctx)); err != nil {
			return nil, fmt.Errorf("erase a creator: %w", err)
		}
		if left, err = s.erasePass(ctx, e); err != nil {
			return nil, fmt.Errorf("erase a creator: %w", err)
		}
	}
	if err := s.sweeps.CleanWords(ctx); err != nil {
		return nil, fmt.Errorf("erase a creator: %w", err)
	}
	err = s.everyLibrary(ctx, func(ctx context.Context, _ int64) error { return s.videos.Tombstones.Unmark(ctx, e.id) })
	if err != nil {
		return nil, fmt.Errorf("erase a creator: %w", err)
	}
	return s.endErasure(viewer.System(ctx), e)
}

// erasePass goes through all libraries. found reports that one had a video or a further name.
func (s *Service) erasePass(ctx context.Context, e *erasure) (found bool, err error) {
	err = s.everyLibrary(ctx, func(ctx context.Context, _ int64) error {
		some, err := s.eraseFrom(ctx, e)
		found = found || some
		return err
	})
	return found, err
}

// eraseFrom deletes the creator from the tenant's library.
func (s *Service) eraseFrom(ctx context.Context, e *erasure) (found bool, err error) {
	names, err := s.videos.Targets.WithNames(ctx, nil, e.names)
	if err != nil {
		return false, err
	}
	if ids := names.Ids(); !slices.Equal(ids.Keys, e.names.Keys) {
		found, e.names = true, ids
		if err := s.saveNames(ctx, e); err != nil {
			return false, err
		}
	}
	if err := s.deletions.EraseHandles(ctx, names); err != nil {
		return false, err
	}
	for last := false; !last; {
		ids, err := s.videos.Targets.OfCreator(ctx, names)
		if err != nil {
			return found, err
		}
		last = len(ids) <= videos.DeletedAtOnce
		kept, err := s.videos.Tombstones.KeptOf(ctx, names)
		if err != nil {
			return found, err
		}
		if known, err := s.videos.Targets.Known(ctx, names); err != nil || len(ids) == 0 && !kept && !known {
			return found, err
		}
		found = true
		err = s.videos.Hold(videos.WithMore(ctx, !last), func(ctx context.Context, tx *store.Tx) error {
			n, readings, err := s.deletions.Delete(ctx, tx, ids[:min(len(ids), videos.DeletedAtOnce)], videos.Removal{Erasure: e.id})
			if err != nil {
				return err
			}
			more, err := s.videos.Tombstones.EraseKept(ctx, tx, names)
			if err != nil {
				return err
			}
			if err := s.deletions.DropCreators(ctx, tx, names); err != nil {
				return err
			}
			first := false
			if n+more > 0 { // further names may show more of an account's videos
				if first, err = s.videos.Tombstones.Mark(ctx, tx, e.id); err != nil {
					return err
				}
			}
			return countErased(viewer.System(ctx), tx, e.id, n+more, readings, first)
		})
		if err != nil {
			return found, err
		}
		s.kept.Flush(ctx)
		if err := rest(ctx); err != nil {
			return found, err
		}
	}
	return found, nil
}

// sign is the signature of a receipt.
func (s *Service) sign(r Receipt) (string, error) {
	r.Signature = ""
	text, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	return s.videos.Vault.Sign("receipt of an erasure", text)
}

// CheckReceipt reads a receipt, and refuses one that this server's key did not sign as it is.
func (s *Service) CheckReceipt(text []byte) (*Receipt, error) {
	var r Receipt
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, apierr.Invalid("", "This is no receipt: %v.", err)
	}
	want, err := s.sign(r)
	if err != nil {
		return nil, err
	}
	if !hmac.Equal([]byte(want), []byte(r.Signature)) {
		return nil, apierr.Invalid("signature", "The receipt was changed, or signed with another server's key.")
	}
	return &r, nil
}
