package app_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/host/conformance"
	"github.com/scrollery/scrollery/plugins/feed"
)

// TestTryVerbs calls verbs of plugins of each kind with the operator's settings.
func TestTryVerbs(t *testing.T) {
	t.Parallel()
	clips := t.TempDir()
	if err := os.WriteFile(filepath.Join(clips, "abc"), []byte("a clip"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := app.Defaults()
	cfg.DataDir = t.TempDir()
	cfg.SetStage("FEED_DIR", feed.Sample)
	withFilms(t, clips)(&cfg)
	if err := cfg.Complete(); err != nil {
		t.Fatal(err)
	}
	const record = `{"platform":"tiktok","externalId":"1","metadata":{"caption":"Giveaway!"}}` + "\n"
	for _, c := range []struct {
		name, plugin, verb, input, run string
		want                           []string // in what is printed
		err                            string
	}{
		{"what a source collects", "feed", "collect", `{"kind":"niche","term":"coffee"}`, "", []string{`record   {"platform":`, `outcome  {`}, ""},
		{"the verb of its kind", "films", "", `{"kind":"niche","term":"coffee"}`, "", []string{`record   {"platform":"youtube","externalId":"abc"`, "1 answers"}, ""},
		{"what a source knows of videos", "feed", "refresh", `{"platform":"tiktok","externalId":"nothing"}`, "", []string{`outcome  {`, "0 answers"}, "nothing came"},
		{"media", "films", "media", `{"platform":"youtube","externalId":"abc"}`, "", []string{`file     {"platform":"youtube","externalId":"abc","name":"`, "1 answers"}, ""},
		{"verdicts", "rules", "screen", record, `{"rules":[{"id":"r1","text":"No giveaways"}]}`, []string{`verdict  {"platform":"tiktok","externalId":"1"`, "giveaway"}, ""},
		{"findings", "captions", "evidence", `{"platform":"tiktok","externalId":"1","stickers":[{"text":"Stop scrolling"}]}`, "", []string{`finding  {"platform":"tiktok","externalId":"1"`, "Stop scrolling"}, ""},
		{"a verb that it lacks", "feed", "media", record, "", nil, `verb "media": the plugin has no such verb; it has collect, refresh`},
		{"a verb of another kind", "rules", "refresh", record, "", nil, "it has screen"},
		{"input of another verb", "feed", "refresh", `{"term":"coffee"}`, "", nil, "input, line 1"},
		{"a plugin that is not set up", "youtube", "refresh", record, "", nil, "youtube is unset"},
		{"no plugin", "nothing", "", record, "", nil, `there is no plugin "nothing"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			call := conformance.Rehearsal{Verb: c.verb, Input: strings.NewReader(c.input)}
			if c.run != "" {
				call.Run = strings.NewReader(c.run)
			}
			var out bytes.Buffer
			err := app.TryVerb(t.Context(), cfg, c.plugin, call, &out, slog.New(slog.DiscardHandler))
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got the error %v, want %q", err, c.err)
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("printed\n%s\nwant %q in it", out.String(), want)
				}
			}
		})
	}
}
