package library

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

var errNoTenant = errors.New("library: no account in the context")

// tenant is the account that a transaction of this room works for.
func tenant(ctx context.Context) (int64, error) {
	account, all, ok := viewer.Tenant(ctx)
	if !ok || all {
		return 0, errNoTenant
	}
	return account, nil
}

// text is a statement being written together with its arguments.
type text struct {
	strings.Builder
	args     []any
	numbered bool
}

func (s *Service) write(parts ...any) *text {
	return (&text{numbered: s.db.Dialect() == store.Postgres}).add(parts...)
}

// add writes each string as it stands and each arg as a placeholder.
func (t *text) add(parts ...any) *text {
	for _, part := range parts {
		if a, is := part.(arg); is {
			t.args = append(t.args, a.value)
			t.placeholder()
			continue
		}
		t.WriteString(part.(string))
	}
	return t
}

type arg struct{ value any }

// placeholder stands for the argument just added. SQLite gets none with a number:
// it takes $1 for a name and looks through all of them at each.
func (t *text) placeholder() {
	if !t.numbered {
		t.WriteByte('?')
		return
	}
	t.WriteByte('$')
	t.WriteString(strconv.Itoa(len(t.args)))
}

// rows writes (…),(…) with a placeholder a value. types, where given, cast the
// first row, from which PostgreSQL takes the types of the others.
func (t *text) rows(rows [][]any, types ...string) *text {
	for i, row := range rows {
		if i > 0 {
			t.WriteByte(',')
		}
		t.WriteByte('(')
		for j, value := range row {
			if j > 0 {
				t.WriteByte(',')
			}
			if i == 0 && types != nil {
				t.add("CAST(", arg{value}, " AS "+types[j]+")")
				continue
			}
			t.add(arg{value})
		}
		t.WriteByte(')')
	}
	return t
}

// numbers writes a list of numbers; they need no placeholder.
func (t *text) numbers(ids []int64) *text {
	for i, id := range ids {
		if i > 0 {
			t.WriteByte(',')
		}
		t.WriteString(strconv.FormatInt(id, 10))
	}
	return t
}

func (t *text) exec(ctx context.Context, tx *store.Tx) error {
	_, err := tx.Exec(ctx, t.String(), t.args...)
	return err
}

func (t *text) query(ctx context.Context, tx *store.Tx, scan func(*sql.Rows) error) error {
	rows, err := tx.Query(ctx, t.String(), t.args...)
	return each(rows, err, scan)
}

// each scans every row and closes them.
func each(rows *sql.Rows, err error, scan func(*sql.Rows) error) error {
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err below tells
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// bytesType is what the dialect calls a column of bytes.
func (s *Service) bytesType() string {
	if s.db.Dialect() == store.Postgres {
		return "BYTEA"
	}
	return "BLOB"
}

// statement returns the prepared form of a hot read, one for each text.
func (s *Service) statement(query string) *store.Statement {
	if known, ok := s.statements.Load(query); ok {
		return known.(*store.Statement)
	}
	known, _ := s.statements.LoadOrStore(query, s.db.Prepare(query))
	return known.(*store.Statement)
}

// nullable keeps nil from becoming an empty value.
func nullable(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

// names returns the keys of a map in order.
func names[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
