package store

import (
	"context"
	"sync"
)

// Tail is written as the last part of a transaction, after what [WithRider] adds. It is
// for locks that many transactions take: the last lock of all can be in no deadlock, and
// is held for the shortest time.
type Tail interface {
	Write(ctx context.Context, tx *Tx) error
}

// Tail returns the transaction's tail of a key. The first call of a key makes it; tails
// are written in the order in which they were made.
func (tx *Tx) Tail(key any, create func() Tail) Tail {
	for i, known := range tx.tailKeys {
		if known == key {
			return tx.tails[i]
		}
	}
	made := create()
	tx.tailKeys, tx.tails = append(tx.tailKeys, key), append(tx.tails, made)
	return made
}

func (tx *Tx) writeTails(ctx context.Context) error {
	for _, tail := range tx.tails {
		if err := tail.Write(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

// Hot returns the hot statement of a text, see [DB.Hot].
func (tx *Tx) Hot(text string) *Hot { return tx.db.Hot(text) }

// NewID is [DB.NewID].
func (tx *Tx) NewID() int64 { return tx.db.NewID() }

// Hint tells the listeners in this process, once the transaction is committed, that rows
// of the account have changed. A hint can be lost, with the process or because another
// process listens: it is only a reason to look.
func (tx *Tx) Hint(account int64) {
	tx.AfterCommit(func() { tx.db.hints.tell(account) })
}

// OnHint has listener called at each hint, until stop is called. It must return at once.
func (db *DB) OnHint(listener func(account int64)) (stop func()) { return db.hints.add(listener) }

// hints are the listeners of one process.
type hints struct {
	mu        sync.RWMutex
	last      int
	listeners map[int]func(account int64)
}

func (h *hints) add(listener func(account int64)) (stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.listeners == nil {
		h.listeners = map[int]func(int64){}
	}
	h.last++
	number := h.last
	h.listeners[number] = listener
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.listeners, number)
	}
}

func (h *hints) tell(account int64) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, listener := range h.listeners {
		listener(account)
	}
}
