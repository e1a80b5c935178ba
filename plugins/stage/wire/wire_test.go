package wire_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/record"
	"github.com/scrollery/scrollery/plugins/stage/wire"
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
			t.Fatalf("%s is not set: set it here, and see that it travels", path)
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
	ref      = record.Ref{Platform: "tiktok", ExternalID: "7"}
	evidence = record.Evidence{Visual: json.RawMessage(`{"summary":"x"}`), Spoken: s("said"), OnScreenText: s("")}
	keys     = []record.Key{{Key: "hook:question", Label: "Question"}}
)

func TestRecord(t *testing.T) {
	t.Parallel()
	want := whole(t, record.Record{
		Ref: ref, SourceURL: "https://x", PostedAt: n(1), CreatorID: "c",
		Source:   &record.Source{Kind: "own", Handle: "h", SeededBy: "s"},
		Metadata: json.RawMessage(`{"n":12345678901234567890, "a":1}`),
		Metrics: record.Metrics{
			Views: n(0), Likes: n(1), Comments: n(2), Shares: n(3), Saves: n(4), ObservedAt: n(5), Semantics: "exact",
		},
		Evidence: &evidence, Cues: []record.Cue{{Start: 1, End: 2, Text: "c"}},
		Stickers: []record.Sticker{{Text: "s", Start: 3}}, Keys: keys, Seed: "seed",
		Media: "/scratch/1.mp4",
	})
	same(t, wire.DecodeRecord(through(t, wire.EncodeRecord(&want))), want)
	bare := record.Record{Ref: ref}
	same(t, wire.DecodeRecord(through(t, wire.EncodeRecord(&bare))), bare)
	same(t, wire.DecodeRecord(nil), record.Record{})
	broken := record.Record{Ref: ref, Seed: "\xff\x00"}
	same(t, wire.DecodeRecord(through(t, wire.EncodeRecord(&broken))), broken)
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	verdict := whole(t, record.Verdict{Ref: ref, DroppedBy: "rule_1", Rank: -0.5, Reason: "because", RuleID: "rule_1"})
	same(t, wire.DecodeVerdict(through(t, wire.EncodeVerdict(&verdict))), verdict)
	finding := whole(t, record.Finding{Ref: ref, Evidence: evidence, Keys: keys})
	same(t, wire.DecodeFinding(through(t, wire.EncodeFinding(&finding))), finding)
	outcomes := []record.Outcome{whole(t, record.Outcome{
		Seed: "s", Platform: "tiktok", Status: record.Quota, Asked: 9, Returned: 4, RetryAt: n(7), Detail: "d",
	}), {Seed: "t"}}
	done := through(t, &stagev1.Done{Outcomes: wire.EncodeOutcomes(outcomes)})
	same(t, wire.DecodeOutcomes(done.GetOutcomes()), outcomes)
	same(t, wire.DecodeOutcomes([]*stagev1.Outcome{nil}), []record.Outcome{{}})
}

func TestRun(t *testing.T) {
	t.Parallel()
	run := whole(t, record.Run{
		ScrollID: "scr_1", Number: 3, Prompt: "p", Pages: []record.Page{{URL: "https://a.example", Title: "t", Text: "x"}}, Now: 99,
		Brief:    record.Brief{Name: "n", Description: "d", Website: "w", AppStoreURL: "a", Competitors: []string{"c"}},
		Rules:    []record.Rule{{ID: "rule_1", Text: "t"}},
		Settings: map[string]map[string]string{"feed": {"dir": "x"}},
	})
	run.Settings = nil // the host's, and not a stage's business
	same(t, wire.DecodeRun(through(t, wire.EncodeRun(run))), run)
	same(t, wire.DecodeRun(nil), record.Run{})
	seed := whole(t, record.Seed{Kind: "niche", Platform: "tiktok", Handle: "h", Term: "t", Limit: 5})
	same(t, wire.DecodeSeed(through(t, wire.EncodeSeed(seed))), seed)
}
