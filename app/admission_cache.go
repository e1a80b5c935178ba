package app

import (
	"context"
	"sync"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// maxAdmitted bounds the rows that a process keeps.
const maxAdmitted = 10_000

// admittedRows keeps the rows of admission's statement until the SQLite file changes, by
// whichever process: so a key that was revoked and a library that has changed are seen by
// the very next call. On PostgreSQL nothing is kept.
type admittedRows struct {
	db *store.DB

	mu      sync.Mutex
	version int64
	day     int // the counters are of this day
	rows    map[string]admitted
}

// get returns the row of a hash as it is in the database now. Else it returns the version
// to keep it by; ok is false where none can be kept.
func (a *admittedRows) get(ctx context.Context, hash []byte, day int) (row admitted, known bool, version int64, ok bool, err error) {
	version, ok, err = a.db.Version(ctx)
	if err != nil || !ok {
		return row, false, 0, false, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.version != version || a.day != day || len(a.rows) >= maxAdmitted {
		a.version, a.day = version, day
		a.rows = map[string]admitted{}
	}
	row, known = a.rows[string(hash)]
	return row, known, version, true, nil
}

// keep keeps a row that was read after its version was asked for.
func (a *admittedRows) keep(hash []byte, row admitted, version int64, day int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.version == version && a.day == day {
		a.rows[string(hash)] = row
	}
}
