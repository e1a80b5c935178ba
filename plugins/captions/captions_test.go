package captions

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

func TestSpoken(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 100)
	for _, c := range []struct {
		name string
		cues []stage.Cue
		want string
	}{
		{"none", nil, ""},
		{"a cue that starts in the window is said to its end", []stage.Cue{{Start: 0, Text: "one"}, {Start: 4999, End: 9000, Text: "two"}, {Start: 5000, Text: "three"}}, "one two"},
		{"rolling captions", []stage.Cue{{Start: 0, Text: "you have been"}, {Start: 900, Text: "have been filling your"}, {Start: 1800, Text: "filling your moka pot"}}, "you have been filling your moka pot"},
		{"the same cue twice", []stage.Cue{{Start: 0, Text: "stop\nthat"}, {Start: 10, Text: "Stop that"}}, "stop that"},
		{"a word said twice", []stage.Cue{{Start: 0, Text: "that is very"}, {Start: 900, Text: "very good"}}, "that is very very good"},
		{"out of order", []stage.Cue{{Start: 2000, Text: "b"}, {Start: 1000, Text: "a"}}, "a b"},
		{"markup", []stage.Cue{{Start: 0, Text: "<c.yellow>salt</c> &amp;<00:00:01.000> 1 < 2 {\\an8}pepper"}}, "salt & 1 < 2 pepper"},
		{"too long", []stage.Cue{{Start: 0, Text: long}}, strings.TrimSpace(strings.Repeat("word ", 56))},
		{"before the start", []stage.Cue{{Start: -5, Text: "x"}}, ""},
	} {
		if got := spoken(c.cues); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSpokenCountsCodePoints(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{strings.Repeat("é", 280), strings.Repeat("é", 280)},
		{strings.Repeat("日", 300), strings.Repeat("日", 280)},
		{strings.Repeat("a", 279) + " b", strings.Repeat("a", 279)},
		{strings.Repeat("a", 280) + " b", strings.Repeat("a", 280)},
	} {
		if got := spoken([]stage.Cue{{Text: c.text}}); got != c.want {
			t.Errorf("%d code points: %d", utf8.RuneCountInString(c.text), utf8.RuneCountInString(got))
		}
	}
}

func TestOnScreenText(t *testing.T) {
	t.Parallel()
	got := onScreen([]stage.Sticker{{Text: "late", Start: 3000}, {Text: "Two", Start: 2999}, {Text: "One\n one \n\nTwo "}, {Text: "two", Start: 5}})
	if got != "One\nTwo" {
		t.Errorf("%q", got)
	}
}

const vtt = "\ufeffWEBVTT\nKind: captions\n\nNOTE a remark\nof two lines\n\nintro\n00:00.160 --> 00:03.540 align:start\nHi, I am\nhere\n\n00:00:04.000 --> 00:00:06.000\nand there\n\nnot a cue\n"

