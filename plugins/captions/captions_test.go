package captions

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

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
		{"a line that rolled up", []stage.Cue{{Start: 0, Text: "you"}, {Start: 10, Text: "you\nhave been"}, {Start: 900, Text: "have been\n"}, {Start: 1800, Text: "have been\nthere"}}, "you have been there"},
		{"a line said again below another", []stage.Cue{{Start: 0, Text: "no"}, {Start: 900, Text: "oh\nno"}}, "no oh no"},
		{"before the start", []stage.Cue{{Start: -5, Text: "x"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, spoken(c.cues)); diff != "" {
				t.Errorf("spoken (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSpokenCountsCodePoints(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"a text of just the bound stays":         {strings.Repeat("é", 280), strings.Repeat("é", 280)},
		"a long word is cut at the bound":        {strings.Repeat("日", 300), strings.Repeat("日", 280)},
		"a word that would pass it is left out":  {strings.Repeat("a", 279) + " b", strings.Repeat("a", 279)},
		"a word right behind it is left out too": {strings.Repeat("a", 280) + " b", strings.Repeat("a", 280)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, spoken([]stage.Cue{{Text: c.text}})); diff != "" {
				t.Errorf("spoken (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOnScreenText(t *testing.T) {
	t.Parallel()
	got := onScreen([]stage.Sticker{{Text: "late", Start: 3000}, {Text: "Two", Start: 2999}, {Text: "One\n one \n\nTwo "}, {Text: "two", Start: 5}})
	if got != "One\nTwo" {
		t.Errorf("got %q, want %q", got, "One\nTwo")
	}
}

const vtt = "\ufeffWEBVTT\nKind: captions\n\nNOTE a remark\nof two lines\n\nintro\n00:00.160 --> 00:03.540 align:start\nHi, I am\nhere\n\n00:00:04.000 --> 00:00:06.000\nand there\n\nnot a cue\n"

func TestParse(t *testing.T) {
	t.Parallel()
	srt := "1\r\n00:00:00,160 --> 00:00:03,540\r\nHi, I am\r\nhere\r\n\r\n2\r\n00:00:04,000 --> 00:00:06,000\r\nand there\r\n"
	json3 := `{"events":[{"tStartMs":160,"dDurationMs":3380,"segs":[{"utf8":"Hi, I am\n"},{"utf8":"here"}]},{"tStartMs":4000,"segs":[{"utf8":"\n"}]},{"tStartMs":4000,"dDurationMs":2000,"segs":[{"utf8":"and there"}]}]}`
	want := []stage.Cue{{Start: 160, End: 3540, Text: "Hi, I am\nhere"}, {Start: 4000, End: 6000, Text: "and there"}}
	for name, text := range map[string]string{"vtt": vtt, "srt": srt, "json3": json3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, Parse(text)); diff != "" {
				t.Errorf("cues (-want +got):\n%s", diff)
			}
		})
	}
	if got := Parse("no captions at all --> really"); len(got) != 0 {
		t.Errorf("got %+v, want no cues", got)
	}
}

// automatic are captions as YouTube writes them: two lines that roll, with the times
// of words, and a line of one space where nothing is said yet.
const automatic = `WEBVTT
Kind: captions
Language: en

STYLE
::cue { color: white }

00:00:00.160 --> 00:00:02.149 align:start position:0%
 
you<00:00:00.400><c> have</c><00:00:00.600><c> been</c>

00:00:02.149 --> 00:00:02.159 align:start position:0%
you have been
 

00:00:02.159 --> 00:00:04.000 align:start position:0%
you have been
filling<00:00:03.000><c> it</c>

00:00:04.000 --> 00:00:04.010 align:start position:0%
filling it
 

00:00:04.010 --> 00:00:06.000 align:start position:0%
filling it
wrong

00:00:06.010 --> 00:00:07.000 align:start position:0%
wrong
all the time
`

func TestSpokenInFiles(t *testing.T) {
	t.Parallel()
	const timed = `{"wireMagic":"pb3","pens":[{}],"events":[
		{"tStartMs":0,"dDurationMs":60000,"id":1,"wpWinPosId":1},
		{"tStartMs":160,"dDurationMs":3000,"wWinId":1,"segs":[{"utf8":"you"},{"utf8":" have","tOffsetMs":240}]},
		{"tStartMs":2000,"dDurationMs":1000,"wWinId":1,"aAppend":1,"segs":[{"utf8":"\n"}]},
		{"tStartMs":"2010","dDurationMs":"3000","wWinId":1,"segs":[{"utf8":"been filling"}]},
		{"tStartMs":[],"segs":[{"utf8":"no time"}]},
		{"tStartMs":2500,"segs":"no segments"},
		7,
		{"tStartMs":2900,"aAppend":1,"segs":[{"utf8":" it"}]},
		{"tStartMs":5000,"segs":[{"utf8":"late"}]}]}`
	for name, c := range map[string]struct{ text, want string }{
		"automatic":               {automatic, "you have been filling it wrong"},
		"json3":                   {timed, "you have been filling it"},
		"json3 breaks off":        {timed[:strings.Index(timed, `"2010"`)], "you have"},
		"json3 without times":     {`{"events":[{"segs":[{"utf8":"at once"}]}]}`, "at once"},
		"json3 of other things":   {`{"events":{"segs":1},"x":[]}`, ""},
		"srt with spaces between": {"1\n00:00:00,160 --> 00:00:03,540\nHi\n \n2\n00:00:04,000 --> 00:00:06,000\nthere\n \nagain\n\t", "Hi there again"},
		"srt without numbers":     {"00:00:00,160 --> 00:00:03,540\nHi\n\n00:00:04,000 --> 00:00:06,000\nthere\n", "Hi there"},
		"one bad time":            {"WEBVTT\n\n00:00:xx.500 --> 00:00:04.000\nbad\n\n00:00:04,900 --> 00:00:06.000\ngood\n", "good"},
		"breaks off":              {"WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nok\n\n00:00:03.000 -->", "ok"},
		"carriage returns":        {"WEBVTT\r\r00:00:01.000 --> 00:00:02.000\rok\r", "ok"},
		"a line of 100 kB":        {"WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nok " + strings.Repeat("x", 100_000) + "\n", "ok " + strings.Repeat("x", 277)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, spoken(Parse(c.text))); diff != "" {
				t.Errorf("spoken (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseIsBounded(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"vtt":   strings.Repeat("00:01.000 --> 00:02.000\nx\n\n", maxCues+100),
		"json3": `{"events":[` + strings.Repeat(`{"tStartMs":1,"segs":[{"utf8":"x"}]},`, maxCues+100) + `{}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if got := len(Parse(text)); got != maxCues {
				t.Errorf("got %d cues, want %d", got, maxCues)
			}
		})
	}
}

// TestSharedSubtitles reads recorded caption files where they are at hand.
func TestSharedSubtitles(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("SCROLLERY_TEST_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	for name, want := range map[string]string{"subtitles_no_index.vtt": "Hi I’m John Green and this is Crash Course European History. Last time, we looked at how the monarchs did--and didn’t--incorporate the ideas of the Enlightenment", "subtitles_with_note.vtt": ""} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(dir, "api-shapes", name))
			if err != nil {
				t.Skip("the shared caption files are not on this machine")
			}
			cues := Parse(string(text))
			if len(cues) != strings.Count(string(text), "-->") {
				t.Errorf("got %d cues, want %d", len(cues), strings.Count(string(text), "-->"))
			}
			for _, cue := range cues {
				if strings.Contains(cue.Text, "NOTE") {
					t.Errorf(`a remark is taken for a cue: %q, want without "NOTE"`, cue.Text)
				}
			}
			if got := spoken(cues); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestSubtitlesUnderAnyName(t *testing.T) {
	const data = `"1\n00:00:01,000 --> 00:00:02,000\nSaid"`
	for _, name := range []string{
		`subtitles`, `Subtitles`, `SUBTITLES`, `ſubtitleſ`, `subTitles`, `s\u0075btitles`, `\u0073ubtitles`,
		`automatic_captions`, `Automatic_Captions`, `automatic_captionſ`, `automatic\u005fcaptions`,
	} {
		if got := spokenIn(`{"title":"a\\","` + name + `":` + data + `}`); got != "Said" {
			t.Errorf("%s: got %q, want %q", name, got, "Said")
		}
	}
	for _, text := range []string{``, `{}`, `{"caption":"a subtle tip \"\\","sub":"titles","hashtags":["#caption"]}`} {
		if maySubtitle([]byte(text)) {
			t.Errorf("%s: may have subtitles, want none", text)
		}
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
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			var keys []string
			for _, key := range patterns(text, "") {
				keys = append(keys, key.Key)
				if key.Label == "" {
					t.Errorf("%s: got no label, want one", key.Key)
				}
			}
			if diff := cmp.Diff(want, strings.Join(keys, " ")); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
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
		`{"platform":"tiktok","externalId":"subtitled","evidence":{"spoken":"Hi, I am here and there","language":"en"}},` +
		`{"platform":"tiktok","externalId":"ready","evidence":{},"keys":[{"key":"hook:how_to","label":"How to"}]}]`
	if string(got) != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(vtt)
	f.Add("1\n00:00:00,160 --> 00:00:03,540\nx")
	f.Add(automatic)
	f.Add("00:00.000 --> 00:01.000\n \nno\n \n2\n")
	f.Add(`{"events":[{"tStartMs":"7","aAppend":1,"segs":[{"utf8":"no\nno"}]},{`)
	f.Add(`{"events":[{"tStartMs":1e99,"segs":[{"utf8":"<c"}]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		cues := Parse(text)
		for _, cue := range cues {
			if cue.Start < 0 || cue.End < cue.Start {
				t.Errorf("cue %+v, want Start at least 0 and End at least %v", cue, cue.Start)
			}
		}
		if said := spoken(cues); utf8.RuneCountInString(said) > spokenLength {
			t.Errorf("%d code points, want at most %v", utf8.RuneCountInString(said), spokenLength)
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

func spokenIn(metadata string) string {
	cues, _ := subtitles([]byte(metadata))
	return spoken(cues)
}

// TestTheLanguageIsThatOfTheSpeech: a translation says what is said in another language.
func TestTheLanguageIsThatOfTheSpeech(t *testing.T) {
	t.Parallel()
	const said, headed = `"1\n00:00:01,000 --> 00:00:02,000\nSaid"`, `"WEBVTT\nKind: captions\nLanguage: pt-BR\n\n00:01.000 --> 00:02.000\nDito"`
	for metadata, want := range map[string]string{
		`{"language":"de-DE","subtitles":{"de-DE":` + said + `,"en":` + said + `}}`:         "de",
		`{"language":"de","subtitles":{"de-AT":[{"data":` + said + `}],"en":` + said + `}}`: "de",
		`{"language":"de","subtitles":{"en":` + said + `}}`:                                 "", // translated
		`{"subtitles":{"de":` + said + `,"en":` + said + `}}`:                               "", // either may be
		`{"subtitles":{"fr":` + said + `}}`:                                                 "fr",
		`{"automatic_captions":{"en-orig":` + said + `,"fr":` + said + `}}`:                 "en",
		`{"subtitles":` + headed + `}`:                                                      "pt",
		`{"subtitles":[{"data":` + headed + `}]}`:                                           "pt",
		`{"language":"de","subtitles":{"en":` + headed + `}}`:                               "",
		`{"subtitles":` + said + `}`:                                                        "",
		`{"language":"en","subtitles":` + said + `}`:                                        "",
		`{"subtitles":"WEBVTT\n\n00:01.000 --> 00:02.000\nLanguage: xx\nLanguage: pt"}`:     "",
		`{"subtitles":{"live_chat":` + said + `}}`:                                          "",
	} {
		t.Run(metadata, func(t *testing.T) {
			finding, ok := find(stage.Record{Metadata: []byte(metadata)})
			if !ok || finding.Evidence.Language != want {
				t.Errorf("%s: language %q, found %v; want %q", metadata, finding.Evidence.Language, ok, want)
			}
		})
	}
	if finding, _ := find(stage.Record{Metadata: []byte(`{"language":"de"}`), Cues: []stage.Cue{{Text: "Hallo"}}}); finding.Evidence.Language != "" {
		t.Errorf("cues without a language have %q, want none", finding.Evidence.Language)
	}
}
