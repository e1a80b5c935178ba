// Package ocr is the evidence stage that reads what is printed over the first
// seconds of a video: frames at 0, 1 and 2 s by ffmpeg, read by tesseract.
//
// A video whose platform already gave the text of its stickers is left alone.
package ocr

import (
	"context"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/internal/film"
	"github.com/scrollery/scrollery/plugins/internal/lazy"
	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	// moments are the frames that are read, a second apart.
	moments = 3
	// width is the most pixels across that are read; letters are large in short videos.
	width = 720
	// maxPatience is the most processor time that may be set for one picture.
	maxPatience = time.Minute
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
		Settings: []stage.Setting{
			{Name: "language", Default: "eng", Help: "Languages of tesseract that are installed, such as eng or eng+deu."},
			// What takes longer is a pattern in which tesseract finds letters everywhere.
			{Name: "patience", Default: "8s", Type: stage.Duration, Min: "1ms", Max: "1m", Help: "How much processor time tesseract may take for one picture, in full seconds."},
		},
		Limits:   stage.Limits{Call: 10 * time.Minute},
		Evidence: evidence,
	}
}

var languageForm = lazy.Pattern(`^[a-z]{3}(_[a-z]{1,12})?(\+[a-z]{3}(_[a-z]{1,12})?){0,9}$`)

func evidence(ctx context.Context, call *stage.Call, next func() (stage.Record, error), emit func(stage.Finding) error) error {
	language := call.Settings["language"]
	if !languageForm().MatchString(language) {
		return stage.Misconfiguredf("language %.40q: want tesseract's names, such as eng+deu", language)
	}
	patience, err := time.ParseDuration(call.Settings["patience"])
	if err != nil || patience <= 0 || patience > maxPatience {
		return stage.Misconfiguredf("patience %.40q: want a time up to %v, such as 8s", call.Settings["patience"], maxPatience)
	}
	r := reader{call, language, patience}
	return film.Each(ctx, call, next, func(rec stage.Record) error {
		if rec.Evidence != nil && rec.Evidence.OnScreenText != nil {
			return nil
		}
		text, err := r.read(ctx, rec.Media)
		if err != nil || text == "" {
			return err
		}
		return emit(stage.Finding{Ref: rec.Ref, Evidence: stage.Evidence{OnScreenText: &text}})
	})
}

// reader reads with the settings of a call.
type reader struct {
	call     *stage.Call
	language string
	patience time.Duration
}

// read returns the lines of a video's first frames, each once: those in white and
// those in any colour.
func (r reader) read(ctx context.Context, path string) (string, error) {
	var all []line
	for _, filter := range []string{bright, ""} {
		frames, remove, err := film.Frames(ctx, r.call, path, moments, "png", width, filter)
		if err != nil {
			return "", err
		}
		defer remove()
		for _, frame := range frames {
			found, err := r.frame(ctx, frame)
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

func (r reader) frame(ctx context.Context, frame string) ([]line, error) {
	r.call.Progress("reading a frame")
	// Sparse text (11): words are anywhere in a picture.
	table, err := film.RunWithin(ctx, r.call, r.patience, "tesseract", frame, "stdout", "-l", r.language, "--psm", "11", "tsv")
	switch err = languageFault(err); {
	case film.Unreadable(err):
		r.call.Log.Debug("frame cannot be read", "error", err)
		return nil, nil
	case err != nil:
		return nil, err
	}
	return lines(string(table)), nil
}

// languageFault makes an error of a language that is not installed one of the setup.
func languageFault(err error) error {
	if film.Unreadable(err) && strings.Contains(err.Error(), "Error opening data file") {
		return stage.Misconfiguredf("tesseract lacks data of a language that is set")
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
