package library

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

// TestTheLanguageOfTheSpeech is shown with hooks in our lists, goes before the one that a
// source gives a video, and is not in the contract's answers.
func TestTheLanguageOfTheSpeech(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		records := clips(5, "a", 1000)
		for i := range records {
			records[i].Metadata = json.RawMessage(`{"language":"en-US"}`)
			records[i].Evidence = &stage.Evidence{Spoken: ptr("said " + records[i].ExternalID)}
		}
		records[0].Evidence.Language, records[0].Metrics.Views = "de", ptr(int64(9000))
		records[1].Evidence.Language = "english" // is none
		records[2].Evidence = nil
		records[3].Evidence = &stage.Evidence{Language: "fr"} // is no evidence
		b.scroll(1, now, records...)
		b.scroll(2, now+day, clips(1, "a", 1000)...)
		language := func() map[string]string {
			t.Helper()
			found := map[string]string{}
			for _, h := range b.all(lists.Page{List: lists.Hooks, Paged: true}).Hooks {
				found[h.Video.ExternalID] = look(h.Language)
			}
			return found
		}
		check(t, "hooks", language(), map[string]string{"a-0": `"de"`, "a-1": "null", "a-4": "null"})
		for _, h := range b.all(lists.Page{List: lists.Hooks}).Hooks {
			if h.Language != nil {
				t.Errorf("the contract's hook of %s has the language %s", h.Video.ExternalID, *h.Language)
			}
		}
		chosen := func(list lists.List, tag string) (ids []string) {
			t.Helper()
			all := b.all(lists.Page{List: list, Paged: true, Filter: lists.Filter{}.With(videos.Language(tag))})
			for _, v := range all.Videos {
				ids = append(ids, v.ExternalID)
			}
			for _, h := range all.Hooks {
				ids = append(ids, h.Video.ExternalID)
			}
			for _, o := range all.Outliers {
				ids = append(ids, o.Video.ExternalID)
			}
			return ids
		}
		for _, list := range []lists.List{lists.Videos, lists.Hooks} {
			check(t, "German", chosen(list, "de-AT"), []string{"a-0"})
		}
		check(t, "English", len(chosen(lists.Videos, "en")), 4)
		check(t, "French", len(chosen(lists.Videos, "fr")), 0)
		if b.all(lists.Page{List: lists.Outliers, Paged: true}); len(chosen(lists.Outliers, "en")) != 0 {
			t.Errorf("English outliers: %v, want none", chosen(lists.Outliers, "en"))
		}
		body, err := b.explainer.Video(b.ctx, b.idOf("a-0"))
		if err != nil || !strings.Contains(string(body), `"hookText":"said a-0","language":"de","score"`) {
			t.Errorf("got %s, error %v; want the language in the hook", body, err)
		}
		version := func(id string) (version int) {
			for _, h := range b.all(lists.Page{List: lists.Hooks}).Hooks {
				if h.Video.ExternalID == id {
					version = h.Version
				}
			}
			return version
		}
		again := func(scroll int64, id, spoken, language string) {
			t.Helper()
			rec := clip(id, "a", 1000)
			rec.Evidence = &stage.Evidence{Spoken: &spoken, Language: language}
			b.scroll(scroll, now+scroll*day, rec)
		}
		for n, c := range []struct {
			name, spoken, language, want string
			version                      int
		}{
			{"the same words, and no language", "said a-0", "", `"de"`, 1},
			{"the same words in another language", "said a-0", "nl", `"nl"`, 1},
			{"other words, and no language", "other words", "", "null", 2},
			{"other words in a language", "some words", "es", `"es"`, 3},
		} {
			again(int64(3+n), "a-0", c.spoken, c.language)
			check(t, c.name, language()["a-0"], c.want)
			check(t, c.name+": version", version("a-0"), c.version)
		}
		check(t, "Spanish", chosen(lists.Videos, "es"), []string{"a-0"})
		if _, _, err := b.edits.Annotate(b.ctx, b.idOf("a-0"), json.RawMessage(`{"note":"mine"}`)); err != nil {
			t.Fatal(err)
		}
		check(t, "Spanish, annotated", chosen(lists.Videos, "es"), []string{"a-0"})
		check(t, "English without it", len(chosen(lists.Videos, "en")), 4)
	})
}
