package facts

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

func TestFactsOfARecord(t *testing.T) {
	t.Parallel()
	spoken, printed := "Why is it bitter? Watch.", "50% off"
	f := Of(stage.Record{
		Source:   &stage.Source{Kind: "niche", Handle: " @Foo"},
		Metadata: json.RawMessage(`{"caption":"Latte #coffee","title":7,"hashtags":["#Beans",true],"durationSeconds":12,"language":"EN-us"}`),
		Evidence: &stage.Evidence{Spoken: &spoken, OnScreenText: &printed},
	}, time.Unix(0, 0))
	if want := "Latte #coffee\n7\nWhy is it bitter? Watch.\n50% off"; f.Written != want || f.Creator != "foo" || f.Duration != 12 || !f.Tags["beans"] || !f.Tags["coffee"] || f.Languages()[0] != "en" {
		t.Errorf("got %+v, want it to be of @foo, tagged, in English, with the text %q", f, want)
	}
	if asks, known := f.Asks(); !asks || !known {
		t.Errorf("the hook asks: got %v, %v; want true, true", asks, known)
	}
	if part := f.Part(OnScreen); part == nil || part.Written != printed {
		t.Errorf("the on-screen text is %+v, want %q", part, printed)
	}
	if none := Of(stage.Record{}, time.Unix(0, 0)); none.Known || none.Part(Hook) != nil {
		t.Errorf("got %+v of an empty record, want nothing known", none)
	}
}
