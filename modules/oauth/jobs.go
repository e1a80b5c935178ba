package oauth

import (
	"context"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
)

// KeepEnded is how long authorizations are kept after their last step has ended: a code
// that comes twice is known until then.
const KeepEnded = time.Hour

// Sweeper returns the module's housekeeping.
func Sweeper(db *store.DB) jobs.Periodic {
	return jobs.Periodic{Kind: "oauth.sweep", Every: time.Hour, Run: func(ctx context.Context) error {
		return sweep(ctx, rows{db}, time.Now())
	}}
}

func sweep(ctx context.Context, kept rows, now time.Time) error {
	const batch = 500
	for removed := batch; removed == batch; {
		var err error
		if removed, err = kept.sweep(ctx, now.Add(-KeepEnded), batch); err != nil {
			return err
		}
	}
	return nil
}
