package collections

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/collection"
	"github.com/scrollery/scrollery/ent/collectionvideo"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// Positions are numbers between 0 and top. Between two neighbours there is room for 40 moves
// to one place; then the collection is spread anew.
const (
	gap = int64(1) << 40
	mid = int64(1) << 61
	top = int64(1) << 62
)

// lock keeps the tenant's others, who change collections, waiting.
func lock(ctx context.Context, tx *store.Tx) error {
	account, _, _ := viewer.Tenant(ctx)
	return tx.Lock(ctx, "collections", account)
}

// Members takes deleted videos out of collections, and puts those back that return. The library
// needs it.
type Members struct{}

// NewMembers returns it.
func NewMembers() *Members { return &Members{} }

// Forget takes videos out of all collections of the tenant, in the transaction that
// deletes them. What is added meanwhile waits for its end, and then finds no video.
func (*Members) Forget(ctx context.Context, tx *store.Tx, ids []int64) error {
	if err := lock(ctx, tx); err != nil {
		return err
	}
	rows, err := tx.Ent().CollectionVideo.Query().Where(collectionvideo.VideoIDIn(ids...)).Select(collectionvideo.FieldCollectionID).All(ctx)
	if err != nil {
		return fmt.Errorf("find collections of deleted videos: %w", err)
	}
	if len(rows) == 0 {
		return nil
	}
	counts := map[int64]int{}
	for _, row := range rows {
		counts[row.CollectionID]++
	}
	if _, err := tx.Ent().CollectionVideo.Delete().Where(collectionvideo.VideoIDIn(ids...)).Exec(ctx); err != nil {
		return fmt.Errorf("take deleted videos out of collections: %w", err)
	}
	for id, gone := range counts {
		if err := tx.Ent().Collection.Update().Where(collection.ID(id)).AddVideos(-gone).Exec(ctx); err != nil {
			return fmt.Errorf("count the videos of collection %d: %w", id, err)
		}
	}
	return nil
}

// Copy returns in which collections videos are and where, by video.
func (*Members) Copy(ctx context.Context, tx *store.Tx, ids []int64) (map[int64]json.RawMessage, error) {
	if err := lock(ctx, tx); err != nil {
		return nil, err
	}
	rows, err := tx.Ent().CollectionVideo.Query().Where(collectionvideo.VideoIDIn(ids...)).
		Order(ent.Asc(collectionvideo.FieldVideoID, collectionvideo.FieldCollectionID)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the collections of videos: %w", err)
	}
	of := map[int64][]*ent.CollectionVideo{}
	for _, row := range rows {
		of[row.VideoID] = append(of[row.VideoID], row)
	}
	copies := make(map[int64]json.RawMessage, len(of))
	for id, all := range of {
		if copies[id], err = json.Marshal(all); err != nil {
			return nil, fmt.Errorf("copy the collections of a video: %w", err)
		}
	}
	return copies, nil
}

// Restore puts videos that come back into their collections, at the places that they had, or behind
// the last one where another has the place. A collection that is gone, or full, does not get them.
func (*Members) Restore(ctx context.Context, tx *store.Tx, copies map[int64]json.RawMessage) error {
	if err := lock(ctx, tx); err != nil {
		return err
	}
	back := map[int64][]Member{}
	for _, id := range slices.Sorted(maps.Keys(copies)) {
		var rows []*ent.CollectionVideo
		if err := json.Unmarshal(copies[id], &rows); err != nil {
			return fmt.Errorf("read the collections of a deleted video: %w", err)
		}
		for _, row := range rows {
			back[row.CollectionID] = append(back[row.CollectionID], Member{ID: row.ID, Video: id, Position: row.Position, Note: row.Note, AddedAt: row.AddedAt})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(back)) {
		if err := putBack(ctx, tx, id, back[id]); err != nil {
			return err
		}
	}
	return nil
}

// putBack puts videos back into one collection.
func putBack(ctx context.Context, tx *store.Tx, id int64, members []Member) error {
	c, err := load(ctx, tx.Ent(), id)
	if err != nil || c == nil {
		return err
	}
	slices.SortFunc(members, func(a, b Member) int { return cmp.Compare(a.Position, b.Position) })
	members = members[:min(len(members), max(0, MaxVideos-c.Videos))]
	if len(members) == 0 {
		return nil
	}
	positions := make([]int64, len(members))
	for i, m := range members {
		positions[i] = m.Position
	}
	var taken []int64
	err = tx.Ent().CollectionVideo.Query().Where(collectionvideo.CollectionID(id), collectionvideo.PositionIn(positions...)).
		Select(collectionvideo.FieldPosition).Scan(ctx, &taken)
	if err != nil {
		return fmt.Errorf("find places in collection %d: %w", id, err)
	}
	last, err := end(ctx, tx, id)
	if err != nil {
		return err
	}
	if last = max(last, slices.Max(positions)); last > top-int64(len(members))*gap {
		if last, err = spread(ctx, tx, id); err != nil {
			return err
		}
		taken = positions // of an order that is no more
	}
	for i := range members {
		if slices.Contains(taken, members[i].Position) {
			last += gap
			members[i].Position = last
		}
	}
	if err := insertMembers(ctx, tx, id, members); err != nil {
		return err
	}
	if err := tx.Ent().Collection.Update().Where(collection.ID(id)).AddVideos(len(members)).Exec(ctx); err != nil {
		return fmt.Errorf("count the videos of collection %d: %w", id, err)
	}
	return nil
}

// change runs do in a transaction that no other change of the tenant's collections joins.
func (s *Service) change(ctx context.Context, do func(ctx context.Context, tx *store.Tx) error) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		return do(ctx, tx)
	})
}

