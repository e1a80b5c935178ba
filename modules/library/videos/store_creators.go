package videos

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/ent/creator"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/plugins/stage"
)

// identity is who made a video. The platform's id of the creator decides and stays; a
// video that has a handle alone belongs to the creator whose id other videos of the
// platform carry with that handle, if there is exactly one, else to the handle. So
// one new video can move others: see [score.Creators], which states the rule.
type identity struct {
	// creatorID is the row of the creator; nil if unknown.
	creatorID *int64
	// handle is the last one, as identities compare them.
	handle string
	// handleOnly: no creator id was ever given.
	handleOnly bool

	// given is the creator id of the record of this batch, shown its handle; empty for none.
	given, shown string
}

func (i *identity) merge(r *stage.Record) {
	if id := strings.TrimSpace(clean(r.CreatorID)); id != "" {
		i.given, i.handleOnly = id, false
	}
	if r.Source != nil {
		if shown := clean(r.Source.Handle); betterHandle(i.handle, shown) == shown && score.Handle(shown) != "" {
			i.handle, i.shown = score.Handle(shown), shown
		}
	}
	if i.given == "" && i.creatorID == nil {
		i.handleOnly = i.handle != ""
	}
}

// name is the key of a creator on a platform.
type name struct{ platform, key string }

func (n name) compare(other name) int {
	return cmp.Or(strings.Compare(n.platform, other.platform), strings.Compare(n.key, other.key))
}

// named is a handle on a platform.
type named struct{ platform, handle string }

// named is the handle of the video; its text is empty if the video has none.
func (v *Video) named() named { return named{v.Platform, v.identity.handle} }

func (n named) name() name { return name{n.platform, "handle:" + n.handle} }

func (n named) compare(other named) int {
	return strings.Compare(n.platform+" "+n.handle, other.platform+" "+other.handle)
}

// owner says which creators the videos of a handle belong to: the least and the greatest
// row, 0 for none, of videos with a creator id and of those with the handle alone.
type owner struct{ idLow, idHigh, onlyLow, onlyHigh int64 }

// one is the only creator whose id comes with the handle, 0 if there is not one.
func (o owner) one() int64 {
	if o.idLow == o.idHigh {
		return o.idLow
	}
	return 0
}

func (o *owner) add(id int64) {
	if o.idLow == 0 || id < o.idLow {
		o.idLow = id
	}
	o.idHigh = max(o.idHigh, id)
}

// saveCreators finds or adds the creators of videos, and marks them for the next
// scoring, together with those whose videos are about to change hands. unsettled are
// the handles whose other videos may belong to another creator once the batch is saved, and
// added are the creators that had no video before it.
func (c *creators) saveCreators(ctx context.Context, tx *store.Tx, videos []*Video) (unsettled []named, added map[int64]bool, err error) {
	added = map[int64]bool{}
	if err := c.identifyByID(ctx, tx, videos, added); err != nil {
		return nil, nil, err
	}
	joined, left := movedHandles(videos)
	owners, err := c.ownersWith(ctx, tx, joined, videos)
	if err != nil {
		return nil, nil, err
	}
	belongTo, err := c.creatorsOfHandles(ctx, tx, owners, videos, added)
	if err != nil {
		return nil, nil, err
	}
	if err := c.markCreators(ctx, tx, identifyByHandle(videos, owners, belongTo)); err != nil {
		return nil, nil, err
	}
	for n, o := range owners {
		if o.onlyHigh != 0 && (o.onlyLow != belongTo[n] || o.onlyHigh != belongTo[n]) {
			left[n] = true
		}
	}
	return slices.SortedFunc(maps.Keys(left), named.compare), added, nil
}

// identifyByID finds or adds the creators whose ids the batch gives, for their videos.
func (c *creators) identifyByID(ctx context.Context, tx *store.Tx, videos []*Video, added map[int64]bool) error {
	byID := func(v *Video) name { return name{v.Platform, "id:" + v.identity.given} }
	handles := map[name]string{}
	for _, v := range videos {
		if n := byID(v); v.identity.given != "" && (handles[n] == "" || v.identity.shown != "") {
			handles[n] = v.identity.shown
		}
	}
	ids, err := c.addCreators(ctx, tx, handles, added)
	if err != nil {
		return err
	}
	for _, v := range videos {
		if v.identity.given != "" {
			id := ids[byID(v)]
			v.identity.creatorID = &id
		}
	}
	return nil
}

