// Package ocr is the evidence stage that reads what is printed over the first
// seconds of a video: frames at 0, 1 and 2 s by ffmpeg, read by tesseract.
//
// A video whose platform already told the text of its stickers is left alone.
package ocr

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/film"
	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	// moments are the frames that are read, a second apart.
	moments = 3
	// width is the most pixels across that are read; letters are large in short videos.
	width = 720
	// patience is how long one picture may take: one that takes longer is a pattern
	// in which tesseract finds letters everywhere.
	patience = 8 * time.Second
	// bright leaves of a picture what is nearly white, in black on white: most text in
	// short videos is white, over whatever moves behind it.
	bright = "format=gray,lutyuv=y='if(gt(val,215),16,235)'"
	// maxText is the most characters of a video that are kept.
	maxText = 2000
)

// Spec is the ocr stage.
func Spec() stage.Spec {
	return stage.Spec{
		ID: "ocr", Version: "1.0.0", Kind: stage.EvidenceKind, NeedsMedia: true,
		Summary:  "Reads the text over the first seconds of videos, with ffmpeg and tesseract.",
		Programs: []string{"ffmpeg", "tesseract"},
		Settings: []stage.Setting{{
			Name: "language", Default: "eng",
			Help: "Languages of tesseract that are installed, such as eng or eng+deu.",
		}},
		Limits:   stage.Limits{Call: 10 * time.Minute},
		Evidence: evidence,
	}
}

var languageForm = regexp.MustCompile(`^[a-z]{3}(_[a-z]{1,12})?(\+[a-z]{3}(_[a-z]{1,12})?){0,9}$`)

func evidence(ctx context.Context, call *stage.Call, next func() (stage.Record, error), emit func(stage.Finding) error) error {
	language := call.Settings["language"]
	if !languageForm.MatchString(language) {
		return stage.Misconfigured("language %.40q: want tesseract's names, such as eng+deu", language)
	}
	return film.Each(ctx, call, next, func(rec stage.Record) error {
		if rec.Evidence != nil && rec.Evidence.OnScreenText != nil {
			return nil
		}
		text, err := read(ctx, call, rec.Media, language)
		if err != nil || text == "" {
			return err
		}
		return emit(stage.Finding{Ref: rec.Ref, Evidence: stage.Evidence{OnScreenText: &text}})
	})
}

// read returns the lines of a video's first frames, each once: those in white and
// those in any colour.
func read(ctx context.Context, call *stage.Call, path, language string) (string, error) {
	var all []line
	for _, filter := range []string{bright, ""} {
		frames, remove, err := film.Frames(ctx, call, path, moments, "png", width, filter)
		if err != nil {
			return "", err
		}
		defer remove()
		for _, frame := range frames {
			found, err := readFrame(ctx, call, frame, language)
			if err != nil {
				return "", err
			}
			all = merge(all, found)
		}
	}
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = one.text
	}
	return within(strings.Join(texts, "\n"), maxText), nil
}

func readFrame(ctx context.Context, call *stage.Call, frame, language string) ([]line, error) {
	call.Progress("reading a frame")
	// Sparse text (11): words stand anywhere in a picture.
	table, err := film.RunWithin(ctx, call, patience, "tesseract", frame, "stdout", "-l", language, "--psm", "11", "tsv")
	switch err = languageFault(err); {
	case film.Unreadable(err):
		call.Log.Debug("frame cannot be read", "error", err)
		return nil, nil
	case err != nil:
		return nil, err
	}
	return lines(string(table)), nil
}

// languageFault tells a language that is not installed from a picture's trouble.
func languageFault(err error) error {
	if film.Unreadable(err) && strings.Contains(err.Error(), "Error opening data file") {
		return stage.Misconfigured("tesseract lacks data of a language that is set")
	}
	return err
}

// within cuts a text at its bound, at the end of a line.
func within(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	cut := string(runes[:most])
	if at := strings.LastIndexByte(cut, '\n'); at > 0 {
		cut = cut[:at]
	}
	return cut
}
