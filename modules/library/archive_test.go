package library

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

func TestArchiveNewVideo(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		caption := "\"quotes\" \\ \u2028 <b>&amp; ☕️ \x01"
		meta := json.RawMessage(`{"caption":` + string(videos.AppendString(nil, caption)) + `,"big":12345678901234567890,"f":1.50,"hashtags":["Espresso"]}`)
		added, again := b.archive(1, now, stage.Record{
			Ref: stage.Ref{Platform: "tiktok", ExternalID: "71"}, PostedAt: ptr(now - 1000), CreatorID: "c1",
			Source: &stage.Source{Kind: "own", Handle: "@Barista"}, Metadata: meta,
			Metrics: stage.Metrics{Views: ptr(int64(10)), ObservedAt: ptr(now - 5)},
		})
		check(t, "added", added, 1)
		check(t, "reobserved", again, 0)
		v := b.all(lists.Page{List: lists.Videos}).Videos[0]
		check(t, "metadata", string(v.Metadata), string(meta))
		check(t, "source", v.Source, map[string]string{"kind": "own", "handle": "@Barista"})
		check(t, "sourceUrl", v.SourceURL, "https://www.tiktok.com/@Barista/video/71")
		check(t, "firstSeenAt", v.FirstSeenAt, now)
		check(t, "lastSeenAt", v.LastSeenAt, now)
		check(t, "views", string(v.Metrics["views"]), "10")
		check(t, "likes", string(v.Metrics["likes"]), "null")
		check(t, "observedAt", string(v.Metrics["observedAt"]), fmt.Sprint(now-5))
		check(t, "agentMetadata", string(v.AgentMetadata), "null")
		var m struct{ Caption string }
		if err := json.Unmarshal(v.Metadata, &m); err != nil || m.Caption != caption {
			t.Errorf("caption: got %q, error %v; want %q", m.Caption, err, caption)
		}
	})
}

func TestArchiveSameBatchAgainChangesNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		first := append(clips(20, "a", 100), clips(20, "b", 200)...)
		first = append(first, first[3]) // a source repeats itself
		added, _ := b.archive(1, now, first...)
		check(t, "added", added, 40)
		before := b.all(lists.Page{List: lists.Videos})
		added, again := b.archive(1, now, first...)
		check(t, "added again", added, 0)
		check(t, "reobserved again", again, 0)
		check(t, "videos", b.all(lists.Page{List: lists.Videos}), before)
		check(t, "observations", b.count("observations"), 40)

		added, again = b.archive(2, now+5000, first...)
		check(t, "added in the next scroll", added, 0)
		check(t, "reobserved in the next scroll", again, 40)
		added, again = b.archive(2, now+5000, first...)
		check(t, "reobserved twice", again, 0)
		check(t, "added twice", added, 0)
		check(t, "observations", b.count("observations"), 80)
		check(t, "videos", b.count("videos"), 40)
	})
}