// movedHandles are the handles of the videos whose identity changed: the ones they have
// joined now, and the ones they had when they were read.
func movedHandles(videos []*Video) (joined, left map[named]bool) {
	joined, left = map[named]bool{}, map[named]bool{}
	for _, v := range videos {
		if !v.movesCreator() {
			continue
		}
		if v.identity.handle != "" {
			joined[v.named()] = true
		}
		if v.before.handle != "" {
			left[named{v.Platform, v.before.handle}] = true
		}
	}
	return joined, left
}

// ownersWith looks up the creators of handles, and counts the creators of the batch in.
func (c *creators) ownersWith(ctx context.Context, tx *store.Tx, handles map[named]bool, videos []*Video) (map[named]*owner, error) {
	owners, err := c.owners(ctx, tx, handles)
	if err != nil {
		return nil, err
	}
	for _, v := range videos {
		if o := owners[v.named()]; o != nil && !v.identity.handleOnly && v.identity.creatorID != nil {
			o.add(*v.identity.creatorID)
		}
	}
	return owners, nil
}

// creatorsOfHandles returns the creators that videos with the handle alone belong to: the
// only one whose id comes with it, else one named by the handle. That one is found or
// added where a video of the batch needs it, and 0 if none does.
func (c *creators) creatorsOfHandles(
	ctx context.Context, tx *store.Tx, owners map[named]*owner, videos []*Video, added map[int64]bool,
) (map[named]int64, error) {
	handles := map[name]string{}
	for _, v := range videos {
		if o := owners[v.named()]; o != nil && v.identity.handleOnly && o.one() == 0 {
			handles[v.named().name()] = v.identity.shown
		}
	}
	ids, err := c.addCreators(ctx, tx, handles, added)
	if err != nil {
		return nil, err
	}
	belongTo := make(map[named]int64, len(owners))
	for n, o := range owners {
		if belongTo[n] = o.one(); belongTo[n] == 0 {
			belongTo[n] = ids[n.name()]
		}
	}
	return belongTo, nil
}

// identifyByHandle gives videos with a handle alone the creator that the handle belongs
// to. toMark are the creators to score again that addCreators has not marked: those that
// the videos belonged to before, and those that got a video by its handle.
func identifyByHandle(videos []*Video, owners map[named]*owner, belongTo map[named]int64) (toMark []int64) {
	for _, v := range videos {
		if v.before.creatorID != 0 {
			toMark = append(toMark, v.before.creatorID)
		}
		id, found := belongTo[v.named()]
		if !found || !v.identity.handleOnly {
			continue
		}
		v.identity.creatorID = &id
		if owners[v.named()].one() != 0 {
			toMark = append(toMark, id)
		}
	}
	return toMark
}

// markCreators marks creators for the next scoring.
func (c *creators) markCreators(ctx context.Context, tx *store.Tx, ids []int64) error {
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) == 0 {
		return nil
	}
	err := tx.Ent().Creator.Update().Where(creator.IDIn(ids...), creator.Dirty(0)).SetDirty(1).Exec(viewer.ByIDs(ctx))
	if err != nil {
		return fmt.Errorf("mark creators: %w", err)
	}
	return nil
}

