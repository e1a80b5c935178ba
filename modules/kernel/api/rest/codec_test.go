package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/go-json-experiment/json/jsontext"

	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

func shapeFor(message proto.Message) *Shape {
	return ShapeOf(message.ProtoReflect().Descriptor(), map[protoreflect.FullName]*Shape{})
}

// random fills a message with values of every kind, edges among them.
func random(r *rand.Rand, message protoreflect.Message, depth int) {
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if r.IntN(4) == 0 || (fd.Message() != nil && depth == 0) {
			continue
		}
		if fd.Message() != nil && !fd.IsList() {
			switch value := message.Mutable(fd).Message().Interface().(type) {
			case *structpb.Struct:
				value.Fields = map[string]*structpb.Value{randomText(r): structpb.NewNumberValue(randomNumber(r)), "n": structpb.NewNullValue()}
			case *structpb.Value:
				value.Kind = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{structpb.NewStringValue(randomText(r)), structpb.NewBoolValue(true)}}).Kind
			default:
				random(r, value.ProtoReflect(), depth-1)
			}
			continue
		}
		if !fd.IsList() {
			message.Set(fd, randomScalar(r, fd))
			continue
		}
		list := message.Mutable(fd).List()
		for range r.IntN(3) {
			if fd.Message() == nil {
				list.Append(randomScalar(r, fd))
				continue
			}
			random(r, list.AppendMutable().Message(), depth-1)
		}
	}
}

func randomScalar(r *rand.Rand, fd protoreflect.FieldDescriptor) protoreflect.Value {
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(r.IntN(2) == 0)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(r.Uint32()))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(randomNumber(r))
	default:
		return protoreflect.ValueOfString(randomText(r))
	}
}

func randomNumber(r *rand.Rand) float64 {
	edges := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 1e21, 1e-7, 1 << 53, 1<<53 - 1, -1 << 53, 1774137600000, 39.99, math.MaxFloat64, math.SmallestNonzeroFloat64, 9.3e18, -9.3e18}
	if i := r.IntN(len(edges) * 2); i < len(edges) {
		return edges[i]
	}
	return r.NormFloat64() * 1e6
}

func randomText(r *rand.Rand) string {
	letters := []rune("aé😀\"\\/<>&\n\t\x01\u2028\u007f\ufffd")
	var text strings.Builder
	for range r.IntN(8) {
		text.WriteRune(letters[r.IntN(len(letters))])
	}
	return text.String()
}

// reduce drops what only one of the two encoders shows: nulls and empty lists.
func reduce(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range value {
			if list, ok := member.([]any); member != nil && (!ok || len(list) > 0) {
				out[name] = reduce(member)
			}
		}
		return out
	case []any:
		for i := range value {
			value[i] = reduce(value[i])
		}
	}
	return value
}

func TestEncoderAgreesWithProtoJSON(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	messages := []proto.Message{
		&scrolleryv1.GetHooksResponse{}, &scrolleryv1.CreateScrollResponse{}, &scrolleryv1.SetWorkspaceResponse{},
		&scrolleryv1.GetTrendsResponse{}, &scrolleryv1.GetPricingResponse{}, &scrolleryv1.GetRulesResponse{}, &scrolleryv1.Error{},
	}
	for n := range 2000 {
		message := messages[n%len(messages)].ProtoReflect().New()
		random(r, message, 5)
		if token := message.Descriptor().Fields().ByName("next_page_token"); token != nil {
			message.Clear(token)
		}
		got, err := AppendMessage(nil, message, shapeFor(message.Interface()))
		if err != nil {
			t.Fatal(err)
		}
		reference, err := protojson.MarshalOptions{EmitUnpopulated: true}.Marshal(message.Interface())
		if err != nil {
			t.Fatal(err)
		}
		var ours, theirs any
		if err := json.Unmarshal(got, &ours); err != nil {
			t.Fatalf("%v: %s", err, got)
		}
		if err := json.Unmarshal(reference, &theirs); err != nil {
			t.Fatal(err)
		}
		if theirs, ok := theirs.(map[string]any); ok {
			delete(theirs, "nextPageToken")
		}
		if !reflect.DeepEqual(reduce(ours), reduce(theirs)) {
			t.Fatalf("got\n%s\nwant the members of the reference\n%s", got, reference)
		}
	}
}

