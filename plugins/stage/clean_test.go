package stage_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/scrollery/scrollery/plugins/stage"
)

func someRef() stage.Ref { return stage.Ref{Platform: "tiktok", ExternalID: "1"} }

func TestCleanRef(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		platform, id string
		want         error
	}{
		{"tiktok", "1", nil},
		{"TikTok", "1", nil},
		{strings.Repeat("a", 40), strings.Repeat("é", 200), nil},
		{strings.Repeat("a", 41), "1", stage.ErrPlatform},
		{"", "1", stage.ErrPlatform},
		{"tik tok", "1", stage.ErrPlatform},
		{"tiktok", "", stage.ErrExternalID},
		{"tiktok", strings.Repeat("é", 201), stage.ErrExternalID},
		{"tiktok", "a\x00", stage.ErrExternalID},
		{"tiktok", "a\xff", stage.ErrExternalID},
	} {
		t.Run(fmt.Sprintf("%.50q %.50q", c.platform, c.id), func(t *testing.T) {
			r := stage.Record{Ref: stage.Ref{Platform: c.platform, ExternalID: c.id}}
			if _, err := r.Clean(); err != c.want {
				t.Errorf("%.50q %.50q: %v, want %v", c.platform, c.id, err, c.want)
			}
		})
	}
}

func TestCleanMetadata(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"nothing", ``, ``},
		{"kept byte for byte", `{ "b": 12345678901234567890, "a":"\u00e9\n" }`, `{ "b": 12345678901234567890, "a":"\u00e9\n" }`},
		{"pair of surrogates", `{"a":"\ud83d\ude00"}`, `{"a":"\ud83d\ude00"}`},
		{"lone high surrogate", `{"a":"\ud83d"}`, `{"a":"\ufffd"}`},
		{"lone low surrogate", `{"a":"x\uDE00y"}`, `{"a":"x\ufffdy"}`},
		{"high surrogate twice", `{"a":"\ud83d\ud83d\ude00"}`, `{"a":"\ufffd\ud83d\ude00"}`},
		{"escaped backslash before u", `{"a":"\\ud83d"}`, `{"a":"\\ud83d"}`},
		{"invalid bytes", "{\"a\":\"\xff\"}", "{\"a\":\"\uFFFD\"}"},
		{"list", `[1]`, ``},
		{"text", `"a"`, ``},
		{"broken", `{"a":`, ``},
		{"trailing", `{} {}`, ``},
		{"name twice", `{"a":1,"a":2}`, ``},
		{"number beyond a double", `{"a":1e999}`, ``},
		{"raw NUL", "{\"a\":\"x\x00y\"}", "{\"a\":\"x\uFFFDy\"}"},
		{"escaped NUL", `{"a\u0000":"x\u0000y\\u0000"}`, `{"a\ufffd":"x\ufffdy\\u0000"}`},
		{"NUL between values", "{\"a\":\x001}", `{"a": 1}`},
		{"each invalid byte", "{\"a\":\"\xff\xfe\"}", "{\"a\":\"\uFFFD\uFFFD\"}"},
		{"names that meet", "{\"a\\u0000\":1,\"a\xff\":[2],\"b\":{\"\\ud800\":3,\"\uFFFD\":4}, \"c\":12345678901234567890}", `{"a\ufffd":1,"b":{"\ufffd":3},"c":12345678901234567890}`},
		{"deep", strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), ``},
		{"deep enough", strings.Repeat(`{"a":`, 64) + "1" + strings.Repeat("}", 64), strings.Repeat(`{"a":`, 64) + "1" + strings.Repeat("}", 64)},
		{"brackets in text are no depth", `{"a":"` + strings.Repeat("[{", 100) + `"}`, `{"a":"` + strings.Repeat("[{", 100) + `"}`},
		{"too big", `{"a":"` + strings.Repeat("x", stage.MaxMetadata) + `"}`, `{}`},
		{"too big and broken", `{"a":"` + strings.Repeat("x", stage.MaxMetadata) + `}`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := []byte(c.in)
			r := stage.Record{Ref: someRef(), Metadata: in}
			repairs, err := r.Clean()
			if err != nil || string(r.Metadata) != c.want {
				t.Errorf("%s: %.80s (%v), want %.80s", c.name, r.Metadata, err, c.want)
			}
			if changed := c.in != c.want; repairs.Any() != changed {
				t.Errorf("%s: repairs %+v, want %v", c.name, repairs, changed)
			}
			if string(in) != c.in {
				t.Errorf("%s: the caller's bytes were changed, want %v", c.name, c.in)
			}
		})
	}
}

func TestCleanValues(t *testing.T) {
	t.Parallel()
	at := func(n int64) *int64 { return &n }
	r := stage.Record{
		Ref: someRef(), SourceURL: strings.Repeat("u", stage.MaxURL+1), PostedAt: at(1_700_000_000), CreatorID: "a\x00b",
		Source: &stage.Source{Kind: "enemy", Handle: strings.Repeat("é", stage.MaxLabel)},
		Metrics: stage.Metrics{
			Views: at(1 << 53), Likes: at(1<<53 + 1), Comments: at(-1), Shares: at(0), ObservedAt: at(math.MaxInt64), Semantics: "guessed",
		},
		Evidence: &stage.Evidence{Visual: json.RawMessage(`"a cat"`)},
		Cues:     []stage.Cue{{Start: 5, End: 2, Text: "x\xff"}, {Start: -1, End: -1}},
	}
	if _, err := r.Clean(); err != nil {
		t.Fatal(err)
	}
	m := r.Metrics
	if r.SourceURL != "" || r.PostedAt != nil || r.CreatorID != "a\uFFFDb" || r.Source.Kind != "" {
		t.Errorf(`%+v, want SourceURL empty, no PostedAt, CreatorID "a�b" and Kind empty`, r)
	}
	if len(r.Source.Handle) > stage.MaxLabel || !utf8.ValidString(r.Source.Handle) {
		t.Errorf("got a handle of %d bytes, want valid text of at most %d", len(r.Source.Handle), stage.MaxLabel)
	}
	if *m.Views != 1<<53 || m.Likes != nil || m.Comments != nil || *m.Shares != 0 || m.ObservedAt != nil || m.Semantics != "" {
		t.Errorf("got %+v, want 1<<53 views, 0 shares and nothing else", m)
	}
	if string(r.Evidence.Visual) != `"a cat"` || r.Cues[0] != (stage.Cue{Start: 5, End: 5, Text: "x\uFFFD"}) || r.Cues[1] != (stage.Cue{}) {
		t.Errorf("got %+v and %+v, want the picture of a cat, and two repaired cues", r.Evidence, r.Cues)
	}
}

