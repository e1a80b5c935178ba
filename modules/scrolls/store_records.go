package scrolls

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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
	id     int64
	record stage.Record
	// source is the id of the source that delivered it, `import` for a reading of an import.
	source    string
	seed      string
	known     bool
	refreshed bool
	// part of an import that it came from.
	part int
	// frames are what evidence stages looked at.
	frames []stage.Frame
	// said is the record as an import read it, if stages have added to it; else nil.
	said *stage.Record
}

func (i item) key() coverage.Key { return coverage.Key{Seed: i.seed, Platform: i.record.Platform} }

// stagedRows are the items of a scroll as rows, so that another start goes on with them.
type stagedRows struct {
	r      *run
	states sourceStates
}

// predicates of the rows of a selection.
func (w selection) predicates() []predicate.ScrollRecord {
	all := []predicate.ScrollRecord{scrollrecord.Known(w.known)}
	if w.kept {
		all = append(all, scrollrecord.DroppedBy(""))
	}
	if w.unobserved {
		all = append(all, scrollrecord.Refreshed(false))
	}
	return all
}

// itemIDs returns the ids of a selection, the highest ranked first, ties in the
// order of their arrival.
func (s *stagedRows) itemIDs(ctx context.Context, which selection) ([]int64, error) {
	ids, err := s.r.s.db.Ent().ScrollRecord.Query().
		Where(scrollrecord.ScrollID(s.r.id)).Where(which.predicates()...).
		Order(scrollrecord.ByRank(sql.OrderDesc()), scrollrecord.ByID()).IDs(ctx)
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	return ids, nil
}

// items reads some of them, in the order of ids; missing ones are left out.
func (s *stagedRows) items(ctx context.Context, ids []int64) ([]item, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("read records: %w", context.Cause(ctx))
	}
	rows, err := s.r.s.db.Ent().ScrollRecord.Query().Where(scrollrecord.IDIn(ids...)).All(viewer.ByIDs(ctx))
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	found := make(map[int64]item, len(rows))
	for _, row := range rows {
		var stored storedRecord
		if err := json.Unmarshal([]byte(row.Record), &stored); err != nil {
			return nil, fmt.Errorf("read record %d: %w", row.ID, err)
		}
		found[row.ID] = item{id: row.ID, record: stored.Record, source: stored.From, frames: stored.Frames, seed: row.Seed, known: row.Known}
	}
	items := make([]item, 0, len(found))
	for _, id := range ids {
		if next, ok := found[id]; ok {
			items = append(items, next)
		}
	}
	return items, nil
}

