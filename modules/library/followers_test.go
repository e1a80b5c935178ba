package library

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	entcreator "github.com/scrollery/scrollery/ent/creator"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

// followed is a reading of a video whose creator had so many followers; 0 for unknown.
func followed(id, creatorID, handle string, at, followers int64) stage.Record {
	r := stage.Record{
		Ref: stage.Ref{Platform: "tiktok", ExternalID: id}, CreatorID: creatorID, Source: &stage.Source{Kind: videos.Niche, Handle: handle},
		Metrics: stage.Metrics{Views: ptr(int64(100)), ObservedAt: &at},
	}
	if followers > 0 {
		r.Metrics.Followers = &followers
	}
	return r
}

func TestFollowersAreThoseOfTheNewestReading(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		type row struct{ Followers, At int64 }
		stored := func(b *bundle) map[string]row {
			t.Helper()
			rows, err := b.db.Ent().Creator.Query().Order(entcreator.ByID()).All(b.ctx)
			if err != nil {
				t.Fatal(err)
			}
			found := map[string]row{}
			for _, r := range rows {
				if found[r.Key] = (row{}); r.Followers != nil {
					found[r.Key] = row{*r.Followers, *r.FollowersAt}
				}
			}
			return found
		}
		b, other := setup(t, db), setup(t, db).as(8)
		other.archive(1, now, followed("a", "77", "ann", now, 5))
		for _, c := range []struct {
			name    string
			records []stage.Record
			want    map[string]row
		}{
			{"unknown ones are not stored", []stage.Record{followed("a", "77", "ann", now, 0)}, map[string]row{"id:77": {}}},
			{"the newest of a batch", []stage.Record{
				followed("b", "77", "ann", now+1, 1000), followed("c", "77", "ann", now+3, 1200), followed("d", "77", "ann", now+2, 900),
				followed("e", "", "Bob", now+2, 50),
			}, map[string]row{"id:77": {1200, now + 3}, "handle:bob": {50, now + 2}}},
			{"an older one does not replace it", []stage.Record{followed("f", "77", "ann", now+2, 7)}, map[string]row{"id:77": {1200, now + 3}, "handle:bob": {50, now + 2}}},
			{"a reading without them does not erase it", []stage.Record{followed("a", "77", "ann", now+9, 0)}, map[string]row{"id:77": {1200, now + 3}, "handle:bob": {50, now + 2}}},
			{
				"numbers alone are enough",
				[]stage.Record{{Ref: stage.Ref{Platform: "tiktok", ExternalID: "e"}, Metrics: stage.Metrics{Followers: ptr(int64(60)), ObservedAt: ptr(now + 10)}}},
				map[string]row{"id:77": {1200, now + 3}, "handle:bob": {60, now + 10}},
			},
		} {
			t.Run(c.name, func(t *testing.T) {
				b.archive(int64(len(t.Name())), now+20, c.records...)
				if diff := cmp.Diff(c.want, stored(b)); diff != "" {
					t.Errorf("creators (-want +got):\n%s", diff)
				}
			})
		}
		if diff := cmp.Diff(map[string]row{"id:77": {5, now}}, stored(other)); diff != "" {
			t.Errorf("creators of another account (-want +got):\n%s", diff)
		}
	})
}
