package stage

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Bound is what a field of what stages emit may hold, whatever the stage is written in. A part that is
// zero bounds nothing. A value that is absent, or an empty text, is within every bound without Needed.
type Bound struct {
	// Min and Max are of a whole number; it has none if Max is zero.
	Min int64 `json:"min,omitempty"`
	Max int64 `json:"max,omitempty"`
	// Bytes and Characters are the most of a text, Items of a list.
	Bytes      int `json:"bytes,omitempty"`
	Characters int `json:"characters,omitempty"`
	Items      int `json:"items,omitempty"`
	// Words are the only texts.
	Words []string `json:"words,omitempty"`
	// Form is a regular expression of the whole text, which Go, Python and JavaScript read alike.
	Form string `json:"form,omitempty"`
	// Needed says that there must be a value, and no empty one.
	Needed bool `json:"needed,omitempty"`
	// Want says all of it for people.
	Want string `json:"want"`
}

// Bounds are those of the fields that have any, by message and name in the protocol: `Record.posted_at`.
// The host drops, cuts or refuses what is beyond them, and an emit of it ends the call unless the spec is
// Lenient.
func Bounds() map[string]Bound {
	label, text := most(MaxLabel), most(MaxText)
	count := Bound{Max: maxExact, Want: fmt.Sprintf("a whole number from 0 to %d", int64(maxExact))}
	moment := Bound{Max: maxExact, Want: "milliseconds from 0"}
	at := Bound{Min: minTime, Max: maxTime - 1, Want: "Unix milliseconds from 2000 to 2100"}
	video := Bound{Needed: true, Want: "the video"}
	keys := Bound{Items: MaxKeys, Want: fmt.Sprintf("at most %d", MaxKeys)}
	name := Bound{Characters: maxSeed, Want: fmt.Sprintf("at most %d characters", maxSeed)}
	return map[string]Bound{
		"Ref.platform":    {Form: `[A-Za-z0-9_]{1,40}`, Needed: true, Want: "1 to 40 of a-z, 0-9 and _"},
		"Ref.external_id": {Characters: MaxExternalID, Needed: true, Want: fmt.Sprintf("1 to %d characters", MaxExternalID)},

		"Record.ref":        video,
		"Record.source_url": {Bytes: MaxURL, Form: `[Hh][Tt][Tt][Pp][Ss]?://[\s\S]*`, Want: fmt.Sprintf("an http or https address of at most %d bytes", MaxURL)},
		"Record.posted_at":  at,
		"Record.creator_id": label,
		"Record.seed":       label,
		"Record.cues":       {Items: MaxCues, Want: fmt.Sprintf("at most %d", MaxCues)},
		"Record.stickers":   {Items: MaxStickers, Want: fmt.Sprintf("at most %d", MaxStickers)},
		"Record.keys":       keys,

		"Source.kind":         oneOf(seedKinds()...),
		"Source.handle":       label,
		"Source.seeded_by":    label,
		"Metrics.views":       count,
		"Metrics.likes":       count,
		"Metrics.comments":    count,
		"Metrics.shares":      count,
		"Metrics.saves":       count,
		"Metrics.followers":   count,
		"Metrics.observed_at": at,
		"Metrics.semantics":   oneOf(semantics()...),

		"Evidence.visual_json":    most(MaxVisual),
		"Evidence.spoken":         text,
		"Evidence.on_screen_text": text,
		"Cue.start":               moment,
		"Cue.end":                 moment,
		"Cue.text":                text,
		"Sticker.text":            text,
		"Sticker.start":           moment,
		"Key.key":                 label,
		"Key.label":               label,

		"File.ref":           video,
		"File.name":          {Bytes: maxFileName, Form: `[^/\\]+`, Needed: true, Want: "the name of a file in the scratch folder"},
		"Verdict.ref":        video,
		"Verdict.dropped_by": label,
		"Verdict.rule_id":    label,
		"Verdict.reason":     label,
		"Verdict.rank":       {Want: "a finite number"},
		"Finding.ref":        video,
		"Finding.keys":       keys,
		"Finding.frames":     {Items: MaxFrames, Want: fmt.Sprintf("at most %d", MaxFrames)},
		"Frame.at":           {Max: MaxFrameAt, Want: fmt.Sprintf("milliseconds from 0 to %d", MaxFrameAt)},

		"Seed.kind":      needed(oneOf(seedKinds()...)),
		"Seed.platform":  {Form: `[a-z0-9_]{1,40}`, Want: "1 to 40 of a-z, 0-9 and _"},
		"Seed.handle":    name,
		"Seed.term":      name,
		"Seed.limit":     count,
		"Sentence.part":  needed(oneOf(parts()...)),
		"Sentence.text":  {Characters: MaxSentence, Needed: true, Want: fmt.Sprintf("1 to %d characters", MaxSentence)},
		"Sentence.cites": {Items: MaxCites, Needed: true, Want: fmt.Sprintf("1 to %d", MaxCites)},
	}
}

