package app_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app/apptest"
)

// TestADeletedVideoLeavesItsCollection, and comes back into it with its note when the deletion is
// undone: at its place, or at the end of one whose order changed; not into one that is gone. What is
// archived stays in it.
func TestADeletedVideoLeavesItsCollection(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, running *apptest.Running) {
		owner := running.Account(t, "pro")
		owner.Get(t, setBrief, &struct{}{})
		owner.Scroll(t, "{}")
		var library struct{ Videos []struct{ ID string } }
		owner.Get(t, "GET /v1/library?limit=3", &library)
		first, second, third := library.Videos[0].ID, library.Videos[1].ID, library.Videos[2].ID
		id := collectionOf(t, owner, first, second, third)
		var gone struct{ Collection struct{ ID string } }
		owner.Get(t, `POST /v1/collections/create {"name":"soon gone"}`, &gone)
		owner.Get(t, fmt.Sprintf(`POST /v1/collections/add {"id":%q,"videoIds":[%q]}`, gone.Collection.ID, second), &struct{}{})
		owner.Get(t, fmt.Sprintf(`POST /v1/collections/add {"id":%q,"videoIds":[%q],"note":"the cut"}`, id, second), &struct{}{})
		wants := func(when string, want ...string) {
			t.Helper()
			var got struct {
				Collection struct{ Videos int }
				Videos     []struct {
					Note string
					Item struct{ Video struct{ ID string } }
				}
			}
			owner.Get(t, "GET /v1/collections?id="+id, &got)
			var ids []string
			for _, v := range got.Videos {
				ids = append(ids, v.Item.Video.ID)
				if (v.Note == "the cut") != (v.Item.Video.ID == second) {
					t.Errorf("%s: got the note %q of %s, want it of the second alone", when, v.Note, v.Item.Video.ID)
				}
			}
			if diff := cmp.Diff(want, ids); diff != "" || got.Collection.Videos != len(want) {
				t.Errorf("%s: count %d, videos, want - got +:\n%s", when, got.Collection.Videos, diff)
			}
		}
		remove := func() (undo string) {
			t.Helper()
			var deleted struct{ Deletion struct{ ID string } }
			owner.Get(t, fmt.Sprintf(`POST /v1/library/delete {"videoId":%q}`, second), &deleted)
			return fmt.Sprintf(`POST /v1/library/undelete {"id":%q}`, deleted.Deletion.ID)
		}
		// A call that takes longer than a second leaves the rest of an undo to a job.
		undone := func(undo string) {
			t.Helper()
			owner.Get(t, undo, &struct{}{})
			var all struct{ Deletions []struct{ Status string } }
			for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
				if owner.Get(t, "GET /v1/library/deletions?limit=1", &all); all.Deletions[0].Status == "undone" {
					return
				}
				if time.Now().After(deadline) {
					t.Fatalf("got the deletion %+v after two minutes, want it undone", all.Deletions[0])
				}
			}
		}
		wants("at first", first, second, third)
		owner.Get(t, fmt.Sprintf(`POST /v1/library/archive {"videoId":%q,"archived":true}`, first), &struct{}{})
		undo := remove()
		wants("after the deletion", first, third)
		owner.Get(t, fmt.Sprintf(`POST /v1/collections/delete {"id":%q}`, gone.Collection.ID), &struct{}{})
		undone(undo)
		wants("after its undo", first, second, third)

		undo = remove()
		running.Exec(t, "UPDATE collection_videos SET position = (SELECT min(position) FROM collection_videos) + 1099511627776 WHERE position = (SELECT max(position) FROM collection_videos)")
		undone(undo)
		wants("after an undo where another has its place", first, third, second)

		undo = remove()
		running.Exec(t, "UPDATE collections SET videos = 500")
		undone(undo)
		running.Exec(t, "UPDATE collections SET videos = 2")
		wants("after an undo into a full one", first, third)
	}, sampleFeed)
}
