package operator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store/flock"
)

// Secrets is what the server has sealed with its key.
type Secrets interface {
	// Reseal seals with the newest key what older ones sealed, in short steps, and returns how
	// much that was. It can be stopped at any time.
	Reseal(ctx context.Context) (resealed int, err error)
}

// Rotation is what a rotation of the server's key came to.
type Rotation struct {
	// Resealed counts secrets.
	Resealed int
	// KeyID tells the key that seals now from others.
	KeyID string
	// Names are the lines that the operator's setting must have beside the new key; empty if the
	// key is in the file of the data folder, which has them.
	Names string
}

// names are the purposes of hashes that outlive a key.
var names = []string{"tombstones"}

var errOneKey = errors.New("the setting of the server's key has one key: put a new one on a line before it, restart all processes, and run this again")

// RotateSecrets gives the server a new key, seals everything with it, and removes the old key.
// Running servers read the file of the key again before they seal or open anything. wait is how long
// one of their transactions may still seal with the old key: it is removed once nothing is sealed
// with it after that time. A rotation that was cut off goes on when it is asked for again.
func (s *Service) RotateSecrets(ctx context.Context, wait time.Duration) (done Rotation, err error) {
	held, err := flock.Try(s.cfg.KeyFile + ".lock")
	if err != nil {
		return done, fmt.Errorf("rotate the key: %w", err)
	}
	defer held.Release() //nolint:errcheck // it ends with the process
	keys := s.cfg.Keys
	ring, err := keys.Ring()
	if err == nil && !ring.Rotating() {
		if keys.Path() == "" {
			return done, errOneKey
		}
		if ring, err = ring.Rotated(names...); err == nil {
			err = secret.ReplaceKeyFile(keys.Path(), ring)
		}
	}
	if err != nil {
		return done, fmt.Errorf("rotate the key: %w", err)
	}
	for first := true; ; first = false {
		n, err := s.needs.Secrets.Reseal(ctx)
		if done.Resealed += n; err != nil {
			return done, fmt.Errorf("seal with the new key; run this again: %w", err)
		}
		if n == 0 && !first {
			break
		}
		select {
		case <-ctx.Done():
			return done, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
	newest, err := ring.Newest(names...)
	if err != nil {
		return done, err
	}
	if keys.Path() == "" {
		done.Names = newest.Names()
	} else if err := secret.ReplaceKeyFile(keys.Path(), newest); err != nil {
		return done, fmt.Errorf("remove the old key: %w", err)
	}
	done.KeyID, err = s.KeyID()
	return done, err
}

// KeyID tells the key that the server seals with from others; empty if it has sealed nothing yet.
func (s *Service) KeyID() (string, error) {
	if path := s.cfg.Keys.Path(); path != "" {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
	}
	sealer, err := s.cfg.Keys.Sealer()
	if err != nil {
		return "", err
	}
	return sealer.KeyID(), nil
}
