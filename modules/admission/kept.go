package admission

import (
	"crypto/sha256"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/scrollery/scrollery/modules/kernel/cache"
)

const (
	// keepFor is how long a caller is kept. With the time in which its row is read, a change
	// by another process is seen within a second.
	keepFor = 900 * time.Millisecond
	// maxKept is the most callers that are kept, each about 500 bytes.
	maxKept = 10_000
)

// hash is that of a key.
type hash = [sha256.Size]byte

// kept are the callers that were read within the last second, but for those of accounts that
// this process has changed since.
type kept struct {
	callers cache.Of[hash, caller]
	// changed has the number of the last change of an account, for longer than callers are
	// kept. It needs no bound: there are as many as transactions in this time.
	changed cache.Of[int64, int64]
	changes atomic.Int64
}

func newKept() (k *kept, err error) {
	k = &kept{}
	k.callers, err = cache.New(otter.Options[hash, caller]{MaximumSize: maxKept, ExpiryCalculator: otter.ExpiryWriting[hash, caller](keepFor)})
	if err != nil {
		return nil, err
	}
	k.changed, err = cache.New(otter.Options[int64, int64]{ExpiryCalculator: otter.ExpiryWriting[int64, int64](2 * keepFor)})
	return k, err
}

// get returns the caller of a key: the one that is kept, else what read finds. An unknown
// key is not kept.
func (k *kept) get(digest []byte, read func() (caller, error)) (caller, error) {
	key := hash(digest)
	if found, ok := k.callers.GetIfPresent(key); ok {
		if changed, ok := k.changed.GetIfPresent(found.viewer.AccountID); !ok || changed <= found.asOf {
			return found, nil
		}
	}
	asOf := k.changes.Load() // before it is read
	found, err := read()
	if err != nil || !found.key.Found {
		return found, err
	}
	found.asOf = asOf
	k.callers.Set(key, found)
	return found, nil
}

// forget forgets the callers of an account, also those that are being read.
func (k *kept) forget(account int64) { k.changed.Set(account, k.changes.Add(1)) }
