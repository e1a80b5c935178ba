package main

import (
	"testing"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

func TestFirstStickerIsTaken(t *testing.T) {
	t.Parallel()
	findings, err := stagetest.Evidence(t, spec(), stage.Call{}, []stage.Record{
		{Ref: stage.Ref{Platform: "tiktok", ExternalID: "1"}},
		{Ref: stage.Ref{Platform: "tiktok", ExternalID: "2"}, Stickers: []stage.Sticker{{Text: "WAIT"}, {Text: "FOR IT"}}},
	})
	if err != nil || len(findings) != 1 || findings[0].ExternalID != "2" || *findings[0].Evidence.OnScreenText != "WAIT" {
		t.Errorf("%+v, %v", findings, err)
	}
}
