package store

import (
	"context"
	"sync"
)

// DeferredWrite is the last part of a transaction, after its [CommitHook]. It is for locks
// that many transactions take: the last lock of all can be in no deadlock, and is held for
// the shortest time.
type DeferredWrite interface {
	Write(ctx context.Context, tx *Tx) error
}

// Defer returns the deferred write of a key. The first call of a key makes it; they are
// written in the order in which they were made.
func (tx *Tx) Defer(key any, create func() DeferredWrite) DeferredWrite {
	for i, known := range tx.deferredKeys {
		if known == key {
			return tx.deferred[i]
		}
	}
	made := create()
	tx.deferredKeys, tx.deferred = append(tx.deferredKeys, key), append(tx.deferred, made)
	return made
}

func (tx *Tx) writeDeferred(ctx context.Context) error {
	for _, write := range tx.deferred {
		if err := write.Write(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

// Hot returns the hot statement of a text, see [DB.Hot].
func (tx *Tx) Hot(text string) *Hot { return tx.db.Hot(text) }

// NewID is [DB.NewID].
func (tx *Tx) NewID() int64 { return tx.db.NewID() }

// Notify calls the listeners in this process, once the transaction is committed: rows of
// the account have changed. A notification can be lost, with the process or because another
// process listens: it is only a reason to look.
func (tx *Tx) Notify(account int64) {
	tx.AfterCommit(func() { tx.db.listeners.notify(account) })
}

// OnNotify has listener called at each notification, until stop is called. It must return at once.
func (db *DB) OnNotify(listener func(account int64)) (stop func()) { return db.listeners.add(listener) }

// listeners are those of one process.
type listeners struct {
	mu   sync.RWMutex
	last int
	all  map[int]func(account int64)
}

func (l *listeners) add(listener func(account int64)) (stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[int]func(int64){}
	}
	l.last++
	number := l.last
	l.all[number] = listener
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.all, number)
	}
}

func (l *listeners) notify(account int64) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, listener := range l.all {
		listener(account)
	}
}
