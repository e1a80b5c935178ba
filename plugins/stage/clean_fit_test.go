package stage_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/stage"
)

func filler(n int) string { return strings.Repeat("x", n) }

func TestMetadataOverItsBoundLosesTheLargestUnknownMembers(t *testing.T) {
	t.Parallel()
	const half = stage.MaxMetadata / 2
	known := `"caption":"words \ud83d\ude00","hashtags":["one","two"],"soundId":12345678901234567890,"soundTitle":"Drip","durationSeconds":31.50`
	largeCaption := `"caption":"` + filler(half) + `"`
	for name, c := range map[string]struct{ in, want string }{
		"the largest goes, wherever it is": {`{"big":"` + filler(stage.MaxMetadata) + `",` + known + `,"small":1}`, `{` + known + `,"small":1}`},
		"the next goes where one is not enough": {
			`{"a":"` + filler(half+2) + `","b":"` + filler(half+1) + `","c":"` + filler(half) + `",` + known + `}`, `{"c":"` + filler(half) + `",` + known + `}`,
		},
		"a caption beyond the bound stays": {`{"caption":"` + filler(stage.MaxMetadata*2) + `"}`, `{"caption":"` + filler(stage.MaxMetadata*2) + `"}`},
		"a caption beyond the bound stays alone": {
			`{"note":"x","caption":"` + filler(stage.MaxMetadata*2) + `","soundId":7}`, `{"caption":"` + filler(stage.MaxMetadata*2) + `","soundId":7}`,
		},
		"a large caption stays":     {`{` + largeCaption + `,"note":"` + filler(half-20) + `"}`, `{` + largeCaption + `}`},
		"nothing goes at the bound": {`{"big":"` + filler(stage.MaxMetadata-10) + `"}`, `{"big":"` + filler(stage.MaxMetadata-10) + `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := stage.Record{Ref: someRef(), Metadata: json.RawMessage(c.in)}
			repairs, err := rec.Clean()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(rec.Metadata)); diff != "" {
				t.Errorf("metadata (-want +got):\n%.2000s", diff)
			}
			if changed := c.in != c.want; rec.Trimmed != changed || (repairs.Trimmed == 1) != changed {
				t.Errorf("got trimmed %v and %+v, want %v", rec.Trimmed, repairs, changed)
			}
		})
	}
}

func TestKnownMetadataOverTheBoundIsCut(t *testing.T) {
	t.Parallel()
	tags := `"t"` + strings.Repeat(`,"tag"`, 200_000)
	for name, c := range map[string]struct{ in, member string }{
		"a text in the middle of pairs": {`{"caption":"` + strings.Repeat(`\ud83d\ude00`, 90_000) + `","soundId":"7"}`, "caption"},
		"a text of wide characters":     {`{"caption":"` + strings.Repeat("é", stage.MaxKnown) + `","soundId":"7"}`, "caption"},
		"a text of escapes":             {`{"caption":"` + strings.Repeat(`\n`, stage.MaxKnown) + `","soundId":"7"}`, "caption"},
		"a list":                        {`{"hashtags":[` + tags + `],"soundId":"7"}`, "hashtags"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := stage.Record{Ref: someRef(), Metadata: json.RawMessage(c.in)}
			if _, err := rec.Clean(); err != nil {
				t.Fatal(err)
			}
			var got, whole map[string]any
			if err := json.Unmarshal(rec.Metadata, &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(c.in), &whole); err != nil {
				t.Fatal(err)
			}
			if n := len(rec.Metadata); n > stage.MaxKnown || n < stage.MaxKnown-20 || got["soundId"] != "7" || !rec.Trimmed {
				t.Errorf("got %d bytes, soundId %v, trimmed %v, want about %d, 7 and true", n, got["soundId"], rec.Trimmed, stage.MaxKnown)
			}
			switch kept := got[c.member].(type) {
			case string:
				if !strings.HasPrefix(whole[c.member].(string), kept) || strings.ContainsRune(kept, utf8.RuneError) {
					t.Errorf("got %.40q…, want the beginning of the text", kept)
				}
			case []any:
				if all := whole[c.member].([]any); len(kept) < 1000 || !slices.Equal(all[:len(kept)], kept) {
					t.Errorf("got %d elements, want at least 1000, the first of %d", len(kept), len(all))
				}
			}
		})
	}
}

func TestTimeInAnID(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		platform, id string
		want         int64
	}{
		"TikTok's":                {"tiktok", "7320768196569599275", 1_704_499_171_000},
		"the earliest":            {"tiktok", fmt.Sprint(uint64(1_400_000_000) << 32), 1_400_000_000_000},
		"one before the earliest": {"tiktok", fmt.Sprint(uint64(1_400_000_000)<<32 - 1), 0},
		"a short one":             {"tiktok", "12", 0},
		"one in letters":          {"tiktok", "abc", 0},
		"one with a sign":         {"tiktok", "+7320768196569599275", 0},
		"another platform's":      {"youtube", "7320768196569599275", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got int64
			if at := stage.PostedByID(stage.Ref{Platform: c.platform, ExternalID: c.id}); at != nil {
				got = *at
			}
			if got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}
