package formats

import (
	"strings"
	"testing"
)

// TestTablesOfWebPages reads exports that are web pages with a table, as many of ".xls" are.
func TestTablesOfWebPages(t *testing.T) {
	t.Parallel()
	const (
		tiktok = "https://www.tiktok.com/@a.example/video/752190000000000"
		rows   = "<tr><th>Video URL<th>Views<th>Caption</tr><tr><td>" + tiktok + "0001</td><td>1,205</td><td>pour &amp; <b>slow</b></td></tr>" +
			"<tr><td>" + tiktok + "0002<td>12,006<td>cut</table>"
		summary = "<table><tr><td>Report</td><td>June</td></tr><tr><td>Account</td><td>@a.example</td></tr></table>"
	)
	both := []string{"7521900000000000001 1205 - - -", "7521900000000000002 12006 - - -"}
	readEach(t, []reads{
		{"a page for Excel", "a.xls", `<html xmlns:o="urn:schemas-microsoft-com:office:office"><body><table border=1>` + rows + "</body></html>", both, ""},
		{"a table alone", "a.xls", "<table>" + rows, both, ""},
		{"behind a summary", "a.html", "<!DOCTYPE html><html>" + summary + "<table>" + rows + "</html>", both, "1 other tables"},
		{"with a title over all columns", "a.html", `<html><table><tr><td colspan="3">Top videos</td></tr>` + rows, both, ""},
		{
			"titles that lead to the videos", "a.html", `<html><table><tr><th>Video</th><th>Views</th></tr><tr><td><a href="` + tiktok + `0001">Pour</a></td><td>5</td></tr><tr><td><a href="` + tiktok + `0002">Cut</a></td><td>6</td></tr></table>`,
			[]string{"7521900000000000001 5 - - -", "7521900000000000002 6 - - -"},
			"",
		},
		{"a table within a cell", "a.html", "<html><table><tr><th>Video URL<th>Views<th>Caption</tr><tr><td>" + tiktok + "0001<td>1,205<td><table><tr><td>pour</td></tr></table></td></tr></table>", both[:1], ""},
		{"a row for each count", "a.html", "<html><table><tr><th>Link<th>Metric<th>Value</tr><tr><td>" + tiktok + "0001<td>Views<td>1,205</tr><tr><td>" + tiktok + "0002<td>Views<td>12,006</table>", both, ""},
		{"no table of videos", "a.html", "<html>" + summary + "</html>", nil, "without a table of videos"},
	})
	t.Run("a table that is too large", func(t *testing.T) {
		t.Parallel()
		text := []byte("<table>" + strings.Repeat("<tr><td colspan=100>", 100_000))
		if all, err := tablesOf(text); err == nil {
			t.Errorf("got a table of %d rows, want an error", len(all[0]))
		}
	})
}
