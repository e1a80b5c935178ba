package formats

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// column reads a table with one column of values beside ids, and gives the views; -1 is null.
func column(t *testing.T, name string, values ...string) (views []int64, rounded []bool) {
	t.Helper()
	recs, report := readText(t, "a.csv", tableOf(name, values))
	if len(recs) != len(values) {
		t.Fatalf("got %d records, want %d: %q", len(recs), len(values), report.Notes)
	}
	for _, rec := range recs {
		n := int64(-1)
		if rec.Metrics.Views != nil {
			n = *rec.Metrics.Views
		}
		views, rounded = append(views, n), append(rounded, rec.Metrics.Semantics == "rounded")
	}
	return views, rounded
}

func tableOf(name string, values []string) string {
	var out strings.Builder
	out.WriteString("platform,externalId," + name + "\n")
	for i, value := range values {
		out.WriteString("youtube,AAAAAAAAA" + string(rune('a'+i/10)) + string(rune('0'+i%10)) + ",\"" + strings.ReplaceAll(value, `"`, `""`) + "\"\n")
	}
	return out.String()
}

func TestCountsAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		column string
		values []string
		want   []int64
	}{
		"English":           {"views", []string{"1.2M", "12.3K", "1,234", "1,234,567", "45K views", "1.2B", "987", "1.2 million", "1K+", "No views"}, []int64{1200000, 12300, 1234, 1234567, 45000, 1200000000, 987, 1200000, 1000, -1}},
		"German":            {"Aufrufe", []string{"1,2 Mio.", "12,3 Tsd.", "1.234", "2,5 Mrd.", "1.234.567 Aufrufe"}, []int64{1200000, 12300, 1234, 2500000000, 1234567}},
		"Spanish":           {"Visualizaciones", []string{"1,2 M", "12,3 mil", "1.234", "1,2 mil M"}, []int64{1200000, 12300, 1234, 1200000000}},
		"Czech":             {"Zhlédnutí", []string{"1,2 mil.", "12,3 tis."}, []int64{1200000, 12300}},
		"French":            {"Vues", []string{"1,2 M de vues", "12,3 k", "1 234", "1\u202f234\u202f567"}, []int64{1200000, 12300, 1234, 1234567}},
		"Turkish":           {"Görüntülenme", []string{"1,2 Mn", "12,3 B"}, []int64{1200000, 12300}},
		"Russian":           {"Просмотры", []string{"1,2 млн", "12,3 тыс.", "987 просмотров"}, []int64{1200000, 12300, 987}},
		"Indonesian":        {"Tayangan", []string{"1,2 rb", "1,2 jt", "1,2 M", "987 x ditonton"}, []int64{1200, 1200000, 1200000000, 987}},
		"Japanese":          {"再生回数", []string{"1.2万", "3億", "1億2000万", "987 回視聴", "１２３４"}, []int64{12000, 300000000, 120000000, 987, 1234}},
		"Korean":            {"조회수", []string{"1.2만", "조회수 987회", "5천"}, []int64{12000, 987, 5000}},
		"Arabic digits":     {"المشاهدات", []string{"١٢٣٤", "١٬٢٣٤٬٥٦٧", "١٫٢ مليون"}, []int64{1234, 1234567, 1200000}},
		"Indian groups":     {"views", []string{"1.2 lakh", "3 crore", "12,34,567"}, []int64{120000, 30000000, 1234567}},
		"Hungarian":         {"Megtekintések", []string{"1,2 M", "12,3 E", "45 ezer"}, []int64{1200000, 12300, 45000}},
		"Greek":             {"Προβολές", []string{"1,2 εκ.", "12,3 χιλ."}, []int64{1200000, 12300}},
		"Hebrew":            {"צפיות", []string{"3 מיליון", "12 אלף"}, []int64{3000000, 12000}},
		"Persian":           {"بازدید", []string{"۱٫۲ میلیون", "۱۲ هزار"}, []int64{1200000, 12000}},
		"Catalan":           {"Visualitzacions", []string{"1,2 M", "12 m"}, []int64{1200000, 12000}},
		"Croatian":          {"Pregledi", []string{"1,2 mil.", "987"}, []int64{1200000, 987}},
		"of ten thousands":  {"播放量/万", []string{"1.3", "20"}, []int64{13000, 200000}},
		"in thousands":      {"\"Просмотры, тыс.\"", []string{"12,3", "987"}, []int64{12300, 987000}},
		"in millions":       {"Aufrufe in Mio.", []string{"1.3", "0.9"}, []int64{1300000, 900000}},
		"in ten thousands":  {"再生回数（万回）", []string{"1.3", "0.9"}, []int64{13000, 9000}},
		"below zero":        {"views", []string{"(34)", "-5", "7", "8", "9"}, []int64{-1, -1, 7, 8, 9}},
		"hidden":            {"views", []string{"N/A", "-", "none", "-1", "7"}, []int64{-1, -1, -1, -1, 7}},
		"two numbers each":  {"views", []string{"1,234K", "987"}, []int64{-1, 987}},
		"fractions or not":  {"views", []string{"532.000", "33.000"}, []int64{-1, -1}},
		"fractions of zero": {"views", []string{"532.0", "33.0"}, []int64{532, 33}},
		"no counts":         {"views", []string{"12%", "$5", "1/2", "Jan 12", "3", "4", "5", "6"}, []int64{-1, -1, -1, -1, 3, 4, 5, 6}},
		"decimal comma":     {"views", []string{"12,3K", "1.234"}, []int64{12300, 1234}},
		"two decimal signs": {"views", []string{"12,3K", "1.5K", "1.234", "987"}, []int64{12300, 1500, -1, 987}},
		"of a spreadsheet":  {"views", []string{"1.2E+06", "'5", `="6"`}, []int64{1200000, 5, 6}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := column(t, c.column, c.values...)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", c.values, diff)
			}
		})
	}
}