func TestParse(t *testing.T) {
	t.Parallel()
	srt := "1\r\n00:00:00,160 --> 00:00:03,540\r\nHi, I am\r\nhere\r\n\r\n2\r\n00:00:04,000 --> 00:00:06,000\r\nand there\r\n"
	json3 := `{"events":[{"tStartMs":160,"dDurationMs":3380,"segs":[{"utf8":"Hi, I am\n"},{"utf8":"here"}]},{"tStartMs":4000,"segs":[{"utf8":"\n"}]},{"tStartMs":4000,"dDurationMs":2000,"segs":[{"utf8":"and there"}]}]}`
	want := []stage.Cue{{Start: 160, End: 3540, Text: "Hi, I am\nhere"}, {Start: 4000, End: 6000, Text: "and there"}}
	for name, text := range map[string]string{"vtt": vtt, "srt": srt, "json3": json3} {
		got := Parse(text)
		if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := Parse("no captions at all --> really"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestSharedSubtitles reads recorded caption files where they are at hand.
func TestSharedSubtitles(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("SCROLLERY_TEST_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	text, err := os.ReadFile(filepath.Join(dir, "api-shapes", "subtitles_no_index.vtt"))
	if err != nil {
		t.Skip("the shared caption files are not on this machine")
	}
	cues := Parse(string(text))
	if len(cues) != strings.Count(string(text), "-->") {
		t.Errorf("%d cues, want %d", len(cues), strings.Count(string(text), "-->"))
	}
	want := "Hi I’m John Green and this is Crash Course European History. Last time, we looked at how the monarchs did--and didn’t--incorporate the ideas of the Enlightenment"
	if got := spoken(cues); got != want {
		t.Errorf("%q", got)
	}
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Stop scrolling if you own a moka pot":        "hook:stop",
		"What if your coffee took an hour?":           "hook:question",
		"How to make cold brew overnight in 4 steps.": "hook:how_to hook:list",
		"3 moka pot mistakes":                         "hook:list hook:number hook:mistake",
		"POV: one hour, one cup":                      "hook:pov",
		"Day 1 vs day 9":                              "hook:number hook:before_after",
		"Nobody tells beginners this":                 "hook:secret",
		"You have been filling it wrong":              "hook:mistake hook:contrast",
		"I tried the cheapest grinder":                "hook:story",
		"Day 3 of the slow bar challenge":             "hook:number hook:challenge",
		"A hand turns a bag around":                   "",
		"為什麼？":                                        "hook:question",
	} {
		var keys []string
		for _, key := range patterns(text, "") {
			keys = append(keys, key.Key)
			if key.Label == "" {
				t.Errorf("%s has no label", key.Key)
			}
		}
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestEvidence(t *testing.T) {
	t.Parallel()
	ready := "How to pour"
	subtitled, err := json.Marshal(map[string]any{"caption": "never this", "language": "en", "subtitles": map[string]any{
		"de": []any{map[string]any{"ext": "vtt", "data": strings.ReplaceAll(vtt, "Hi", "Hallo")}}, "en": []any{map[string]any{"ext": "vtt", "url": "https://a.example", "data": vtt}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	findings, err := stagetest.Evidence(t, Spec(), stage.Call{}, []stage.Record{
		{Ref: stage.Ref{Platform: "tiktok", ExternalID: "cues"}, Cues: []stage.Cue{{Start: 0, End: 10, Text: "hello"}}, Stickers: []stage.Sticker{{Text: "3 tips"}}},
		{Ref: stage.Ref{Platform: "tiktok", ExternalID: "subtitled"}, Metadata: subtitled},
		{Ref: stage.Ref{Platform: "tiktok", ExternalID: "ready"}, Evidence: &stage.Evidence{Spoken: &ready}},
		{Ref: stage.Ref{Platform: "tiktok", ExternalID: "nothing"}, Metadata: json.RawMessage(`{"caption":"How to?","title":"POV","subtitles":7}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(findings)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"platform":"tiktok","externalId":"cues","evidence":{"spoken":"hello","onScreenText":"3 tips"},"keys":[{"key":"hook:list","label":"Numbered list"},{"key":"hook:number","label":"Opens with a number"}]},` +
		`{"platform":"tiktok","externalId":"subtitled","evidence":{"spoken":"Hi, I am here and there"}},` +
		`{"platform":"tiktok","externalId":"ready","evidence":{},"keys":[{"key":"hook:how_to","label":"How to"}]}]`
	if string(got) != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(vtt)
	f.Add("1\n00:00:00,160 --> 00:00:03,540\nx")
	f.Add(`{"events":[{"tStartMs":1e99,"segs":[{"utf8":"<c"}]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		cues := Parse(text)
		for _, cue := range cues {
			if cue.Start < 0 || cue.End < cue.Start {
				t.Errorf("cue %+v", cue)
			}
		}
		if said := spoken(cues); utf8.RuneCountInString(said) > spokenLength {
			t.Errorf("%d code points", utf8.RuneCountInString(said))
		}
		patterns(text, text)
	})
}

func BenchmarkFind(b *testing.B) {
	rec := stage.Record{Cues: Parse(vtt), Stickers: []stage.Sticker{{Text: "3 mistakes"}}}
	for b.Loop() {
		find(rec)
	}
}
