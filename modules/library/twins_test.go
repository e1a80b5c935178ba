package library

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// TestRowsOfTheSameIDStayApart: PostgreSQL's keys have the account, so two accounts may have
// rows of one id, where databases were merged or numbers of processes given twice. No list
// shows the other account's, and no change reaches them.
func TestRowsOfTheSameIDStayApart(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.Postgres(t))
	recorded(t, b)
	fresh := func() string { // without the pages that were kept
		t.Helper()
		b.open(Defaults())
		tracked, _, err := b.Tracked(b.ctx, "tiktok", 0, 10)
		if err != nil || len(tracked) == 0 {
			t.Fatalf("got %d videos to look at again, error %v; want some", len(tracked), err)
		}
		found := []any{tracked, b.all(lists.Page{List: lists.Videos})}
		for _, filter := range []lists.Filter{
			lists.Filter{}.With(videos.Words("letters")...), lists.Filter{}.With(videos.Words("letters twin")...), {MinFollowers: 1, MaxFollowers: 10},
		} {
			found = append(found, b.all(lists.Page{List: lists.Outliers, Filter: filter}))
		}
		return b.lists() + look(found)
	}
	want := fresh()
	for table, change := range map[string]string{
		"video_docs":  `{"doc":"{\"twin\":1}","hook":"{\"twin\":1}","keys":"[]"}`,
		"video_terms": `{"terms":" twin "}`,
		"videos":      `{"handle":"twin","archived":1}`,
		"creators":    `{"handle":"twin","followers":5}`,
	} {
		storetest.Exec(t, b.db, `INSERT INTO `+table+` SELECT (jsonb_populate_record(NULL::`+table+`, to_jsonb(o) || '{"account_id":999}' || '`+change+`')).* FROM `+table+` o`)
	}
	if diff := cmp.Diff(want, fresh()); diff != "" {
		t.Errorf("lists beside rows of the same ids, want - got +:\n%s", diff)
	}
	count := func() [3]int64 {
		return [3]int64{
			storetest.Count(t, b.db, `SELECT count(*) FROM video_docs WHERE account_id = 999 AND doc = '{"twin":1}'`),
			storetest.Count(t, b.db, `SELECT count(*) FROM videos WHERE account_id = 999 AND handle = 'twin' AND archived = 1`),
			storetest.Count(t, b.db, `SELECT count(*) FROM creators WHERE account_id = 999 AND handle = 'twin' AND followers = 5`),
		}
	}
	before := count()
	if before[0] != 40 || before[1] != 40 || before[2] == 0 {
		t.Fatalf("got %v twins, want 40 of videos and some of creators", before)
	}
	recorded(t, b)
	if _, err := b.edits.ArchiveVideo(b.ctx, b.all(lists.Page{List: lists.Outliers}).Outliers[0].Video.ID, false, true); err != nil {
		t.Fatal(err)
	}
	if err := b.CountTrends(b.ctx); err != nil {
		t.Fatal(err)
	}
	for _, o := range b.all(lists.Page{List: lists.Outliers}).Outliers {
		outcome, noted, err := b.edits.Annotate(b.ctx, o.Video.ID, json.RawMessage(`{"angle":"price"}`))
		if err != nil || strings.Contains(string(noted), "twin") || !strings.Contains(string(noted), o.Video.ExternalID) {
			t.Errorf("annotated %s: got %s, %s, error %v; want the video itself", o.Video.ID, outcome, noted, err)
		}
	}
	if after := count(); after != before {
		t.Errorf("got %v twins after changes, want %v as before", after, before)
	}
}