func TestCleanAnswers(t *testing.T) {
	t.Parallel()
	v := stage.Verdict{Ref: someRef(), Rank: math.NaN()}
	if repairs, err := v.Clean(); err != nil || v.Rank != 0 || !repairs.Any() {
		t.Errorf("got %+v, %+v, %v, want rank 0 and a repair", v, repairs, err)
	}
	f := stage.Finding{Evidence: stage.Evidence{Visual: json.RawMessage(`1`)}}
	if _, err := f.Clean(); err == nil {
		t.Error("a finding about nothing passes, want an error")
	}
	o := stage.Outcome{Status: "great", Asked: -1}
	if o.Clean(); o.Status != stage.Partial || o.Asked != 0 {
		t.Errorf("got %+v, want %v with none asked", o, stage.Partial)
	}
}

// FuzzCleanMetadata holds the promise that every reader relies on: what passes is
// one JSON object, valid UTF-8, and passes again unchanged.
func FuzzCleanMetadata(f *testing.F) {
	for _, seed := range []string{`{"a":"\ud83d"}`, `{"a":[1,2,{"b":-1.5e3}]}`, "{\"\\", `{"a":"\\\ud83d\"}`, `{"\ud83d":1,"\ufffd":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := stage.Record{Ref: someRef(), Metadata: raw}
		if _, err := r.Clean(); err != nil {
			t.Fatal(err)
		}
		if r.Metadata == nil {
			return
		}
		var object map[string]any
		if err := json.Unmarshal(r.Metadata, &object); err != nil || !utf8.Valid(r.Metadata) {
			t.Fatalf("got %q, %v, want valid UTF-8", r.Metadata, err)
		}
		before := string(r.Metadata)
		if repairs, _ := r.Clean(); repairs.Any() || string(r.Metadata) != before {
			t.Fatalf("the second time: got %q, repaired: %t, want %q as it was", r.Metadata, repairs.Any(), before)
		}
	})
}

func BenchmarkClean(b *testing.B) {
	views := int64(12345)
	raw := json.RawMessage(`{"caption":"` + strings.Repeat("words and 🎈 ", 30) + `","hashtags":["one","two"],"durationSeconds":31.5}`)
	for b.Loop() {
		r := stage.Record{Ref: someRef(), SourceURL: "https://www.tiktok.com/@a/video/1", Metadata: raw, Metrics: stage.Metrics{Views: &views}}
		if repairs, err := r.Clean(); err != nil || repairs.Any() {
			b.Fatalf("got %+v, %v, want no repair", repairs, err)
		}
	}
}

func TestCleanSentence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, part, text string
		cites            int
		want             error
	}{
		{"one that is sound", stage.PartMake, " می\u200cخواهم 👨\u200d👩 ", 1, nil},
		{"of the most characters", stage.PartMake, strings.Repeat("é", stage.MaxSentence), stage.MaxCites, nil},
		{"too long", stage.PartMake, strings.Repeat("é", stage.MaxSentence+1), 1, stage.ErrSentence},
		{"too many citations", stage.PartMake, "x", stage.MaxCites + 1, stage.ErrSentence},
		{"no citation", stage.PartMake, "x", 0, stage.ErrSentence},
		{"no words", stage.PartMake, " ", 1, stage.ErrSentence},
		{"another part", "verdict", "x", 1, stage.ErrSentence},
		{"a line break", stage.PartMake, "a\nb", 1, stage.ErrSentence},
		{"text that is turned", stage.PartMake, "a \u202eb", 1, stage.ErrSentence},
		{"text that is isolated", stage.PartMake, "a \u2067b", 1, stage.ErrSentence},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := stage.Sentence{Part: c.part, Text: c.text, Cites: make([]string, c.cites)}
			if _, err := s.Clean(); err != c.want {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestTheLanguageOfASpeechIsABaseTag(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"en": "en", "en-US": "en", "EN_us": "en", " pt-br ": "pt", "yue-Hant-HK": "yue", "": "",
		"english": "", "e": "", "e1": "", "dé": "", "und": "", "un": "", "zxx": "", "mul": "", "x-klingon": "", "en" + strings.Repeat("-x", 20): "",
	} {
		t.Run(said, func(t *testing.T) {
			if got := stage.LanguageOf(said); got != want {
				t.Errorf("LanguageOf(%q) = %q, want %q", said, got, want)
			}
			finding := stage.Finding{Ref: someRef(), Evidence: stage.Evidence{Language: said}}
			repairs, err := finding.Clean()
			if err != nil || finding.Evidence.Language != want || repairs.Any() != (want == "" && said != "") {
				t.Errorf("%q is cleaned to %q, repairs %+v, %v; want %q", said, finding.Evidence.Language, repairs, err, want)
			}
		})
	}
}
