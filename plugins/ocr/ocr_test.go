package ocr

import (
	"errors"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/plugins/plugintest/filmtest"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

func ref(id string) stage.Ref { return stage.Ref{Platform: "youtube", ExternalID: id} }

// patient is a call that waits for a machine with much else to do.
func patient(language string) stage.Call {
	return stage.Call{Settings: map[string]string{"language": language, "patience": "1m"}}
}

func TestPatience(t *testing.T) {
	t.Parallel()
	for _, patience := range []string{"soon", "0s", "-1s", "2m"} {
		t.Run(patience+" is refused", func(t *testing.T) {
			_, err := stagetest.Evidence(t, Spec(), stage.Call{Settings: map[string]string{"patience": patience}}, nil)
			var fault *stage.Error
			if !errors.As(err, &fault) || fault.Fault != stage.FaultMisconfigured {
				t.Errorf("%s: %v", patience, err)
			}
		})
	}
}

func TestTextOfClips(t *testing.T) {
	t.Parallel()
	filmtest.Need(t, "ffmpeg", "tesseract")
	changing := filmtest.Clip(t, "",
		filmtest.Scene{Seconds: 1, Colour: color.RGBA{200, 30, 30, 255}, Lines: []string{"3 moka pot", "mistakes"}},
		filmtest.Scene{Seconds: 1, Colour: color.RGBA{20, 60, 160, 255}, Lines: []string{"3 moka pot", "Number two"}},
		filmtest.Scene{Seconds: 1, Colour: color.RGBA{40, 120, 40, 255}, Lines: []string{"Day 1"}},
		filmtest.Scene{Seconds: 2, Colour: color.RGBA{90, 90, 90, 255}, Lines: []string{"too late"}})
	plain := filmtest.Clip(t, "", filmtest.Scene{Seconds: 3, Colour: color.RGBA{70, 110, 90, 255}, Slide: 7})
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("no film"), 0o600); err != nil {
		t.Fatal(err)
	}
	sticker := "the platform's own"
	findings, err := stagetest.Evidence(t, Spec(), patient("eng"), []stage.Record{
		{Ref: ref("no media")},
		{Ref: ref("broken"), Media: broken},
		{Ref: ref("no text"), Media: plain},
		{Ref: ref("known"), Media: changing, Evidence: &stage.Evidence{OnScreenText: &sticker}},
		{Ref: ref("changing"), Media: changing},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(findings) != 1 || findings[0].Ref != ref("changing") || findings[0].Evidence.OnScreenText == nil {
		t.Fatalf("findings %+v", findings)
	}
	if got, want := *findings[0].Evidence.OnScreenText, "3 moka pot\nmistakes\nNumber two\nDay 1"; got != want {
		t.Errorf("read %q, want %q", got, want)
	}
}

// TestTextOverPatterns reads white text over what would be letters to tesseract.
func TestTextOverPatterns(t *testing.T) {
	t.Parallel()
	filmtest.Need(t, "ffmpeg", "tesseract")
	for behind, lines := range map[string][]string{
		"mandelbrot": {"POV: you own"}, "gradients=c0=orange:c1=blue:seed=1": {"POV: you own", "a small cafe"},
	} {
		t.Run(behind, func(t *testing.T) {
			clip := filmtest.Over(t, behind, lines...)
			findings, err := stagetest.Evidence(t, Spec(), patient("eng"), []stage.Record{{Ref: ref("1"), Media: clip}})
			if err != nil || len(findings) != 1 {
				t.Fatalf("%s: got %+v, error %v; want 1 finding", behind, findings, err)
			}
			text := *findings[0].Evidence.OnScreenText
			for _, line := range lines {
				if !strings.Contains(text, line) {
					t.Errorf("%s: %q is not in %q", behind, line, text)
				}
			}
		})
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	filmtest.Need(t, "ffmpeg", "tesseract")
	clip := filmtest.Clip(t, "", filmtest.Scene{Seconds: 1, Colour: color.Black, Lines: []string{"Hallo"}})
	for _, language := range []string{"../../etc", "eng;ls", "--help", "zzz", "eng+zzz", "EN"} {
		t.Run(language, func(t *testing.T) {
			_, err := stagetest.Evidence(t, Spec(), patient(language), []stage.Record{{Ref: ref("1"), Media: clip}})
			var fault *stage.Error
			if language == "eng+zzz" { // of several, tesseract goes on with those that it has
				if err != nil {
					t.Errorf("got %v, want no error", err)
				}
			} else if !errors.As(err, &fault) || fault.Fault != stage.FaultMisconfigured {
				t.Errorf("got %v, want %v", err, stage.FaultMisconfigured)
			}
		})
	}
}

// table is what tesseract writes of one frame.
func table(rows ...string) string {
	head := "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n1\t1\t0\t0\t0\t0\t0\t0\t540\t960\t-1\t\n"
	return head + strings.Join(rows, "\n") + "\n"
}

func row(line, confidence, text string) string {
	return strings.Join([]string{"5", "1", "1", "1", line, "1", "0", "0", "90", "40", confidence, text}, "\t")
}

func TestNoiseIsLeftOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows []string
		want string
	}{
		"words of a line":     {[]string{row("1", "96.1", "Stop"), row("1", "91", "scrolling")}, "Stop scrolling"},
		"two lines":           {[]string{row("1", "96", "Stop"), row("2", "91", "now")}, "Stop|now"},
		"an unsure word":      {[]string{row("1", "96", "Stop"), row("1", "12", "|}")}, "Stop"},
		"an unsure line":      {[]string{row("1", "64", "eee"), row("1", "71", "oe")}, ""},
		"signs":               {[]string{row("1", "95", "~~—")}, ""},
		"two letters":         {[]string{row("1", "95", "ab")}, ""},
		"too small":           {[]string{strings.Replace(row("1", "95", "Stop"), "\t40\t", "\t9\t", 1)}, ""},
		"mostly signs":        {[]string{row("1", "95", "a_-=.b")}, ""},
		"another script":      {[]string{row("1", "95", "為什麼")}, "為什麼"},
		"control characters":  {[]string{row("1", "95", "St\u0007op\u200b")}, "Stop"},
		"a row that is short": {[]string{"5\t1\t1", row("1", "95", "Stop")}, "Stop"},
		"no number":           {[]string{row("1", "nan?", "Stop")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, one := range lines(table(c.rows...)) {
				got = append(got, one.text)
			}
			if text := strings.Join(got, "|"); text != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}

func TestLinesOfSeveralFrames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		a, b line
		want string
	}{
		"the same":              {line{"Number two", 90}, line{"number two!", 80}, "Number two"},
		"read better later":     {line{"Numiber two", 70}, line{"Number two", 96}, "Number two"},
		"another number":        {line{"Day 1 of the challenge", 90}, line{"Day 2 of the challenge", 90}, "Day 1 of the challenge|Day 2 of the challenge"},
		"short ones are strict": {line{"left", 90}, line{"lift", 90}, "left|lift"},
		"more words":            {line{"Stop", 90}, line{"Stop scrolling", 80}, "Stop scrolling"},
		"a part":                {line{"Stop scrolling", 80}, line{"olling", 95}, "Stop scrolling"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, one := range merge(merge(nil, []line{c.a}), []line{c.b}) {
				got = append(got, one.text)
			}
			if text := strings.Join(got, "|"); text != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}

func FuzzLines(f *testing.F) {
	f.Add(table(row("1", "96", "Stop"), row("2", "NaN", "x")))
	f.Add("5\t\t\t\t\t\t\t\t\t\t1e309\tx")
	f.Fuzz(func(t *testing.T, text string) {
		one := lines(text)
		for _, l := range merge(merge(nil, one), lines(text+text)) {
			if len([]rune(l.text)) > maxLength || strings.ContainsAny(l.text, "\n\t") {
				t.Errorf("line %q", l.text)
			}
		}
	})
}
