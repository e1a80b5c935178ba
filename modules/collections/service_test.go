package collections

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/ent/collectionvideo"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// counted is a library of every account with the videos 1 to its number.
type counted struct{ videos int64 }

func (l counted) Present(_ context.Context, _ *store.Tx, ids []int64) (there []int64, err error) {
	for _, id := range ids {
		if id <= l.videos {
			there = append(there, id)
		}
	}
	return there, nil
}

func (counted) Videos(_ context.Context, ids []string) ([]byte, error) {
	return json.Marshal(map[string]any{"videos": ids, "missing": []string{}})
}

// bench is a service with an account.
type bench struct {
	*Service
	t   *testing.T
	ctx context.Context
}

func setup(t *testing.T, db *store.DB) *bench {
	return &bench{New(db, counted{1000}), t, viewer.As(t.Context(), 7)}
}

func (b *bench) make(name string) int64 {
	b.t.Helper()
	c, created, err := b.Create(b.ctx, name, "")
	if err != nil || !created {
		b.t.Fatalf("create %q: got created %t, error %v; want a new collection", name, created, err)
	}
	return c.ID
}

func names(from, to int64) (ids []string) {
	for i := from; i <= to; i++ {
		ids = append(ids, publicid.Format(publicid.Video, i))
	}
	return ids
}

func (b *bench) add(id int64, videos ...string) *Collection {
	b.t.Helper()
	c, _, _, err := b.Add(b.ctx, id, videos, nil)
	if err != nil || c == nil {
		b.t.Fatalf("add %v: got %v, error %v; want them in it", videos, c, err)
	}
	return c
}

// order are the videos of a collection, read in pages of some.
func (b *bench) order(id int64, page int) (ids []int64) {
	b.t.Helper()
	for after := int64(0); ; {
		p, err := b.Read(b.ctx, id, after, page)
		if err != nil || p == nil || len(p.Items) != len(p.Members) {
			b.t.Fatalf("read: got %+v, error %v; want a page with an item a member", p, err)
		}
		for _, m := range p.Members {
			ids = append(ids, m.Video)
		}
		if after = p.Next; after == 0 {
			return ids
		}
	}
}

func (b *bench) wants(id int64, order ...int64) {
	b.t.Helper()
	if diff := cmp.Diff(order, b.order(id, 2)); diff != "" {
		b.t.Errorf("order, want - got +:\n%s", diff)
	}
	p, err := b.Read(b.ctx, id, 0, 1)
	if err != nil || p.Collection.Videos != len(order) {
		b.t.Errorf("count: got %+v, error %v; want %d videos", p, err, len(order))
	}
}

func TestACollectionKeepsItsOrder(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		id := b.make("openings")
		b.add(id, names(1, 5)...)
		b.add(id, append(names(3, 3), names(6, 6)...)...) // 3 keeps its place
		b.wants(id, 1, 2, 3, 4, 5, 6)
		for _, m := range []struct {
			video, anchor int64
			isAfter       bool
			want          []int64
		}{
			{6, 1, false, []int64{6, 1, 2, 3, 4, 5}},
			{1, 5, true, []int64{6, 2, 3, 4, 5, 1}},
			{2, 3, true, []int64{6, 3, 2, 4, 5, 1}},
			{2, 3, true, []int64{6, 3, 2, 4, 5, 1}},
			{5, 3, false, []int64{6, 5, 3, 2, 4, 1}},
			{5, 5, true, []int64{6, 5, 3, 2, 4, 1}},
		} {
			if found, err := b.Move(b.ctx, id, m.video, m.anchor, m.isAfter); err != nil || !found {
				t.Fatalf("move %+v: got %t, error %v", m, found, err)
			}
			b.wants(id, m.want...)
		}
		if found, err := b.Move(b.ctx, id, 6, 77, true); err != nil || found {
			t.Errorf("move behind a video that is not in it: got %t, error %v; want not found", found, err)
		}
		if c, removed, err := b.Remove(b.ctx, id, append(names(5, 5), "vid_x", names(99, 99)[0])); err != nil || removed != 1 || c.Videos != 5 {
			t.Errorf("remove: got %+v, %d, error %v; want one removed of 6", c, removed, err)
		}
		b.wants(id, 6, 3, 2, 4, 1)
	})
}