func TestAbbreviatedCountsAreRounded(t *testing.T) {
	t.Parallel()
	_, got := column(t, "views", "1.2M", "1,234", "987", "1.2E+06")
	if diff := cmp.Diff([]bool{true, false, false, true}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMisreadTextsAreNamed(t *testing.T) {
	t.Parallel()
	_, report := readText(t, "a.csv", tableOf("views", []string{"1", "2", "many", "3"}))
	if diff := cmp.Diff([]Misread{{"views", 4, "many"}}, report.Misread); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestEachMisreadTextIsNamedOnce names ten texts of a column, whatever the number of rows with each.
func TestEachMisreadTextIsNamedOnce(t *testing.T) {
	t.Parallel()
	_, report := readText(t, "a.csv", tableOf("views", []string{"1", "2", "3", "4", "5", "6", "7", "many", "many", "few", "some", "many", "none of it"}))
	var texts []string
	for _, misread := range report.Misread {
		texts = append(texts, misread.Text)
	}
	if diff := cmp.Diff([]string{"many", "few", "some", "none of it"}, texts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if report.Doubtful != 6 {
		t.Errorf("got %d values that were not understood, want 6", report.Doubtful)
	}
}

func TestDatesAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	const day, at = 1752364800000, 1752419109000 // 2025-07-13, 15:05:09
	const april, march = 1743638400000, 1741046400000
	for name, c := range map[string]struct {
		column string
		values []string
		want   []int64
	}{
		"one form each":         {"postedAt", []string{"2025-07-13 15:05:09 UTC", "2025-07-13 15:05:09+02", "Jul 13, 2025", "July 13, 2025 3:05 PM", "Sun Jul 13 15:05:09 +0000 2025", "07/13/2025", "20250713150509"}, []int64{at, at - 7200000, day, at - 9000, at, day, at}},
		"numbers":               {"postedAt", []string{"1752419109", "1752419109000", "1752419109000000", "45851", "45851.5"}, []int64{at, at, at, day, day + 43200000}},
		"year, day and month":   {"postedAt", []string{"25.13.07", "25.07.07", "25.08.07"}, []int64{day, day - 6*86400000, day - 5*86400000}},
		"made by JavaScript":    {"postedAt", []string{"/Date(1752419109000)/", "/Date(1752419109000+0200)/", "Date(2025,6,13)", "new Date(2025, 6, 13, 15, 5, 9)", "Date(2025,12,13)", "Date(2025; 6; 13)"}, []int64{at, at, day, at, -1, day}},
		"languages":             {"postedAt", []string{"13 juil. 2025", "13. Juli 2025", "13 de julio de 2025", "13 lipca 2025", "13 июля 2025 г.", "2025年7月13日", "2025년 7월 13일"}, []int64{day, day, day, day, day, day, day}},
		"more languages":        {"postedAt", []string{"13 липня 2025 р.", "13. července 2025", "2025. júl. 13.", "13. heinäkuuta 2025", "13 Ιουλ 2025", "13 iul. 2025", "13 يوليو 2025", "13 ביולי 2025", "13 जुलाई 2025", "13 ก.ค. 2568", "13 tháng 7, 2025", "13 thg 7 2025"}, []int64{day, day, day, day, day, day, day, day, day, day, day, day}},
		"days of the week":      {"postedAt", []string{"martes, 13 de julio de 2025", "mardi 13 juillet 2025", "mar. 13 juil. 2025", "maandag 13 juli 2025", "13 Tem 2025 Pazar", "segunda-feira, 13 de julho de 2025"}, []int64{day, day, day, day, day, day}},
		"an hour in French":     {"postedAt", []string{"13 juil. 2025 à 15 h 05"}, []int64{at - 9000}},
		"halves of a day":       {"postedAt", []string{"13 Ιουλ 2025, 3:05:09 μ.μ.", "2025年7月13日 下午3:05:09", "13/07/2025 3:05:09 م"}, []int64{at, at, at}},
		"the day first":         {"postedAt", []string{"13/07/2025", "03/04/2025"}, []int64{day, april}},
		"the month first":       {"postedAt", []string{"07/13/2025", "03/04/2025"}, []int64{day, march}},
		"either":                {"postedAt", []string{"03/04/2025", "05/06/2025"}, []int64{-1, -1}},
		"either, in German":     {"Veröffentlicht am", []string{"03/04/2025"}, []int64{april}},
		"the same both ways":    {"postedAt", []string{"05/05/2025"}, []int64{1746403200000}},
		"points":                {"postedAt", []string{"03.04.2025", "03.04.25 15:05"}, []int64{april, april + 54300000}},
		"not in the future":     {"postedAt", []string{"2030-01-01", "2025-07-13"}, []int64{-1, day}},
		"one way is the future": {"postedAt", []string{"11/12/2026", "03/04/2025"}, []int64{1794441600000, march}},
		"no dates":              {"postedAt", []string{"3 days ago", "2025-02-30", "2025", "2025-07-13", "2025-07-13"}, []int64{-1, -1, -1, day, day}},
		"zones":                 {"postedAt", []string{"2025-07-13 11:05:09 EDT", "2025-07-13T17:05:09+0200"}, []int64{at, at}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recs, report := readText(t, "a.csv", tableOf(c.column, c.values))
			var got []int64
			for _, rec := range recs {
				n := int64(-1)
				if rec.PostedAt != nil {
					n = *rec.PostedAt
				}
				got = append(got, n)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%q (-want +got):\n%s%v", c.values, diff, report.Misread)
			}
		})
	}
}

func TestIDsAfterASpreadsheet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, ids string
		skipped   int
		words     string
	}{
		"mended":                 {"platform,externalId\ntiktok,\"=\"\"7290000000000003901\"\"\"\ntiktok,'7290000000000003902\ntiktok,7290000000000003903.0\n", "7290000000000003901 7290000000000003902 7290000000000003903", 0, ""},
		"rounded":                {"platform,externalId\ntiktok,7.29E+18\ntiktok,\"7,29E+18\"\n", "", 2, "a spreadsheet has rounded it"},
		"rounded, in full":       {"platform,externalId\ntiktok,7290123456789010000\ntiktok,7291234567890120000\n", "", 2, "all end in zeros"},
		"rounded, by an address": {"id,url\n7.29E+18,https://www.tiktok.com/@a/video/7290000000000003911\n", "7290000000000003911", 0, ""},
		"an error":               {"platform,externalId\nyoutube,#NAME?\n", "", 1, "an error of a spreadsheet"},
		"totals":                 {"platform,externalId,title,views\nyoutube,Total,,9\n,,Gesamt,9\n,,,\n", "", 3, "a row of totals"},
		"the header again":       {"platform,externalId\nyoutube,AAAAAAAAA01\nplatform,externalId\n", "AAAAAAAAA01", 1, "the header again"},
		"another length":         {"platform,externalId\nyoutube,AAAA\n", "", 1, "an id of YouTube has 11 characters"},
		"a short address":        {"url,views\nhttps://vm.tiktok.com/ZMabc/,5\n", "", 1, "a short address"},
		"photos":                 {"url,views\nhttps://www.tiktok.com/@a/photo/7290000000000003602,2\n", "", 1, "photos"},
		"two videos in a row":    {"externalId,url\n7290000000000003901,https://www.tiktok.com/@a/video/7290000000000003911\n", "", 1, "different videos"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recs, report := readText(t, "a.csv", c.text)
			n, words := 0, ""
			for _, skip := range report.Skips {
				n += skip.Count
				words += skip.Detail
			}
			if idsOf(recs) != c.ids || n != c.skipped || !strings.Contains(words, c.words) {
				t.Errorf("got %q, %d skipped (%q); want %q, %d with %q", idsOf(recs), n, words, c.ids, c.skipped, c.words)
			}
		})
	}
}

