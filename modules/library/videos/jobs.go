package videos

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// Periodics returns the housekeeping: videos from earlier versions get their words and
// the texts of their hooks.
func (s *Service) Periodics() []jobs.Periodic {
	return []jobs.Periodic{{Kind: "library.index", Every: 30 * time.Second, Run: s.IndexAll}}
}

// indexPause is what indexing leaves to others after each transaction.
const indexPause = 2 * time.Millisecond

// IndexAll makes every video that an earlier version stored known to searches and gives its
// hook a text, in short transactions with pauses. Until then, searches do not find it. It can be stopped at any
// time and goes on where it was.
func (s *Service) IndexAll(ctx context.Context) error {
	for {
		account, found, err := NextUnindexed(ctx, s.db)
		if err != nil || !found {
			return err
		}
		err = s.Hold(viewer.As(ctx, account), func(ctx context.Context, tx *store.Tx) error {
			refs, err := Unindexed(ctx, tx, s.db)
			if err != nil || len(refs) == 0 {
				return err
			}
			known, err := s.load(ctx, tx, 0, refs)
			if err != nil {
				return err
			}
			var terms []Terms
			var hooks [][]any
			for _, v := range known {
				terms = append(terms, Terms{Video: v.id, Terms: v.terms()})
				if v.Hook.Text == nil && v.Hook.Spoken != nil {
					v.Hook.summarise(nil)
					hooks = append(hooks, []any{v.id, v.Hook.Text})
				}
			}
			if err := s.saveHookTexts(ctx, tx, hooks); err != nil {
				return err
			}
			return Save(ctx, tx, s.db, terms)
		})
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(indexPause):
		}
	}
}

// saveHookTexts stores pairs of a video and the text of its hook.
func (s *Service) saveHookTexts(ctx context.Context, tx *store.Tx, texts [][]any) error {
	if len(texts) == 0 {
		return nil
	}
	_, err := s.db.Hot(`UPDATE video_docs SET hook_text = $2 WHERE id = $1 AND +{tenant}`).ExecRows(ctx, tx, texts)
	if err != nil {
		return fmt.Errorf("save the texts of hooks: %w", err)
	}
	return nil
}
