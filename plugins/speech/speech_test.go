package speech

import (
	"context"
	"encoding/json"
	"errors"
	"image/color"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/scrollery/scrollery/plugins/internal/model"
	"github.com/scrollery/scrollery/plugins/plugintest/filmtest"
	"github.com/scrollery/scrollery/plugins/plugintest/modeltest"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

const said = `{"task":"transcribe","language":"english","duration":8.0,"text":"Stop scrolling if you own a moka pot. You have been filling it wrong. Late.","segments":[
	{"id":1,"start":2.4,"end":6.1,"text":" You have been filling it wrong.","avg_logprob":-0.2,"no_speech_prob":0.01,"compression_ratio":1.1},
	{"id":0,"start":0.0,"end":2.4,"text":" Stop scrolling if you own a moka pot.","avg_logprob":-0.2,"no_speech_prob":0.01,"compression_ratio":1.1},
	{"id":2,"start":5.0,"end":8.0,"text":" Late.","avg_logprob":-0.2,"no_speech_prob":0.01,"compression_ratio":1.1}]}`

func rec(id, media string) stage.Record {
	return stage.Record{Ref: stage.Ref{Platform: "tiktok", ExternalID: id}, Media: media}
}

func clip(t *testing.T) string {
	t.Helper()
	return filmtest.Clip(t, "sine=frequency=440", filmtest.Scene{Seconds: 10, Colour: color.Black})
}

func listen(t *testing.T, server *modeltest.Server, records ...stage.Record) (map[string]string, error) {
	t.Helper()
	findings, err := stagetest.Evidence(t, Spec(), server.Call(), records)
	found := map[string]string{}
	for _, f := range findings {
		found[f.ExternalID] = *f.Evidence.Spoken
		if f.Evidence.Language != "en" {
			t.Errorf("the language is %q, want en, which the endpoint calls english", f.Evidence.Language)
		}
	}
	return found, err
}

func TestSpeech(t *testing.T) {
	t.Parallel()
	loud := clip(t)
	silent := filmtest.Clip(t, "", filmtest.Scene{Seconds: 1, Colour: color.Black})
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("no film"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := modeltest.New(t, func(*http.Request, modeltest.Question) modeltest.Answer { return modeltest.Answer{Raw: said} })
	had, known := rec("had", loud), "known"
	had.Evidence = &stage.Evidence{Spoken: &known}
	found, err := listen(t, server, rec("no media", ""), rec("no sound", silent), rec("broken", broken), had, rec("1", loud))
	if err != nil || len(found) != 1 {
		t.Fatalf("got %v, error %v; want 1 video with speech", found, err)
	}
	if want := "Stop scrolling if you own a moka pot. You have been filling it wrong."; found["1"] != want {
		t.Errorf("got speech %q, want %q", found["1"], want)
	}
	asked := server.Asked()
	if len(asked) != 1 || asked[0].Form != "verbose_json" || asked[0].Model != "tester" {
		t.Fatalf("got %d questions, want 1, to the model tester, in the form verbose_json", len(asked))
	}
	// Eight seconds of the ten: two bytes a sample, and a header.
	if n := len(asked[0].Sound); n < 254_000 || n > 258_000 || string(asked[0].Sound[:4]) != "RIFF" {
		t.Errorf("got %d bytes of sound, want 254,000 to 258,000, in a WAV file", n)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		answer modeltest.Answer
		fault  stage.Fault // empty: no error
		asked  int         // for four videos
	}{
		"malformed":      {modeltest.Answer{Raw: `{"text":7}`}, "", 4},
		"no JSON":        {modeltest.Answer{Raw: `<html>`}, "", 4},
		"cut off":        {modeltest.Answer{Raw: `{"text":"x","segm`}, stage.FaultBusy, 2},
		"odd times":      {modeltest.Answer{Raw: `{"text":"x","segments":[{"start":"soon"}]}`}, "", 4},
		"no times":       {modeltest.Answer{Raw: `{"text":"You have been filling it wrong."}`}, "", 4},
		"nothing said":   {modeltest.Answer{Raw: `{"text":"","segments":[]}`}, "", 4},
		"too much to do": {modeltest.Answer{Status: 429, RetryAfter: "0"}, stage.FaultBusy, 6},
		"broken":         {modeltest.Answer{Status: 500, RetryAfter: "0"}, stage.FaultBusy, 6},
		"nothing left":   {modeltest.Answer{Status: 429, Code: "insufficient_quota", RetryAfter: "0"}, stage.FaultQuota, 3},
		"key refused":    {modeltest.Answer{Status: 401}, stage.FaultRefused, 1},
		"no such form":   {modeltest.Answer{Status: 400}, stage.FaultMisconfigured, 3},
		"no such model":  {modeltest.Answer{Status: 404, Code: "model_not_found"}, stage.FaultMisconfigured, 1},
	}
	loud := clip(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := modeltest.New(t, func(*http.Request, modeltest.Question) modeltest.Answer { return c.answer })
			found, err := listen(t, server, rec("1", loud), rec("2", loud), rec("3", loud), rec("4", loud))
			var fault *stage.Error
			switch {
			case len(found) > 0, c.fault == "" && err != nil:
				t.Errorf("got speech %v, error %v; want no speech, fault %q", found, err, c.fault)
			case c.fault != "" && (!errors.As(err, &fault) || fault.Fault != c.fault):
				t.Errorf("got error %v, want a fault %s", err, c.fault)
			}
			if n := len(server.Asked()); n != c.asked {
				t.Errorf("got the endpoint asked %d times, want %d", n, c.asked)
			}
		})
	}
}

