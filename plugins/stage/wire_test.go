package stage_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// through sends a message over the wire's form.
func through[M proto.Message](t *testing.T, m M) M {
	t.Helper()
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	back := m.ProtoReflect().New().Interface().(M)
	if err := proto.Unmarshal(raw, back); err != nil {
		t.Fatal(err)
	}
	return back
}

func same[T any](t *testing.T, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// whole has every field set, so that a field that is added and not carried is seen.
func whole[T any](t *testing.T, value T) T {
	t.Helper()
	var walk func(v reflect.Value, path string)
	walk = func(v reflect.Value, path string) {
		switch {
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i), path+"."+v.Type().Field(i).Name)
			}
		case v.IsZero():
			t.Fatalf("got %s unset, want it set here, to see that it travels", path)
		case v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct:
			walk(v.Elem(), path)
		case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
			walk(v.Index(0), path+"[0]")
		}
	}
	walk(reflect.ValueOf(value), reflect.TypeOf(value).Name())
	return value
}

func n(v int64) *int64   { return &v }
func s(v string) *string { return &v }

var (
	ref      = stage.Ref{Platform: "tiktok", ExternalID: "7"}
	evidence = stage.Evidence{Visual: json.RawMessage(`{"summary":"x"}`), Spoken: s("said"), OnScreenText: s(""), Language: "en"}
	keys     = []stage.Key{{Key: "hook:question", Label: "Question"}}
)

func TestRecord(t *testing.T) {
	t.Parallel()
	want := whole(t, stage.Record{
		Ref: ref, SourceURL: "https://x", PostedAt: n(1), CreatorID: "c",
		Source:   &stage.Source{Kind: "own", Handle: "h", SeededBy: "s"},
		Metadata: json.RawMessage(`{"n":12345678901234567890, "a":1}`),
		Metrics: stage.Metrics{
			Views: n(0), Likes: n(1), Comments: n(2), Shares: n(3), Saves: n(4), ObservedAt: n(5), Semantics: "exact", Followers: n(6),
		},
		Trimmed: true, Unread: true,
		Evidence: &evidence, Cues: []stage.Cue{{Start: 1, End: 2, Text: "c"}},
		Stickers: []stage.Sticker{{Text: "s", Start: 3}}, Keys: keys, Seed: "seed",
		Media: "/scratch/1.mp4",
	})
	same(t, stage.DecodeRecord(through(t, stage.EncodeRecord(&want))), want)
	bare := stage.Record{Ref: ref}
	same(t, stage.DecodeRecord(through(t, stage.EncodeRecord(&bare))), bare)
	same(t, stage.DecodeRecord(nil), stage.Record{})
	broken := stage.Record{Ref: ref, Seed: "\xff\x00"}
	same(t, stage.DecodeRecord(through(t, stage.EncodeRecord(&broken))), broken)
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	verdict := whole(t, stage.Verdict{Ref: ref, DroppedBy: "rule_1", Rank: -0.5, Reason: "because", RuleID: "rule_1"})
	same(t, stage.DecodeVerdict(through(t, stage.EncodeVerdict(&verdict))), verdict)
	finding := whole(t, stage.Finding{Ref: ref, Evidence: evidence, Keys: keys, Frames: []stage.Frame{{At: 1, WebP: []byte("x")}}})
	same(t, stage.DecodeFinding(through(t, stage.EncodeFinding(&finding))), finding)
	outcomes := []stage.Outcome{whole(t, stage.Outcome{
		Seed: "s", Platform: "tiktok", Status: stage.Quota, Asked: 9, Returned: 4, RetryAt: n(7), Detail: "d", Cost: n(8),
	}), {Seed: "t"}}
	done := through(t, &stagev1.Done{Outcomes: stage.EncodeOutcomes(outcomes)})
	same(t, stage.DecodeOutcomes(done.GetOutcomes()), outcomes)
	same(t, stage.DecodeOutcomes([]*stagev1.Outcome{nil}), []stage.Outcome{{}})
}

type noStates struct{ _ bool }

func (noStates) State(stage.Seed) []byte                        { return nil }
func (noStates) Keep(context.Context, stage.Seed, []byte) error { return nil }

func TestRun(t *testing.T) {
	t.Parallel()
	run := whole(t, stage.Run{
		Frames: true, Language: "de",
		ScrollID: "scr_1", Number: 3, Prompt: "p", Pages: []stage.Page{{URL: "https://a.example", Title: "t", Text: "x"}}, Now: 99,
		Brief:    stage.Brief{Name: "n", Description: "d", Website: "w", AppStoreURL: "a", Competitors: []string{"c"}},
		Rules:    []stage.Rule{{ID: "rule_1", Text: "t"}},
		Settings: map[string]map[string]string{"feed": {"dir": "x"}},
		States:   noStates{},
	})
	run.Settings, run.States = nil, nil // the host's, and not a stage's business
	same(t, stage.DecodeRun(through(t, stage.EncodeRun(run))), run)
	same(t, stage.DecodeRun(nil), stage.Run{})
	seed := whole(t, stage.Seed{Kind: "niche", Platform: "tiktok", Handle: "h", Term: "t", Limit: 5})
	same(t, stage.DecodeSeed(through(t, stage.EncodeSeed(seed))), seed)
}