// changeOne loads a collection into c, has do change it, and stores it; c is nil for an unknown
// one, which do does not see.
func (s *Service) changeOne(ctx context.Context, id int64, c **Collection, do func(ctx context.Context, tx *store.Tx) error) error {
	err := s.change(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		if *c, err = load(ctx, tx.Ent(), id); err != nil || *c == nil {
			return err
		}
		if err := do(ctx, tx); err != nil {
			return err
		}
		(*c).UpdatedAt = s.now().UnixMilli()
		err = tx.Ent().Collection.Update().Where(collection.ID(id)).SetName((*c).Name).SetNote((*c).Note).SetVideos((*c).Videos).
			SetUpdatedAt((*c).UpdatedAt).Exec(ctx)
		if err != nil {
			return fmt.Errorf("change collection %d: %w", id, err)
		}
		return nil
	})
	if err != nil {
		*c = nil
	}
	return err
}

func fromRow(row *ent.Collection, err error) (*Collection, error) {
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("load a collection: %w", err)
	}
	return &Collection{ID: row.ID, Name: row.Name, Note: row.Note, Videos: row.Videos, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt}, nil
}

// load returns a collection of the tenant; nil for an unknown one.
func load(ctx context.Context, client *ent.Client, id int64) (*Collection, error) {
	return fromRow(client.Collection.Query().Where(collection.ID(id)).Only(ctx))
}

// named returns the collection of a name; nil without one.
func named(ctx context.Context, tx *store.Tx, name string) (*Collection, error) {
	return fromRow(tx.Ent().Collection.Query().Where(collection.Name(name)).Only(ctx))
}

func insert(ctx context.Context, tx *store.Tx, c *Collection) error {
	account, _, _ := viewer.Tenant(ctx)
	err := tx.Ent().Collection.Create().SetID(c.ID).SetAccountID(account).SetName(c.Name).SetNote(c.Note).
		SetCreatedAt(c.CreatedAt).SetUpdatedAt(c.UpdatedAt).Exec(ctx)
	if err != nil {
		return fmt.Errorf("store a collection: %w", err)
	}
	return nil
}

// List returns at most limit collections below an id, newest first; 0 starts with the newest.
func (s *Service) List(ctx context.Context, before int64, limit int) (all []*Collection, err error) {
	query := s.db.Ent().Collection.Query()
	if before > 0 {
		query.Where(collection.IDLT(before))
	}
	rows, err := query.Order(ent.Desc(collection.FieldID)).Limit(limit).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list collections: %w", err)
	}
	for _, row := range rows {
		c, _ := fromRow(row, nil)
		all = append(all, c)
	}
	return all, nil
}

// Delete deletes a collection; found is false for an unknown one.
func (s *Service) Delete(ctx context.Context, id int64) (found bool, err error) {
	err = s.change(ctx, func(ctx context.Context, tx *store.Tx) error {
		n, err := tx.Ent().Collection.Delete().Where(collection.ID(id)).Exec(ctx)
		if found = n > 0; err != nil || !found {
			return err
		}
		_, err = tx.Ent().CollectionVideo.Delete().Where(collectionvideo.CollectionID(id)).Exec(ctx)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("delete collection %d: %w", id, err)
	}
	return found, nil
}

// members are at most limit videos of a collection behind a position, in their order.
func (s *Service) members(ctx context.Context, id, after int64, limit int) (all []Member, err error) {
	rows, err := s.db.Ent().CollectionVideo.Query().Where(collectionvideo.CollectionID(id), collectionvideo.PositionGT(after)).
		Order(ent.Asc(collectionvideo.FieldPosition)).Limit(limit).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the videos of collection %d: %w", id, err)
	}
	for _, row := range rows {
		all = append(all, Member{ID: row.ID, Video: row.VideoID, Position: row.Position, Note: row.Note, AddedAt: row.AddedAt})
	}
	return all, nil
}

