// Package rules is the screen stage that makes checks of rules in ordinary English.
//
// Every check can be said in words, every drop names the rule behind it, and a
// rule that no check could be made of is reported, never passed over in silence.
// What is not known of a video never drops it. What remains is ranked by the
// words of the prompt and the brief. Texts of records are only ever searched.
//
// Where the operator names a chat endpoint, its model decides what checks cannot:
// rules that none could be made of, and those that only compare words. It chooses
// among the rules that it is given, about one video at a time, so that a text which
// talks it round changes the verdict on its own video at most.
package rules

import (
	"context"
	"errors"
	"io"

	"github.com/scrollery/scrollery/plugins/internal/model"
	"github.com/scrollery/scrollery/plugins/stage"
)

// The settings of what one scroll may spend on the model.
const (
	batchSetting    = "batch"
	parallelSetting = "parallel"
	requestsSetting = "requests"
	tokensSetting   = "tokens"
	minutesSetting  = "minutes"
)

// limited are these settings.
var limited = []stage.Setting{
	{Name: batchSetting, Default: "1", Type: stage.Number, Min: "1", Max: "20", Help: "Videos a request. Above 1 is cheaper, but a text may then sway the verdicts of those asked about with it."},
	{Name: parallelSetting, Default: "8", Type: stage.Number, Min: "1", Max: "32", Help: "Requests at a time."},
	{Name: requestsSetting, Default: "5000", Type: stage.Number, Min: "1", Max: "1000000", Help: "Requests a scroll."},
	{Name: tokensSetting, Default: "2000000", Type: stage.Number, Min: "1", Max: "10000000000", Help: "Tokens a scroll."},
	{Name: minutesSetting, Default: "10", Type: stage.Number, Min: "1", Max: "25", Help: "Minutes a scroll; fewer than the deadline of the stage screen."},
}

// Spec is the rules stage.
func Spec() stage.Spec {
	return model.Chat(stage.Spec{
		ID: "rules", Version: "1.1.0", Kind: stage.ScreenKind,
		Summary:  "Drops what the ruleset does not want and ranks the rest by relevance.",
		Settings: limited,
		Screen:   screen,
	})
}

func screen(ctx context.Context, call *stage.Call, next func() (stage.Record, error), emit func(stage.Verdict) error) (stage.Summary, error) {
	program := Compile(call.Run)
	if call.Log != nil {
		// Not the rules themselves: a log has no text of customers. Their verdicts and the
		// summary say what was made of them.
		call.Log.Info("rules compiled", "checks", len(program.Checks), "unclear", len(program.Unclear))
	}
	p := newPanel(call, program)
	for ended := false; !ended; {
		var records []stage.Record
		for len(records) < window {
			rec, err := next()
			if ended = errors.Is(err, io.EOF); ended {
				break
			}
			if err != nil {
				return p.summary(), err
			}
			records = append(records, rec)
		}
		if err := ctx.Err(); err != nil {
			return p.summary(), err
		}
		verdicts, err := p.judge(ctx, records)
		if err != nil {
			return p.summary(), err
		}
		for _, verdict := range verdicts {
			if err := emit(verdict); err != nil {
				return p.summary(), err
			}
		}
	}
	return p.summary(), nil
}
