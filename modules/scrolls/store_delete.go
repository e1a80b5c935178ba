package scrolls

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/ent/scroll"
	"github.com/scrollery/scrollery/ent/scrollrecord"
	entverdict "github.com/scrollery/scrollery/ent/verdict"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// DeleteVideos deletes what the tenant's scrolls keep of videos, in the transaction: their
// verdicts, and their records on the way through scrolls that have not ended.
func (h *History) DeleteVideos(ctx context.Context, tx *store.Tx, refs []stage.Ref) error {
	byPlatform := map[string][]string{}
	for _, ref := range refs {
		byPlatform[ref.Platform] = append(byPlatform[ref.Platform], ref.ExternalID)
	}
	active, err := tx.Ent().Scroll.Query().Where(scroll.StatusIn(Queued, Running)).IDs(ctx)
	if err != nil {
		return fmt.Errorf("find active scrolls: %w", err)
	}
	for platform, ids := range byPlatform {
		if _, err := tx.Ent().Verdict.Delete().Where(entverdict.Platform(platform), entverdict.ExternalIDIn(ids...)).Exec(ctx); err != nil {
			return fmt.Errorf("delete verdicts: %w", err)
		}
		if len(active) == 0 {
			continue
		}
		_, err := tx.Ent().ScrollRecord.Delete().
			Where(scrollrecord.ScrollIDIn(active...), scrollrecord.Platform(platform), scrollrecord.ExternalIDIn(ids...)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("delete records of scrolls: %w", err)
		}
	}
	return nil
}
