package scrolls

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/scrollery/scrollery/ent/scroll"
	"github.com/scrollery/scrollery/ent/scrollcount"
	"github.com/scrollery/scrollery/ent/scrollrecord"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

// BenchmarkGet reads one scroll, against a bare prepared SELECT of the same columns.
func BenchmarkGet(b *testing.B) {
	w, raw := benchmarkWorld(b)
	scroll := w.complete(w.create(Start{}).ID)
	id, ctx := publicID(scroll.ID), tenant()
	floor, err := raw.Prepare("SELECT " + columns + " FROM scrolls WHERE account_id = ? AND id = ?")
	if err != nil {
		b.Fatal(err)
	}
	compare(b, func() error {
		var row [13]any
		var into [13]any
		for i := range row {
			into[i] = &row[i]
		}
		return floor.QueryRowContext(ctx, account, scroll.ID).Scan(into[:]...)
	}, func() error {
		got, err := w.service.Get(ctx, id)
		message(got)
		return err
	})
}

// BenchmarkStart starts scrolls, against the bare prepared statements that a start
// cannot do without: the key, the count, the row and the job in one transaction.
func BenchmarkStart(b *testing.B) {
	w, raw := benchmarkWorld(b)
	w.setLimits(Limits{Active: true, ActiveScrolls: noLimit - 1})
	n := int64(1000)
	var stmts []*sql.Stmt
	for _, query := range []string{
		"SELECT " + columns + " FROM scrolls WHERE account_id = ? AND idempotency_key = ?",
		"SELECT count(*) FROM scrolls WHERE account_id = ? AND status IN ('queued', 'running')",
		`INSERT INTO scrolls (id, account_id, status, progress, new_videos, rules_version, subject, idempotency_key, attempt, heartbeat_at, checkpoint,
			created_at, updated_at) VALUES (?, ?, 'queued', '', 0, 0, '', ?, 0, 0, '', ?, ?)`,
		"INSERT INTO jobs (id, kind, args, unique_key, attempt, max_attempts, run_at, lease_until, last_error, created_at) VALUES (?, 'x', '', ?, 0, 3, 0, 0, '', 0)",
	} {
		stmt, err := raw.Prepare(query)
		if err != nil {
			b.Fatal(err)
		}
		stmts = append(stmts, stmt)
	}
	compare(b, func() error {
		n++
		key, now := fmt.Sprint("key", n), time.Now().UnixMilli()
		tx, err := raw.Begin()
		if err != nil {
			return err
		}
		defer tx.Rollback()
		var any1 any
		if err := tx.Stmt(stmts[0]).QueryRow(n, key).Scan(&any1); err != sql.ErrNoRows {
			return fmt.Errorf("key: %v", err)
		}
		if err := tx.Stmt(stmts[1]).QueryRow(n).Scan(&any1); err != nil {
			return err
		}
		if _, err := tx.Stmt(stmts[2]).Exec(n, n, key, now, now); err != nil {
			return err
		}
		if _, err := tx.Stmt(stmts[3]).Exec(n, key); err != nil {
			return err
		}
		return tx.Commit()
	}, func() error {
		n++
		scroll, _, err := w.service.Create(viewer.As(context.Background(), n), Start{IdempotencyKey: ptr(fmt.Sprint("key", n))})
		message(scroll)
		return err
	})
}

