package formats

import "testing"

// TestFilesWithoutAFormOfTheirOwn reads lists of addresses, and files whose name says another form than they have.
func TestFilesWithoutAFormOfTheirOwn(t *testing.T) {
	t.Parallel()
	const tiktok = "https://www.tiktok.com/@a.example/video/752190000000000"
	const list = `[{"url":"` + tiktok + `0001","views":5},{"url":"` + tiktok + `0002","views":6}]`
	both := []string{"7521900000000000001 5 - - -", "7521900000000000002 6 - - -"}
	bare := []string{"7521900000000000001 - - - -", "AAAAAAAAS01 - - - -"}
	readEach(t, []reads{
		{"a list of addresses", "a.txt", tiktok + "0001\nhttps://youtu.be/AAAAAAAAS01\n", bare, ""},
		{"a list with words", "a.txt", "My list:\n- " + tiktok + "0001\n- https://youtu.be/AAAAAAAAS01 (slow)\n", bare, "no_id"},
		{"a list with a header", "a.csv", "video\n" + tiktok + "0001\nhttps://youtu.be/AAAAAAAAS01\n", bare, ""},
		{"addresses with numbers that nothing names", "a.csv", tiktok + "0001,5\n" + tiktok + "0002,6\n", nil, "values, not names"},
		{"profiles", "a.txt", "https://www.tiktok.com/@a.example\nhttps://www.tiktok.com/@b.example\n", nil, "unreadable"},
		{"addresses in JSON", "a.json", `["` + tiktok + `0001","https://youtu.be/AAAAAAAAS01"]`, bare, ""},
		{"rows that are quoted whole", "a.csv", "\"url,views,caption\"\r\n\"" + tiktok + "0001,5,\"\"pour, slow\"\"\"\r\n\"" + tiktok + "0002,6,cut\";\r\n", both, "caption Field:caption"},
		{"one column that is quoted", "a.csv", "\"url\"\n\"" + tiktok + "0001\"\n\"https://youtu.be/AAAAAAAAS01\"\n", bare, ""},
		{"texts in JSON", "a.json", `["pour","cut"]`, nil, "no JSON object"},
		{"JSON under the name of a table", "a.csv", list, both, ""},
		{"a table under the name of JSON", "a.json", "url,views\n" + tiktok + "0001,5\n" + tiktok + "0002,6\n", both, ""},
		{"a script", "a.js", "window.__DATA__ = " + list + ";\n", both, ""},
		{"a callback", "a.json", "cb(" + list + ");\n", both, ""},
		{"a header in brackets", "a.csv", "[url],views\n" + tiktok + "0001,5\n" + tiktok + "0002,6\n", both, ""},
	})
}
