package store

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"strings"
	"unicode"
)

// Query runs a hot statement outside of transactions and returns its rows, each in a T.
//
// A T is a struct, whose exported fields, those of embedded structs too, are the columns: the one named by a field's tag
// `db`, else by its name in snake_case, so `SELECT video_id` fills VideoID. The statement
// must select each of them, and nothing else, in any order. A T of another kind takes
// the statement's only column. NULL needs a pointer or a [sql.Scanner] such as [sql.Null];
// anywhere else it is an error, and so is a value of another type than the field's.
func Query[T any](ctx context.Context, s *Hot, args ...any) ([]T, error) {
	return collect[T](s, func(do func([]string, rawRow) (bool, error)) error { return s.each(ctx, nil, do, args) })
}

// QueryIn is [Query] in a transaction, or outside of all if tx is nil.
func QueryIn[T any](ctx context.Context, tx *Tx, s *Hot, args ...any) ([]T, error) {
	return collect[T](s, func(do func([]string, rawRow) (bool, error)) error { return s.each(ctx, tx, do, args) })
}

// One is [Query] of the first row; found is false if there is none.
func One[T any](ctx context.Context, s *Hot, args ...any) (row T, found bool, err error) {
	return OneIn[T](ctx, nil, s, args...)
}

// OneIn is [One] in a transaction, or outside of all if tx is nil.
func OneIn[T any](ctx context.Context, tx *Tx, s *Hot, args ...any) (row T, found bool, err error) {
	err = s.each(ctx, tx, into(s, func(got *T) (bool, error) { row, found = *got, true; return false, nil }), args)
	return row, found, err
}

// Each is [Query] that hands out a row at a time, until do returns false. The row is
// valid during the call. do must not write, nor take long: it may hold up writers.
func Each[T any](ctx context.Context, s *Hot, do func(row *T) (more bool, err error), args ...any) error {
	return EachIn(ctx, nil, s, do, args...)
}

// EachIn is [Each] in a transaction, or outside of all if tx is nil. do may not use the
// transaction.
func EachIn[T any](ctx context.Context, tx *Tx, s *Hot, do func(row *T) (more bool, err error), args ...any) error {
	return s.each(ctx, tx, into(s, do), args)
}

func collect[T any](s *Hot, each func(do func([]string, rawRow) (bool, error)) error) (all []T, err error) {
	err = each(into(s, func(row *T) (bool, error) { all = append(all, *row); return true, nil }))
	if err != nil {
		return nil, err
	}
	return all, nil
}

// into scans each row for do.
func into[T any](s *Hot, do func(row *T) (more bool, err error)) func(columns []string, row rawRow) (bool, error) {
	var fields []field
	var one T
	return func(columns []string, row rawRow) (more bool, err error) {
		if fields == nil {
			if fields, err = s.fieldsOf(reflect.TypeFor[T](), columns); err != nil {
				return false, err
			}
		}
		var zero T
		one = zero
		target := reflect.ValueOf(&one).Elem()
		for i, value := range row {
			if err := fields[i].set(target, value); err != nil {
				return false, fmt.Errorf("column %s: %w", columns[i], err)
			}
		}
		return do(&one)
	}
}

// field is where a column goes.
type field struct {
	index   []int // of the struct's field; nil: the row is the value
	scanner bool
}

var scannerType = reflect.TypeFor[sql.Scanner]()

// fieldsOf returns the fields of a type by column. They are the same at each run.
func (s *Hot) fieldsOf(row reflect.Type, columns []string) ([]field, error) {
	if known, ok := s.fields.Load(row); ok {
		return known.([]field), nil
	}
	found, err := match(row, columns)
	if err != nil {
		return nil, fmt.Errorf("rows of %q in a %s: %w", s.text, row, err)
	}
	s.fields.Store(row, found)
	return found, nil
}

func match(row reflect.Type, columns []string) ([]field, error) {
	if reflect.PointerTo(row).Implements(scannerType) || row.Kind() != reflect.Struct {
		if len(columns) != 1 {
			return nil, fmt.Errorf("it has %d columns, want 1", len(columns))
		}
		return []field{{scanner: reflect.PointerTo(row).Implements(scannerType)}}, nil
	}
	byName := map[string]field{}
	for _, f := range reflect.VisibleFields(row) {
		if f.Anonymous || !f.IsExported() {
			continue
		}
		name := f.Tag.Get("db")
		if name == "" {
			name = snake(f.Name)
		}
		byName[name] = field{index: f.Index, scanner: reflect.PointerTo(f.Type).Implements(scannerType)}
	}
	found := make([]field, len(columns))
	for i, column := range columns {
		f, ok := byName[column]
		if !ok {
			return nil, fmt.Errorf("no field is for the column %s", column)
		}
		delete(byName, column)
		found[i] = f
	}
	for name := range byName {
		return nil, fmt.Errorf("no column is for the field %s", name)
	}
	return found, nil
}

// snake is a name such as video_id of one such as VideoID.
func snake(name string) string {
	var b strings.Builder
	letters := []rune(name)
	for i, c := range letters {
		if unicode.IsUpper(c) && i > 0 && (unicode.IsLower(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// set stores the value of a column.
func (f field) set(row reflect.Value, value any) error {
	if f.index != nil {
		row = row.FieldByIndex(f.index)
	}
	if f.scanner {
		return row.Addr().Interface().(sql.Scanner).Scan(value)
	}
	if row.Kind() == reflect.Pointer {
		if value == nil {
			return nil
		}
		row.Set(reflect.New(row.Type().Elem()))
		row = row.Elem()
	}
	switch v := value.(type) {
	case int64:
		switch {
		case row.CanInt() && !row.OverflowInt(v):
			row.SetInt(v)
			return nil
		case row.CanFloat():
			row.SetFloat(float64(v))
			return nil
		case row.Kind() == reflect.Bool && (v == 0 || v == 1): // SQLite's
			row.SetBool(v == 1)
			return nil
		}
	case float64:
		if row.CanFloat() {
			row.SetFloat(v)
			return nil
		}
	case bool:
		if row.Kind() == reflect.Bool {
			row.SetBool(v)
			return nil
		}
	case string:
		switch {
		case row.Kind() == reflect.String:
			row.SetString(v)
			return nil
		case row.Kind() == reflect.Slice && row.Type().Elem().Kind() == reflect.Uint8: // jsonb
			row.SetBytes([]byte(v))
			return nil
		}
	case []byte:
		switch {
		case row.Kind() == reflect.String:
			row.SetString(string(v))
			return nil
		case row.Kind() == reflect.Slice && row.Type().Elem().Kind() == reflect.Uint8:
			row.SetBytes(v)
			return nil
		}
	}
	if value == nil {
		return fmt.Errorf("NULL for a %s, which cannot have it", row.Type())
	}
	return fmt.Errorf("a %T for a %s", value, row.Type())
}