// TestAMoveWritesOneRow: and when there is no room left, the order stays what it is.
func TestAMoveWritesOneRow(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		id := b.make("many")
		for from := int64(1); from <= MaxVideos; from += 100 {
			b.add(id, names(from, from+99)...)
		}
		want := b.order(id, 100)
		positions := func() map[int64]int64 {
			at := map[int64]int64{}
			for _, row := range db.Ent().CollectionVideo.Query().Where(collectionvideo.CollectionID(id)).AllX(b.ctx) {
				at[row.VideoID] = row.Position
			}
			return at
		}
		spreads := 0
		for i := range 100 { // always into the same place
			before, video := positions(), want[len(want)-1]
			if _, err := b.Move(b.ctx, id, video, want[0], true); err != nil {
				t.Fatal(err)
			}
			want = slices.Insert(want[:len(want)-1], 1, video)
			changed := 0
			for video, at := range positions() {
				if before[video] != at {
					changed++
				}
			}
			if changed > 1 {
				spreads++
			} else if changed != 1 {
				t.Fatalf("move %d wrote %d rows, want 1", i, changed)
			}
		}
		if spreads > 3 {
			t.Errorf("%d of 100 moves to one place wrote more than a row, want at most 3", spreads)
		}
		if diff := cmp.Diff(want, b.order(id, 100)); diff != "" {
			t.Errorf("order, want - got +:\n%s", diff)
		}
		if _, _, _, err := b.Add(b.ctx, id, names(501, 501), nil); !apierr.Is(err, apierr.OperationError) {
			t.Errorf("the 501st video: got %v, want operation_error", err)
		}
		b.add(id, names(1, 100)...) // they are in it
	})
}

func TestCollectionsAreBoundedAndNamedOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		first := b.make("c0")
		for i := 1; i < MaxCollections; i++ {
			b.make(fmt.Sprintf("c%d", i))
		}
		if _, _, err := b.Create(b.ctx, "one more", ""); !apierr.Is(err, apierr.OperationError) {
			t.Errorf("the 201st: got %v, want operation_error", err)
		}
		if c, created, err := b.Create(b.ctx, "c0", "new"); err != nil || created || c.ID != first || c.Note != "" {
			t.Errorf("a name that is taken: got %+v, created %t, error %v; want the first one as it is", c, created, err)
		}
		name := "c1"
		if _, err := b.Update(b.ctx, first, &name, nil); !apierr.Is(err, apierr.InvalidRequest) {
			t.Errorf("rename to a name that is taken: got %v, want invalid_request", err)
		}
		name, note := "c0", "why"
		if c, err := b.Update(b.ctx, first, &name, &note); err != nil || c == nil || c.Note != note {
			t.Errorf("a note: got %+v, error %v; want it", c, err)
		}
		other := viewer.As(t.Context(), 8)
		if c, err := b.Update(other, first, &name, nil); err != nil || c != nil {
			t.Errorf("another account's: got %+v, error %v; want none", c, err)
		}
		if p, err := b.Read(other, first, 0, 5); err != nil || p != nil {
			t.Errorf("another account reads: got %+v, error %v; want none", p, err)
		}
		if found, err := b.Delete(other, first); err != nil || found {
			t.Errorf("another account deletes: got %t, error %v; want not found", found, err)
		}
		if found, err := b.Delete(b.ctx, first); err != nil || !found {
			t.Errorf("delete: got %t, error %v", found, err)
		}
		b.make("one more")
	})
}

func TestNotesOfVideosAndUnknownOnes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		id := b.make("notes")
		b.add(id, names(1, 2)...)
		note := "slow pour"
		unknown := append(names(5000, 5000), "vid_x")
		c, added, missing, err := b.Add(b.ctx, id, append(names(2, 3), unknown...), &note)
		slices.Sort(missing)
		slices.Sort(unknown)
		if err != nil || added != 1 || c.Videos != 3 || !slices.Equal(missing, unknown) {
			t.Errorf("got %+v, %d added, missing %v, error %v; want 1 added and %v missing", c, added, missing, err, unknown)
		}
		p, err := b.Read(b.ctx, id, 0, 5)
		if err != nil {
			t.Fatal(err)
		}
		var notes []string
		for _, m := range p.Members {
			notes = append(notes, m.Note)
		}
		if got := strings.Join(notes, "|"); got != "|slow pour|slow pour" {
			t.Errorf("notes %q, want those of the second and the third", got)
		}
	})
}

// TestDeletedVideosLeaveEveryCollection: also one that is being added at that moment.
func TestDeletedVideosLeaveEveryCollection(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		first, second := b.make("first"), b.make("second")
		b.add(first, names(1, 4)...)
		b.add(second, names(3, 5)...)
		forget := func(ctx context.Context, ids ...int64) {
			t.Helper()
			err := db.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return NewMembers().Forget(ctx, tx, ids) })
			if err != nil {
				t.Fatal(err)
			}
		}
		forget(viewer.As(t.Context(), 8), 1, 2, 3)
		b.wants(first, 1, 2, 3, 4)
		forget(b.ctx, 3, 4, 99)
		b.wants(first, 1, 2)
		b.wants(second, 5)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { b.add(first, names(6, 9)...) })
		}
		all.Wait()
		b.wants(first, 1, 2, 6, 7, 8, 9)
	})
}
