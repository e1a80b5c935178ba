package formats

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

// TestTablesWithARowForEachCount reads tables that name in one column what another one counts. What may be a part of
// a count is refused.
func TestTablesWithARowForEachCount(t *testing.T) {
	t.Parallel()
	const a, b = "https://youtu.be/AAAAAAAAS03", "https://youtu.be/AAAAAAAAS04"
	readEach(t, []reads{
		{"ids", "a.csv", "video_id,metric,value\n7521900000000000036,views,5\n7521900000000000036,likes,2\n7521900000000000037,views,7\n", []string{"7521900000000000036 5 2 - -", "7521900000000000037 7 - - -"}, ""},
		{"in German, all views first", "a.csv", "Link;Kennzahl;Wert\n" + a + ";Aufrufe;12.345\n" + b + ";Aufrufe;700\n" + a + ";Gefällt mir;345\n" + b + ";Gefällt mir;17\n", []string{"AAAAAAAAS03 12345 345 - -", "AAAAAAAAS04 700 17 - -"}, ""},
		{"days", "a.csv", "date,url,variable,value\n2025-07-01," + a + ",views,5\n2025-07-02," + a + ",views,9\n2025-07-01," + a + ",likes,1\n2025-07-02," + a + ",likes,2\n", []string{"AAAAAAAAS03 5 1 - -", "AAAAAAAAS03 9 2 - -"}, "Name:date Field:observedAt"},
		{"a time and a number of each row", "a.csv", "n,url,scraped_at,unit,metric,value\n1," + a + ",2025-07-01T08:00:00Z,count,views,5\n2," + a + ",2025-07-01T08:00:02Z,seconds,average watch time,3.5\n3," + b + ",2025-07-01T08:00:03Z,count,views,6\n4," + b + ",2025-07-01T08:00:05Z,seconds,average watch time,2\n", []string{"AAAAAAAAS03 5 - - -", "AAAAAAAAS04 6 - - -"}, "Name:average watch time Field: "},
		{"a time of each row, twice", "a.csv", "url,scraped_at,metric,value\n" + a + ",2025-07-01T08:00:00Z,views,5\n" + a + ",2025-07-01T08:00:02Z,likes,1\n" + a + ",2025-07-02T08:00:00Z,views,6\n" + a + ",2025-07-02T08:00:02Z,likes,2\n", nil, "which counts belong together"},
		{"two columns of numbers", "a.csv", "Link,Metric,Count,Total\n" + a + ",Views,5,6\n" + a + ",Likes,2,8\n", nil, "no column is known to have the views"},
		{"a total", "a.csv", "Link,Metric,Value\n" + a + ",Views,5\nTotal,Views,5\n", []string{"AAAAAAAAS03 5 - - -"}, "a row of totals"},
		{"other names", "a.csv", "Link,What,How many\n" + a + ",Views,5\n" + a + ",Comments,2\n", []string{"AAAAAAAAS03 5 - - -"}, ""},
		{"a row that is damaged", "a.csv", "Link,Metric,Value\n" + a + ",Views,5,6\n" + a + ",Likes,2\n" + b + ",Views,7\n", []string{"AAAAAAAAS03 - 2 - -", "AAAAAAAAS04 7 - - -"}, "4 fields under 3 columns"},
		{"countries", "a.csv", "video_id,country,metric,value\n7521900000000000036,DE,views,5\n7521900000000000036,FR,views,3\n", nil, `another "country"`},
		{"countries of a day", "a.csv", "date,url,country,metric,value\n2025-07-01," + a + ",DE,views,5\n2025-07-01," + a + ",FR,views,3\n2025-07-02," + a + ",DE,views,6\n", nil, "may be parts of it"},
		{"two numbers for one count", "a.csv", "Link,Metric,Value\n" + a + ",Views,5\n" + a + ",Views,6\n", nil, "two rows with other numbers"},
		{"single days", "a.csv", "date,url,metric,value\n2025-07-01," + a + ",views,90\n2025-07-02," + a + ",views,30\n2025-07-03," + a + ",views,50\n2025-07-04," + a + ",views,20\n", nil, "often fall"},
		{"counts that are none of a video", "a.csv", "Link,Metric,Value\n" + a + ",foo,5\n" + a + ",bar,6\n", nil, "no column is known to have the views"},
		{"a column of its own beside others", "a.csv", "Link,KPI,Value,Views\n" + a + ",views,9,5\n" + b + ",likes,8,6\n", []string{"AAAAAAAAS03 5 - - -", "AAAAAAAAS04 6 - - -"}, ""},
		{"objects", "a.json", `[{"video_id":"AAAAAAAAS03","metric":"views","value":5},{"video_id":"AAAAAAAAS03","metric":"likes","value":2}]`, nil, "each object is one count"},
		{"a column of its own for the views", "a.csv", "Link,Sort by,Views\n" + a + ",views,5\n" + b + ",likes,6\n", []string{"AAAAAAAAS03 5 - - -", "AAAAAAAAS04 6 - - -"}, ""},
	})
}

// TestLongTablesAreBounded refuses more rows of counts than are held.
func TestLongTablesAreBounded(t *testing.T) {
	t.Parallel()
	text := "Link,Note,Metric,Value\n" + strings.Repeat("https://youtu.be/AAAAAAAAS03,"+strings.Repeat("a", 1000)+",Views,5\n", maxLong/1000)
	recs, report := readText(t, "a.csv", text)
	if want := "more than 16 MiB"; len(recs) != 0 || !strings.Contains(report.Skips[Unreadable].Detail, want) {
		t.Errorf("got %d records and %+v, want none and %q", len(recs), report.Skips, want)
	}
}

// TestLongSheets reads such a table of a spreadsheet behind a summary.
func TestLongSheets(t *testing.T) {
	t.Parallel()
	book := excelize.NewFile()
	for name, rows := range map[string][][]any{
		"Sheet1": {{"Total videos", 2}},
		"Data":   {{"Video link", "KPI", "Value"}, {"https://youtu.be/AAAAAAAAS03", "Views", 5}, {"https://youtu.be/AAAAAAAAS03", "Likes", 2}},
	} {
		if _, err := book.NewSheet(name); err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			if err := book.SetSheetRow(name, fmt.Sprintf("A%d", i+1), &row); err != nil {
				t.Fatal(err)
			}
		}
	}
	path := t.TempDir() + "/a.xlsx"
	if err := book.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	recs, report := readPath(t, path, Options{})
	if want := "AAAAAAAAS03 5 2 - -"; len(recs) != 1 || brief(recs[0]) != want {
		t.Errorf("got %v, want %s: %q", recs, want, report.Notes)
	}
	if want := `its sheet "Sheet1" was not read`; !slices.ContainsFunc(report.Form, func(said string) bool { return strings.Contains(said, want) }) {
		t.Errorf("got %q, want %q", report.Form, want)
	}
}

// TestSheetsWithoutRows says that a spreadsheet has nothing but a header.
func TestSheetsWithoutRows(t *testing.T) {
	t.Parallel()
	book := excelize.NewFile()
	if err := book.SetSheetRow("Sheet1", "A1", &[]any{"url", "views"}); err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/a.xlsx"
	if err := book.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	if _, report := readPath(t, path, Options{}); !strings.Contains(report.Skips[Empty].Detail, "a header without rows") {
		t.Errorf("got %+v, want a header without rows", report.Skips)
	}
}
