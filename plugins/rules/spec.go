// Package rules is the screen stage that makes checks of rules in ordinary English.
//
// Every check can be said in words, every drop names the rule behind it, and a
// rule that no check could be made of is reported, never passed over in silence.
// What is not known of a video never drops it. What remains is ranked by the
// words of the prompt and the brief. Texts of records are only ever searched.
package rules

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Spec is the rules stage.
func Spec() stage.Spec {
	return stage.Spec{
		ID: "rules", Version: "1.0.0", Kind: stage.ScreenKind,
		Summary: "Drops what the ruleset does not want and ranks the rest by relevance.",
		Screen:  screen,
	}
}

func screen(ctx context.Context, call *stage.Call, next func() (stage.Record, error), emit func(stage.Verdict) error) (stage.Summary, error) {
	program := Compile(call.Run)
	if call.Log != nil {
		for _, check := range program.Checks {
			call.Log.Info("rule compiled", "rule", check.Item, "check", check.String())
		}
		for _, item := range program.Unclear {
			call.Log.Warn("rule not understood", "rule", item)
		}
	}
	now := time.UnixMilli(call.Now).UTC()
	summary := stage.Summary{Unclear: program.Unclear}
	for {
		rec, err := next()
		if errors.Is(err, io.EOF) {
			return summary, nil
		}
		if err != nil {
			return summary, err
		}
		if err := ctx.Err(); err != nil {
			return summary, err
		}
		if err := emit(program.Judge(rec, now)); err != nil {
			return summary, err
		}
	}
}
