package kit_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/scrollery/scrollery/app/host/kit"
	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// emitted is what a stage may emit: a message with one value at its bound, or beyond.
type emitted struct {
	Message string `json:"message"`
	Bytes   string `json:"bytes"` // hexadecimal
	Field   string `json:"field"` // which has the value
	Fits    bool   `json:"fits"`
	message proto.Message
}

// wholes have every part of what stages emit.
func wholes() []proto.Message {
	ref, evidence := &stagev1.Ref{Platform: "tiktok", ExternalId: "1"}, &stagev1.Evidence{Spoken: proto.String("hi")}
	keys := []*stagev1.Key{{Key: "k", Label: "K"}}
	return []proto.Message{
		&stagev1.Record{
			Ref: ref, Source: &stagev1.Source{Handle: "ada"}, Metrics: &stagev1.Metrics{Views: proto.Int64(1)}, Evidence: evidence, Keys: keys,
			Cues: []*stagev1.Cue{{Start: 0, End: 1 << 53, Text: "hi"}}, Stickers: []*stagev1.Sticker{{Text: "hi"}},
		},
		&stagev1.File{Ref: ref, Name: "film"},
		&stagev1.Verdict{Ref: ref, Reason: "because"},
		&stagev1.Finding{Ref: ref, Evidence: evidence, Keys: keys, Frames: []*stagev1.Frame{{At: 1, Webp: []byte("RIFF")}}},
		&stagev1.Seed{Kind: "niche", Term: "coffee"},
		&stagev1.Sentence{Part: stage.PartWorks, Text: "Short ones do.", Cites: []string{"1"}},
	}
}

// atBounds has each bounded field of what stages emit at its bound, and beyond.
func atBounds() (all []emitted) {
	for _, whole := range wholes() {
		name := string(whole.ProtoReflect().Descriptor().Name())
		var walk func(part func(proto.Message) protoreflect.Message, at protoreflect.MessageDescriptor)
		walk = func(part func(proto.Message) protoreflect.Message, at protoreflect.MessageDescriptor) {
			for i := range at.Fields().Len() {
				field := at.Fields().Get(i)
				add := func(fits bool, set func(protoreflect.Message)) {
					changed := proto.Clone(whole)
					set(part(changed))
					raw, err := proto.Marshal(changed)
					if err != nil {
						panic(err)
					}
					all = append(all, emitted{name, hex.EncodeToString(raw), string(at.Name()) + "." + string(field.Name()), fits, changed})
				}
				bound, has := stage.Bounds()[string(at.Name())+"."+string(field.Name())]
				if has {
					values(field, bound, add)
				}
				if field.Message() != nil {
					walk(func(m proto.Message) protoreflect.Message {
						value := part(m).Mutable(field)
						if field.IsList() {
							return value.List().Get(0).Message()
						}
						return value.Message()
					}, field.Message())
				}
			}
		}
		walk(proto.Message.ProtoReflect, whole.ProtoReflect().Descriptor())
	}
	return all
}

// values sets a field to what is at its bound, and beyond.
func values(field protoreflect.FieldDescriptor, b stage.Bound, add func(fits bool, set func(protoreflect.Message))) {
	one := func(fits bool, value any) {
		add(fits, func(m protoreflect.Message) { m.Set(field, protoreflect.ValueOf(value)) })
	}
	text := func(fits bool, value string) {
		if field.Kind() == protoreflect.BytesKind {
			one(fits, []byte(value))
			return
		}
		one(fits, value)
	}
	if b.Needed {
		add(false, func(m protoreflect.Message) { m.Clear(field) })
	}
	if b.Max > 0 {
		one(true, b.Min)
		one(true, b.Max)
		one(false, b.Min-1)
		one(false, b.Max+2) // which is a number of JavaScript too
	}
	for fits, n := range map[bool]int{true: b.Items, false: b.Items + 1} {
		if b.Items > 0 {
			add(fits, func(m protoreflect.Message) {
				list := m.Mutable(field).List()
				for list.Len() < n {
					list.Append(list.Get(0))
				}
			})
		}
	}
	for _, word := range b.Words {
		text(true, word)
	}
	if len(b.Words) > 0 {
		text(false, "else")
	}
	if b.Characters > 0 {
		text(true, strings.Repeat("é", b.Characters))
		text(false, strings.Repeat("é", b.Characters+1))
	}
	if b.Bytes > 0 {
		start, end := "", ""
		switch field.Name() {
		case "source_url":
			start = "https://a.example/"
		case "visual_json":
			start, end = `"`, `"`
		}
		filled := func(n int) string { return start + strings.Repeat("a", n-len(start)-len(end)) + end }
		text(true, filled(b.Bytes))
		text(false, filled(b.Bytes+1))
	}
	if b.Form != "" {
		text(false, "a:b/c")
	}
	if field.Kind() == protoreflect.DoubleKind {
		one(true, -1.5)
		one(false, math.Inf(1))
		one(false, math.NaN())
	}
}

