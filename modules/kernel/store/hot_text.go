package store

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// mark is a place in a statement's text that the client fills. It is compiled at its first
// use, since the processes of plugins begin as the server does.
var mark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{(tenant|owner)(?::(\w+))?\}|\{(account|key)\}|\{(list|rows|values):(\d+)(?: ([A-Z0-9,]+))?\}|\$(\d+)`)
})

// ownerColumn is the column of every tenant's row that holds the account.
const ownerColumn = "account_id"

// part is a piece of SQL, and what is bound after it.
type part struct {
	sql   string
	kind  string // "" for SQL only, account, value, list, rows or values
	arg   int    // from 0
	types []string
}

// template is a parsed text.
type template struct {
	parts    []part
	args     int
	numbered bool // placeholders are $1, $2, … and may recur; else `?`
	// fixed is true without lists and rows: the SQL is query at every run, and
	// order says which argument each placeholder takes, -1 the account.
	fixed bool
	query string
	order []any
	// byRow is the argument with the rows of an INSERT that may run once a row; -1 if there is
	// none.
	byRow int
}

func parse(text string, tenant, numbered bool) (template, error) {
	t := template{numbered: numbered, fixed: true, byRow: -1}
	owned, at := false, 0
	plain := ""
	for _, m := range mark().FindAllStringSubmatchIndex(text, -1) {
		group := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[m[2*i]:m[2*i+1]]
		}
		plain += text[at:m[0]]
		p := part{sql: text[at:m[0]], kind: group(1) + group(3) + group(4)}
		at = m[1]
		column := ownerColumn
		if alias := group(2); alias != "" {
			column = alias + "." + column
		}
		switch p.kind {
		case "owner":
			p.kind, p.sql = "", p.sql+column
		case "key":
			p.kind, p.sql = "", p.sql+"id"
			if numbered {
				p.sql += ", " + ownerColumn
			}
		case "tenant":
			p.kind, p.sql, owned = "account", p.sql+column+" = ", true
		case "account":
			owned = owned || isInsert(text)
		default:
			number, _ := strconv.Atoi(group(5) + group(7))
			if number < 1 {
				return t, errors.New("arguments are numbered from 1")
			}
			p.arg, t.args = number-1, max(t.args, number)
			if p.kind == "" {
				p.kind = "value"
				break
			}
			t.fixed = false
			owned = owned || p.kind == "rows" && isInsert(text)
			if types := group(6); types != "" {
				p.types = strings.Split(types, ",")
			}
		}
		if !tenant && (p.kind == "account" || p.kind == "rows") {
			return t, errors.New("a statement that belongs to no tenant has the mark of one")
		}
		t.parts = append(t.parts, p)
	}
	plain += text[at:]
	t.parts = append(t.parts, part{sql: text[at:]})
	switch {
	case strings.Contains(strings.ToLower(plain), ownerColumn):
		return t, errors.New("names the column of the account; use a mark")
	case regexp.MustCompile(`\{\w`).MatchString(plain):
		return t, errors.New("has an unknown mark")
	case tenant && !owned:
		return t, errors.New("lacks the mark of the tenant")
	case !t.fixed:
		t.byRow = runsByRow(text, t.parts)
	case t.fixed:
		indexes := make([]any, t.args)
		for i := range indexes {
			indexes[i] = i
		}
		var err error
		t.query, t.order, err = t.render(-1, indexes)
		return t, err
	}
	return t, nil
}

func isInsert(text string) bool {
	return strings.HasPrefix(strings.ToUpper(strings.TrimSpace(text)), "INSERT")
}

func (t *template) expand(account int64, args []any) (string, []any, error) {
	if len(args) != t.args {
		return "", nil, fmt.Errorf("%d arguments for a statement of %d", len(args), t.args)
	}
	if !t.fixed {
		return t.render(account, args)
	}
	values := make([]any, len(t.order))
	for i, arg := range t.order {
		if n, is := arg.(int); is {
			values[i] = args[n]
		} else {
			values[i] = account
		}
	}
	return t.query, values, nil
}

func (t *template) render(account int64, args []any) (string, []any, error) {
	w := writer{numbered: t.numbered, known: map[int]int{}}
	for _, p := range t.parts {
		w.sql.WriteString(p.sql)
		switch p.kind {
		case "account":
			w.recurring(-1, account)
		case "value":
			w.recurring(p.arg, args[p.arg])
		case "list":
			if err := w.list(args[p.arg]); err != nil {
				return "", nil, err
			}
		case "rows", "values":
			rows, is := args[p.arg].([][]any)
			if !is || len(rows) == 0 {
				return "", nil, fmt.Errorf("argument %d, a %T, has no rows", p.arg+1, args[p.arg])
			}
			w.rows(rows, p.types, func() {
				if p.kind == "rows" {
					w.recurring(-1, account)
					w.sql.WriteByte(',')
				}
			})
		}
	}
	return w.sql.String(), w.values, nil
}

// runsByRow returns the argument with the rows of an INSERT that returns nothing; -1 if there
// is none.
func runsByRow(text string, parts []part) int {
	at := slices.IndexFunc(parts, func(p part) bool { return p.kind == "rows" })
	if at < 0 || strings.Contains(strings.ToUpper(text), "RETURNING") || slices.ContainsFunc(parts, func(p part) bool { return p.kind == "list" || p.kind == "values" }) {
		return -1
	}
	return parts[at].arg
}

// bindRow returns what one row of the argument byRow binds.
func (t *template) bindRow(account int64, args []any, row []any) (values []any) {
	for _, p := range t.parts {
		switch p.kind {
		case "account":
			values = append(values, account)
		case "value":
			values = append(values, args[p.arg])
		case "rows":
			values = append(append(values, account), row...)
		}
	}
	return values
}

// Merged is the SQL for the first rows of several ranges together, by the column place that
// each of them has. SQLite merges what an index has in this order and reads no row more.
// PostgreSQL would read and sort a whole range that it takes for a short one: there each
// range ends after as many rows.
func (db *DB) Merged(ranges []string, first int) string {
	return db.merged(ranges, first, "LIMIT "+strconv.Itoa(first))
}

// MergedLast is the SQL for the last one of the rows that [DB.Merged] reads; for none where
// the ranges have fewer.
func (db *DB) MergedLast(ranges []string, first int) string {
	return db.merged(ranges, first, "LIMIT 1 OFFSET "+strconv.Itoa(first-1))
}

func (db *DB) merged(ranges []string, first int, limit string) string {
	const order = " ORDER BY place "
	if len(ranges) > 1 && db.Dialect() == Postgres {
		ranges = slices.Clone(ranges)
		for i := range ranges {
			ranges[i] = fmt.Sprintf("SELECT * FROM (%s%sLIMIT %d) r%d", ranges[i], order, first, i)
		}
	}
	return strings.Join(ranges, " UNION ALL ") + order + limit
}

// writer writes SQL together with its values.
type writer struct {
	sql      strings.Builder
	values   []any
	numbered bool
	known    map[int]int // the numbers of arguments that may recur
}

// value writes a placeholder. SQLite gets none with a number: it takes one for a
// name and looks through all of them at each.
func (w *writer) value(v any) {
	w.values = append(w.values, v)
	if w.numbered {
		w.sql.WriteString("$" + strconv.Itoa(len(w.values)))
		return
	}
	w.sql.WriteByte('?')
}

func (w *writer) recurring(arg int, v any) {
	if number := w.known[arg]; w.numbered && number > 0 {
		w.sql.WriteString("$" + strconv.Itoa(number))
		return
	}
	w.value(v)
	w.known[arg] = len(w.values)
}

// list writes the values for IN (…); numbers need no placeholder. Nothing is in an
// empty list.
func (w *writer) list(arg any) error {
	switch list := arg.(type) {
	case []int64:
		for i, n := range list {
			w.comma(i)
			w.sql.WriteString(strconv.FormatInt(n, 10))
		}
		w.null(len(list))
	case []string:
		for i, s := range list {
			w.comma(i)
			w.value(s)
		}
		w.null(len(list))
	default:
		return fmt.Errorf("a %T is no list", arg)
	}
	return nil
}

// rows writes (…),(…). The casts of the first row are the types of all.
func (w *writer) rows(rows [][]any, types []string, begin func()) {
	for i, row := range rows {
		w.comma(i)
		w.sql.WriteByte('(')
		begin()
		for j, v := range row {
			w.comma(j)
			if i > 0 || types == nil {
				w.value(v)
				continue
			}
			w.cast(v, types[j])
		}
		w.sql.WriteByte(')')
	}
}

func (w *writer) cast(v any, to string) {
	w.sql.WriteString("CAST(")
	w.value(v)
	w.sql.WriteString(" AS " + w.typeName(to) + ")")
}

// typeName is the dialect's name of a type.
func (w *writer) typeName(name string) string {
	switch {
	case name != "BYTES":
		return name
	case w.numbered:
		return "BYTEA"
	}
	return "BLOB"
}

func (w *writer) comma(i int) {
	if i > 0 {
		w.sql.WriteByte(',')
	}
}

func (w *writer) null(length int) {
	if length == 0 {
		w.sql.WriteString("NULL")
	}
}