// among are those of some videos that a collection has.
func among(ctx context.Context, tx *store.Tx, id int64, videos []int64) (map[int64]bool, error) {
	rows, err := tx.Ent().CollectionVideo.Query().Where(collectionvideo.CollectionID(id), collectionvideo.VideoIDIn(videos...)).
		Select(collectionvideo.FieldVideoID).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for videos in collection %d: %w", id, err)
	}
	has := make(map[int64]bool, len(rows))
	for _, row := range rows {
		has[row.VideoID] = true
	}
	return has, nil
}

// end is the last position of a collection, or where an empty one begins.
func end(ctx context.Context, tx *store.Tx, id int64) (int64, error) {
	row, err := tx.Ent().CollectionVideo.Query().Where(collectionvideo.CollectionID(id)).Order(ent.Desc(collectionvideo.FieldPosition)).First(ctx)
	if ent.IsNotFound(err) {
		return mid, nil
	}
	if err != nil {
		return 0, fmt.Errorf("find the end of collection %d: %w", id, err)
	}
	return row.Position, nil
}

// between is a position between a video and the one before or after it, the one that moves
// left out. ok is false if there is no room.
func between(ctx context.Context, tx *store.Tx, id, moves, anchor int64, isAfter bool) (position int64, ok bool, err error) {
	at, err := tx.Ent().CollectionVideo.Query().Where(collectionvideo.CollectionID(id), collectionvideo.VideoID(anchor)).Only(ctx)
	if err != nil {
		return 0, false, fmt.Errorf("find a video in collection %d: %w", id, err)
	}
	query := tx.Ent().CollectionVideo.Query().Where(collectionvideo.CollectionID(id), collectionvideo.VideoIDNEQ(moves))
	if isAfter {
		query.Where(collectionvideo.PositionGT(at.Position)).Order(ent.Asc(collectionvideo.FieldPosition))
	} else {
		query.Where(collectionvideo.PositionLT(at.Position)).Order(ent.Desc(collectionvideo.FieldPosition))
	}
	next, err := query.First(ctx)
	switch {
	case ent.IsNotFound(err) && isAfter:
		position = at.Position + gap
	case ent.IsNotFound(err):
		position = at.Position - gap
	case err != nil:
		return 0, false, fmt.Errorf("find a neighbour in collection %d: %w", id, err)
	default:
		position = at.Position + (next.Position-at.Position)/2
		return position, position != at.Position, nil
	}
	return position, position > 0 && position <= top, nil
}

func place(ctx context.Context, tx *store.Tx, id, video, position int64) error {
	err := tx.Ent().CollectionVideo.Update().Where(collectionvideo.CollectionID(id), collectionvideo.VideoID(video)).SetPosition(position).Exec(ctx)
	if err != nil {
		return fmt.Errorf("move a video in collection %d: %w", id, err)
	}
	return nil
}

// spread gives all videos of a collection positions with room between them, and returns the
// last one.
func spread(ctx context.Context, tx *store.Tx, id int64) (last int64, err error) {
	videos, err := tx.Ent().CollectionVideo.Query().Where(collectionvideo.CollectionID(id)).Order(ent.Asc(collectionvideo.FieldPosition)).
		Select(collectionvideo.FieldVideoID).Limit(MaxVideos).All(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the order of collection %d: %w", id, err)
	}
	last = mid
	for _, v := range videos {
		last += gap
		if err := place(ctx, tx, id, v.VideoID, last); err != nil {
			return 0, err
		}
	}
	return last, nil
}

func annotate(ctx context.Context, tx *store.Tx, id int64, videos []int64, note string) error {
	err := tx.Ent().CollectionVideo.Update().Where(collectionvideo.CollectionID(id), collectionvideo.VideoIDIn(videos...)).SetNote(note).Exec(ctx)
	if err != nil {
		return fmt.Errorf("note videos of collection %d: %w", id, err)
	}
	return nil
}

func insertMembers(ctx context.Context, tx *store.Tx, id int64, members []Member) error {
	account, _, _ := viewer.Tenant(ctx)
	creates := make([]*ent.CollectionVideoCreate, len(members))
	for i, m := range members {
		creates[i] = tx.Ent().CollectionVideo.Create().SetID(m.ID).SetAccountID(account).SetCollectionID(id).SetVideoID(m.Video).
			SetPosition(m.Position).SetNote(m.Note).SetAddedAt(m.AddedAt)
	}
	if err := tx.Ent().CollectionVideo.CreateBulk(creates...).Exec(ctx); err != nil {
		return fmt.Errorf("add %d videos to collection %d: %w", len(members), id, err)
	}
	return nil
}

func remove(ctx context.Context, tx *store.Tx, id int64, videos []int64) (int, error) {
	n, err := tx.Ent().CollectionVideo.Delete().Where(collectionvideo.CollectionID(id), collectionvideo.VideoIDIn(videos...)).Exec(ctx)
	if err != nil {
		return 0, fmt.Errorf("take videos out of collection %d: %w", id, err)
	}
	return n, nil
}
