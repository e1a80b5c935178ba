package app_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	entschema "entgo.io/ent/dialect/sql/schema"
	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/ent/migrate"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// TestHotStatementsKeepToTheirTenant runs every hot statement again, with the
// arguments that it had for one tenant, on behalf of another: it returns nothing
// and leaves every row of the first tenant as it is.
func TestHotStatementsKeepToTheirTenant(t *testing.T) {
	t.Parallel()
	for _, dialect := range []string{store.SQLite, store.Postgres} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			configure := []func(*app.Config){datedFeed(t)}
			if dialect == store.Postgres {
				address := apptest.ScratchPostgres(t)
				configure = append(configure, func(cfg *app.Config) { cfg.DatabaseURL = address })
			}
			var db *store.DB
			running := apptest.StartBy(t, app.StartWithStore(&db), configure...)
			all := &statements{seen: map[string]string{}}
			commands := app.StoreOf(running.Operator())
			db.Watch(all.add)
			commands.Watch(all.add)
			seen := runs{last: map[*store.Hot]run{}}
			db.Trace(seen.add)
			owner := travel(t, running)
			liveWith(t, owner)
			db.Trace(nil)
			db.Watch(nil)
			// The events of its last reads would change a tenant's rows beside a replay.
			settled(t, db, func() int { return 0 }, owner)
			found := seen.all()
			others := viewer.As(t.Context(), db.NewID()) // an account without rows: every other has a feed of its own
			returned, changed := 0, 0
			for _, s := range db.Hots() {
				last, ran := found[s]
				if s.Tenantless() != "" {
					continue
				}
				t.Run(s.Text(), func(t *testing.T) {
					if !ran {
						t.Fatalf("was prepared, but never run: add a call to liveWith: got %v, want ran", ran)
					}
					// The owner shows that a replay does what the statement did: a few changes are enough.
					owners := viewer.As(t.Context(), last.account)
					own := replay(t, db, owners, s, last, false)
					if own.wrote && changed < 5 {
						own = replay(t, db, owners, s, last, true)
					}
					theirs := replay(t, db, others, s, last, false)
					if theirs.wrote {
						theirs = replay(t, db, others, s, last, true)
					}
					if theirs.rows > 0 || theirs.before != theirs.after {
						t.Errorf("for another tenant: got %d rows, want none; the owner's rows, want - got +:\n%s",
							theirs.rows, cmp.Diff(strings.Split(theirs.before, "\n"), strings.Split(theirs.after, "\n")))
					}
					if own.rows > 0 {
						returned++
					}
					if own.before != own.after {
						changed++
					}
				})
			}
			if returned < 5 || changed < 2 { // or the replay itself is at fault
				t.Errorf("got rows for the owner from %d statements and changes by %d, want at least 5 and 2", returned, changed)
			}
			db.Watch(all.add)
			importSome(t, running, owner)
			leave(t, owner)
			db.Watch(nil)
			commands.Watch(nil)
			t.Run("every statement binds its tenant and reads the rows that it names", func(t *testing.T) {
				checkStatements(t, dialect, all.all())
			})
		})
	}
}

// liveWith makes the calls that a journey leaves out.
func liveWith(t *testing.T, owner *apptest.Caller) {
	t.Helper()
	owner.Scroll(t, `{"prompt":"new hooks","idempotencyKey":"live-with-it"}`)
	ids := idsIn(t, owner, everything(t, owner))
	for _, call := range []string{
		fmt.Sprintf(`POST /v1/library/archive {"videoId":%q,"archived":true}`, ids["vid_"][0]),
		fmt.Sprintf(`POST /v1/library/annotate {"videoId":%q,"agentMetadata":{"mine":"yes"}}`, ids["vid_"][1]),
		"GET /v1/usage", "GET /v1/events", "GET /v1/hooks/list?q=a&language=en&annotated=true", `POST /v1/rules/preview {"text":"- skip giveaways"}`,
		`PUT /v1/rules {"text":"- no dances\n- no ads\n- no ` + strings.Repeat("very ", 60) + `long ones"}`, `PUT /v1/rules {"text":"- no ads\n- no pranks"}`, `PUT /v1/workspace {"description":"beans and cups"}`,
		"GET /v1/changes", "GET /v1/changes?cursor=now", "GET /v1/changes/summary?since=1",
		"GET /v1/library/video?id=" + ids["vid_"][2], "GET /v1/library/videos?ids=" + ids["vid_"][2] + "," + ids["vid_"][3], "GET /v1/library/observations?videoId=" + ids["vid_"][2], "GET /v1/library/frames?videoId=" + ids["vid_"][2],
		"GET /v1/outliers/explain?videoId=" + ids["vid_"][2], "GET /v1/trends/explain?key=hashtag:espresso", "GET /v1/outliers/scores",
		"GET /v1/trends/series?key=hashtag:espresso", "GET /v1/outliers/backtest", "GET /v1/trends/backtest",
		"GET /v1/library/creator?videoId=" + ids["vid_"][2], "GET /v1/library/creator?platform=tiktok&handle=moka.lab", "GET /v1/api_keys", "GET /v1/rules/versions",
		"GET /v1/scrolls/list", "GET /v1/scrolls/verdicts", "GET /v1/scrolls/schedule", "GET /v1/scrolls/templates",
		setSource, setSource, "GET /v1/sources/list", `POST /v1/sources/remove {"source":"youtube"}`,
	} {
		owner.Get(t, call, &struct{}{})
	}
	collect(t, owner, ids["vid_"])
	// What was deleted stays out of the next scroll.
	owner.Get(t, fmt.Sprintf(`POST /v1/library/delete {"videoId":%q}`, ids["vid_"][4]), &struct{}{})
	owner.Scroll(t, "{}")
	// A job scores without it.
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		var deletions struct{ ScoresPending bool }
		if owner.Get(t, "GET /v1/library/deletions", &deletions); !deletions.ScoresPending {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("scores are still to be computed after a minute, want them without the deleted video")
		}
	}
}

