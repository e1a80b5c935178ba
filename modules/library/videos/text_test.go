package videos

import (
	stdjson "encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/plugins/stage"
)

// awkward are texts that JSON, databases or readers treat in their own way.
var awkward = []string{
	"", "a", " ", "\\", `"`, `\"`, "<b>&amp;", "\u2028\u2029", "\x7f", "\t\n", "é💡", "\xff", "\x00", "{", "]", ",", ":", "Hello you", strings.Repeat("ab ", 40),
}

func pick(random *rand.Rand) string {
	var b strings.Builder
	for range random.IntN(4) {
		b.WriteString(awkward[random.IntN(len(awkward))])
	}
	return b.String()
}

// randomJSON is a valid value, with white space here and there.
func randomJSON(random *rand.Rand, depth int) string {
	space := []string{"", "", " ", "\n\t"}[random.IntN(4)]
	quoted, _ := jsontext.AppendQuote(nil, pick(random))
	switch kind := random.IntN(8); {
	case kind < 3:
		return string(quoted)
	case kind == 3:
		return strconv.Itoa(random.IntN(1000)) + []string{"", ".50", "e+1"}[random.IntN(3)]
	case kind == 4:
		return []string{"null", "true", "false", "[]", "{}", "[ ]", "{ }"}[random.IntN(7)]
	case depth == 0:
		return "0"
	case kind == 5:
		parts := make([]string, random.IntN(4))
		for i := range parts {
			parts[i] = randomJSON(random, depth-1)
		}
		return "[" + space + strings.Join(parts, space+","+space) + "]"
	}
	return randomObject(random, depth-1, space)
}

func randomObject(random *rand.Rand, depth int, space string) string {
	names := []string{"hashtags", "HashTags", "soundId", "soundTitle", "durationSeconds", "durationseconds", "caption", "Caption", "title", "language", "x", "", "é", `\u0061`, `c\u0061ption`, "ſoundId"}
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	parts := make([]string, random.IntN(6))
	for i := range parts {
		parts[i] = `"` + names[i] + `"` + space + ":" + space + randomJSON(random, depth)
	}
	return "{" + space + strings.Join(parts, space+","+space) + space + "}"
}

// TestFactsAsReflected compares the members that are read by hand with those that
// encoding/json finds, which takes names in any case.
func TestFactsAsReflected(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	valid := 0
	for range 20_000 {
		text := []byte(randomObject(random, 3, []string{"", " "}[random.IntN(2)]))
		if !jsontext.Value(text).IsValid() {
			continue
		}
		valid++
		var want struct {
			Hashtags, SoundID, SoundTitle, DurationSeconds, Caption, Title, Language stdjson.RawMessage
		}
		if err := stdjson.Unmarshal(text, &want); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got, ok := readMeta(text)
		if !ok {
			t.Fatalf("%s: got it refused, want it read", text)
		}
		show := func(all ...[]byte) (shown []string) {
			for _, one := range all {
				shown = append(shown, string(one))
			}
			return shown
		}
		wanted := show(want.Hashtags, want.SoundID, want.SoundTitle, want.DurationSeconds, want.Caption, want.Title, want.Language)
		if diff := cmp.Diff(wanted, show(got.hashtags, got.soundID, got.soundTitle, got.duration, got.caption, got.title, got.language)); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", text, diff)
		}
		var tags []stdjson.RawMessage
		_ = stdjson.Unmarshal(want.Hashtags, &tags) // anything but a list holds no hashtags
		var elements, wantedElements []string
		eachElement(got.hashtags, func(raw []byte) { elements = append(elements, string(raw)) })
		for _, tag := range tags {
			wantedElements = append(wantedElements, string(tag))
		}
		if diff := cmp.Diff(wantedElements, elements); diff != "" {
			t.Fatalf("elements of %s (-want +got):\n%s", got.hashtags, diff)
		}
	}
	if valid < 10_000 {
		t.Errorf("the test tests little: got %d valid texts, want at least 10,000", valid)
	}
	for _, text := range []string{"", "null", "[]", "{", `"x"`} {
		if got := FactsOf([]byte(text)); !cmp.Equal(got, facts{}, cmp.AllowUnexported(facts{})) {
			t.Errorf("%q: got %+v, want no facts", text, got)
		}
	}
}

