package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/operator"
)

// TestEveryReadingOfASeriesIsAnObservation imports files with several readings of each
// video: every one is kept with its time, and trends can be told from one import.
func TestEveryReadingOfASeriesIsAnObservation(t *testing.T) {
	t.Parallel()
	const videos, days, aDay = 20, 4, 3
	var lines strings.Builder
	last := int64(1_760_000_000_000)
	for day := range days {
		for hour := range aDay {
			for v := range videos {
				at := last - int64((days-1-day)*24-hour*5)*3_600_000
				line, err := json.Marshal(map[string]any{
					"platform": "tiktok", "externalId": fmt.Sprint("s", v), "postedAt": last - int64(1+v%9)*86_400_000,
					"source": map[string]any{"handle": fmt.Sprint("maker", v%5)}, "metadata": map[string]any{"hashtags": []string{[]string{"rise", "other"}[v%2]}},
					"metrics": map[string]any{"views": 1000 * (1 + day*aDay + hour) * (1 + v), "observedAt": at},
				})
				if err != nil {
					t.Fatal(err)
				}
				lines.Write(append(line, '\n'))
			}
		}
	}
	checkSeries(t, lines.String(), videos, videos*days*aDay)
}

func checkSeries(t *testing.T, lines string, videos, readings int) {
	t.Helper()
	var db *store.DB
	running := apptest.StartBy(t, app.StartWithStore(&db))
	account := running.Account(t, "pro")
	account.Get(t, `POST /v1/workspace {"description":"a series"}`, &struct{}{})
	load := func() operator.ImportedFile {
		t.Helper()
		report, err := running.Operator().Import(t.Context(), operator.ImportOrder{
			Email: account.Email, InputFiles: operator.InputFiles{Paths: []string{"-"}, Input: strings.NewReader(lines)},
		})
		if err != nil {
			t.Fatal(err)
		}
		return report.Total
	}
	count := func() int {
		return db.Ent().Observation.Query().CountX(viewer.As(t.Context(), accountOf(t, db, account)))
	}
	if total := load(); total.New != videos || total.SeenAgain != readings-videos || count() != readings {
		t.Errorf("got %d new videos, %d seen again and %d observations, want %d, %d and %d", total.New, total.SeenAgain, count(), videos, readings-videos, readings)
	}
	if total := load(); total.New != 0 || total.SeenAgain != 0 || count() != readings {
		t.Errorf("imported again: got %d new videos, %d seen again and %d observations, want 0, 0 and %d", total.New, total.SeenAgain, count(), readings)
	}
	var trends struct{ Status string }
	if account.Get(t, "GET /v1/trends", &trends); trends.Status != "ready" {
		t.Errorf("trends are %s, want ready", trends.Status)
	}
}

// TestImportAgainWritesNothing: what stages found of videos is there already, and a text
// that is new is still taken.
func TestImportAgainWritesNothing(t *testing.T) {
	t.Parallel()
	const videos = 60
	var db *store.DB
	running := apptest.StartBy(t, app.StartWithStore(&db))
	account := running.Account(t, "pro")
	account.Get(t, `POST /v1/workspace {"description":"imported twice"}`, &struct{}{})
	load := func(caption string) (total operator.ImportedFile, revision int64) {
		t.Helper()
		var lines strings.Builder
		for n := range videos {
			fmt.Fprintf(&lines, `{"platform":"tiktok","externalId":"r%d","source":{"handle":"maker%d"},"metadata":{"caption":%q},"metrics":{"views":%d,"observedAt":1760000000000},"evidence":{"spoken":"Stop scrolling, number %d"}}`+"\n",
				n, n%7, caption, 100+n, n)
		}
		report, err := running.Operator().Import(t.Context(), operator.ImportOrder{
			Email: account.Email, InputFiles: operator.InputFiles{Paths: []string{"-"}, Input: strings.NewReader(lines.String())},
		})
		if err != nil {
			t.Fatal(err)
		}
		return report.Total, db.Ent().Library.Query().OnlyX(viewer.As(t.Context(), accountOf(t, db, account))).Revision
	}
	total, first := load("once")
	if found := storetest.Count(t, db, `SELECT count(*) FROM video_docs WHERE keys LIKE '%hook:stop%'`); total.New != videos || found != videos {
		t.Fatalf("got %d new videos and %d with what a stage found, want %d each", total.New, found, videos)
	}
	if total, revision := load("once"); total.AlreadyThere != videos || revision != first {
		t.Errorf("again: got %d already there and the revision %d, want %d and %d", total.AlreadyThere, revision, videos, first)
	}
	if total, revision := load("twice"); total.AlreadyThere != videos || revision == first {
		t.Errorf("with another text: got %d already there and the revision %d, want %d and another than %d", total.AlreadyThere, revision, videos, first)
	}
	if found := storetest.Count(t, db, `SELECT count(*) FROM video_docs WHERE doc LIKE '%"caption":"twice"%' AND keys LIKE '%hook:stop%'`); found != videos {
		t.Errorf("got %d videos with the new text, want %d", found, videos)
	}
}

// TestReportOfAnImportThatIsCutOff counts what is stored, and no more.
func TestReportOfAnImportThatIsCutOff(t *testing.T) {
	t.Parallel()
	var db *store.DB
	running := apptest.StartBy(t, app.StartWithStore(&db))
	var lines strings.Builder
	for n := range 3000 { // more than is read ahead and not stored
		fmt.Fprintf(&lines, "{\"platform\":\"tiktok\",\"externalId\":\"v%d\",\"metadata\":{\"caption\":\"%02000d\"},\"metrics\":{\"views\":9}}\n", n, n)
	}
	account := running.Account(t, "pro")
	account.Get(t, `POST /v1/workspace {"description":"a long file"}`, &struct{}{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rest := readerFunc(func([]byte) (int, error) {
		cancel()
		return 0, io.EOF
	})
	report, err := running.Operator().Import(ctx, operator.ImportOrder{
		Email: account.Email, InputFiles: operator.InputFiles{Paths: []string{"-"}, Input: io.MultiReader(strings.NewReader(lines.String()), rest)},
	})
	stored := db.Ent().Video.Query().CountX(viewer.As(t.Context(), accountOf(t, db, account)))
	if one := report.Files[0]; err == nil || stored == 0 || one.New != stored || one.Read != stored || report.Total.Read != stored || len(one.Formats) == 0 {
		t.Errorf("got %+v, %v; want %d read and new, of a format", report, err, stored)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
