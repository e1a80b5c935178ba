package account

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"
	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/ent/migrate"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// world answers the module's needs.
type world struct {
	letters []mail.Message
	closed  []int64
	erased  int
	failing error
}

func (w *world) Send(_ context.Context, m mail.Message) error {
	w.letters = append(w.letters, m)
	return nil
}

func (w *world) EmailOf(_ context.Context, account int64) (string, bool, error) {
	return fmt.Sprintf("a%d@example.com", account), account != 99, nil
}

func (w *world) Close(_ context.Context, account int64) error {
	w.closed = append(w.closed, account)
	return w.failing
}

func (w *world) Paths(context.Context) ([]string, error) { return []string{"notes/a.txt"}, nil }

func (w *world) ReadFile(context.Context, string) (string, error) { return "hello", nil }

// After has a feed of three changes.
func (w *world) After(_ context.Context, seq int64, most int) (found []Change, next int64, err error) {
	for next = seq; next < 3 && len(found) < min(most, 2); {
		next++
		found = append(found, Change{ID: fmt.Sprintf("chg_%d", next), Type: "video.added", At: next, VideoID: "vid_1", New: new(float64)})
	}
	return found, next, nil
}

func (w *world) CountTrends(context.Context) error { return nil }

func (w *world) EraseFiles(context.Context) error {
	w.erased++
	return nil
}

func (w *world) Leaves(context.Context, *store.Tx, int64, string, int64) error { return nil }

func (w *world) Stays(context.Context, *store.Tx, int64, int64) error { return nil }

func (w *world) Flush(context.Context) {}

func setup(db *store.DB) (*world, *Service) {
	w := &world{}
	s := New(db, Config{BaseURL: "https://scrollery.example"}, Needs{Mailer: w, Accounts: w, Billing: w, Files: w, Changes: w, Trends: w, Removals: w}, slog.New(slog.NewTextHandler(io.Discard, nil)))
	return w, s
}

// ownerColumn is the column of every row that belongs to an account.
const ownerColumn = "account_id"

// owned returns the tables of the catalogue with rows of accounts.
func owned() (tables []*schema.Table) {
	for _, table := range migrate.Tables {
		if slices.ContainsFunc(table.Columns, func(c *schema.Column) bool { return c.Name == ownerColumn }) {
			tables = append(tables, table)
		}
	}
	return tables
}

