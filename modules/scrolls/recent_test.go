package scrolls

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/stage"
)

// TestRecentIsAsStored compares what a step reads from memory with what a start that
// resumes the scroll reads from the database.
func TestRecentIsAsStored(t *testing.T) {
	t.Parallel()
	ref := stage.Ref{Platform: "tiktok", ExternalID: "1"}
	for name, rec := range map[string]stage.Record{
		"all parts": {
			Ref: ref, SourceURL: "https://example.com/1", PostedAt: ptr(int64(5)), CreatorID: "c", Source: &stage.Source{Handle: "maker"},
			Metadata: json.RawMessage(`{ "caption" : "a <b> & \u2028 c",  "n": 1.50 }`), Metrics: stage.Metrics{Views: ptr(int64(0))},
			Evidence: &stage.Evidence{Visual: json.RawMessage(`{ "summary": "x y" }`), Spoken: ptr("")},
			Cues:     []stage.Cue{{Start: 1, End: 2, Text: "hi"}}, Stickers: []stage.Sticker{{Text: "s"}}, Keys: []stage.Key{{Key: "hook:list", Label: "List"}},
			Seed: "coffee", Trimmed: true,
		},
		"empty parts": {
			Ref: ref, Metadata: json.RawMessage{}, Evidence: &stage.Evidence{}, Source: &stage.Source{},
			Cues: []stage.Cue{}, Stickers: []stage.Sticker{}, Keys: []stage.Key{}, Unread: true,
		},
		"no parts": {Ref: ref},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := render(rec)
			if err != nil {
				t.Fatal(err)
			}
			var stored stage.Record
			if err := json.Unmarshal([]byte(text), &stored); err != nil {
				t.Fatal(err)
			}
			var kept recent
			kept.keep([]item{{id: 7, record: rec}})
			found, missing := kept.find([]int64{7, 8})
			if diff := cmp.Diff(stored, found[7].record); diff != "" {
				t.Errorf("the kept record differs from the stored one (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]int64{8}, missing); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRecentIsBounded(t *testing.T) {
	t.Parallel()
	var kept recent
	large := stage.Record{Metadata: json.RawMessage(`"` + string(make([]byte, maxRecent/3)) + `"`)}
	for id := range int64(5) {
		kept.keep([]item{{id: id, record: large}})
	}
	if len(kept.items) != 2 || kept.bytes > maxRecent {
		t.Errorf("it holds %d items of %d bytes, want 2 of at most %d", len(kept.items), kept.bytes, maxRecent)
	}
	kept.keep([]item{{id: 1, record: stage.Record{Metadata: json.RawMessage(`{}`)}}}) // a newer one of the same video
	kept.forget([]item{{id: 0}})
	if found, _ := kept.find([]int64{0, 1}); len(found) != 1 || string(found[1].record.Metadata) != "{}" {
		t.Errorf("got %v, want the newer record of video 1 alone", found)
	}
	if want := weight(&stage.Record{Metadata: json.RawMessage(`{}`)}); kept.bytes != want {
		t.Errorf("it counts %d bytes, want %d", kept.bytes, want)
	}
}
