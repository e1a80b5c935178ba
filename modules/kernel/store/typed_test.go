package store_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

type word string

type typedRow struct {
	VideoID int64
	Kind    word
	Share   float64
	Whole   float64
	IsNew   bool
	Body    []byte
	Missing *int64
	Known   *string
	Old     sql.NullFloat64
	Renamed int `db:"other_name"`
	//lint:ignore U1000 a field that is not exported has no column
	internal int
}

func TestRowsAreTyped(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		const columns = `CAST(n.column1 AS BIGINT) AS video_id, CAST('video' AS TEXT) AS kind, CAST(0.5 AS DOUBLE PRECISION) AS share, CAST(2 AS BIGINT) AS whole,
			(1 = 1) AS is_new, CAST('text' AS TEXT) AS body, CAST(NULL AS BIGINT) AS missing, CAST('known' AS TEXT) AS known,
			CAST(NULL AS DOUBLE PRECISION) AS old, CAST(7 AS BIGINT) AS other_name`
		statement := db.HotTenantless("SELECT "+columns+" FROM (VALUES (1), (2)) AS n WHERE n.column1 <= $1 ORDER BY n.column1", "a test")
		known := "known"
		row := func(id int64) typedRow {
			return typedRow{VideoID: id, Kind: "video", Share: 0.5, Whole: 2, IsNew: true, Body: []byte("text"), Known: &known, Renamed: 7}
		}
		ignore := cmp.AllowUnexported(typedRow{})

		t.Run("outside of transactions", func(t *testing.T) {
			got, err := store.Query[typedRow](t.Context(), statement, 2)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]typedRow{row(1), row(2)}, got, ignore); diff != "" {
				t.Errorf("rows, want - got +:\n%s", diff)
			}
		})
		t.Run("in a transaction", func(t *testing.T) {
			err := db.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
				got, err := store.QueryIn[typedRow](ctx, tx, statement, 1)
				if diff := cmp.Diff([]typedRow{row(1)}, got, ignore); diff != "" {
					t.Errorf("rows, want - got +:\n%s", diff)
				}
				if err != nil {
					return err
				}
				one, found, err := store.OneIn[typedRow](ctx, tx, statement, 2)
				if diff := cmp.Diff(row(1), one, ignore); diff != "" || !found {
					t.Errorf("one row, found: %t, want - got +:\n%s", found, diff)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
		t.Run("one of none", func(t *testing.T) {
			if _, found, err := store.One[typedRow](t.Context(), statement, 0); found || err != nil {
				t.Errorf("found %t, %v, want neither", found, err)
			}
		})
		t.Run("ends when it is enough", func(t *testing.T) {
			calls := 0
			err := store.Each(t.Context(), statement, func(*typedRow) (bool, error) { calls++; return false, nil }, 2)
			if err != nil || calls != 1 {
				t.Errorf("got %d calls, %v, want 1", calls, err)
			}
		})
		t.Run("a value", func(t *testing.T) {
			numbers := db.HotTenantless("SELECT CAST(n.column1 AS BIGINT) AS n FROM (VALUES (3), (4)) AS n WHERE n.column1 >= $1 ORDER BY n.column1", "a test")
			got, err := store.Query[int64](t.Context(), numbers, 0)
			if diff := cmp.Diff([]int64{3, 4}, got); diff != "" || err != nil {
				t.Errorf("%v, want - got +:\n%s", err, diff)
			}
			top := db.HotTenantless("SELECT max(CAST(n.column1 AS BIGINT)) AS top FROM (VALUES (3)) AS n WHERE n.column1 > $1", "a test")
			if none, found, err := store.One[sql.NullInt64](t.Context(), top, 9); err != nil || !found || none.Valid {
				t.Errorf("got %v, %t, %v, want NULL", none, found, err)
			}
		})
	})
}

// TestRowsOfAnotherShapeAreRefused: a wrong type is an error, and never 0.
func TestRowsOfAnotherShapeAreRefused(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		type pair struct {
			A int8
			B string
		}
		for selected, want := range map[string]string{
			"CAST(1 AS BIGINT) AS a":                             "no column is for the field b",
			"CAST(1 AS BIGINT) AS a, 'x' AS b, 'y' AS c":         "no field is for the column c",
			"CAST('1' AS TEXT) AS a, 'x' AS b":                   "column a: a string for a int8",
			"CAST(NULL AS BIGINT) AS a, 'x' AS b":                "column a: NULL for a int8",
			"CAST(1000 AS BIGINT) AS a, 'x' AS b":                "column a: a int64 for a int8",
			"CAST(1.5 AS DOUBLE PRECISION) AS a, 'x' AS b":       "column a: a float64 for a int8",
			"CAST(1 AS BIGINT) AS a, CAST(2 AS BIGINT) AS b":     "column b: a int64 for a string",
			"CAST(1 AS BIGINT) AS a, CAST(NULL AS TEXT) AS b":    "column b: NULL for a string",
			"CAST(1 AS BIGINT) AS a, 'x' AS b, 'again' AS b":     "no field is for the column b",
			"CAST(1 AS BIGINT) AS a, CAST('x' AS TEXT) AS third": "no field is for the column third",
		} {
			_, err := store.Query[pair](t.Context(), db.HotTenantless("SELECT "+selected, "a test"))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("SELECT %s: got error %v, want %q", selected, err, want)
			}
		}
		if _, err := store.Query[int64](t.Context(), db.HotTenantless("SELECT 1 AS a, 2 AS b", "a test")); err == nil {
			t.Error("two columns in one value: no error, want one")
		}
	})
}
