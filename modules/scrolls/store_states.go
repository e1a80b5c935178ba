package scrolls

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/sourcestate"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	// maxStates is how many states of a tenant and source are kept; the oldest go first.
	maxStates = 2000
	// statesAtOnce is how many seeds one statement names, and statesWritten how many bytes of
	// states wait for a transaction.
	statesAtOnce  = 200
	statesWritten = 1 << 20
	// inForce is the scroll_id of a state whose videos are archived.
	inForce = 0
)

// keptState is what a source keeps of a seed; an empty state drops it.
type keptState struct {
	seed  string
	state []byte
}

// placeOf is a seed as states are stored by it.
func placeOf(seed stage.Seed) string {
	text := "#" + seed.Term
	if seed.Handle != "" {
		text = "@" + seed.Handle
	}
	return seed.Kind + "/" + seed.Platform + "/" + strings.ToLower(text)
}

// handleOf is the platform and handle of a place; empty for a term.
func handleOf(place string) (platform, handle string) {
	parts := strings.SplitN(place, "/", 3)
	if len(parts) < 3 || !strings.HasPrefix(parts[2], "@") {
		return "", ""
	}
	return parts[1], parts[2][1:]
}

// sourceStates stores what sources keep of seeds. Those of a running scroll are beside those
// in force until its videos are archived: a scroll that ends before forgets them, and a start
// that collects anew forgets those of the start before, so that it asks with the same states.
type sourceStates struct{ db *store.DB }

// find reads the states in force for some seeds of a source, by place.
func (s sourceStates) find(ctx context.Context, source string, seeds []stage.Seed) (map[string][]byte, error) {
	found := map[string][]byte{}
	for part := range slices.Chunk(seeds, statesAtOnce) {
		places := make([]string, len(part))
		for i, seed := range part {
			places[i] = placeOf(seed)
		}
		rows, err := s.db.Ent().SourceState.Query().
			Where(sourcestate.Plugin(source), sourcestate.ScrollID(inForce), sourcestate.SeedIn(places...)).
			Limit(len(places)).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("read states of %s: %w", source, err)
		}
		for _, row := range rows {
			found[row.Seed] = row.State
		}
	}
	return found, nil
}

// write stores states of a running scroll; the last one of a seed counts.
func (s sourceStates) write(ctx context.Context, tx *store.Tx, r *run, source string, kept []keptState) error {
	last := make(map[string]int, len(kept))
	for i, one := range kept {
		last[one.seed] = i
	}
	unique := make([]keptState, 0, len(last))
	for i, one := range kept {
		if last[one.seed] == i {
			unique = append(unique, one)
		}
	}
	if len(unique) == 0 {
		return nil
	}
	now := r.s.now().UnixMilli()
	err := tx.Ent().SourceState.MapCreateBulk(unique, func(c *ent.SourceStateCreate, n int) {
		c.SetID(s.db.NewID()).SetAccountID(r.account).SetPlugin(source).SetSeed(unique[n].seed).SetScrollID(r.id).
			SetState(append([]byte{}, unique[n].state...)).SetKeptAt(now)
	}).OnConflict(
		sql.ConflictColumns(sourcestate.FieldAccountID, sourcestate.FieldPlugin, sourcestate.FieldSeed, sourcestate.FieldScrollID),
		sql.ResolveWith(func(u *sql.UpdateSet) { u.SetExcluded(sourcestate.FieldState).SetExcluded(sourcestate.FieldKeptAt) }),
	).Exec(ctx)
	if err != nil {
		return fmt.Errorf("write states of %s: %w", source, err)
	}
	return nil
}

// settle puts the states of a scroll in force, in the transaction that ends its archive.
func (s sourceStates) settle(ctx context.Context, tx *store.Tx, account, scroll int64) error {
	rows, err := tx.Ent().SourceState.Query().Where(sourcestate.ScrollID(scroll)).Order(sourcestate.ByID()).
		Select(sourcestate.FieldID, sourcestate.FieldPlugin, sourcestate.FieldSeed).All(ctx)
	if err != nil || len(rows) == 0 {
		return err
	}
	// Two scrolls of a tenant may end at once.
	if err := tx.Lock(ctx, "source states", account); err != nil {
		return err
	}
	bySource := map[string][]string{}
	for _, row := range rows {
		bySource[row.Plugin] = append(bySource[row.Plugin], row.Seed)
	}
	for source, places := range bySource {
		for part := range slices.Chunk(places, statesAtOnce) {
			_, err := tx.Ent().SourceState.Delete().
				Where(sourcestate.Plugin(source), sourcestate.SeedIn(part...), sourcestate.ScrollID(inForce)).Exec(ctx)
			if err != nil {
				return err
			}
		}
	}
	if _, err := tx.Ent().SourceState.Delete().Where(sourcestate.ScrollID(scroll), sourcestate.State([]byte{})).Exec(ctx); err != nil {
		return err
	}
	if err := tx.Ent().SourceState.Update().Where(sourcestate.ScrollID(scroll)).SetScrollID(inForce).Exec(ctx); err != nil {
		return err
	}
	for source := range bySource {
		if err := s.trim(ctx, tx, source); err != nil {
			return err
		}
	}
	return nil
}

// trim deletes the oldest states of a source beyond maxStates.
func (sourceStates) trim(ctx context.Context, tx *store.Tx, source string) error {
	old, err := tx.Ent().SourceState.Query().Where(sourcestate.Plugin(source), sourcestate.ScrollID(inForce)).
		Order(sourcestate.ByKeptAt(sql.OrderDesc()), sourcestate.ByID(sql.OrderDesc())).Offset(maxStates).Limit(maxStates).IDs(ctx)
	if err != nil || len(old) == 0 {
		return err
	}
	_, err = tx.Ent().SourceState.Delete().Where(sourcestate.IDIn(old...)).Exec(viewer.ByIDs(ctx))
	return err
}

// forget deletes the states of a scroll that are not in force.
func (sourceStates) forget(ctx context.Context, tx *store.Tx, scroll int64) error {
	_, err := tx.Ent().SourceState.Delete().Where(sourcestate.ScrollID(scroll)).Exec(ctx)
	return err
}

// eraseHandle deletes what sources keep of a creator for the tenant.
func (s sourceStates) eraseHandle(ctx context.Context, platform string, is func(handle string) bool) error {
	for after := int64(0); ; {
		rows, err := s.db.Ent().SourceState.Query().Where(sourcestate.IDGT(after)).Order(sourcestate.ByID()).Limit(maxStates).
			Select(sourcestate.FieldID, sourcestate.FieldSeed).All(ctx)
		if err != nil || len(rows) == 0 {
			return err
		}
		var ids []int64
		for _, row := range rows {
			after = row.ID
			of, handle := handleOf(row.Seed)
			if handle != "" && cmp.Or(of, platform) == platform && is(handle) {
				ids = append(ids, row.ID)
			}
		}
		if len(ids) == 0 {
			continue
		}
		err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Ent().SourceState.Delete().Where(sourcestate.IDIn(ids...)).Exec(viewer.ByIDs(ctx))
			return err
		})
		if err != nil {
			return fmt.Errorf("erase states of sources: %w", err)
		}
	}
}
