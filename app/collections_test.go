package app_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// TestADeletedVideoLeavesItsCollection: and stays out when the deletion is undone. What is
// archived stays in it.
func TestADeletedVideoLeavesItsCollection(t *testing.T) {
	t.Parallel()
	for _, dialect := range []string{store.SQLite, store.Postgres} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			configure := []func(*app.Config){sampleFeed}
			if dialect == store.Postgres {
				address := apptest.ScratchPostgres(t)
				configure = append(configure, func(cfg *app.Config) { cfg.DatabaseURL = address })
			}
			owner := apptest.Start(t, configure...).Account(t, "pro")
			owner.Get(t, setBrief, &struct{}{})
			owner.Scroll(t, "{}")
			var library struct{ Videos []struct{ ID string } }
			owner.Get(t, "GET /v1/library?limit=3", &library)
			first, second, third := library.Videos[0].ID, library.Videos[1].ID, library.Videos[2].ID
			id := collectionOf(t, owner, first, second, third)
			wants := func(when string, want ...string) {
				t.Helper()
				var got struct {
					Collection struct{ Videos int }
					Videos     []struct {
						Item struct{ Video struct{ ID string } }
					}
				}
				owner.Get(t, "GET /v1/collections?id="+id, &got)
				var ids []string
				for _, v := range got.Videos {
					ids = append(ids, v.Item.Video.ID)
				}
				if diff := cmp.Diff(want, ids); diff != "" || got.Collection.Videos != len(want) {
					t.Errorf("%s: count %d, videos, want - got +:\n%s", when, got.Collection.Videos, diff)
				}
			}
			wants("at first", first, second, third)
			owner.Get(t, fmt.Sprintf(`POST /v1/library/archive {"videoId":%q,"archived":true}`, first), &struct{}{})
			var deleted struct{ Deletion struct{ ID string } }
			owner.Get(t, fmt.Sprintf(`POST /v1/library/delete {"videoId":%q}`, second), &deleted)
			wants("after the deletion", first, third)
			owner.Get(t, fmt.Sprintf(`POST /v1/library/undelete {"id":%q}`, deleted.Deletion.ID), &struct{}{})
			wants("after its undo", first, third)
			var added struct{ Added int }
			owner.Get(t, fmt.Sprintf(`POST /v1/collections/add {"id":%q,"videoIds":[%q]}`, id, second), &added)
			wants("added again", first, third, second)
		})
	}
}
