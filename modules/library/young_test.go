package library

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/plugins/stage"
)

func TestYoungVideosAreTheNewest(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		video := func(platform, id string, posted int64, seconds int) stage.Record {
			r := stage.Record{
				Ref:      stage.Ref{Platform: platform, ExternalID: id},
				Metadata: fmt.Appendf(nil, `{"durationSeconds":%d}`, seconds),
				Metrics:  stage.Metrics{Views: ptr(int64(9)), ObservedAt: ptr(now)},
			}
			if posted != 0 {
				r.PostedAt = &posted
			}
			return r
		}
		b.archive(1, now, video("youtube", "short", now-2*day, 30), video("youtube", "long", now-1*day, 900), video("youtube", "longer", now-3*day, 900),
			video("youtube", "old", now-8*day, 30), video("youtube", "edge", now-7*day, 30), video("youtube", "undated", 0, 30),
			video("youtube", "archived", now, 30), video("youtube", "gone", now, 30), video("tiktok", "other", now, 30))
		if _, err := b.edits.ArchiveVideo(b.ctx, b.idOf("archived"), false, true); err != nil {
			t.Fatal(err)
		}
		err := db.Write(b.ctx, func(ctx context.Context, tx *store.Tx) error {
			_, err := b.Gone(ctx, tx, []stage.Ref{{Platform: "youtube", ExternalID: "gone"}}, now)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name     string
			of       *bundle
			platform string
			limit    int
			want     []string
		}{
			{"of both lengths", b, "youtube", 10, []string{"long", "short", "longer"}},
			{"no more than asked for", b, "youtube", 2, []string{"long", "short"}},
			{"of another platform", b, "tiktok", 10, []string{"other"}},
			{"of none", b, "instagram", 10, nil},
			{"of another account", b.as(8), "youtube", 10, nil},
		} {
			t.Run(c.name, func(t *testing.T) {
				refs, err := c.of.Young(c.of.ctx, c.platform, now-7*day, c.limit)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, ref := range refs {
					if ref.Platform != c.platform {
						t.Errorf("got platform %s, want %s", ref.Platform, c.platform)
					}
					got = append(got, ref.ExternalID)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("videos (-want +got):\n%s", diff)
				}
			})
		}
	})
}
