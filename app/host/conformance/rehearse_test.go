package conformance_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app/host/conformance"
	"github.com/scrollery/scrollery/plugins/stage"
)

// filmer fetches a film for each video, but for those whose ids say what it does wrong.
func filmer() stage.Spec {
	return stage.Spec{
		ID: "filmer", Version: "1.0.0", Kind: stage.SourceKind, Platforms: []string{"acmetok"}, Summary: "A test's source of films",
		Collect: func(context.Context, *stage.Call, []stage.Seed, func(stage.Record) error) ([]stage.Outcome, error) {
			return nil, nil
		},
		Media: func(_ context.Context, call *stage.Call, refs []stage.Ref, emit func(stage.File) error) (outcomes []stage.Outcome, err error) {
			for _, ref := range refs {
				outcomes = append(outcomes, stage.Outcome{Seed: ref.ExternalID, Platform: ref.Platform, Status: stage.OK, Asked: 1, Returned: 1})
				file, at := stage.File{Ref: ref, Name: ref.ExternalID}, filepath.Join(call.Scratch, ref.ExternalID)
				switch ref.ExternalID {
				case "none":
					continue
				case "missing":
				case "linked":
					err = os.Symlink("/etc/hostname", at)
				case "outside":
					file.Name = "../" + file.Name
				default:
					err = os.WriteFile(at, []byte("film"), 0o600)
				}
				if ref.ExternalID == "large" && err == nil {
					err = os.Truncate(at, 64<<20+1)
				}
				if ref.ExternalID == "another" {
					file.Ref.ExternalID = "unasked"
				}
				if ref.ExternalID == "twice" && err == nil {
					err = emit(file)
				}
				if err == nil {
					err = emit(file)
				}
				if err != nil {
					return outcomes, err
				}
			}
			return outcomes, nil
		},
	}
}

// TestRehearseMedia: `plugins check --verb media` calls a real plugin, and takes of it what a server would.
func TestRehearseMedia(t *testing.T) {
	t.Parallel()
	path := placed(t, "filmer")
	for ids, want := range map[string]string{
		"1 2":     `file     {"platform":"acmetok","externalId":"2","name":"2"}`,
		"none":    "FAIL     the call: rule: the outcomes add up to the records: they say 1 returned, 0 came",
		"missing": `FAIL     the call: rule: a file is a plain one in the scratch folder, by its name there: "missing" is none`,
		"linked":  `FAIL     the call: rule: a file is a plain one in the scratch folder, by its name there: "linked" is none`,
		"outside": `emit: File.name: want the name of a file in the scratch folder, got \"../outside\" (rehearse_test.go`,
		"large":   `FAIL     the call: rule: a file has at most 67108864 bytes, or is left out: "large" has 67108865`,
		"another": `FAIL     the call: rule: a file is of a video of the input, and a video has one: "another" is of acmetok "unasked"`,
		"twice":   `FAIL     the call: rule: a file is of a video of the input, and a video has one: "twice" is of acmetok "twice"`,
	} {
		t.Run(ids, func(t *testing.T) {
			t.Parallel()
			var input, out strings.Builder
			for id := range strings.FieldsSeq(ids) {
				fmt.Fprintf(&input, `{"platform":"acmetok","externalId":"%s"}`+"\n", id)
			}
			err := conformance.Rehearse(t.Context(), path, conformance.Rehearsal{Verb: "media", Input: strings.NewReader(input.String())}, &out)
			sound := ids == "1 2"
			if !strings.Contains(out.String(), want) || (err == nil) != sound || sound && !strings.Contains(out.String(), "2 answers, 0 rules broken") {
				t.Errorf("error %v, want %q in the output:\n%s", err, want, out.String())
			}
		})
	}
	t.Run("a plugin without the verb", func(t *testing.T) {
		t.Parallel()
		var out strings.Builder
		err := conformance.Rehearse(t.Context(), placed(t, "acme"), conformance.Rehearsal{Verb: "media"}, &out)
		if err == nil || !strings.Contains(err.Error(), `verb "media": the plugin has no such verb`) {
			t.Errorf("error %v, want that there is no such verb", err)
		}
	})
}

// careless emits what its seed says, looks at no error and goes on until the call is over.
func careless(id string) stage.Spec {
	return stage.Spec{
		ID: id, Version: "1.0.0", Kind: stage.SourceKind, Platforms: []string{"acmetok"}, Lenient: id == "lenient",
		Collect: func(ctx context.Context, _ *stage.Call, seeds []stage.Seed, emit func(stage.Record) error) ([]stage.Outcome, error) {
			good := stage.Record{Ref: stage.Ref{Platform: "acmetok", ExternalID: "1"}}
			wrong, views := good, int64(-1)
			wrong.ExternalID, wrong.Metrics.Views = "2", &views
			_, _ = emit(good), emit(wrong)
			if id != "lenient" {
				<-ctx.Done()
			}
			return []stage.Outcome{{Seed: seeds[0].Text(), Platform: "acmetok", Status: stage.OK, Returned: 2}}, nil
		},
	}
}

// TestAWrongValueEndsTheCall at its emit, with its name and the author's line, and the values before it stay.
// A lenient stage leaves it to the host.
func TestAWrongValueEndsTheCall(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"careless": {
			`record   {"platform":"acmetok","externalId":"1"`,
			`error    {"fault":"internal","message":"emit: Record.metrics.views: want a whole number from 0 to 9007199254740992, got -1 (rehearse_test.go, line 103)"}`,
			"FAIL     the call: broke: ",
		},
		"lenient": {`record   {"platform":"acmetok","externalId":"2"`, `repaired {"Text":0,"JSON":0,"Values":1,"Trimmed":0}`, "2 answers, 0 rules broken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			err := conformance.Rehearse(t.Context(), placed(t, name), conformance.Rehearsal{Input: strings.NewReader(`{"kind":"niche","term":"coffee"}`)}, &out)
			if (err == nil) != (name == "lenient") {
				t.Errorf("error %v", err)
			}
			for _, line := range want {
				if !strings.Contains(out.String(), line) {
					t.Errorf("want %q in the output:\n%s", line, out.String())
				}
			}
		})
	}
}