// fill adds rows of an account to every table that has rows of accounts.
func fill(t *testing.T, db *store.DB, account int64, rows int) {
	t.Helper()
	err := db.Write(viewer.System(t.Context()), func(ctx context.Context, tx *store.Tx) error {
		if err := tx.Ent().Account.Create().SetID(account).SetCreatedAt(1).Exec(ctx); err != nil {
			return err
		}
		for _, table := range owned() {
			for range rows {
				if oneRow[table.Name] && countRows(t, ctx, tx, table.Name, account) > 0 {
					break
				}
				id := db.NewID()
				var names, marks []string
				var values []any
				for _, column := range table.Columns {
					value := any(int64(1))
					switch {
					case column.Name == ownerColumn:
						value = account
					case column.Name == "id":
						value = id
					case column.Nullable:
						continue
					case column.Type == field.TypeString:
						value = fmt.Sprintf("x%d", id)
					case column.Type == field.TypeBytes && column.Name == "data":
						value = []byte("x")
					case column.Type == field.TypeBytes:
						value = fmt.Appendf(nil, "x%d", id)
					case column.Type == field.TypeBool:
						value = true
					case column.Unique || strings.HasSuffix(column.Name, "_id") || column.Name == "day" || column.Name == "version":
						value = id % (1 << 31)
					}
					names, values = append(names, column.Name), append(values, value)
					marks = append(marks, fmt.Sprintf("$%d", len(values)))
				}
				_, err := tx.Exec(ctx, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table.Name, strings.Join(names, ", "), strings.Join(marks, ", ")), values...)
				if err != nil {
					return fmt.Errorf("fill %s: %w", table.Name, err)
				}
			}
		}
		for _, statement := range []string{
			"INSERT INTO changes (account_id, seq, at, kind) VALUES ($1, 1, 1, 'x'), ($1, 2, 1, 'x'), ($1, 3, 1, 'x'), ($1, 4, 1, 'x')",
			"INSERT INTO unindexed_libraries (account_id, platform, external_id) VALUES ($1, 'x', 'x')",
			"INSERT INTO video_terms (id, account_id, terms) SELECT id, account_id, 'x' FROM video_docs WHERE account_id = $1",
		} {
			if _, err := tx.Exec(ctx, statement, account); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// catalogue are the tables of the database itself that have a column of the account.
func catalogue(t *testing.T, ctx context.Context, db *store.DB, tx *store.Tx) (tables []string) {
	t.Helper()
	query := "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c ON c.name = 'account_id' WHERE m.type = 'table'"
	if db.Dialect() == store.Postgres {
		query = "SELECT c.table_name FROM information_schema.columns c WHERE c.column_name = 'account_id' AND c.table_schema = current_schema()"
	}
	rows, err := tx.Query(ctx, query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // a test
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	return tables
}

// oneRow are the tables of which an account has one row.
var oneRow = map[string]bool{"workspaces": true, "subscriptions": true, "credit_balances": true, "libraries": true, "unscored_libraries": true, "recurrences": true, "feeds": true}

func countRows(t *testing.T, ctx context.Context, tx *store.Tx, table string, account int64) (n int) {
	t.Helper()
	rows, err := tx.Query(ctx, fmt.Sprintf("SELECT count(*) FROM %s WHERE %s = $1", table, ownerColumn), account)
	if err != nil {
		t.Fatalf("count %s: %v", table, err)
	}
	defer rows.Close() //nolint:errcheck // a test
	for rows.Next() {
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// left counts the rows of an account, by table; tables without any are left out.
func left(t *testing.T, db *store.DB, account int64) map[string]int {
	t.Helper()
	found := map[string]int{}
	err := db.Write(viewer.System(t.Context()), func(ctx context.Context, tx *store.Tx) error {
		for _, table := range catalogue(t, ctx, db, tx) {
			found[table] = countRows(t, ctx, tx, table, account)
		}
		if known, err := tx.Ent().Account.Get(ctx, account); err == nil && known != nil {
			found["accounts"] = 1
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// confirm brings a deletion to the state in which it is only due later.
func confirm(t *testing.T, w *world, s *Service, account int64) (subject string) {
	t.Helper()
	ctx := viewer.As(t.Context(), account)
	if status, _, err := s.Eraser.request(ctx); err != nil || status != statusSent {
		t.Fatalf("request: got %q, error %v; want %q", status, err, statusSent)
	}
	if err := s.Eraser.sendLink(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	token := tokenOf(t, w)
	if _, err := s.Eraser.decide(t.Context(), account, token, true); err != nil {
		t.Fatal(err)
	}
	return hashToken(token)
}

// tokenOf is the token in the last letter.
func tokenOf(t *testing.T, w *world) string {
	t.Helper()
	_, link, _ := strings.Cut(w.letters[len(w.letters)-1].Text, LinkPath)
	_, token, ok := strings.Cut(strings.Fields(link)[0], ".")
	if !ok {
		t.Fatalf("no link in %q, want one", w.letters[len(w.letters)-1].Text)
	}
	return token
}

func TestErasureLeavesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w, s := setup(db)
		s.Eraser.batch = 3
		mine, other := db.NewID(), db.NewID()
		fill(t, db, mine, 10)
		fill(t, db, other, 4)
		kept := left(t, db, other)
		for table, rows := range kept {
			if rows == 0 || left(t, db, mine)[table] == 0 {
				t.Fatalf("got %d and %d rows of %s, want some of each to delete and to keep", left(t, db, mine)[table], rows, table)
			}
		}
		nothing := map[string]int{}
		for table := range kept {
			if table != "accounts" {
				nothing[table] = 0
			}
		}
		subject := confirm(t, w, s, mine)
		if err := s.Eraser.erase(t.Context(), mine, subject); err == nil || left(t, db, mine)["videos"] != 10 {
			t.Fatalf("before the end of the 7 days: got %v, want the job to wait and nothing deleted", err)
		}
		s.Eraser.now = func() time.Time { return time.Now().Add(Grace + time.Minute) }
		w.failing = errors.New("the provider is away")
		if err := s.Eraser.erase(t.Context(), mine, subject); !errors.Is(err, w.failing) || left(t, db, mine)["videos"] != 10 {
			t.Fatalf("without the provider: got %v, want its error and nothing deleted", err)
		}
		w.failing = nil
		// Cut off after some statements, again and again.
		for cut := int64(5); ; cut += 20 {
			ctx, cancel := context.WithCancel(t.Context())
			var ran atomic.Int64
			db.Trace(func(context.Context, *store.Hot, []any) {
				if ran.Add(1) == cut {
					cancel()
				}
			})
			err := s.Eraser.erase(ctx, mine, subject)
			db.Trace(nil)
			cancel()
			if err == nil {
				break
			}
			if ran.Load() < cut {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(nothing, left(t, db, mine)); diff != "" {
			t.Errorf("rows of the deleted account, want none - got +:\n%s", diff)
		}
		if diff := cmp.Diff(kept, left(t, db, other)); diff != "" {
			t.Errorf("rows of another account, want - got +:\n%s", diff)
		}
		if len(w.closed) < 2 || w.closed[0] != mine || w.erased == 0 {
			t.Errorf("subscriptions ended of %v, files deleted %d times, want at least 2 closed, closed[0] %v and erased not 0", w.closed, w.erased, mine)
		}
		if err := s.Eraser.erase(t.Context(), mine, subject); err != nil {
			t.Errorf("once more: %v", err)
		}
		fill(t, db, mine, 2)
		if err := s.Eraser.eraseRest(t.Context(), mine); err != nil || left(t, db, mine)["videos"] != 2 {
			t.Errorf("the rest of an account that is there: %v, left %v, want nothing deleted", err, left(t, db, mine))
		}
		err := db.Write(viewer.System(t.Context()), func(ctx context.Context, tx *store.Tx) error {
			return tx.Ent().Account.DeleteOneID(mine).Exec(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		// What ran meanwhile wrote after the deletion.
		w.erased = 0
		if err := s.Eraser.eraseRest(t.Context(), mine); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(nothing, left(t, db, mine)); diff != "" {
			t.Errorf("rows that were written after the deletion, want none - got +:\n%s", diff)
		}
		if w.erased != 1 {
			t.Errorf("files that were written after the deletion: got %d erasures of files, want 1", w.erased)
		}
		if diff := cmp.Diff(kept, left(t, db, other)); diff != "" {
			t.Errorf("rows of another account, want - and got +:\n%s", diff)
		}
	})
}

// TestErasureOfAFeedMeetsItsWriter appends to the feed before many transactions of an erasure: no number
// is given twice, and keys and scrolls go before what their writers would write.
func TestErasureOfAFeedMeetsItsWriter(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		if db.Dialect() == store.SQLite {
			t.Skip("SQLite has one writer, which has begun by then")
		}
		w, s := setup(db)
		account := db.NewID()
		fill(t, db, account, 1)
		storetest.Exec(t, db, "UPDATE feeds SET seq = 4 WHERE account_id = $1", account) // as many changes as there are
		subject := confirm(t, w, s, account)
		s.Eraser.now = func() time.Time { return time.Now().Add(Grace + time.Minute) }
		var order []string
		var appending atomic.Bool
		var begun atomic.Int64
		db.Watch(func(query string) {
			query = strings.NewReplacer(`"`, "").Replace(query)
			if fields := strings.Fields(query); fields[0] == "DELETE" && !slices.Contains(order, fields[2]) {
				order = append(order, fields[2])
			}
			if !strings.HasPrefix(strings.ToLower(query), "begin") || begun.Add(1)%3 > 0 || begun.Load() > 500 || !appending.CompareAndSwap(false, true) {
				return
			}
			defer appending.Store(false)
			err := db.Write(viewer.As(t.Context(), account), func(ctx context.Context, tx *store.Tx) error {
				return feed.Append(ctx, tx, feed.Change{Kind: feed.VideoAdded, Video: 1}, feed.Change{Kind: feed.VideoGone, Video: 1})
			})
			if err != nil {
				t.Errorf("a writer of the feed: got %v, want no error", err)
			}
		})
		defer db.Watch(nil)
		if err := s.Eraser.erase(t.Context(), account, subject); err != nil {
			t.Fatal(err)
		}
		if want := []string{"keys", "scrolls"}; !slices.Equal(order[:2], want) {
			t.Errorf("got %v first, want %v", order[:2], want)
		}
	})
}

func TestADeletionIsConfirmedByMailAndCalledOff(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w, s := setup(db)
		account := int64(7)
		ctx := viewer.As(t.Context(), account)
		site, err := NewPage(s, s.Eraser.log)
		if err != nil {
			t.Fatal(err)
		}
		visit := func(method, token, action string) (int, string) {
			body := strings.NewReader(url.Values{"action": {action}}.Encode())
			r := httptest.NewRequestWithContext(t.Context(), method, strings.TrimPrefix(s.Eraser.link(account, token), s.cfg.BaseURL), body)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			answer := httptest.NewRecorder()
			site.ServeHTTP(answer, r)
			return answer.Code, answer.Body.String()
		}
		state := func(want string) {
			t.Helper()
			now, err := newest(ctx, db.Ent())
			if err != nil || now.action != want {
				t.Fatalf("state: got %q, %v, want %q", now.action, err, want)
			}
		}
		if status, _, err := s.Eraser.callOff(ctx); err != nil || status != statusNone {
			t.Errorf("call off nothing: got %q, error %v; want %q", status, err, statusNone)
		}
		if _, _, err := s.Eraser.request(viewer.As(t.Context(), 99)); !apierr.Is(err, apierr.OperationError) {
			t.Errorf("an account without an address: got %v, want operation_error", err)
		}
		if status, _, err := s.Eraser.request(ctx); err != nil || status != statusSent {
			t.Fatalf("request: got %q, error %v; want %q", status, err, statusSent)
		}
		if _, _, err := s.Eraser.request(ctx); !apierr.Is(err, apierr.RateLimited) {
			t.Errorf("request again at once: got %v, want rate_limited", err)
		}
		if err := s.Eraser.sendLink(t.Context(), account); err != nil {
			t.Fatal(err)
		}
		first := tokenOf(t, w)
		if err := s.Eraser.sendLink(t.Context(), account); err != nil { // as a job does that runs twice
			t.Fatal(err)
		}
		token := tokenOf(t, w)
		if code, _ := visit(http.MethodGet, first, ""); code != http.StatusNotFound {
			t.Errorf("an older link: got %d, want 404", code)
		}
		if code, text := visit(http.MethodGet, token, ""); code != http.StatusOK || !strings.Contains(text, `value="erase"`) {
			t.Errorf("the page: got %d, want code %v and text with %q: %s", code, http.StatusOK, `value="erase"`, text)
		}
		state(mailed)
		if code, _ := visit(http.MethodPost, token, "sell"); code != http.StatusBadRequest {
			t.Errorf("an unknown action: got %d, want 400", code)
		}
		if code, text := visit(http.MethodPost, token, "erase"); code != http.StatusOK || !strings.Contains(text, "will be deleted") {
			t.Fatalf(`confirm: got %d, want code %v and text with "will be deleted": %s`, code, http.StatusOK, text)
		}
		state(confirmed)
		status, at, err := s.Eraser.request(ctx)
		if err != nil || status != statusScheduled || time.Until(at) < Grace-time.Minute || time.Until(at) > Grace+time.Minute {
			t.Errorf("while it is scheduled: got %q at %v, error %v; want %q in %v to %v", status, at, err, statusScheduled, Grace-time.Minute, Grace+time.Minute)
		}
		// Once it has begun, a part of the account may be gone.
		s.Eraser.now = func() time.Time { return time.Now().Add(Grace + time.Minute) }
		if _, _, err := s.Eraser.callOff(ctx); !apierr.Is(err, apierr.OperationError) {
			t.Errorf("call off what has begun: got %v, want operation_error", err)
		}
		if code, text := visit(http.MethodPost, token, "keep"); code != http.StatusConflict || !strings.Contains(text, "has begun") {
			t.Errorf(`keep what is being deleted: got %d, want code %v and text with "has begun": %s`, code, http.StatusConflict, text)
		}
		state(confirmed)
		s.Eraser.now = time.Now
		if status, _, err := s.Eraser.callOff(ctx); err != nil || status != statusCancelled {
			t.Errorf("call off: got %q, error %v; want %q", status, err, statusCancelled)
		}
		if code, _ := visit(http.MethodPost, token, "erase"); code != http.StatusNotFound {
			t.Errorf("the link after that: got %d, want 404", code)
		}
		s.Eraser.now = func() time.Time { return time.Now().Add(Grace + time.Minute) }
		if err := s.Eraser.erase(t.Context(), account, hashToken(token)); err != nil || w.erased > 0 || len(w.closed) > 0 {
			t.Errorf("the job after that: got %v, deleted %d, want nothing done", err, w.erased)
		}
		if status, _, err := s.Eraser.request(ctx); err != nil || status != statusSent {
			t.Fatalf("request anew: got %q, error %v; want %q", status, err, statusSent)
		}
		s.Eraser.now = time.Now
		if err := s.Eraser.sendLink(t.Context(), account); err != nil {
			t.Fatal(err)
		}
		token = tokenOf(t, w)
		s.Eraser.now = func() time.Time { return time.Now().Add(linkTTL + time.Minute) }
		if code, _ := visit(http.MethodPost, token, "erase"); code != http.StatusNotFound {
			t.Errorf("a link after a day: got %d, want 404", code)
		}
		s.Eraser.now = time.Now
		if code, _ := visit(http.MethodPost, token, "keep"); code != http.StatusOK {
			t.Errorf("keep the account: got %d, want %v", code, http.StatusOK)
		}
		state(calledOff)
	})
}