// writeItems writes items; one that the scroll already has gets the new record.
func (s *stagedRows) writeItems(ctx context.Context, tx *store.Tx, items []item) error {
	if len(items) == 0 {
		return nil
	}
	texts := make([]string, len(items))
	for i := range items {
		var err error
		if texts[i], err = render(&items[i]); err != nil {
			return err
		}
	}
	err := tx.Ent().ScrollRecord.MapCreateBulk(items, func(c *ent.ScrollRecordCreate, n int) {
		i := items[n]
		c.SetID(i.id).SetAccountID(s.r.account).SetScrollID(s.r.id).SetPlatform(i.record.Platform).SetExternalID(i.record.ExternalID).
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

// found writes the records of items with what stages found.
func (s *stagedRows) found(ctx context.Context, items []item) error {
	return s.r.commit(ctx, false, func(ctx context.Context, tx *store.Tx, _ *state) error {
		return s.rewriteItems(ctx, tx, items)
	})
}

func compareRefs(a, b stage.Ref) int {
	return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.ExternalID, b.ExternalID))
}

// rewriteItems writes the records of items that the scroll has, in the order of a deletion.
func (s *stagedRows) rewriteItems(ctx context.Context, tx *store.Tx, items []item) error {
	items = slices.SortedFunc(slices.Values(items), func(a, b item) int { return compareRefs(a.record.Ref, b.record.Ref) })
	rows := make([][]any, len(items))
	for n := range items {
		text, err := render(&items[n])
		if err != nil {
			return err
		}
		rows[n] = []any{s.r.id, items[n].id, text}
	}
	if _, err := s.r.s.hot.rewrite.ExecRows(ctx, tx, rows); err != nil {
		return fmt.Errorf("write findings: %w", err)
	}
	return nil
}

// storedRecord is the JSON of an item: the record, its frames and, unless an earlier version
// wrote it, the source that delivered it.
type storedRecord struct {
	stage.Record
	From   string        `json:"from,omitempty"`
	Frames []stage.Frame `json:"frames,omitempty"`
}

// render returns the JSON of an item, without escapes that its texts do not have.
func render(i *item) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(storedRecord{i.record, i.source, i.frames}); err != nil {
		return "", fmt.Errorf("render record %s/%s: %w", i.record.Platform, i.record.ExternalID, err)
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
func (s *stagedRows) markRefreshed(ctx context.Context, tx *store.Tx, items []item) error {
	return tx.Ent().ScrollRecord.Update().Where(chosen(items)).SetRefreshed(true).Exec(viewer.ByIDs(ctx))
}

// archived does nothing: removeItems has deleted the rows.
func (s *stagedRows) archived([]item) {}

// removeItems deletes items that the library has.
func (s *stagedRows) removeItems(ctx context.Context, tx *store.Tx, items []item) error {
	_, err := tx.Ent().ScrollRecord.Delete().Where(chosen(items)).Exec(viewer.ByIDs(ctx))
	return err
}

// judge writes the results of the screens to the rows.
func (s *stagedRows) judge(ctx context.Context, tx *store.Tx, verdicts []*verdict) error {
	rows := make([][]any, len(verdicts))
	for i, v := range verdicts {
		rows[i] = []any{s.r.id, v.id, v.DroppedBy, v.Rank}
	}
	if _, err := s.r.s.hot.judge.ExecRows(ctx, tx, rows); err != nil {
		return fmt.Errorf("write verdicts: %w", err)
	}
	return nil
}

// writeVerdicts writes the results of the screens: to the items, and to where they
// outlive the scroll.
func (s *screening) writeVerdicts(ctx context.Context, tx *store.Tx, verdicts []*verdict) error {
	// In one order, or two scrolls that judge the same videos wait for each other, and so does a
	// deletion of them.
	slices.SortFunc(verdicts, func(a, b *verdict) int { return compareRefs(a.Ref, b.Ref) })
	if err := s.r.staged.judge(ctx, tx, verdicts); err != nil {
		return err
	}
	now := s.r.s.now().UnixMilli()
	err := tx.Ent().Verdict.MapCreateBulk(verdicts, func(c *ent.VerdictCreate, n int) {
		v := verdicts[n]
		c.SetID(s.r.s.db.NewID()).SetAccountID(s.r.account).SetPlatform(v.Platform).SetExternalID(v.ExternalID).
			SetScrollID(s.r.id).SetDropped(v.DroppedBy != "").SetDroppedBy(v.DroppedBy).SetRuleID(v.RuleID).
			SetRank(v.Rank).SetReason(strings.Join(v.reasons, "; ")).SetJudgedAt(cmp.Or(v.judgedAt, now)).SetNillableBasis(v.basis)
	}).OnConflict(
		sql.ConflictColumns(entverdict.FieldAccountID, entverdict.FieldPlatform, entverdict.FieldExternalID),
		sql.ResolveWith(func(u *sql.UpdateSet) {
			u.SetExcluded(entverdict.FieldScrollID).SetExcluded(entverdict.FieldDropped).SetExcluded(entverdict.FieldDroppedBy).
				SetExcluded(entverdict.FieldRuleID).SetExcluded(entverdict.FieldRank).SetExcluded(entverdict.FieldReason).
				SetExcluded(entverdict.FieldJudgedAt).SetExcluded(entverdict.FieldBasis)
		}),
	).Exec(ctx)
	if err != nil {
		return fmt.Errorf("keep verdicts: %w", err)
	}
	return nil
}

// recallDrops makes verdicts drop what the screens that look at evidence dropped by the same basis
// since a time.
func (r secondPass) recallDrops(ctx context.Context, verdicts []*verdict, basis string, since int64) error {
	byPlatform := map[string][]string{}
	byRef := make(map[stage.Ref]*verdict, len(verdicts))
	for _, v := range verdicts {
		byPlatform[v.Platform], byRef[v.Ref] = append(byPlatform[v.Platform], v.ExternalID), v
	}
	for platform, ids := range byPlatform {
		for part := range slices.Chunk(ids, recalledAtOnce) {
			rows, err := r.s.db.Ent().Verdict.Query().
				Where(entverdict.Platform(platform), entverdict.ExternalIDIn(part...), entverdict.Basis(basis), entverdict.JudgedAtGTE(since)).All(ctx)
			if err != nil {
				return fmt.Errorf("recall drops: %w", err)
			}
			for _, row := range rows {
				v := byRef[stage.Ref{Platform: platform, ExternalID: row.ExternalID}]
				v.DroppedBy, v.RuleID, v.reasons = row.DroppedBy, row.RuleID, []string{row.Reason}
				v.basis, v.judgedAt = row.Basis, row.JudgedAt
			}
		}
	}
	return nil
}

// recalledAtOnce is how many videos one look for drops asks for.
const recalledAtOnce = 100