// BenchmarkHot runs the hot statements against the same work through Ent: x-floor is
// how many times as long Ent takes.
func BenchmarkHot(b *testing.B) {
	w, _ := benchmarkWorld(b)
	ended := w.complete(w.create(Start{}).ID)
	hot, ctx, scrolls := w.service.hot, tenant(), w.db.Ent().Scroll
	verdicts := make([]*verdict, 200)
	items := make([]item, len(verdicts))
	for i, rec := range videos("tiktok", 1, len(verdicts)) {
		items[i] = item{id: w.db.NewID(), record: rec, seed: "maker"}
		verdicts[i] = &verdict{id: items[i].id, Verdict: stage.Verdict{Ref: rec.Ref, Rank: float64(i)}}
	}
	r := &run{s: w.service, id: ended.ID, account: account}
	w.write(func(ctx context.Context, tx *store.Tx) error { return r.rows.writeItems(ctx, tx, items) })
	for name, c := range map[string]struct{ hot, ent func() error }{
		"get": {
			func() error { _, err := w.service.load(ctx, ended.ID); return err },
			func() error {
				row, err := scrolls.Get(ctx, ended.ID)
				if err == nil {
					_, err = fromRow(row)
				}
				return err
			},
		},
		"counted": {
			func() error { _, err := store.Query[int64](ctx, hot.counted, w.subject); return err },
			func() error {
				_, err := w.db.Ent().ScrollCount.Query().Where(scrollcount.Subject(w.subject)).Only(ctx)
				return err
			},
		},
		"active": {
			func() error { _, _, err := store.One[int](ctx, hot.active); return err },
			func() error {
				_, err := scrolls.Query().Where(active(), scroll.Or(scroll.TemplateIsNil(), scroll.TemplateNotIn(importTemplate, youngTemplate))).Count(ctx)
				return err
			},
		},
		// Twenty in a transaction, so that the commit counts for little.
		"lock and save": {
			func() error {
				return w.twenty(func(ctx context.Context, tx *store.Tx) error {
					_, err := hot.lockRow(ctx, tx, ended.ID)
					if err == nil {
						_, err = hot.save.ExecIn(ctx, tx, ended.ID, 1, 1, Plan, "", noProgress, 0, "", 0)
					}
					return err
				})
			},
			func() error {
				return w.twenty(func(ctx context.Context, tx *store.Tx) error {
					_, err := tx.Ent().Scroll.Update().Where(scroll.ID(ended.ID)).AddAttempt(0).Save(ctx)
					if err == nil {
						_, err = tx.Ent().Scroll.Get(ctx, ended.ID)
					}
					if err == nil {
						_, err = tx.Ent().Scroll.Update().Where(scroll.ID(ended.ID), scroll.Attempt(1), scroll.Status(Running)).
							SetHeartbeatAt(1).SetUpdatedAt(1).SetStage(Plan).SetCheckpoint("").SetProgress(noProgress).SetNewVideos(0).
							SetSubject("").SetRulesVersion(0).Save(ctx)
					}
					return err
				})
			},
		},
		"rewrite": {
			func() error {
				return w.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return r.rows.rewriteItems(ctx, tx, items) })
			},
			func() error {
				return w.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return r.rows.writeItems(ctx, tx, items) })
			},
		},
		"judge": {
			func() error {
				return w.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
					rows := make([][]any, len(verdicts))
					for i, v := range verdicts {
						rows[i] = []any{r.id, v.id, v.DroppedBy, v.Rank}
					}
					_, err := hot.judge.ExecRows(ctx, tx, rows)
					return err
				})
			},
			func() error {
				return w.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
					for _, v := range verdicts {
						err := tx.Ent().ScrollRecord.Update().Where(scrollrecord.ScrollID(r.id), scrollrecord.ID(v.id)).
							SetDroppedBy(v.DroppedBy).SetRank(v.Rank).Exec(ctx)
						if err != nil {
							return err
						}
					}
					return nil
				})
			},
		},
	} {
		b.Run(name, func(b *testing.B) { compare(b, c.hot, c.ent) })
	}
}

// write runs do in a transaction of the tenant.
func (w *world) write(do func(context.Context, *store.Tx) error) {
	w.t.Helper()
	if err := w.db.Write(tenant(), do); err != nil {
		w.t.Fatal(err)
	}
}

// twenty runs do twenty times in one transaction of the tenant.
func (w *world) twenty(do func(context.Context, *store.Tx) error) error {
	return w.db.Write(tenant(), func(ctx context.Context, tx *store.Tx) error {
		for range 20 {
			if err := do(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
}

// benchmarkWorld is a world on SQLite, and a bare connection with the same settings.
func benchmarkWorld(b *testing.B) (*world, *sql.DB) {
	cfg := storetest.SQLiteConfig(b)
	w := setup(b, storetest.Open(b, cfg), quick())
	raw, err := sql.Open("sqlite", "file:"+filepath.Join(cfg.DataDir, "scrollery.db")+
		"?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=synchronous(FULL)&_pragma=cache_size(-16384)")
	if err != nil {
		b.Fatal(err)
	}
	raw.SetMaxOpenConns(1)
	b.Cleanup(func() { raw.Close() })
	return w, raw
}

// compare runs both in turns and reports the CPU of the work and its ratio to the floor.
func compare(b *testing.B, floor, work func() error) {
	b.Helper()
	var spent [2]time.Duration
	for b.Loop() {
		for i, do := range []func() error{floor, work} {
			before := cpu(b)
			for range 50 {
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
			spent[i] += cpu(b) - before
		}
	}
	b.ReportMetric(float64(spent[1].Microseconds())/float64(b.N)/50, "cpu-µs/op")
	b.ReportMetric(float64(spent[1])/float64(spent[0]), "x-floor")
	b.ReportMetric(0, "ns/op")
}

func cpu(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