// collect makes a collection of videos, the fifth of which is deleted afterwards.
func collect(t *testing.T, owner *apptest.Caller, videos []string) {
	t.Helper()
	var made struct{ Collection struct{ ID string } }
	owner.Get(t, `POST /v1/collections/create {"name":"openings"}`, &made)
	id := made.Collection.ID
	for _, call := range []string{
		`POST /v1/collections/create {"name":"openings"}`, fmt.Sprintf(`POST /v1/collections/update {"id":%q,"name":"beginnings","note":"to try"}`, id),
		fmt.Sprintf(`POST /v1/collections/add {"id":%q,"videoIds":["%s"],"note":"slow"}`, id, strings.Join(videos[:6], `","`)),
		fmt.Sprintf(`POST /v1/collections/move {"id":%q,"videoId":%q,"before":%q}`, id, videos[3], videos[0]),
		fmt.Sprintf(`POST /v1/collections/move {"id":%q,"videoId":%q,"after":%q}`, id, videos[0], videos[1]),
		fmt.Sprintf(`POST /v1/collections/remove {"id":%q,"videoIds":[%q]}`, id, videos[5]),
		fmt.Sprintf(`POST /v1/shares/create {"kind":"collection","id":%q,"title":"to try"}`, id), "GET /v1/shares/list", `POST /v1/shares/revoke {"id":"shr_x"}`,
		"GET /v1/collections/list", "GET /v1/collections?limit=2&id=" + id,
	} {
		owner.Get(t, call, &struct{}{})
	}
}

// leave makes the calls that change what the other tests look at.
func leave(t *testing.T, owner *apptest.Caller) {
	t.Helper()
	ids := idsIn(t, owner, everything(t, owner))
	for _, call := range []string{
		fmt.Sprintf(`POST /v1/library/archive {"videoId":%q,"archived":true}`, ids["vid_"][3]),
		fmt.Sprintf(`POST /v1/scrolls/cancel {"id":%q}`, ids["scr_"][0]), `POST /v1/scrolls/schedule/stop {}`,
		`PUT /v1/rules {"text":"- no ads"}`, `POST /v1/api_keys/sessions {"scopes":["library:read"]}`,
		`PUT /v1/workspace {"website":"https://beans.example.org","archivePriorSubject":true}`,
		`PUT /v1/workspace {"website":"https://cups.example.org","archivePriorSubject":true}`,
	} {
		if answer := owner.Do(t, call, ""); answer.Status >= 500 || answer.Status == 400 || answer.Status == 404 {
			t.Errorf("%s: status %d, want Status less than 500, Status other than 400 and Status other than 404: %s", call, answer.Status, answer.Body)
		}
	}
}

func accountOf(t *testing.T, db *store.DB, caller *apptest.Caller) int64 {
	t.Helper()
	for _, row := range db.Ent().Account.Query().AllX(viewer.System(t.Context())) {
		if row.Email != nil && *row.Email == caller.Email {
			return row.ID
		}
	}
	t.Fatalf("got no account of %s, want one", caller.Email)
	return 0
}

// run is what a statement ran with.
type run struct {
	account int64
	args    []any
}

type runs struct {
	mu   sync.Mutex
	last map[*store.Hot]run
}

func (r *runs) add(ctx context.Context, s *store.Hot, args []any) {
	account, _, _ := viewer.Tenant(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last[s] = run{account, slices.Clone(args)}
}

func (r *runs) all() map[*store.Hot]run {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.last)
}

// replayed is the result of a replay: the rows with a value other than 0, whether it wrote any row,
// and, if they are compared, the rows of the tenant that the statement ran for, before and after it.
type replayed struct {
	rows          int
	wrote         bool
	before, after string
}

