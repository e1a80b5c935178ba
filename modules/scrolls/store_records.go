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
	id        int64
	record    stage.Record
	seed      string
	known     bool
	refreshed bool
	// again: the scroll has the item already, with an older record.
	again bool
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

// items reads some of them, in the order of ids; missing ones are left out.
func (r *run) items(ctx context.Context, ids []int64) ([]item, error) {
	rows, err := r.s.db.Ent().ScrollRecord.Query().Where(scrollrecord.IDIn(ids...)).All(viewer.ByIDs(ctx))
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	byID := make(map[int64]*ent.ScrollRecord, len(rows))
	for _, row := range rows {
		byID[row.ID] = row
	}
	items := make([]item, 0, len(rows))
	for _, id := range ids {
		row := byID[id]
		if row == nil {
			continue
		}
		next := item{id: id, seed: row.Seed, known: row.Known, refreshed: row.Refreshed}
		if err := json.Unmarshal([]byte(row.Record), &next.record); err != nil {
			return nil, fmt.Errorf("read record %d: %w", id, err)
		}
		items = append(items, next)
	}
	return items, nil
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
	}).OnConflictColumns(scrollrecord.FieldScrollID, scrollrecord.FieldPlatform, scrollrecord.FieldExternalID).
		Update(func(u *ent.ScrollRecordUpsert) { u.UpdateRecord() }).Exec(ctx)
	if err != nil {
		return fmt.Errorf("write records: %w", err)
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

// deleteRecords deletes all records of a scroll.
func deleteRecords(ctx context.Context, tx *store.Tx, scroll int64) error {
	_, err := tx.Ent().ScrollRecord.Delete().Where(scrollrecord.ScrollID(scroll)).Exec(ctx)
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
	}).OnConflictColumns(entverdict.FieldAccountID, entverdict.FieldPlatform, entverdict.FieldExternalID).
		Update(func(u *ent.VerdictUpsert) {
			u.UpdateScrollID().UpdateDropped().UpdateDroppedBy().UpdateRuleID().UpdateRank().UpdateReason().UpdateJudgedAt()
		}).Exec(ctx)
	if err != nil {
		return fmt.Errorf("keep verdicts: %w", err)
	}
	return nil
}

// pageOfVerdicts reads at most limit verdicts below an id; 0 starts with the newest.
func (s *Service) pageOfVerdicts(ctx context.Context, scroll int64, filter VerdictFilter, before int64, limit int) ([]Verdict, error) {
	query := s.db.Ent().Verdict.Query()
	if scroll != 0 {
		query.Where(entverdict.ScrollID(scroll))
	}
	if filter.Dropped != nil {
		query.Where(entverdict.Dropped(*filter.Dropped))
	}
	if filter.ExternalID != "" {
		query.Where(entverdict.ExternalID(filter.ExternalID))
	}
	if before != 0 {
		query.Where(entverdict.IDLT(before))
	}
	rows, err := query.Order(ent.Desc(entverdict.FieldID)).Limit(limit).All(ctx)
	verdicts := make([]Verdict, len(rows))
	for i, row := range rows {
		verdicts[i] = Verdict{
			ID: row.ID, ScrollID: row.ScrollID, JudgedAt: row.JudgedAt,
			Verdict: stage.Verdict{
				Ref:       stage.Ref{Platform: row.Platform, ExternalID: row.ExternalID},
				DroppedBy: row.DroppedBy, RuleID: row.RuleID, Rank: row.Rank, Reason: row.Reason,
			},
		}
	}
	return verdicts, err
}

// forgetDrops deletes at most limit old drops, of all tenants.
func (s *Service) forgetDrops(ctx context.Context, below int64, limit int) (removed int, err error) {
	ids, err := s.db.Ent().Verdict.Query().Where(entverdict.Dropped(true), entverdict.JudgedAtLT(below)).
		Order(ent.Asc(entverdict.FieldJudgedAt, entverdict.FieldID)).Limit(limit).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		removed, err = tx.Ent().Verdict.Delete().Where(entverdict.IDIn(ids...), entverdict.JudgedAtLT(below)).Exec(ctx)
		return err
	})
	if err == nil && len(ids) == limit {
		removed = limit // some may have been judged again meanwhile; more may be left
	}
	return removed, err
}
