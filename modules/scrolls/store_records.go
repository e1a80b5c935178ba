package scrolls

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/predicate"
	"github.com/scrollery/scrollery/ent/scrollrecord"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// item is a video under way.
type item struct {
	id        int64
	record    stage.Record
	seed      string
	known     bool
	refreshed bool
}

func (i item) key() coverageKey { return coverageKey{i.seed, i.record.Platform} }

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
	return r.s.db.Ent().ScrollRecord.Query().
		Where(scrollrecord.ScrollID(r.id)).Where(which...).
		Order(scrollrecord.ByRank(sql.OrderDesc()), scrollrecord.ByID()).IDs(ctx)
}

// items reads some of them, in the order of ids; what is gone is left out.
func (r *run) items(ctx context.Context, ids []int64) ([]item, error) {
	rows, err := r.s.db.Ent().ScrollRecord.Query().
		Where(scrollrecord.ScrollID(r.id), scrollrecord.IDIn(ids...)).All(ctx)
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

// insertItems writes new items; one that the scroll already has stays as it is.
func (r *run) insertItems(ctx context.Context, tx *store.Tx, items []item) error {
	if len(items) == 0 {
		return nil
	}
	const width = 9
	args := make([]any, 0, len(items)*width)
	for _, i := range items {
		text, err := render(i.record)
		if err != nil {
			return err
		}
		args = append(args, i.id, r.account, r.id, i.record.Platform, i.record.ExternalID, text, i.seed, i.known, i.refreshed)
	}
	_, err := tx.Exec(ctx, `INSERT INTO scroll_records (id, account_id, scroll_id, platform, external_id, record, seed, known, refreshed,
		dropped_by, rank) VALUES `+tuples(len(items), width, ", '', 0")+
		` ON CONFLICT (scroll_id, platform, external_id) DO NOTHING`, args...)
	if err != nil {
		return fmt.Errorf("write records: %w", err)
	}
	return nil
}

// render is the JSON of a record, with the bytes of its texts as they are.
func render(rec stage.Record) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(rec); err != nil {
		return "", fmt.Errorf("render record %s/%s: %w", rec.Platform, rec.ExternalID, err)
	}
	return strings.TrimSuffix(text.String(), "\n"), nil
}

// updateRecords replaces the records of items.
func (r *run) updateRecords(ctx context.Context, tx *store.Tx, items []item) error {
	args := make([]any, 0, 2*len(items)+2)
	for _, i := range items {
		text, err := render(i.record)
		if err != nil {
			return err
		}
		args = append(args, i.id, text)
	}
	return r.update(ctx, tx, "v(id, record)", []string{"bigint", "text"}, "record = v.record", args)
}

// updateVerdicts writes what the screens said.
func (r *run) updateVerdicts(ctx context.Context, tx *store.Tx, ids []int64, verdicts map[int64]*verdict) error {
	args := make([]any, 0, 3*len(ids)+2)
	for _, id := range ids {
		args = append(args, id, verdicts[id].droppedBy, verdicts[id].rank)
	}
	return r.update(ctx, tx, "v(id, dropped_by, rank)", []string{"bigint", "text", "double precision"},
		"dropped_by = v.dropped_by, rank = v.rank", args)
}

// update changes many rows at once. types are the SQL types of one tuple of args.
func (r *run) update(ctx context.Context, tx *store.Tx, with string, types []string, set string, args []any) error {
	if len(args) == 0 {
		return nil
	}
	var text strings.Builder
	text.WriteString("WITH " + with + " AS (VALUES ")
	for i := range args {
		switch {
		case i == 0:
			text.WriteString("(")
		case i%len(types) == 0:
			text.WriteString("), (")
		default:
			text.WriteString(", ")
		}
		text.WriteString("CAST($" + strconv.Itoa(i+1) + " AS " + types[i%len(types)] + ")")
	}
	n := strconv.Itoa(len(args) + 1)
	m := strconv.Itoa(len(args) + 2)
	text.WriteString(")) UPDATE scroll_records SET " + set + " FROM v WHERE scroll_records.id = v.id AND scroll_records.scroll_id = $" + n +
		" AND scroll_records.account_id = $" + m)
	if _, err := tx.Exec(ctx, text.String(), append(args, r.id, r.account)...); err != nil {
		return fmt.Errorf("update records: %w", err)
	}
	return nil
}

// markRefreshed notes that items have their observation.
func (r *run) markRefreshed(ctx context.Context, tx *store.Tx, items []item) error {
	return r.change(ctx, tx, "UPDATE scroll_records SET refreshed = true", items)
}

// removeItems takes items out of the scroll: the library has them.
func (r *run) removeItems(ctx context.Context, tx *store.Tx, items []item) error {
	return r.change(ctx, tx, "DELETE FROM scroll_records", items)
}

func (r *run) change(ctx context.Context, tx *store.Tx, verb string, items []item) error {
	if len(items) == 0 {
		return nil
	}
	args := []any{r.account, r.id}
	marks := make([]string, len(items))
	for n, i := range items {
		args = append(args, i.id)
		marks[n] = "$" + strconv.Itoa(len(args))
	}
	_, err := tx.Exec(ctx, verb+" WHERE account_id = $1 AND scroll_id = $2 AND id IN ("+strings.Join(marks, ", ")+")", args...)
	if err != nil {
		return fmt.Errorf("change records: %w", err)
	}
	return nil
}

// deleteRecords removes everything that a scroll has under way.
func deleteRecords(ctx context.Context, tx *store.Tx, account, scroll int64) error {
	_, err := tx.Exec(ctx, "DELETE FROM scroll_records WHERE account_id = $1 AND scroll_id = $2", account, scroll)
	return err
}

// tuples is the text of rows of placeholders, each with a constant tail.
func tuples(rows, width int, tail string) string {
	var text strings.Builder
	for row := range rows {
		if row > 0 {
			text.WriteString(", ")
		}
		text.WriteString("(")
		for column := range width {
			if column > 0 {
				text.WriteString(", ")
			}
			text.WriteString("$" + strconv.Itoa(row*width+column+1))
		}
		text.WriteString(tail + ")")
	}
	return text.String()
}
