package account

import (
	"context"
	"encoding/base64"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/frame"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
)

// frames are the pictures of videos, in base64.
func (e *exporter) frames() entity {
	return entity{
		columns: []column{"videoId", "at", "webp"},
		rows: func(ctx context.Context, do func(...any) error) error {
			return eachByID(ctx, func(after int64) ([]*ent.Frame, error) {
				return e.db.Ent().Frame.Query().Where(frame.IDGT(after)).Order(frame.ByID()).Limit(rowsAtOnce).All(ctx)
			}, func(r *ent.Frame) int64 { return r.ID }, func(r *ent.Frame) error {
				return do(publicid.Format(publicid.Video, r.VideoID), r.At, base64.StdEncoding.EncodeToString(r.Webp))
			})
		},
	}
}
