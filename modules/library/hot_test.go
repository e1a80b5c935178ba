package library

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/scoring"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// errUndo ends the transaction of a benchmark's write, so that every run finds the
// same library.
var errUndo = errors.New("undo")

// BenchmarkHot runs each hot statement, and the same work through Ent beside it.
// A statement stays hot while Ent takes at least 1.3 times as long.
func BenchmarkHot(bench *testing.B) {
	b := grown(bench, 10_000)
	hot := b.statement
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
	page := func(text string, args []any) func() error {
		return func() error {
			var targets []any
			return store.Scan(b.db.Hot(text).Query(b.ctx, args...))(func(rows *sql.Rows) error {
				columns, err := rows.Columns()
				if err != nil {
					return err
				}
				for len(targets) < len(columns) {
					targets = append(targets, new(any))
				}
				return rows.Scan(targets...)
			})
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
	var scoreChanges []scoring.Change
	for i, v := range rows {
		videoRows = append(videoRows, []any{
			v.ID, v.Platform, v.ExternalID, v.CreatorID, v.Kind, v.GrowthKind, v.Duration, v.Handle, v.HandleOnly, v.Subject, v.ScrollID,
			v.PostedAt, v.FirstSeenAt, v.ObservedAt, v.UsableViews, v.UsableAt, v.UsableLikes, v.ByNiche, v.GoneAt, v.Digest, 0, 0, 0,
			v.SeenOrder, *v.HookOrder, v.HookChangedAt, v.Opening, v.PostedWeek, v.RisingOrder,
		})
		docRows = append(docRows, []any{docs[i].ID, docs[i].Doc, docs[i].Hook, docs[i].HookText, docs[i].Language, docs[i].Keys})
		seenRows = append(seenRows, []any{b.db.NewID(), v.ID, 99, "feed", 1, 2, 3, 4, 5, now, ""})
		scoreChanges = append(scoreChanges, scoring.Change{Id: v.ID, Row: scoring.ScoreRow{Peers: 3, TwiceBaseline: 200, Samples: 3}, Value: 1.5, Order: []byte("order")})
		creatorRows = append(creatorRows, []any{b.db.NewID(), "tiktok", fmt.Sprint("id:another", i), "", 1})
	}
	windows, hidden := []int64{1, 2, 3}, false
	for _, c := range []struct {
		name       string
		hot, byEnt func() error
	}{
		{"revision", func() error { _, err := b.Revision(b.ctx); return err }, func() error {
			_, err := b.db.Ent().Library.Query().Only(b.ctx)
			return err
		}},
		{"raise", write(b.Raise), write(func(ctx context.Context, tx *store.Tx) error {
			return tx.Ent().Library.Create().SetID(b.db.NewID()).SetAccountID(account).SetRevision(1).
				OnConflict(entsql.ConflictColumns("account_id"), entsql.ResolveWith(func(u *entsql.UpdateSet) { u.Add("revision", 1) })).Exec(ctx)
		})},
		{"archived and archive", func() error {
			hidden = !hidden
			outcome, err := b.edits.ArchiveVideo(b.ctx, publicid.Format(publicid.Video, ids[0]), false, hidden)
			if err == nil && outcome != videos.Updated {
				err = errors.New("no video")
			}
			return err
		}, write(func(ctx context.Context, tx *store.Tx) error {
			if _, err := tx.Ent().Video.Get(ctx, ids[0]); err != nil {
				return err
			}
			if err := tx.Ent().Video.UpdateOneID(ids[0]).SetArchived(1).SetHookHidden(1).Exec(ctx); err != nil {
				return err
			}
			if err := feed.Append(ctx, tx, feed.Change{Kind: feed.VideoArchived, Video: ids[0]}); err != nil {
				return err
			}
			return tx.Ent().UncountedVideo.Create().SetID(b.db.NewID()).SetAccountID(account).SetVideoID(ids[0]).Exec(ctx)
		})},
		{"tracked", func() error { _, _, err := b.Tracked(b.ctx, "tiktok", 0, 100); return err }, func() error {
			_, err := b.db.Ent().Video.Query().Where(video.Archived(0), video.Platform("tiktok"), video.GoneAtIsNil()).
				Order(ent.Asc(video.FieldSeenOrder)).Limit(100).Select(video.FieldExternalID).All(b.ctx)
			return err
		}},
		{"load", read(hot(`SELECT v.id, v.creator_id, v.handle, v.handle_only`), 21, int64(1), "tiktok", names), func() error {
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
		{"saveVideos", save(hot(`INSERT INTO videos`), videoRows), write(func(ctx context.Context, tx *store.Tx) error {
			creates := make([]*ent.VideoCreate, len(rows))
			for i, v := range rows {
				creates[i] = tx.Ent().Video.Create().SetID(v.ID).SetAccountID(account).SetPlatform(v.Platform).SetExternalID(v.ExternalID).
					SetNillableCreatorID(v.CreatorID).SetKind(v.Kind).SetSubject(v.Subject).SetScrollID(v.ScrollID).SetNillablePostedAt(v.PostedAt).
					SetFirstSeenAt(v.FirstSeenAt).SetObservedAt(v.ObservedAt).SetNillableUsableViews(v.UsableViews).SetNillableUsableAt(v.UsableAt).
					SetDigest(v.Digest).SetSeenOrder(v.SeenOrder).SetHookOrder(*v.HookOrder).SetGrowthKind(v.GrowthKind).SetNillableDuration(v.Duration).
					SetHandle(v.Handle).SetHandleOnly(v.HandleOnly).SetNillableUsableLikes(v.UsableLikes).SetHookChangedAt(v.HookChangedAt).SetOpening(v.Opening).
					SetPostedWeek(v.PostedWeek)
			}
			return tx.Ent().Video.CreateBulk(creates...).OnConflict(entsql.ConflictColumns("account_id", "platform", "external_id"), excluded(
				video.FieldCreatorID, video.FieldKind, video.FieldGrowthKind, video.FieldDuration, video.FieldHandle, video.FieldHandleOnly, video.FieldPostedAt,
				video.FieldObservedAt, video.FieldUsableViews, video.FieldUsableAt, video.FieldUsableLikes, video.FieldByNiche, video.FieldGoneAt,
				video.FieldDigest, video.FieldHookOrder, video.FieldHookChangedAt, video.FieldOpening, video.FieldPostedWeek, video.FieldRisingOrder,
			)).Exec(ctx)
		})},
		{"saveDocs", save(hot(`INSERT INTO video_docs`), docRows), write(func(ctx context.Context, tx *store.Tx) error {
			creates := make([]*ent.VideoDocCreate, len(docs))
			for i, d := range docs {
				creates[i] = tx.Ent().VideoDoc.Create().SetID(d.ID).SetAccountID(account).SetDoc(d.Doc).SetNillableHook(d.Hook).SetNillableHookText(d.HookText).SetNillableLanguage(d.Language).SetKeys(d.Keys)
			}
			return tx.Ent().VideoDoc.CreateBulk(creates...).
				OnConflict(entsql.ConflictColumns("id"), excluded(videodoc.FieldDoc, videodoc.FieldHook, videodoc.FieldHookText, videodoc.FieldLanguage, videodoc.FieldKeys)).Exec(ctx)
		})},
		{"addObservations", save(hot(`INSERT INTO observations`), seenRows), write(func(ctx context.Context, tx *store.Tx) error {
			creates := make([]*ent.ObservationCreate, len(rows))
			for i, v := range rows {
				creates[i] = tx.Ent().Observation.Create().SetID(b.db.NewID()).SetAccountID(account).SetVideoID(v.ID).SetScrollID(99).SetStage("feed").
					SetViews(1).SetLikes(2).SetComments(3).SetShares(4).SetSaves(5).SetObservedAt(now)
			}
			return tx.Ent().Observation.CreateBulk(creates...).Exec(ctx)
		})},
		{"addCreators", save(hot(`INSERT INTO creators`), creatorRows), write(func(ctx context.Context, tx *store.Tx) error {
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
			_, err := hot(`UPDATE creators SET dirty = 1`).ExecRows(ctx, tx, marks)
			return err
		}), write(func(ctx context.Context, tx *store.Tx) error {
			for _, id := range creators {
				if err := tx.Ent().Creator.Update().Where(creator.ID(id)).SetDirty(1).SetHandle("handle").Exec(ctx); err != nil {
					return err
				}
			}
			return nil
		})},
		{"byCreators", read(hot(`SELECT id, growth_kind, posted_at, usable_at, usable_views, usable_likes, creator_id`), 17, creators), func() error {
			_, err := b.db.Ent().Video.Query().Where(video.CreatorIDIn(creators...)).Select(scored()...).All(b.ctx)
			return err
		}},
		{"byNiche", read(hot("by_niche = $2", "posted_at >= $3"), 17, "tiktok", videos.ByCreator, scoring.StartOfTime+1, scoring.EndOfTime, scoring.StartOfTime), func() error {
			_, err := b.db.Ent().Video.Query().Where(video.GrowthKind("tiktok"), video.ByNiche(videos.ByCreator), video.PostedAtGTE(scoring.StartOfTime+1)).
				Order(video.ByPostedAt(entsql.OrderDesc()), video.ByID()).Limit(2000).Select(scored()...).All(b.ctx)
			return err
		}},
		{"nichePeers", read(hot("usable_views IS NOT NULL", "LIMIT 300", "posted_at <= $2"), 6, "tiktok", scoring.EndOfTime, scoring.StartOfTime), func() error {
			_, err := b.db.Ent().Video.Query().Where(video.GrowthKind("tiktok"), video.PostedAtLTE(scoring.EndOfTime), video.UsableViewsNotNil()).
				Order(video.ByPostedAt(entsql.OrderDesc()), video.ByID()).Limit(300).Select(scored()[:5]...).All(b.ctx)
			return err
		}},
		{"saveScores", write(func(ctx context.Context, tx *store.Tx) error { return b.SaveScores(ctx, tx, scoreChanges) }), write(func(ctx context.Context, tx *store.Tx) error {
			for _, c := range scoreChanges {
				err := tx.Ent().Video.Update().Where(video.ID(c.Id)).SetOutlierOrder(c.Order).SetPeers(3).SetTwiceBaseline(200).SetSampleCount(3).SetScore(1.5).Exec(ctx)
				if err != nil {
					return err
				}
			}
			return nil
		})},
		{"observed", read(hot(`SELECT video_id, scroll_id, observed_at`), 5, windows[1:], scoring.StartOfTime, scoring.EndOfTime), func() error {
			_, err := b.db.Ent().Observation.Query().Where(observation.ScrollIDIn(windows[1:]...), observation.ObservedAtLTE(scoring.EndOfTime)).
				Select(observation.FieldVideoID, observation.FieldScrollID, observation.FieldViews, observation.FieldLikes, observation.FieldObservedAt).All(b.ctx)
			return err
		}},
		{"carriers", read(hot(`SELECT v.id, v.creator_id, v.posted_at`), 5, ids), func() error {
			_, err := b.db.Ent().Video.Query().Where(video.IDIn(ids...)).Select(video.FieldCreatorID, video.FieldPostedAt, video.FieldArchived).All(viewer.ByIDs(b.ctx))
			if err != nil {
				return err
			}
			_, err = b.db.Ent().VideoDoc.Query().Where(videodoc.IDIn(ids...)).Select(videodoc.FieldKeys).All(viewer.ByIDs(b.ctx))
			return err
		}},
		{"hooks", page(lists.Page{List: lists.Hooks, Limit: 25}.Query(b.db, []byte{0})), func() error {
			return pageByEnt(b, b.db.Ent().Video.Query().Where(video.HookHidden(0), video.HookOrderGT([]byte{0})).Order(ent.Asc(video.FieldHookOrder)))
		}},
		{"outliers", page(lists.Page{List: lists.Outliers, Limit: 25}.Query(b.db, []byte{0})), func() error {
			return pageByEnt(b, b.db.Ent().Video.Query().Where(video.Archived(0), video.OutlierOrderGT([]byte{0})).Order(ent.Asc(video.FieldOutlierOrder)))
		}},
		{"trends", page(lists.Page{List: lists.Trends, Limit: 25}.TrendsQuery(b.db, b.runs.subject, []byte{0})), func() error {
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
		{"videos", page(lists.Page{List: lists.Videos, Limit: 25}.Query(b.db, []byte{0})), func() error {
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

// statement is the hot statement whose text has all of the words.
func (b *bundle) statement(words ...string) *store.Hot {
	b.t.Helper()
	for _, s := range b.db.Hots() {
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(s.Text(), word) }) {
			return s
		}
	}
	b.t.Fatalf("no statement has %q", words)
	return nil
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
