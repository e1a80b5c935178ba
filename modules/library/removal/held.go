package removal

import (
	"context"
	"fmt"
	"strconv"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// Held is what all libraries have of a source.
type Held struct {
	// Source is its id; `import` for imports, and `archive` or `observe` for what earlier
	// versions read.
	Source   string
	Accounts int
	Readings int64
	// OldestAt is the time of the oldest reading, in Unix milliseconds.
	OldestAt int64
}

// Held returns what the libraries of all tenants have, by source. It reads counts and one end of an
// index for each account and source, whatever the size of the libraries.
func (s *Service) Held(ctx context.Context) (all []Held, err error) {
	all, err = store.Query[Held](ctx, s.db.HotTenantless(`SELECT c.source, COUNT(*) AS accounts, CAST(SUM(c.readings) AS BIGINT) AS readings,
COALESCE(MIN((SELECT MIN(o.observed_at) FROM observations o WHERE o.{owner} = c.{owner} AND o.stage = c.source)), 0) AS oldest_at
FROM source_counts c WHERE c.readings > 0 GROUP BY c.source ORDER BY c.source`, "the operator sees the sources of all tenants"))
	if err != nil {
		return nil, fmt.Errorf("count what is held by source: %w", err)
	}
	return all, nil
}

// Holdings counts what one library has. It needs the database alone.
type Holdings struct{ db *store.DB }

// NewHoldings returns the counts of the libraries in db.
func NewHoldings(db *store.DB) Holdings { return Holdings{db} }

// mostHeld bounds the sources of a library that are shown.
const mostHeld = 200

// Held returns what the library of the tenant has, by source. It reads one end of an index for
// each source, whatever the size of the library.
func (h Holdings) Held(ctx context.Context) (all []Held, err error) {
	all, err = store.Query[Held](ctx, h.db.Hot(`SELECT c.source, 1 AS accounts, c.readings,
COALESCE((SELECT MIN(o.observed_at) FROM observations o WHERE {tenant:o} AND o.stage = c.source), 0) AS oldest_at
FROM source_counts c WHERE {tenant:c} AND c.readings > 0 ORDER BY c.source LIMIT `+strconv.Itoa(mostHeld)))
	if err != nil {
		return nil, fmt.Errorf("count what is held by source: %w", err)
	}
	return all, nil
}