// addCreators finds or adds creators, marked for the next scoring, with the handles that
// they are shown by. It notes those that it adds.
func (c *creators) addCreators(ctx context.Context, tx *store.Tx, handles map[name]string, adds map[int64]bool) (ids map[name]int64, err error) {
	ids = make(map[name]int64, len(handles))
	if len(handles) == 0 {
		return ids, nil
	}
	stored, err := c.stored(ctx, tx, handles)
	if err != nil {
		return nil, err
	}
	var added, marked [][]any
	// In one order, or two transactions that add the same creators wait for each other.
	for _, n := range slices.SortedFunc(maps.Keys(handles), name.compare) {
		handle := handles[n]
		known, isKnown := stored[n]
		switch {
		case !isKnown:
			known.id = c.db.NewID()
			adds[known.id] = true
			added = append(added, []any{known.id, n.platform, n.key, handle, 1})
		case !known.marked || handle != "" && handle != known.handle:
			marked = append(marked, []any{known.id, cmp.Or(handle, known.handle)})
		}
		ids[n] = known.id
	}
	// No other writer adds one meanwhile, see [storedCreator]: an id that is not the row's
	// would be an error.
	for part := range slices.Chunk(added, archiveAtOnce) {
		if _, err := c.hot.addCreators.ExecIn(ctx, tx, part); err != nil {
			return nil, fmt.Errorf("add creators: %w", err)
		}
	}
	for part := range slices.Chunk(marked, archiveAtOnce) {
		if _, err := c.hot.markCreators.ExecRows(ctx, tx, part); err != nil {
			return nil, fmt.Errorf("mark creators: %w", err)
		}
	}
	return ids, nil
}

// owners looks up the creators of handles, by the ends of one index range each.
func (c *creators) owners(ctx context.Context, tx *store.Tx, handles map[named]bool) (map[named]*owner, error) {
	found := make(map[named]*owner, len(handles))
	byPlatform := map[string][][]any{}
	for n := range handles {
		byPlatform[n.platform] = append(byPlatform[n.platform], []any{n.handle})
		found[n] = &owner{} // of a handle that no video has there is no row
	}
	for _, platform := range slices.Sorted(maps.Keys(byPlatform)) {
		err := store.EachIn(ctx, tx, c.hot.owners, func(row *struct {
			Handle                           string
			IDLow, IDHigh, OnlyLow, OnlyHigh int64
		},
		) (bool, error) {
			found[named{platform, row.Handle}] = &owner{row.IDLow, row.IDHigh, row.OnlyLow, row.OnlyHigh}
			return true, nil
		}, platform, byPlatform[platform])
		if err != nil {
			return nil, fmt.Errorf("find the creators of handles: %w", err)
		}
	}
	return found, nil
}

// settle moves the videos that have a handle alone to the creator that the handle now
// stands for, and returns the groups of hooks that changed by it.
func (c *creators) settle(ctx context.Context, tx *store.Tx, unsettled []named) (groups []hookGroup, err error) {
	for _, n := range unsettled {
		owners, err := c.owners(ctx, tx, map[named]bool{n: true})
		if err != nil {
			return nil, err
		}
		o := owners[n]
		if o.onlyHigh == 0 {
			continue
		}
		to := o.one()
		if to == 0 {
			ids, err := c.addCreators(ctx, tx, map[name]string{n.name(): n.handle}, map[int64]bool{})
			if err != nil {
				return nil, err
			}
			to = ids[n.name()]
		}
		changed, err := c.moveVideos(ctx, tx, n, to)
		if err != nil {
			return nil, err
		}
		groups = append(groups, changed...)
	}
	return groups, nil
}

// moveVideos gives the videos that have a handle alone to a creator, and marks those who
// had or have them. It returns the groups of hooks that changed by it.
func (c *creators) moveVideos(ctx context.Context, tx *store.Tx, n named, to int64) (groups []hookGroup, err error) {
	marked := []int64{to}
	var moved []int64
	err = store.EachIn(ctx, tx, c.db.Hot(`SELECT id, creator_id, opening FROM videos
WHERE {tenant} AND platform = $1 AND handle = $2 AND handle_only = 1 AND creator_id <> $3`), func(row *struct {
		ID, CreatorID int64
		Opening       string
	},
	) (bool, error) {
		moved, marked = append(moved, row.ID), append(marked, row.CreatorID)
		groups = append(groups, hookGroup{row.CreatorID, row.Opening}, hookGroup{to, row.Opening})
		return true, nil
	}, n.platform, n.handle, to)
	if err != nil {
		return nil, fmt.Errorf("find the videos of a handle: %w", err)
	}
	for part := range slices.Chunk(moved, videosAtOnce) {
		if _, err := c.db.Hot(`UPDATE videos SET creator_id = $1 WHERE +{tenant} AND id IN ({list:2})`).ExecIn(ctx, tx, to, part); err != nil {
			return nil, fmt.Errorf("move the videos of a handle: %w", err)
		}
	}
	return groups, c.markCreators(ctx, tx, marked)
}
