package videos

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/ent/videodoc"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// Named is what people know a video by. Handle and Words are texts of its creator.
type Named struct {
	ID       int64
	Platform string
	// Handle is empty if it is not known.
	Handle string
	// Words are the caption, else the title; empty if there is neither.
	Words string
}

// Present returns those of some videos that the viewer has, in the transaction and in no order.
func (c Catalog) Present(ctx context.Context, tx *store.Tx, ids []int64) ([]int64, error) {
	there, err := tx.Ent().Video.Query().Where(video.IDIn(ids...)).IDs(viewer.ByIDs(ctx))
	if err != nil {
		return nil, fmt.Errorf("look for %d videos: %w", len(ids), err)
	}
	return there, nil
}

// Names returns some videos of the viewer, in no order. Those that it does not have are missing.
func (c Catalog) Names(ctx context.Context, ids []int64) ([]Named, error) {
	ctx = viewer.ByIDs(ctx)
	rows, err := c.db.Ent().Video.Query().Where(video.IDIn(ids...)).Select(video.FieldPlatform, video.FieldHandle).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the handles of videos: %w", err)
	}
	docs, err := c.db.Ent().VideoDoc.Query().Where(videodoc.IDIn(ids...)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read videos: %w", err)
	}
	words := make(map[int64]string, len(docs))
	for _, doc := range docs {
		v := &Video{id: doc.ID}
		if err := v.parse(texts{doc: doc.Doc, hook: doc.Hook, language: doc.Language, keys: doc.Keys}); err != nil {
			return nil, err
		}
		if words[doc.ID] = v.facts().caption; words[doc.ID] == "" {
			words[doc.ID] = v.facts().title
		}
	}
	names := make([]Named, len(rows))
	for i, row := range rows {
		names[i] = Named{ID: row.ID, Platform: row.Platform, Handle: row.Handle, Words: words[row.ID]}
	}
	return names, nil
}
