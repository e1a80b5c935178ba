package app

import (
	"context"
	"log/slog"

	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/account"
	"github.com/scrollery/scrollery/modules/kernel/removals"
	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library"
	"github.com/scrollery/scrollery/modules/library/removal"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// keptApart is the log of what was deleted, which outlives the restore of an older copy of the
// database.
var keptApart = fx.Provide(
	func(cfg Config, db *store.DB, log *slog.Logger) *removals.Log {
		keys := cfg.keyRing()
		return removals.New(db, func() (*secret.Hasher, error) { return keys.Hasher(videos.Names) }, log)
	},
	func(l *removals.Log) library.Kept { return l },
	func(l *removals.Log) account.Removals { return l },
	fx.Annotate((*removals.Log).Periodics, fx.ResultTags(`group:"periodics,flatten"`)),
)

// removedAgain does once more what the log has and the database does not know.
type removedAgain struct {
	*removal.Again
	*account.Eraser
}

// mergeRemovals has nothing served that was deleted since the copy that the database was restored
// from.
func mergeRemovals(ctx context.Context, l *removals.Log, r *removal.Service, a *account.Service) error {
	return l.Merge(ctx, removedAgain{r.Again(), a.Eraser})
}
