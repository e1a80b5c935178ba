package library

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/creator"
	"github.com/scrollery/scrollery/ent/observation"
	enttrend "github.com/scrollery/scrollery/ent/trend"
	"github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/ent/videodoc"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// errUndo ends the transaction of a benchmark's write, so that every run finds the
// same library.
var errUndo = errors.New("undo")

// BenchmarkHot runs each hot statement, and the same work through Ent beside it.
// A statement stays hot while Ent takes at least 1.3 times as long.
func BenchmarkHot(bench *testing.B) {
	b := grown(bench, 10_000)
	var ids, creators []int64
	var names []string
	rows, err := b.db.Ent().Video.Query().Where(video.Platform("tiktok")).Order(video.ByID(entsql.OrderDesc())).Limit(200).All(b.ctx)
	if err != nil {
		bench.Fatal(err)
	}
	for _, row := range rows {
		ids, names = append(ids, row.ID), append(names, row.ExternalID)
		creators = append(creators, *row.CreatorID)
	}
	docs, err := b.db.Ent().VideoDoc.Query().Where(videodoc.IDIn(ids...)).All(b.ctx)
	if err != nil {
		bench.Fatal(err)
	}
	read := func(query *store.Hot, columns int, args ...any) func() error {
		return func() error {
			rows, err := query.Query(b.ctx, args...)
			values, targets := make([]any, columns), make([]any, columns)
			for i := range values {
				targets[i] = &values[i]
			}
			return store.Scan(rows, err)(func(rows *sql.Rows) error { return rows.Scan(targets...) })
		}
	}
	write := func(do func(ctx context.Context, tx *store.Tx) error) func() error {
		return func() error {
			err := b.db.Write(b.ctx, func(ctx context.Context, tx *store.Tx) error { return errors.Join(do(ctx, tx), errUndo) })
			if err == errUndo || err.Error() == errUndo.Error() {
				return nil
			}
			return err
		}
	}
	save := func(query *store.Hot, values [][]any) func() error {
		return write(func(ctx context.Context, tx *store.Tx) error {
			_, err := query.ExecIn(ctx, tx, values)
			return err
		})
	}
	var videoRows, docRows, seenRows, creatorRows [][]any
	var scoreChanges []change
	for i, v := range rows {
		videoRows = append(videoRows, []any{
			v.ID, v.Platform, v.ExternalID, v.CreatorID, v.Kind, v.GrowthKind, v.Duration, v.Handle, v.HandleOnly, v.Subject, v.ScrollID,
			v.PostedAt, v.FirstSeenAt, v.ObservedAt, v.UsableViews, v.UsableAt, v.UsableLikes, v.ByNiche, v.GoneAt, v.Digest, 0, 0, 0,
			v.SeenOrder, *v.HookOrder, v.HookChangedAt, v.Opening,
		})
		docRows = append(docRows, []any{docs[i].ID, docs[i].Doc, docs[i].Hook, docs[i].Keys})
		seenRows = append(seenRows, []any{b.db.NewID(), v.ID, 99, "feed", 1, 2, 3, 4, 5, now, ""})
		scoreChanges = append(scoreChanges, change{id: v.ID, row: scoreRow{peers: 3, twiceBaseline: 200, samples: 3}, value: 1.5, order: []byte("order")})
		creatorRows = append(creatorRows, []any{b.db.NewID(), "tiktok", fmt.Sprint("id:another", i), "", 1})
	}
	windows := []int64{1, 2, 3}
	for _, c := range []struct {
		name       string
		hot, byEnt func() error
	}{
		{"revision", func() error { _, err := b.revision(b.ctx); return err }, func() error {
			_, err := b.db.Ent().Library.Query().Only(b.ctx)
			return err
		}},
		{"raise", write(b.raise), write(func(ctx context.Context, tx *store.Tx) error {
			return tx.Ent().Library.Create().SetID(b.db.NewID()).SetAccountID(account).SetRevision(1).
				OnConflict(entsql.ConflictColumns("account_id"), entsql.ResolveWith(func(u *entsql.UpdateSet) { u.Add("revision", 1) })).Exec(ctx)
		})},
		{"archived and archive", write(func(ctx context.Context, tx *store.Tx) error {
			found, err := b.archiveVideo(ctx, tx, ids[0], false, true)
			if err == nil && !found {
				err = errors.New("no video")
			}
			return err
		}), write(func(ctx context.Context, tx *store.Tx) error {
			if _, err := tx.Ent().Video.Get(ctx, ids[0]); err != nil {
				return err
			}
			if err := tx.Ent().Video.UpdateOneID(ids[0]).SetArchived(1).SetHookHidden(1).Exec(ctx); err != nil {
				return err
			}
			if err := feed.Append(ctx, tx, archiving(ids[0], false, true)); err != nil {
				return err
			}
			return tx.Ent().UncountedVideo.Create().SetID(b.db.NewID()).SetAccountID(account).SetVideoID(ids[0]).Exec(ctx)
		})},
		{"tracked", read(b.db.Hot(page{list: videos, platform: "tiktok", limit: 100}.tracked(b.db)), 2, []byte{0}, "tiktok"), func() error {
			_, err := b.db.Ent().Video.Query().Where(video.Archived(0), video.Platform("tiktok"), video.GoneAtIsNil()).
				Order(ent.Asc(video.FieldSeenOrder)).Limit(100).Select(video.FieldExternalID).All(b.ctx)
			return err
		}},
		{"load", read(b.hot.load, 19, int64(1), "tiktok", names), func() error {
			found, err := b.db.Ent().Video.Query().Where(video.Platform("tiktok"), video.ExternalIDIn(names...)).All(b.ctx)
			if err != nil {
				return err
			}
			var of []int64
			for _, v := range found {
				of = append(of, v.ID)
			}
			if _, err = b.db.Ent().VideoDoc.Query().Where(videodoc.IDIn(of...)).All(b.ctx); err != nil {
				return err
			}
			_, err = b.db.Ent().Observation.Query().Where(observation.ScrollID(1), observation.VideoIDIn(of...)).Select(observation.FieldVideoID).All(b.ctx)
			return err
		}},
		{"saveVideos", save(b.hot.saveVideos, videoRows), write(func(ctx context.Context, tx *store.Tx) error {
			creates := make([]*ent.VideoCreate, len(rows))
			for i, v := range rows {
				creates[i] = tx.Ent().Video.Create().SetID(v.ID).SetAccountID(account).SetPlatform(v.Platform).SetExternalID(v.ExternalID).
					SetNillableCreatorID(v.CreatorID).SetKind(v.Kind).SetSubject(v.Subject).SetScrollID(v.ScrollID).SetNillablePostedAt(v.PostedAt).
					SetFirstSeenAt(v.FirstSeenAt).SetObservedAt(v.ObservedAt).SetNillableUsableViews(v.UsableViews).SetNillableUsableAt(v.UsableAt).
					SetDigest(v.Digest).SetSeenOrder(v.SeenOrder).SetHookOrder(*v.HookOrder).SetGrowthKind(v.GrowthKind).SetNillableDuration(v.Duration).
					SetHandle(v.Handle).SetHandleOnly(v.HandleOnly).SetNillableUsableLikes(v.UsableLikes).SetHookChangedAt(v.HookChangedAt).SetOpening(v.Opening)
			}
			return tx.Ent().Video.CreateBulk(creates...).OnConflict(entsql.ConflictColumns("account_id", "platform", "external_id"), excluded(
				video.FieldCreatorID, video.FieldKind, video.FieldGrowthKind, video.FieldDuration, video.FieldHandle, video.FieldHandleOnly, video.FieldPostedAt,
				video.FieldObservedAt, video.FieldUsableViews, video.FieldUsableAt, video.FieldUsableLikes, video.FieldByNiche, video.FieldGoneAt,
				video.FieldDigest, video.FieldHookOrder, video.FieldHookChangedAt, video.FieldOpening,
			)).Exec(ctx)
		})},
		{"saveDocs", save(b.hot.saveDocs, docRows), write(func(ctx context.Context, tx *store.Tx) error {
			creates := make([]*ent.VideoDocCreate, len(docs))
			for i, d := range docs {
				creates[i] = tx.Ent().VideoDoc.Create().SetID(d.ID).SetAccountID(account).SetDoc(d.Doc).SetNillableHook(d.Hook).SetKeys(d.Keys)
			}
			return tx.Ent().VideoDoc.CreateBulk(creates...).
				OnConflict(entsql.ConflictColumns("id"), excluded(videodoc.FieldDoc, videodoc.FieldHook, videodoc.FieldKeys)).Exec(ctx)
		})},
		{"addObservations", save(b.hot.addObservations, seenRows), write(func(ctx context.Context, tx *store.Tx) error {
			creates := make([]*ent.ObservationCreate, len(rows))
			for i, v := range rows {
				creates[i] = tx.Ent().Observation.Create().SetID(b.db.NewID()).SetAccountID(account).SetVideoID(v.ID).SetScrollID(99).SetStage("feed").
					SetViews(1).SetLikes(2).SetComments(3).SetShares(4).SetSaves(5).SetObservedAt(now)
			}
			return tx.Ent().Observation.CreateBulk(creates...).Exec(ctx)
		})},
		{"addCreators", save(b.hot.addCreators, creatorRows), write(func(ctx context.Context, tx *store.Tx) error {
			creates := make([]*ent.CreatorCreate, len(creatorRows))
			for i, row := range creatorRows {
				creates[i] = tx.Ent().Creator.Create().SetID(row[0].(int64)).SetAccountID(account).SetPlatform("tiktok").SetKey(row[2].(string)).
					SetHandle("").SetDirty(1)
			}
			return tx.Ent().Creator.CreateBulk(creates...).Exec(ctx)
		})},
		{"markCreators", write(func(ctx context.Context, tx *store.Tx) error {
			marks := make([][]any, len(creators))
			for i, id := range creators {
				marks[i] = []any{id, "handle"}
			}
			_, err := b.hot.markCreators.ExecIn(ctx, tx, marks)
			return err
		}), write(func(ctx context.Context, tx *store.Tx) error {
			for _, id := range creators {
				if err := tx.Ent().Creator.Update().Where(creator.ID(id)).SetDirty(1).SetHandle("handle").Exec(ctx); err != nil {
					return err
				}
			}
			return nil
		})},
		{"byCreators", read(b.hot.byCreators, 15, creators), func() error {
			_, err := b.db.Ent().Video.Query().Where(video.CreatorIDIn(creators...)).Select(scored()...).All(b.ctx)
			return err
		}},
		{"byNiche", read(b.hot.byNiche, 15, "tiktok", byCreator, startOfTime+1, endOfTime, startOfTime), func() error {
			_, err := b.db.Ent().Video.Query().Where(video.GrowthKind("tiktok"), video.ByNiche(byCreator), video.PostedAtGTE(startOfTime+1)).
				Order(video.ByPostedAt(entsql.OrderDesc()), video.ByID()).Limit(2000).Select(scored()...).All(b.ctx)
			return err
		}},
		{"nichePeers", read(b.hot.nichePeers, 6, "tiktok", endOfTime, startOfTime), func() error {
			_, err := b.db.Ent().Video.Query().Where(video.GrowthKind("tiktok"), video.PostedAtLTE(endOfTime), video.UsableViewsNotNil()).
				Order(video.ByPostedAt(entsql.OrderDesc()), video.ByID()).Limit(300).Select(scored()[:5]...).All(b.ctx)
			return err
		}},
		{"saveScores", write(func(ctx context.Context, tx *store.Tx) error { return b.saveScores(ctx, tx, scoreChanges) }), write(func(ctx context.Context, tx *store.Tx) error {
			for _, c := range scoreChanges {
				err := tx.Ent().Video.Update().Where(video.ID(c.id)).SetOutlierOrder(c.order).SetPeers(3).SetTwiceBaseline(200).SetSampleCount(3).SetScore(1.5).Exec(ctx)
				if err != nil {
					return err
				}
			}
			return nil
		})},
		{"observed", read(b.hot.observed, 5, windows[1:], startOfTime, endOfTime), func() error {
			_, err := b.db.Ent().Observation.Query().Where(observation.ScrollIDIn(windows[1:]...), observation.ObservedAtLTE(endOfTime)).
				Select(observation.FieldVideoID, observation.FieldScrollID, observation.FieldViews, observation.FieldLikes, observation.FieldObservedAt).All(b.ctx)
			return err
		}},
		{"carriers", read(b.hot.carriers, 5, ids), func() error {
			_, err := b.db.Ent().Video.Query().Where(video.IDIn(ids...)).Select(video.FieldCreatorID, video.FieldPostedAt, video.FieldArchived).All(viewer.ByIDs(b.ctx))
			if err != nil {
				return err
			}
			_, err = b.db.Ent().VideoDoc.Query().Where(videodoc.IDIn(ids...)).Select(videodoc.FieldKeys).All(viewer.ByIDs(b.ctx))
			return err
		}},
		{"hooks", read(b.db.Hot(page{list: hooks, limit: 25}.query(b.db, false)), 3, []byte{0}), func() error {
			return pageByEnt(b, b.db.Ent().Video.Query().Where(video.HookHidden(0), video.HookOrderGT([]byte{0})).Order(ent.Asc(video.FieldHookOrder)))
		}},
		{"outliers", read(b.db.Hot(page{list: outliers, limit: 25}.query(b.db, false)), 2, []byte{0}), func() error {
			return pageByEnt(b, b.db.Ent().Video.Query().Where(video.Archived(0), video.OutlierOrderGT([]byte{0})).Order(ent.Asc(video.FieldOutlierOrder)))
		}},
		{"trends", read(b.db.Hot(page{list: trends, limit: 25}.trendsQuery(b.db.Dialect())), 5, b.runs.subject, []byte{0}), func() error {
			found, err := b.db.Ent().Trend.Query().Where(enttrend.Subject(b.runs.subject), enttrend.WithArchived(0), enttrend.Listed(1), enttrend.PlaceGT([]byte{0})).
				Order(ent.Asc(enttrend.FieldPlace)).Limit(26).Select(enttrend.FieldPlace, enttrend.FieldHead, enttrend.FieldExample1, enttrend.FieldExample2, enttrend.FieldExample3).All(b.ctx)
			if err != nil {
				return err
			}
			var of []int64
			for _, t := range found {
				for _, id := range []*int64{t.Example1, t.Example2, t.Example3} {
					if id != nil {
						of = append(of, *id)
					}
				}
			}
			_, err = b.db.Ent().VideoDoc.Query().Where(videodoc.IDIn(of...)).Select(videodoc.FieldDoc).All(b.ctx)
			return err
		}},
		{"videos", read(b.db.Hot(page{list: videos, limit: 25}.query(b.db, false)), 2, []byte{0}), func() error {
			return pageByEnt(b, b.db.Ent().Video.Query().Where(video.Archived(0), video.SeenOrderGT([]byte{0})).Order(ent.Asc(video.FieldSeenOrder)))
		}},
	} {
		bench.Run(c.name, func(bench *testing.B) {
			var costs [2]time.Duration
			for bench.Loop() {
				for i, do := range []func() error{c.hot, c.byEnt} { // in turns, as others share the machine
					before := used()
					if err := do(); err != nil {
						bench.Fatal(err)
					}
					costs[i] += used() - before
				}
			}
			bench.ReportMetric(float64(costs[0])/float64(bench.N), "hot-cpu-ns")
			bench.ReportMetric(float64(costs[1])/float64(costs[0]), "ent/hot")
		})
	}
}