// TestValueIsCompact compares values with those that jsontext compacts.
func TestValueIsCompact(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	valid := 0
	for range 20_000 {
		text := randomJSON(random, 3)
		want := jsontext.Value(text)
		if !want.IsValid() {
			continue
		}
		valid++
		if err := want.Compact(); err != nil {
			t.Fatal(err)
		}
		if got := value(stdjson.RawMessage(text)); string(got) != string(want) {
			t.Fatalf("%s: got %s, want %s", text, got, want)
		}
	}
	if valid < 10_000 {
		t.Errorf("the test tests little: got %d valid texts, want at least 10,000", valid)
	}
}

// TestRenderAsReflected compares documents with those that the tags of the fields give.
func TestRenderAsReflected(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	number := func() *int64 {
		n := random.Int64() >> random.IntN(63)
		return []*int64{nil, &n}[random.IntN(2)]
	}
	text := func() *string {
		s := pick(random)
		return []*string{nil, &s}[random.IntN(2)]
	}
	some := func() jsontext.Value {
		if random.IntN(3) == 0 {
			return nil
		}
		return value(stdjson.RawMessage(randomJSON(random, 3)))
	}
	for range 5_000 {
		v := &Video{
			ID: pick(random), Ref: stage.Ref{Platform: pick(random), ExternalID: pick(random)}, SourceURL: pick(random), PostedAt: number(),
			FirstSeenAt: random.Int64(), LastSeenAt: random.Int64(), Annotations: some(), Metadata: object(stdjson.RawMessage(randomObject(random, 2, " "))),
			Metrics: Metrics{number(), number(), number(), number(), number(), number()},
			Hook:    Hook{Visual: some(), Spoken: text(), OnScreenText: text(), Version: random.IntN(3)},
		}
		if random.IntN(3) > 0 {
			v.Origin = &Origin{Kind: pick(random), Handle: text(), SeededBy: text()}
		}
		got := v.Render()
		doc, err := json.Marshal(v, AsWritten())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(doc), got.doc); diff != "" {
			t.Fatalf("document (-want +got):\n%s", diff)
		}
		if (v.Hook.Version > 0) != (got.hook != nil) {
			t.Fatalf("got a hook: %t, want one where the version %d is not 0", got.hook != nil, v.Hook.Version)
		}
		if got.hook == nil {
			continue
		}
		hook, err := json.Marshal(v.Hook, AsWritten())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(","+string(hook[1:]), *got.hook); diff != "" {
			t.Fatalf("hook (-want +got):\n%s", diff)
		}
	}
}

// TestOpeningOfTheFirstWords compares openings with those of whole texts, and with what their
// labels have.
func TestOpeningOfTheFirstWords(t *testing.T) {
	t.Parallel()
	parts := []string{" ", " ", "Stop", "scrolling", "é", "e\u0301", "\u0301", "ﬁx", "日本語", "💡", "1", "\u00a0", "\n", "ẞ", "…", "\xff", strings.Repeat("x", 30), strings.Repeat("!", 30)}
	random := rand.New(rand.NewPCG(9, 10))
	words := 0
	for range 20_000 {
		var texts [2]string
		for i := range texts {
			for range random.IntN(12) {
				texts[i] += parts[random.IntN(len(parts))]
			}
		}
		want := score.Opening(texts[0], texts[1])
		if got := openingOf(&texts[0], &texts[1]); got != want {
			t.Fatalf("%q: got %q, want %q", texts, got, want)
		}
		hook := Hook{Spoken: &texts[0], OnScreenText: &texts[1]}
		for _, key := range hook.keys() {
			if !strings.HasPrefix(key.Key, "opening:") {
				continue
			}
			if score.Opening(key.Label, "") != want {
				t.Fatalf("%q: got the label %q, want one whose opening is %q", texts, key.Label, want)
			}
			if strings.Contains(key.Label, " ") {
				words++
			}
		}
	}
	if words == 0 {
		t.Error("got no label of several words, want some")
	}
}