func TestAddressesNameVideos(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]link{
		"https://www.tiktok.com/@a.b/video/7290000000000003601?lang=en": {platform: "tiktok", kind: videoLink, id: "7290000000000003601", handle: "a.b"},
		"tiktok.com/@a/video/7290000000000003601":                       {platform: "tiktok", kind: videoLink, id: "7290000000000003601", handle: "a"},
		"https://m.tiktok.com/v/7290000000000003603.html":               {platform: "tiktok", kind: videoLink, id: "7290000000000003603"},
		"https://vt.tiktok.com/ZSabc/":                                  {platform: "tiktok", kind: shortLink},
		"https://youtu.be/AAAAAAAAL04?si=x":                             {platform: "youtube", kind: videoLink, id: "AAAAAAAAL04"},
		"https://m.youtube.com/watch?list=x&v=AAAAAAAAL02":              {platform: "youtube", kind: videoLink, id: "AAAAAAAAL02"},
		"https://www.youtube.com/live/AAAAAAAAL05":                      {platform: "youtube", kind: videoLink, id: "AAAAAAAAL05"},
		"https://www.youtube.com/@slowbar":                              {platform: "youtube", kind: profileLink, handle: "slowbar"},
		"https://www.youtube.com/channel/UCaaaaaaaaaaaaaaaaaaaaaa":      {platform: "youtube", kind: profileLink, creator: "UCaaaaaaaaaaaaaaaaaaaaaa"},
		"https://www.youtube.com/channel/slowbar":                       {},
		"https://www.instagram.com/oat.x/reel/CAAAAAAAL03/":             {platform: "instagram", kind: videoLink, id: "CAAAAAAAL03", handle: "oat.x"},
		"https://www.instagram.com/stories/oat.x/1/":                    {platform: "instagram", kind: photoLink, handle: "oat.x"},
		"https://www.instagram.com/oat.x/":                              {platform: "instagram", kind: profileLink, handle: "oat.x"},
		`=HYPERLINK("https://youtu.be/AAAAAAAAL04","x")`:                {platform: "youtube", kind: videoLink, id: "AAAAAAAAL04"},
		"https://www.youtube.com.example/watch?v=AAAAAAAAL04":           {},
		"https://example.com/@a/video/7290000000000003601":              {},
		"no address": {},
	} {
		got := readLink(address)
		got.address = ""
		if got != want {
			t.Errorf("%s: got %+v, want %+v", address, got, want)
		}
	}
}

func TestMapWithAMissingColumnIsRefused(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"a.csv":          {Data: []byte("video_id,video_playcount\n7290000000000006101,399\n")},
		"a.csv.map.json": {Data: []byte(`{"columns":{"externalId":"video_id","views":"playcount"},"constants":{"platform":"tiktok"}}`)},
	}
	want := `the map names "playcount" for views; the file has video_id, video_playcount`
	recs, report := readFS(t, files, "a.csv")
	if got := report.Skips[Unreadable].Detail; len(recs) != 0 || got != want {
		t.Errorf("got %d records and %q, want none and %q", len(recs), got, want)
	}
	if err := CheckMaps(t.Context(), files, "a.csv", Options{}); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	files["a.csv.map.json"] = &fstest.MapFile{Data: []byte(`{"columns":{"externalId":"video_id","views":"Video PlayCount"},"constants":{"platform":"tiktok"}}`)}
	if err := CheckMaps(t.Context(), files, "a.csv", Options{}); err != nil {
		t.Errorf("got %v, want none", err)
	}
	if recs, _ := readFS(t, files, "a.csv"); len(recs) != 1 || *recs[0].Metrics.Views != 399 {
		t.Errorf("got %v, want 1 with 399 views", recs)
	}
}
