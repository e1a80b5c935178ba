package scrolls

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/predicate"
	"github.com/scrollery/scrollery/ent/scrollrecord"
	entverdict "github.com/scrollery/scrollery/ent/verdict"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/scrolls/coverage"
	"github.com/scrollery/scrollery/plugins/stage"
)

// item is a video of a running scroll.
type item struct {
	id        int64
	record    stage.Record
	seed      string
	known     bool
	refreshed bool
	// said is the record as an import read it, where stages have added to it; else nil.
	said *stage.Record
}

func (i item) key() coverage.Key { return coverage.Key{Seed: i.seed, Platform: i.record.Platform} }

// selection says which of a scroll's items are meant.
type selection []predicate.ScrollRecord

func newcomers() selection { return selection{scrollrecord.Known(false)} }
func kept() selection {
	return selection{scrollrecord.Known(false), scrollrecord.DroppedBy("")}
}
func familiar() selection { return selection{scrollrecord.Known(true)} }
func unobserved() selection {
	return selection{scrollrecord.Known(true), scrollrecord.Refreshed(false)}
}

// itemIDs returns the ids of a selection, the highest ranked first, ties in the
// order of their arrival.
func (r *run) itemIDs(ctx context.Context, which selection) ([]int64, error) {
	ids, err := r.s.db.Ent().ScrollRecord.Query().
		Where(scrollrecord.ScrollID(r.id)).Where(which...).
		Order(scrollrecord.ByRank(sql.OrderDesc()), scrollrecord.ByID()).IDs(ctx)
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	return ids, nil
}

// items reads some of them, in the order of ids; missing ones are left out. Those that
// this start wrote are read from memory.
func (r *run) items(ctx context.Context, ids []int64) ([]item, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("read records: %w", context.Cause(ctx))
	}
	found, missing := r.recent.find(ids)
	if len(missing) > 0 {
		rows, err := r.s.db.Ent().ScrollRecord.Query().Where(scrollrecord.IDIn(missing...)).All(viewer.ByIDs(ctx))
		if err != nil {
			return nil, fmt.Errorf("read records: %w", err)
		}
		for _, row := range rows {
			next := item{id: row.ID, seed: row.Seed, known: row.Known}
			if err := json.Unmarshal([]byte(row.Record), &next.record); err != nil {
				return nil, fmt.Errorf("read record %d: %w", row.ID, err)
			}
			found[row.ID] = next
		}
	}
	items := make([]item, 0, len(found))
	for _, id := range ids {
		if next, ok := found[id]; ok {
			items = append(items, next)
		}
	}
	return items, nil
}

// recent are items as this start of the scroll committed them, so that the next steps
// need not read and parse what it has just rendered and written. It holds at most
// maxRecent; the database has all. It is safe for concurrent use.
type recent struct {
	mu    sync.Mutex
	items map[int64]item
	bytes int
}

// maxRecent bounds the texts of one scroll's items in memory, in bytes.
const maxRecent = 16 << 20

// find returns the items that it has, and the ids of the others.
func (c *recent) find(ids []int64) (found map[int64]item, missing []int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found = make(map[int64]item, len(ids))
	for _, id := range ids {
		if one, ok := c.items[id]; ok {
			found[id] = one
		} else {
			missing = append(missing, id)
		}
	}
	return found, missing
}

// keep holds items that were committed, or drops older copies that it has no room for.
func (c *recent) keep(items []item) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.items == nil {
		c.items = map[int64]item{}
	}
	for _, one := range items {
		c.drop(one.id)
		asStored(&one.record)
		if size := weight(&one.record); c.bytes+size <= maxRecent {
			c.items[one.id] = one
			c.bytes += size
		}
	}
}

// forget drops items that are no longer in the scroll.
func (c *recent) forget(items []item) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range items {
		c.drop(one.id)
	}
}

// asStored makes a record what the database would return.
func asStored(rec *stage.Record) {
	rec.Metadata = compact(rec.Metadata)
	if rec.Evidence != nil {
		e := *rec.Evidence
		e.Visual = compact(e.Visual)
		rec.Evidence = &e
	}
	if len(rec.Cues) == 0 {
		rec.Cues = nil
	}
	if len(rec.Stickers) == 0 {
		rec.Stickers = nil
	}
	if len(rec.Keys) == 0 {
		rec.Keys = nil
	}
	rec.Media = ""
}

// compact returns valid JSON without insignificant spaces, nil for none.
func compact(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	out := bytes.NewBuffer(make([]byte, 0, len(raw)))
	if json.Compact(out, raw) != nil {
		return raw
	}
	return out.Bytes()
}

// clear drops all.
func (c *recent) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items, c.bytes = nil, 0
}

func (c *recent) drop(id int64) {
	if old, ok := c.items[id]; ok {
		c.bytes -= weight(&old.record)
		delete(c.items, id)
	}
}

// weight is about what a record takes in memory, in bytes.
func weight(rec *stage.Record) int {
	size := 512 + len(rec.Metadata) + len(rec.SourceURL) + 64*len(rec.Keys)
	for _, cue := range rec.Cues {
		size += 40 + len(cue.Text)
	}
	for _, sticker := range rec.Stickers {
		size += 32 + len(sticker.Text)
	}
	if e := rec.Evidence; e != nil {
		size += len(e.Visual)
		for _, text := range []*string{e.Spoken, e.OnScreenText} {
			if text != nil {
				size += len(*text)
			}
		}
	}
	return size
}