func TestEncoderForm(t *testing.T) {
	t.Parallel()
	for want, message := range map[string]proto.Message{
		`{"found":false,"scroll":null}`:             &scrolleryv1.GetScrollResponse{},
		`{"hooks":[]}`:                              &scrolleryv1.GetHooksResponse{NextPageToken: "hidden"},
		`{"videos":[],"nextCursor":null}`:           &scrolleryv1.GetLibraryResponse{},
		`{"kind":"<own>&"}`:                         &scrolleryv1.Source{Kind: "<own>&"},
		`{"kind":"","handle":"` + "a\ufffdb" + `"}`: &scrolleryv1.Source{Handle: proto.String("a\xffb")},

		`{"videoCount":-5,"medianGrowthMultiple":1000000000000000000000}`: &scrolleryv1.TrendMetrics{VideoCount: -5, MedianGrowthMultiple: 1e21},
		`{"videoCount":0,"medianGrowthMultiple":0.0000001}`:               &scrolleryv1.TrendMetrics{MedianGrowthMultiple: 1e-7},
	} {
		t.Run(want, func(t *testing.T) {
			got, err := AppendMessage(nil, message.ProtoReflect(), shapeFor(message))
			if err != nil || string(got) != want {
				t.Errorf("%s, %v\nwant %s", got, err, want)
			}
		})
	}
	for _, number := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		t.Run(fmt.Sprintf("%v is refused", number), func(t *testing.T) {
			if _, err := appendNumber(nil, number); err == nil {
				t.Errorf("%v was encoded, want an error", number)
			}
		})
	}
}

// decode runs the strict decoder over a body.
func decode(d *Decoder, s *Shape, message proto.Message, body []byte) {
	d.Reset()
	d.buffer.Write(body)
	d.body(message.ProtoReflect(), s)
}

// FuzzDecoder holds the decoder against a parser that knows nothing of it: what
// it accepts is one JSON object with known names, each once, of sound text.
func FuzzDecoder(f *testing.F) {
	for _, seed := range []string{
		`{"videoId":"v","agentMetadata":{"note":["a","b"],"x":"y"}}`, `{"videoId":"\ud83d\ude00","agentMetadata":null}`,
		`{"videoId":"\ud800"}`, `{"videoId":1e5,"agentMetadata":[[]]}`, `{}{}`, `{"a":`, "{\"videoId\":\"\xff\"}", `{"agentMetadata":{"a":{"b":[{"c":1}]}}}`,
	} {
		f.Add([]byte(seed))
	}
	s := shapeFor(&scrolleryv1.AnnotateLibraryVideoRequest{})
	f.Fuzz(func(t *testing.T, body []byte) {
		d, message := NewDecoder(), &scrolleryv1.AnnotateLibraryVideoRequest{}
		decode(d, s, message, body)
		for _, issue := range d.Issues.list {
			if !utf8.ValidString(issue.Path) || !utf8.ValidString(issue.Message) {
				t.Fatalf("got the issue %q, want valid text", issue)
			}
		}
		if message.AgentMetadata != nil {
			CheckFree(&d.Issues, "agentMetadata", message.AgentMetadata)
		}
		if !d.Issues.Empty() {
			return
		}
		if !jsontext.Value(bytes.TrimSpace(body)).IsValid() {
			t.Fatalf("got %q accepted, want only strict JSON", body)
		}
		var plain struct {
			VideoID       *string         `json:"videoId"`
			AgentMetadata json.RawMessage `json:"agentMetadata"`
		}
		if err := json.Unmarshal(body, &plain); err != nil {
			t.Fatalf("got %q accepted, want what encoding/json reads too: %v", body, err)
		}
		if (plain.VideoID == nil) != (message.VideoId == nil) || (plain.VideoID != nil && *plain.VideoID != message.GetVideoId()) {
			t.Fatalf("%q: got %v, want the video id that encoding/json reads", body, message)
		}
		for _, raw := range d.Raw {
			var ours, theirs any
			if json.Unmarshal(raw.Text, &ours) != nil || json.Unmarshal(plain.AgentMetadata, &theirs) != nil || !reflect.DeepEqual(ours, theirs) {
				t.Fatalf("%q: got the metadata %q, want what encoding/json reads", body, raw.Text)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	body := []byte(`{"description":"A small espresso machine for travellers","website":"https://www.example.com/espresso","competitors":["@one","@two","@three"],"name":"Espresso"}`)
	s, d := shapeFor(&scrolleryv1.SetWorkspaceRequest{}), NewDecoder()
	b.ReportAllocs()
	for b.Loop() {
		decode(d, s, &scrolleryv1.SetWorkspaceRequest{}, body)
		if !d.Issues.Empty() {
			b.Fatalf("got the issues %v, want none", d.Issues.list)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	message := &scrolleryv1.CreateScrollResponse{Outcome: "queued", Scroll: &scrolleryv1.Scroll{
		Id: "scr_0123456789abc", Status: "queued", Progress: &scrolleryv1.Progress{}, ResultCounts: &scrolleryv1.ResultCounts{},
		CreatedAt: 1774137600000, UpdatedAt: 1774137600000,
	}}
	s := shapeFor(message)
	b.Run("api", func(b *testing.B) {
		b.ReportAllocs()
		var buffer []byte
		for b.Loop() {
			buffer, _ = AppendMessage(buffer[:0], message.ProtoReflect(), s)
		}
	})
	b.Run("protojson", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = protojson.Marshal(message)
		}
	})
}