func (b *bundle) count(table string) (n int) {
	b.t.Helper()
	err := b.db.Write(b.ctx, func(ctx context.Context, tx *store.Tx) error {
		rows, err := tx.Query(ctx, "SELECT count(*) FROM "+table)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := rows.Scan(&n); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

func TestArchiveKnownVideo(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		one := clip("1", "a", 100)
		one.Metadata = json.RawMessage(`{"caption":"first","hashtags":["x"]}`)
		one.Evidence = &stage.Evidence{Spoken: ptr("hello"), Visual: json.RawMessage(`{"summary":"a cup"}`)}
		b.archive(1, now, one)
		id := b.all(lists.Page{List: lists.Videos}).Videos[0].ID
		if outcome, _, err := b.edits.Annotate(b.ctx, id, json.RawMessage(`{"note":"mine","tags":["a","b"]}`)); err != nil || outcome != videos.Updated {
			t.Fatalf("annotate: got %s, error %v; want %s", outcome, err, videos.Updated)
		}

		bare := stage.Record{Ref: one.Ref, Metrics: stage.Metrics{Views: ptr(int64(300))}}
		b.archive(2, now+1000, bare)
		v := b.all(lists.Page{List: lists.Videos}).Videos[0]
		check(t, "views", string(v.Metrics["views"]), "300")
		check(t, "likes", string(v.Metrics["likes"]), "null")
		check(t, "lastSeenAt", v.LastSeenAt, now+1000)
		check(t, "metadata", string(v.Metadata), string(one.Metadata))
		check(t, "handle", v.Source["handle"], "a")
		check(t, "annotations", string(v.AgentMetadata), `{"note":"mine","tags":["a","b"]}`)

		older := stage.Record{Ref: one.Ref, Metrics: stage.Metrics{Views: ptr(int64(5)), ObservedAt: ptr(now - 9000)}}
		b.archive(3, now+2000, older)
		v = b.all(lists.Page{List: lists.Videos}).Videos[0]
		check(t, "views after an older reading", string(v.Metrics["views"]), "300")
		check(t, "lastSeenAt after an older reading", v.LastSeenAt, now+2000)

		changed := one
		changed.Metadata = json.RawMessage(`{"caption":"second"}`)
		changed.Source = &stage.Source{Kind: "niche", SeededBy: "coffee"}
		changed.Evidence = &stage.Evidence{OnScreenText: ptr("SALE")}
		b.archive(4, now+3000, changed)
		v = b.all(lists.Page{List: lists.Videos}).Videos[0]
		check(t, "metadata", string(v.Metadata), `{"caption":"second"}`)
		check(t, "source", v.Source, map[string]string{"kind": "competitor", "handle": "a", "seededBy": "coffee"})
		check(t, "annotations", string(v.AgentMetadata), `{"note":"mine","tags":["a","b"]}`)
		h := b.all(lists.Page{List: lists.Hooks}).Hooks[0]
		check(t, "spoken", *h.Spoken, "hello")
		check(t, "onScreenText", *h.OnScreenText, "SALE")
		check(t, "visual", string(h.Visual), `{"summary":"a cup"}`)
		check(t, "version", h.Version, 2)

		b.archive(5, now+4000, changed)
		check(t, "version of the same evidence", b.all(lists.Page{List: lists.Hooks}).Hooks[0].Version, 2)
	})
}

func TestArchiveMendsWhatIsBroken(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		for i, meta := range []string{
			`{"a":1,"a":2}`, `{"a":"\ud800"}`, "{\"a\":\"\xff\"}", `{"a":1e999}`, `{"a":[1,2}`, `[1]`, `null`, `{ "a" : 1 }`, `{"a":"\u0000"}`,
		} {
			r := clip(fmt.Sprint(i, "\x00\xff"), "h\x00\xff", 5)
			r.Metadata = json.RawMessage(meta)
			r.Evidence = &stage.Evidence{Spoken: ptr("a\x00\xffb"), Visual: json.RawMessage(meta)}
			b.archive(1, now+int64(i), r)
		}
		got := map[string]string{}
		for _, v := range b.all(lists.Page{List: lists.Videos}).Videos {
			got[v.ExternalID[:1]] = string(v.Metadata)
		}
		check(t, "metadata", got, map[string]string{
			"0": `{"a":2}`, "1": "{\"a\":\"\uFFFD\"}", "2": "{\"a\":\"\uFFFD\"}", "3": `{"a":"1e999"}`, "4": "{}", "5": "{}", "6": "{}", "7": `{"a":1}`, "8": `{"a":"\u0000"}`,
		})
		check(t, "spoken", *b.all(lists.Page{List: lists.Hooks}).Hooks[0].Spoken, "a\x00\uFFFDb")
	})
}