// writeItems writes items; one that the scroll already has gets the new record.
func (r *run) writeItems(ctx context.Context, tx *store.Tx, items []item) error {
	if len(items) == 0 {
		return nil
	}
	texts := make([]string, len(items))
	for i := range items {
		var err error
		if texts[i], err = render(items[i].record); err != nil {
			return err
		}
	}
	err := tx.Ent().ScrollRecord.MapCreateBulk(items, func(c *ent.ScrollRecordCreate, n int) {
		i := items[n]
		c.SetID(i.id).SetAccountID(r.account).SetScrollID(r.id).SetPlatform(i.record.Platform).SetExternalID(i.record.ExternalID).
			SetRecord(texts[n]).SetSeed(i.seed).SetKnown(i.known).SetRefreshed(i.refreshed)
	}).OnConflict(
		sql.ConflictColumns(scrollrecord.FieldAccountID, scrollrecord.FieldScrollID, scrollrecord.FieldPlatform, scrollrecord.FieldExternalID),
		sql.ResolveWith(func(u *sql.UpdateSet) { u.SetExcluded(scrollrecord.FieldRecord) }),
	).Exec(ctx)
	if err != nil {
		return fmt.Errorf("write records: %w", err)
	}
	return nil
}

// rewriteItems writes the records of items that the scroll has.
func (r *run) rewriteItems(ctx context.Context, tx *store.Tx, items []item) error {
	rows := make([][]any, len(items))
	for n := range items {
		text, err := render(items[n].record)
		if err != nil {
			return err
		}
		rows[n] = []any{items[n].id, text}
	}
	if len(rows) == 0 {
		return nil
	}
	if _, err := r.s.hot.rewrite.ExecIn(ctx, tx, r.id, rows); err != nil {
		return fmt.Errorf("write findings: %w", err)
	}
	return nil
}

// render returns the JSON of a record, without escapes that its texts do not have.
func render(rec stage.Record) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(rec); err != nil {
		return "", fmt.Errorf("render record %s/%s: %w", rec.Platform, rec.ExternalID, err)
	}
	return strings.TrimSuffix(text.String(), "\n"), nil
}

// chosen selects the rows of items, which are of this scroll; use it with viewer.ByIDs.
func chosen(items []item) predicate.ScrollRecord {
	ids := make([]int64, len(items))
	for i := range items {
		ids[i] = items[i].id
	}
	return scrollrecord.IDIn(ids...)
}

// markRefreshed notes that items have their observation.
func (r *run) markRefreshed(ctx context.Context, tx *store.Tx, items []item) error {
	return tx.Ent().ScrollRecord.Update().Where(chosen(items)).SetRefreshed(true).Exec(viewer.ByIDs(ctx))
}

// removeItems deletes items that the library has.
func (r *run) removeItems(ctx context.Context, tx *store.Tx, items []item) error {
	_, err := tx.Ent().ScrollRecord.Delete().Where(chosen(items)).Exec(viewer.ByIDs(ctx))
	return err
}

// writeVerdicts writes the results of the screens: to the records, and to where they
// outlive the scroll.
func (r *run) writeVerdicts(ctx context.Context, tx *store.Tx, verdicts []*verdict) error {
	rows := make([][]any, len(verdicts))
	for i, v := range verdicts {
		rows[i] = []any{v.id, v.DroppedBy, v.Rank}
	}
	if _, err := r.s.hot.judge.ExecIn(ctx, tx, r.id, rows); err != nil {
		return fmt.Errorf("write verdicts: %w", err)
	}
	now := r.s.now().UnixMilli()
	// In one order, or two scrolls that judge the same videos wait for each other.
	slices.SortFunc(verdicts, func(a, b *verdict) int {
		return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.ExternalID, b.ExternalID))
	})
	err := tx.Ent().Verdict.MapCreateBulk(verdicts, func(c *ent.VerdictCreate, n int) {
		v := verdicts[n]
		c.SetID(r.s.db.NewID()).SetAccountID(r.account).SetPlatform(v.Platform).SetExternalID(v.ExternalID).
			SetScrollID(r.id).SetDropped(v.DroppedBy != "").SetDroppedBy(v.DroppedBy).SetRuleID(v.RuleID).
			SetRank(v.Rank).SetReason(strings.Join(v.reasons, "; ")).SetJudgedAt(now)
	}).OnConflict(
		sql.ConflictColumns(entverdict.FieldAccountID, entverdict.FieldPlatform, entverdict.FieldExternalID),
		sql.ResolveWith(func(u *sql.UpdateSet) {
			u.SetExcluded(entverdict.FieldScrollID).SetExcluded(entverdict.FieldDropped).SetExcluded(entverdict.FieldDroppedBy).
				SetExcluded(entverdict.FieldRuleID).SetExcluded(entverdict.FieldRank).SetExcluded(entverdict.FieldReason).
				SetExcluded(entverdict.FieldJudgedAt)
		}),
	).Exec(ctx)
	if err != nil {
		return fmt.Errorf("keep verdicts: %w", err)
	}
	return nil
}