func TestOneFailureSpoilsNoOther(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := modeltest.New(t, func(*http.Request, modeltest.Question) modeltest.Answer {
		switch n := asked.Add(1); {
		case n == 1:
			return modeltest.Answer{Raw: `{"segments":"none"}`}
		case n <= 4: // one video and its two repetitions
			return modeltest.Answer{Status: 503, RetryAfter: "0"}
		}
		return modeltest.Answer{Raw: said}
	})
	loud := clip(t)
	found, err := listen(t, server, rec("1", loud), rec("2", loud), rec("3", loud), rec("4", loud))
	if err != nil || len(found) != 2 || found["3"] == "" || found["4"] == "" {
		t.Errorf("got speech %v, error %v; want that of 3 and 4", found, err)
	}
}

// What an endpoint does not want to hear is that video's affair: here the second, the
// third and the fifth of six.
func TestASoundThatIsTurnedDownSpoilsNoOther(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := modeltest.New(t, func(*http.Request, modeltest.Question) modeltest.Answer {
		switch asked.Add(1) {
		case 2:
			return modeltest.Answer{Status: 400, Code: "audio_too_short"}
		case 3, 5:
			return modeltest.Answer{Status: 413}
		}
		return modeltest.Answer{Raw: said}
	})
	loud := clip(t)
	found, err := listen(t, server, rec("1", loud), rec("2", loud), rec("3", loud), rec("4", loud), rec("5", loud), rec("6", loud))
	if err != nil || len(found) != 3 || found["2"]+found["3"]+found["5"] != "" || asked.Load() != 6 {
		t.Errorf("got speech %v after %d questions, error %v; want that of 1, 4 and 6 after 6", found, asked.Load(), err)
	}
}

// Endpoints refuse less than a tenth of a second, so they are not asked about it.
func TestAMomentOfSoundIsNotSent(t *testing.T) {
	t.Parallel()
	server := modeltest.New(t, func(*http.Request, modeltest.Question) modeltest.Answer { return modeltest.Answer{Raw: said} })
	tone := func(seconds string) string {
		path := filepath.Join(t.TempDir(), "tone.wav")
		filmtest.FFmpeg(t, "-f", "lavfi", "-i", "sine=duration="+seconds, "-metadata", "title="+strings.Repeat("x", 4000), path)
		return path
	}
	found, err := listen(t, server, rec("short", tone("0.09")), rec("enough", tone("0.11")))
	if err != nil || len(found) != 1 || found["enough"] == "" || len(server.Asked()) != 1 {
		t.Errorf("got speech %v after %d questions, error %v; want that of enough after 1", found, len(server.Asked()), err)
	}
}

func TestHangingEndpoint(t *testing.T) {
	t.Parallel()
	server := modeltest.New(t, func(r *http.Request, _ modeltest.Question) modeltest.Answer {
		<-r.Context().Done()
		return modeltest.Answer{}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	call := server.Call()
	call.Scratch, call.Log = t.TempDir(), slog.New(slog.DiscardHandler)
	err := Spec().Evidence(ctx, &call, stagetest.Feed([]stage.Record{rec("1", clip(t))}), func(stage.Finding) error { return nil })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v, want %v", err, context.DeadlineExceeded)
	}
}

func TestSpoken(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 100)
	for name, c := range map[string]struct {
		segments []model.Segment
		want     string
	}{
		"none":              {nil, ""},
		"before the start":  {[]model.Segment{{Start: -1, Text: "x"}}, ""},
		"starts in time":    {[]model.Segment{{Start: 4.99, End: 30, Text: "to its end"}, {Start: 5, Text: "late"}}, "to its end"},
		"silence":           {[]model.Segment{{Text: "Thank you.", NoSpeech: 0.9, LogProb: -1.2}}, ""},
		"quiet, but sure":   {[]model.Segment{{Text: "Thank you.", NoSpeech: 0.9, LogProb: -0.2}}, "Thank you."},
		"a loop":            {[]model.Segment{{Text: "la la la la", Compression: 3}}, ""},
		"too long":          {[]model.Segment{{Text: long}}, strings.TrimSpace(strings.Repeat("word ", 56))},
		"without spaces":    {[]model.Segment{{Text: strings.Repeat("日", 300)}}, strings.Repeat("日", 280)},
		"line ends and NUL": {[]model.Segment{{Text: "a\nb\x00c"}}, "a b c"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := spoken(c.segments); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzSpoken(f *testing.F) {
	f.Add(said)
	f.Add(`{"segments":[{"start":1e999}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var answer struct{ Segments []model.Segment }
		if json.Unmarshal([]byte(text), &answer) == nil && utf8.RuneCountInString(spoken(answer.Segments)) > length {
			t.Errorf("got %q, want at most %d characters", spoken(answer.Segments), length)
		}
	})
}

func TestTheLanguageIsATag(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"english": "en", "English": "en", "en": "en", "pt-BR": "pt", "haitian creole": "", "javanese": "jv", "cantonese": "yue", "lao": "lo",
		"": "", "klingon": "", "und": "", "<|en|>": "", "en en": "",
	} {
		t.Run(said, func(t *testing.T) {
			if got := languageOf(said); got != want {
				t.Errorf("languageOf(%q) = %q, want %q", said, got, want)
			}
		})
	}
	words := strings.Fields(languageNames)
	for i := 1; i < len(words); i += 2 {
		if stage.LanguageOf(words[i]) != words[i] {
			t.Errorf("%s is %q, which is no tag", words[i-1], words[i])
		}
	}
}
