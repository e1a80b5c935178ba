package account

import (
	"context"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/collection"
	"github.com/scrollery/scrollery/ent/collectionvideo"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
)

func (e *exporter) collections() entity {
	return entity{
		columns: []column{"id", "name", "note", "createdAt", "updatedAt"},
		rows: func(ctx context.Context, do func(...any) error) error {
			return e.eachCollection(ctx, func(r *ent.Collection) error {
				return do(publicid.Format(publicid.Collection, r.ID), r.Name, r.Note, r.CreatedAt, r.UpdatedAt)
			})
		},
	}
}

func (e *exporter) eachCollection(ctx context.Context, do func(*ent.Collection) error) error {
	return eachByID(ctx, func(after int64) ([]*ent.Collection, error) {
		return e.db.Ent().Collection.Query().Where(collection.IDGT(after)).Order(collection.ByID()).Limit(rowsAtOnce).All(ctx)
	}, func(r *ent.Collection) int64 { return r.ID }, do)
}

// collectionVideos are the videos of each collection, in their order.
func (e *exporter) collectionVideos() entity {
	return entity{
		columns: []column{"collectionId", "videoId", "note", "addedAt"},
		rows: func(ctx context.Context, do func(...any) error) error {
			return e.eachCollection(ctx, func(of *ent.Collection) error {
				id := publicid.Format(publicid.Collection, of.ID)
				return eachByID(ctx, func(after int64) ([]*ent.CollectionVideo, error) {
					return e.db.Ent().CollectionVideo.Query().Where(collectionvideo.CollectionID(of.ID), collectionvideo.PositionGT(after)).
						Order(collectionvideo.ByPosition()).Limit(rowsAtOnce).All(ctx)
				}, func(r *ent.CollectionVideo) int64 { return r.Position }, func(r *ent.CollectionVideo) error {
					return do(id, publicid.Format(publicid.Video, r.VideoID), r.Note, r.AddedAt)
				})
			})
		},
	}
}