func TestKnownAndTracked(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		records := clips(250, "a", 9)
		records[7].Evidence = &stage.Evidence{Spoken: ptr("x")}
		for i := range records { // tracked videos come newest first
			b.archive(1, now+int64(i/50), records[i])
		}
		refs := []stage.Ref{{Platform: "tiktok", ExternalID: "nobody"}}
		for _, r := range records {
			refs = append(refs, r.Ref)
		}
		known, err := b.Known(b.ctx, refs)
		if err != nil {
			t.Fatal(err)
		}
		check(t, "known", len(known), 250)
		check(t, "with evidence", known[records[7].Ref], true)
		check(t, "without evidence", known[records[8].Ref], false)

		list := b.all(lists.Page{List: lists.Videos}).Videos
		if outcome, err := b.edits.ArchiveVideo(b.ctx, list[0].ID, false, true); err != nil || outcome != videos.Updated {
			t.Fatalf("archive: got %s, error %v; want %s", outcome, err, videos.Updated)
		}
		var tracked []string
		for after := int64(0); ; {
			refs, next, err := b.Tracked(b.ctx, "tiktok", after, 100)
			if err != nil {
				t.Fatal(err)
			}
			for _, ref := range refs {
				tracked = append(tracked, ref.ExternalID)
			}
			if after = next; next == 0 {
				break
			}
		}
		var want []string
		for _, v := range list[1:] {
			want = append(want, v.ExternalID)
		}
		check(t, "tracked", tracked, want)
		refs, _, err = b.Tracked(b.ctx, "youtube", 0, 10)
		check(t, "tracked elsewhere", len(refs), 0)
		check(t, "error", err, nil)
	})
}

func TestGone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		records := clips(4, "a", 9)
		records[1].Metadata = json.RawMessage(`{"caption":"x, \"goneAt\":1}"}`)
		records[2].Metadata = json.RawMessage(`{"goneAt":"the platform's own"}`)
		b.archive(1, now, records...)
		before := b.all(lists.Page{List: lists.Videos}).Videos
		metadata := func() map[string]string {
			got := map[string]string{}
			for _, v := range b.all(lists.Page{List: lists.Videos}).Videos {
				got[v.ExternalID] = string(v.Metadata)
			}
			return got
		}
		gone := func(at int64, records ...stage.Record) (marked int) {
			t.Helper()
			refs := []stage.Ref{{Platform: "tiktok", ExternalID: "nobody"}}
			for _, r := range records {
				refs = append(refs, r.Ref)
			}
			err := db.Write(b.ctx, func(ctx context.Context, tx *store.Tx) (err error) {
				marked, err = b.Gone(ctx, tx, refs, at)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return marked
		}
		check(t, "marked", gone(now+5, records[:3]...), 3)
		check(t, "marked again", gone(now+9, records[:3]...), 0)
		id := func(i int) string { return records[i].ExternalID }
		check(t, "metadata", metadata(), map[string]string{
			id(0): fmt.Sprintf(`{"goneAt":%d}`, now+5),
			id(1): fmt.Sprintf(`{"caption":"x, \"goneAt\":1}","goneAt":%d}`, now+5),
			id(2): `{"goneAt":"the platform's own"}`, id(3): "{}",
		})
		refs, _, err := b.Tracked(b.ctx, "tiktok", 0, 10)
		check(t, "error", err, nil)
		check(t, "tracked", refs, []stage.Ref{records[3].Ref})

		// Numbers alone bring two back; the third says what it said before.
		for i := range 3 {
			again := stage.Record{Ref: records[i].Ref, Metrics: stage.Metrics{Views: ptr(int64(10))}}
			if i == 2 {
				again.Metadata = records[i].Metadata
			}
			b.archive(2, now+20, again)
		}
		refs, _, err = b.Tracked(b.ctx, "tiktok", 0, 10)
		check(t, "error", err, nil)
		check(t, "tracked again", len(refs), 4)
		for _, v := range before {
			check(t, "metadata of "+v.ExternalID, metadata()[v.ExternalID], string(v.Metadata))
		}
		check(t, "marked once more", gone(now+30, records[0]), 1)
	})
}