// inGo is what the kit in Go says, and whether the host would take the message as it is.
func inGo(m proto.Message) (fits error, kept bool) {
	same := func(after proto.Message, repairs stage.Repairs, err error) bool {
		return err == nil && !repairs.Any() && proto.Equal(m, after)
	}
	switch m := m.(type) {
	case *stagev1.Record:
		one := stage.DecodeRecord(m)
		fits = stage.Fits(one)
		repairs, err := one.Clean()
		return fits, same(stage.EncodeRecord(&one), repairs, err)
	case *stagev1.File:
		one := stage.File{Ref: stage.DecodeRef(m.GetRef()), Name: m.GetName()}
		return stage.Fits(one), one.Ref.Clean() == nil
	case *stagev1.Verdict:
		one := stage.DecodeVerdict(m)
		fits = stage.Fits(one)
		repairs, err := one.Clean()
		return fits, same(stage.EncodeVerdict(&one), repairs, err)
	case *stagev1.Finding:
		one := stage.DecodeFinding(m)
		fits = stage.Fits(one)
		one.Frames = nil // whose pictures are none here
		m.Frames = nil
		repairs, err := one.Clean()
		return fits, same(stage.EncodeFinding(&one), repairs, err)
	case *stagev1.Seed:
		one := stage.DecodeSeed(m)
		fits = stage.Fits(one)
		repairs, err := one.Clean()
		return fits, same(stage.EncodeSeed(one), repairs, err)
	case *stagev1.Sentence:
		one := stage.DecodeSentence(m)
		fits = stage.Fits(one)
		repairs, err := one.Clean()
		return fits, same(stage.EncodeSentence(one), repairs, err)
	}
	return fmt.Errorf("%T", m), false
}

const judgedByPython = `
import json, sys
from scrollery_stage.bounds import fits
from scrollery_stage import pb
for case in json.load(sys.stdin):
    try:
        fits(getattr(pb, case["message"]).FromString(bytes.fromhex(case["bytes"])))
        print("fits")
    except ValueError as error:
        print(error)
`

const judgedByTypeScript = `
import { readFileSync } from "node:fs";
import { fits } from "./scrollery-stage/bounds.js";
import { decode } from "./scrollery-stage/codec.js";
for (const { message, bytes } of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    fits(message, decode(message, Buffer.from(bytes, "hex")));
    console.log("fits");
  } catch (error) {
    console.log(error.message);
  }
}
`

// TestBoundsAreThoseOfTheHost in all languages: what fits is what the host takes as it is.
func TestBoundsAreThoseOfTheHost(t *testing.T) {
	t.Parallel()
	all := atBounds()
	seen := map[string]bool{}
	for _, one := range all {
		seen[one.Field] = true
	}
	for name := range stage.Bounds() {
		if !seen[name] {
			t.Errorf("nothing is emitted with %s at its bound", name)
		}
	}
	// Not named as in the host, whose own check of these is another, or takes more.
	others := []string{"Seed.limit", "Seed.handle", "Frame.at", "Finding.frames", "File.name", "File.ref"}
	t.Run("go", func(t *testing.T) {
		for _, one := range all {
			fits, kept := inGo(proto.Clone(one.message))
			if (fits == nil) != one.Fits || kept != one.Fits && !slices.Contains(others, one.Field) {
				t.Errorf("%s: error %v, kept %v by the host; want fits %v:\n%.300s", one.Field, fits, kept, one.Fits, prototext.Format(one.message))
			}
		}
	})
	input, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	for lang, program := range map[string][]string{"python": {"/usr/bin/python3", "-c", judgedByPython}, "ts": {"node", "--input-type=module", "-e", judgedByTypeScript}} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			if lang == "python" && exec.Command(program[0], "-c", "import google.protobuf").Run() != nil || exec.Command(program[0], "--version").Run() != nil {
				if os.Getenv("CI") == "" {
					t.Skip(program[0] + " has not what the kit needs")
				}
			}
			dir := filepath.Join(t.TempDir(), "acme")
			if _, err := kit.New(kit.Plan{Name: "acme", Kind: stage.SourceKind, Lang: lang, Version: "v1.2.3", Dir: dir}); err != nil {
				t.Fatal(err)
			}
			// What is imported is not the server's, which needs more.
			command := exec.CommandContext(t.Context(), program[0], program[1:]...)
			command.Dir, command.Stdin = dir, strings.NewReader(string(input))
			out, err := command.CombinedOutput()
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			if err != nil || len(lines) != len(all) {
				t.Fatalf("error %v, %d lines, want %d:\n%.2000s", err, len(lines), len(all), out)
			}
			for i, one := range all {
				if (lines[i] == "fits") != one.Fits {
					t.Errorf("%s: got %.200q, want fits %v:\n%.300s", one.Field, lines[i], one.Fits, prototext.Format(one.message))
				}
			}
		})
	}
}