func most(bytes int) Bound { return Bound{Bytes: bytes, Want: fmt.Sprintf("at most %d bytes", bytes)} }

func oneOf(words ...string) Bound {
	return Bound{Words: words, Want: "one of " + strings.Join(words, ", ")}
}

func needed(b Bound) Bound {
	b.Needed = true
	return b
}

// bounded is a bound with its form compiled.
type bounded struct {
	Bound
	form *regexp.Regexp
}

// bounds are those of Bounds, by the full name of the field.
var bounds = sync.OnceValue(func() map[protoreflect.FullName]bounded {
	all := map[protoreflect.FullName]bounded{}
	for name, b := range Bounds() {
		one := bounded{Bound: b}
		if b.Form != "" {
			one.form = regexp.MustCompile("^(?:" + b.Form + ")$")
		}
		all[protoreflect.FullName("scrollery.stage.v1."+name)] = one
	}
	return all
})

// misfit is a value beyond its bound.
type misfit struct{ path, want, got string }

func (m *misfit) in(path string) *misfit {
	m.path = path + "." + m.path
	return m
}

// misfitOf is the first value of a message beyond its bound; nil if all are within.
func misfitOf(m protoreflect.Message) *misfit {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		name, bound, value := field.JSONName(), bounds()[field.FullName()], m.Get(field)
		switch {
		case field.IsList():
			list := value.List()
			if n := list.Len(); bound.Items > 0 && n > bound.Items || bound.Needed && n == 0 {
				return &misfit{name, bound.Want, strconv.Itoa(n)}
			}
			for n := 0; field.Message() != nil && n < list.Len(); n++ {
				if found := misfitOf(list.Get(n).Message()); found != nil {
					return found.in(fmt.Sprintf("%s[%d]", name, n))
				}
			}
		case !m.Has(field):
			if bound.Needed {
				return &misfit{name, bound.Want, "none"}
			}
		case field.Message() != nil:
			if found := misfitOf(value.Message()); found != nil {
				return found.in(name)
			}
		case !bound.holds(field.Kind(), value):
			return &misfit{name, bound.Want, shown(field.Kind(), value)}
		}
	}
	return nil
}

// holds reports whether a value that is set is within the bound.
func (b bounded) holds(kind protoreflect.Kind, value protoreflect.Value) bool {
	switch kind {
	case protoreflect.Int64Kind:
		return b.Max == 0 || value.Int() >= b.Min && value.Int() <= b.Max
	case protoreflect.DoubleKind:
		return !math.IsNaN(value.Float()) && !math.IsInf(value.Float(), 0)
	case protoreflect.BytesKind:
		return b.Bytes == 0 || len(value.Bytes()) <= b.Bytes
	case protoreflect.StringKind:
		text := value.String()
		return (b.Bytes == 0 || len(text) <= b.Bytes) && (b.Characters == 0 || utf8.RuneCountInString(text) <= b.Characters) &&
			(len(b.Words) == 0 || slices.Contains(b.Words, text)) && (b.form == nil || b.form.MatchString(text))
	}
	return true
}

// shown is a value as an error says it.
func shown(kind protoreflect.Kind, value protoreflect.Value) string {
	const most = 80
	switch kind {
	case protoreflect.BytesKind:
		return fmt.Sprintf("%d bytes", len(value.Bytes()))
	case protoreflect.StringKind:
		if text := value.String(); len(text) > most {
			return fmt.Sprintf("%.*q… of %d bytes", most, text, len(text))
		}
		return strconv.Quote(value.String())
	}
	return value.String()
}

// Fits returns an error that names the first value of what a stage emits that is beyond its bound: a
// Seed, Record, File, Verdict, Finding or Sentence.
func Fits(emitted any) error {
	var m proto.Message
	switch one := emitted.(type) {
	case Seed:
		m = EncodeSeed(one)
	case Record:
		m = EncodeRecord(&one)
	case File:
		m = encodeFile(one)
	case Verdict:
		m = EncodeVerdict(&one)
	case Finding:
		m = EncodeFinding(&one)
	case Sentence:
		m = EncodeSentence(one)
	default:
		return fmt.Errorf("a stage emits no %T", emitted)
	}
	return fits(m)
}

func fits(m proto.Message) error {
	found := misfitOf(m.ProtoReflect())
	if found == nil {
		return nil
	}
	return fmt.Errorf("%s: want %s, got %s", found.in(string(m.ProtoReflect().Descriptor().Name())).path, found.want, found.got)
}

// place is the author's line that calls the SDK, in parentheses; empty if there is none.
func place() string {
	const own = "github.com/scrollery/scrollery/plugins/stage"
	callers := make([]uintptr, 32)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, own+".") && !strings.HasPrefix(frame.Function, own+"/") {
			return fmt.Sprintf(" (%s, line %d)", filepath.Base(frame.File), frame.Line)
		}
		if !more {
			return ""
		}
	}
}
