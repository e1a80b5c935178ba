package scrolls

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/ent"
	entverdict "github.com/scrollery/scrollery/ent/verdict"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// keepVerdicts writes what the screens said to where it outlives the scroll.
func (r *run) keepVerdicts(ctx context.Context, tx *store.Tx, ids []int64, verdicts map[int64]*verdict) error {
	if len(ids) == 0 {
		return nil
	}
	const width = 11
	args := make([]any, 0, len(ids)*width)
	now := r.s.now().UnixMilli()
	// In one order, or two scrolls that judge the same videos wait for each other.
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b int64) int {
		one, other := verdicts[a].ref, verdicts[b].ref
		return cmp.Or(cmp.Compare(one.Platform, other.Platform), cmp.Compare(one.ExternalID, other.ExternalID))
	})
	for _, id := range ids {
		v := verdicts[id]
		reason := strings.Join(v.reasons, "; ")
		args = append(args, r.s.db.NewID(), r.account, v.ref.Platform, v.ref.ExternalID, r.id, v.droppedBy != "", v.droppedBy, v.ruleID, v.rank, reason, now)
	}
	_, err := tx.Exec(ctx, `INSERT INTO verdicts (id, account_id, platform, external_id, scroll_id, dropped, dropped_by, rule_id, rank, reason, judged_at)
		VALUES `+tuples(len(ids), width, "")+` ON CONFLICT (account_id, platform, external_id) DO UPDATE SET scroll_id = excluded.scroll_id,
		dropped = excluded.dropped, dropped_by = excluded.dropped_by, rule_id = excluded.rule_id, rank = excluded.rank, reason = excluded.reason, judged_at = excluded.judged_at`, args...)
	if err != nil {
		return fmt.Errorf("keep verdicts: %w", err)
	}
	return nil
}

// pageOfVerdicts reads at most limit verdicts below an id; 0 is from the newest on.
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

// forgetDrops removes at most limit old drops, of all tenants.
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
		removed = limit // some may have been judged again meanwhile; there are more to look at
	}
	return removed, err
}
