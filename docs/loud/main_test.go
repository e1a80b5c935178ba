package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

func TestFirstStickerIsTaken(t *testing.T) {
	t.Parallel()
	plain := stage.Ref{Platform: "tiktok", ExternalID: "1"}
	stickered := stage.Ref{Platform: "tiktok", ExternalID: "2"}
	got, err := stagetest.Evidence(t, spec(), stage.Call{}, []stage.Record{
		{Ref: plain},
		{Ref: stickered, Stickers: []stage.Sticker{{Text: "WAIT"}, {Text: "FOR IT"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	first := "WAIT"
	want := []stage.Finding{{Ref: stickered, Evidence: stage.Evidence{OnScreenText: &first}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