// scored are the columns that scoring reads.
func scored() []string {
	return []string{
		video.FieldGrowthKind, video.FieldPostedAt, video.FieldUsableAt, video.FieldUsableViews, video.FieldUsableLikes, video.FieldCreatorID,
		video.FieldPeers, video.FieldOwnViews, video.FieldByNiche, video.FieldTwiceBaseline, video.FieldSampleCount, video.FieldDoubtful, video.FieldScore, video.FieldOutlierOrder,
	}
}

func pageByEnt(b *bundle, query *ent.VideoQuery) error {
	found, err := query.Limit(26).Select(video.FieldHookOrder, video.FieldOutlierOrder, video.FieldSeenOrder).All(b.ctx)
	if err != nil {
		return err
	}
	ids := make([]int64, len(found))
	for i, v := range found {
		ids[i] = v.ID
	}
	_, err = b.db.Ent().VideoDoc.Query().Where(videodoc.IDIn(ids...)).Select(videodoc.FieldDoc, videodoc.FieldHook).All(b.ctx)
	return err
}

// excluded sets columns of a row that is there to those of the new one.
func excluded(columns ...string) entsql.ConflictOption {
	return entsql.ResolveWith(func(u *entsql.UpdateSet) {
		for _, column := range columns {
			u.SetExcluded(column)
		}
	})
}