var errUndone = errors.New("undone")

// replay runs the statement in a transaction that is rolled back. Ids that are
// taken already are a refusal, which changes nothing. Whoever changes the library meanwhile,
// such as the count of trends that goes on by itself, waits for the end.
func replay(t *testing.T, db *store.DB, as context.Context, s *store.Hot, last run, compare bool) (out replayed) {
	t.Helper()
	refused := false
	err := db.Write(as, func(ctx context.Context, tx *store.Tx) error {
		out = replayed{}
		if db.Dialect() == store.Postgres {
			if _, err := tx.Exec(ctx, "SELECT id FROM libraries WHERE account_id = $1 FOR UPDATE", last.account); err != nil {
				return err
			}
		}
		reads, written := strings.HasPrefix(strings.TrimSpace(s.Text()), "SELECT"), rowsWritten(ctx, t, tx, db.Dialect())
		if !reads && compare {
			out.before = snapshot(ctx, t, tx, last.account)
		}
		err := store.Scan(s.QueryIn(ctx, tx, last.args...))(func(rows *sql.Rows) error {
			columns, err := rows.Columns()
			if err != nil {
				return err
			}
			values, targets := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				targets[i] = &values[i]
			}
			err = rows.Scan(targets...)
			if reads && slices.ContainsFunc(values, func(v any) bool { return v != nil && v != int64(0) }) {
				out.rows++
			}
			return err
		})
		if refused = err != nil; refused {
			return err
		}
		out.wrote = rowsWritten(ctx, t, tx, db.Dialect()) > written
		if !reads && compare {
			out.after = snapshot(ctx, t, tx, last.account)
		}
		return errUndone
	})
	if refused && (strings.Contains(err.Error(), "UNIQUE constraint") || strings.Contains(err.Error(), "unique constraint")) {
		out.after = out.before
		return out
	}
	if !errors.Is(err, errUndone) {
		t.Fatalf("replay: %v, want %v", err, errUndone)
	}
	return out
}

// rowsWritten is how many rows were written in the transaction, triggers included; in SQLite, by its
// connection.
func rowsWritten(ctx context.Context, t *testing.T, tx *store.Tx, dialect string) (n int64) {
	t.Helper()
	query := "SELECT total_changes()"
	if dialect == store.Postgres {
		query = "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del)::bigint FROM pg_stat_xact_user_tables"
	}
	if err := store.Scan(tx.Query(ctx, query))(func(rows *sql.Rows) error { return rows.Scan(&n) }); err != nil {
		t.Fatal(err)
	}
	return n
}

// snapshot returns every row of a tenant as text.
func snapshot(ctx context.Context, t *testing.T, tx *store.Tx, account int64) string {
	t.Helper()
	var text strings.Builder
	tables := map[string]string{"changes": "seq"} // no Ent table has it
	for _, table := range migrate.Tables {
		if slices.ContainsFunc(table.Columns, func(c *entschema.Column) bool { return c.Name == "account_id" }) {
			tables[table.Name] = "id"
		}
	}
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		err := store.Scan(tx.Query(ctx, fmt.Sprintf("SELECT * FROM %s WHERE account_id = $1 ORDER BY %s", table, tables[table]), account))(func(rows *sql.Rows) error {
			columns, _ := rows.Columns()
			values, targets := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				targets[i] = &values[i]
			}
			err := rows.Scan(targets...)
			for i, value := range values {
				if bytes, ok := value.([]byte); ok {
					values[i] = string(bytes) // printed a hundred times faster
				}
			}
			fmt.Fprintln(&text, table, values)
			return err
		})
		if err != nil {
			t.Fatalf("read %s: %v", table, err)
		}
	}
	return text.String()
}

// TestNoStatementNamesTheAccount reads every file that is no test: SQL with the
// column of the account in it is the store's to write.
func TestNoStatementNamesTheAccount(t *testing.T) {
	t.Parallel()
	files := 0
	for _, top := range []string{"../modules", "../app", "../cmd", "../plugins"} {
		err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || path == "../modules/kernel/store/hot_text.go" {
				return err
			}
			files++
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(node ast.Node) bool {
				switch node := node.(type) {
				case *ast.Field:
					return node.Tag == nil
				case *ast.BasicLit:
					text, _ := strconv.Unquote(node.Value)
					if !strings.Contains(text, "account_id") || text == "account_id" {
						return true
					}
					if path == "../plugins/formats/scrapers.go" && text == "account_id profile_username" {
						return true // names of columns of a file, in order; no plugin has a database
					}
					t.Errorf("%s names account_id in %q, want a mark of store.Hot", path, text)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 300 {
		t.Errorf("read %d files, want the whole tree", files)
	}
}
