package bounds_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/scrollery/scrollery/modules/kernel/api/bounds"
	_ "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// messages returns the types of the API's messages: requests, responses and parts.
func messages(t *testing.T) (list []protoreflect.MessageType) {
	t.Helper()
	protoregistry.GlobalTypes.RangeMessages(func(m protoreflect.MessageType) bool {
		if m.Descriptor().FullName().Parent() == "scrollery.v1" {
			list = append(list, m)
		}
		return true
	})
	if len(list) < 100 {
		t.Fatalf("got %d messages of the API, want 100 or more", len(list))
	}
	return list
}

func TestBoundsAreThoseOfProtovalidate(t *testing.T) {
	t.Parallel()
	reference, err := protovalidate.New()
	if err != nil {
		t.Fatal(err)
	}
	source := rand.New(rand.NewPCG(1, 2))
	seen := map[*regexp.Regexp]bool{}
	for _, typ := range messages(t) {
		checked, err := bounds.Compile(typ.Descriptor())
		if err != nil {
			t.Error(err)
			continue
		}
		for range 200 {
			message := typ.New()
			fill(source, message, 3)
			want := violations(t, reference.Validate(message.Interface()), seen)
			got := checked.Check(message)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s differs from protovalidate for %v (-want +got):\n%s", typ.Descriptor().FullName(), message.Interface(), diff)
			}
		}
	}
	for _, w := range words {
		if !seen[w.theirs] {
			t.Errorf("got no violation that protovalidate calls %q, want some: the comparison does not cover it", w.theirs)
		}
	}
}

// words are the messages of protovalidate that the package has other words for, and those
// words. A message of protovalidate that is not here fails the comparison.
var words = []word{
	{whole("value is required"), "is required"},
	{whole("must be at least 1 characters"), "must not be empty"},
	{whole(`must be at least (\d+) characters`), "must be at least $1 characters"},
	{whole(`must be at most (\d+) characters`), "must be at most $1 characters"},
	{whole(`must be in list \[(.*)\]`), "must be one of $1"},
	{whole("does not match regex pattern `\\^claim_\\[A-Za-z0-9\\]\\{16,128\\}\\$`"), "must be claim_ with 16 to 128 letters or digits after it"},
	{whole("value is empty, which is not a valid email address"), "must not be empty"},
	{whole("must be a valid email address"), "must be a valid email address"},
	{whole(`must be greater than or equal to (\S+) and less than or equal to (\S+)`), "must be from $1 to $2"},
	{whole(`must be greater than or equal to (\S+)`), "must be at least $1"},
	{whole(`must contain no more than (\d+) item\(s\)`), "must have at most $1 items"},
	{whole("repeated value must contain unique items"), "must not have an item twice"},
}

type word struct {
	theirs *regexp.Regexp
	ours   string
}

func whole(theirs string) *regexp.Regexp { return regexp.MustCompile("^" + theirs + "$") }

// violations writes protovalidate's violations in the words of the package, and notes in
// seen which messages it met.
func violations(t *testing.T, err error, seen map[*regexp.Regexp]bool) (list []bounds.Violation) {
	t.Helper()
	var failed *protovalidate.ValidationError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	if failed == nil {
		return nil
	}
	for _, v := range failed.Violations {
		var path strings.Builder
		for i, e := range v.Proto.GetField().GetElements() {
			if i > 0 {
				path.WriteByte('.')
			}
			path.WriteString(camel(e.GetFieldName()))
			if _, ok := e.GetSubscript().(*validate.FieldPathElement_Index); ok {
				fmt.Fprintf(&path, "[%d]", e.GetIndex())
			}
		}
		message := "no words for: " + v.Proto.GetMessage()
		for _, w := range words {
			if w.theirs.MatchString(v.Proto.GetMessage()) {
				message, seen[w.theirs] = w.theirs.ReplaceAllString(v.Proto.GetMessage(), w.ours), true
				break
			}
		}
		list = append(list, bounds.Violation{Path: path.String(), Message: message})
	}
	return list
}

// camel writes a field's name as JSON does.
func camel(name string) string {
	parts := strings.Split(name, "_")
	for i := 1; i < len(parts); i++ {
		if parts[i] != "" {
			parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
		}
	}
	return strings.Join(parts, "")
}

// fill sets fields of a message to values at and around their bounds.
func fill(source *rand.Rand, message protoreflect.Message, depth int) {
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if source.IntN(4) == 0 || fd.IsMap() || fd.Message() != nil && (depth == 0 || fd.Message().ParentFile().Package() != "scrollery.v1") {
			continue
		}
		if !fd.IsList() {
			message.Set(fd, value(source, message.NewField(fd), fd, depth))
			continue
		}
		list := message.Mutable(fd).List()
		for range []int{0, 1, 2, 21, 33}[source.IntN(5)] {
			list.Append(value(source, list.NewElement(), fd, 0))
		}
	}
}

// longest and tooLong are the letters of texts of and above their bound.
const longest, tooLong = "é", "x"

func value(source *rand.Rand, empty protoreflect.Value, fd protoreflect.FieldDescriptor, depth int) protoreflect.Value {
	rules, _ := proto.GetExtension(fd.Options(), validate.E_Field).(*validate.FieldRules)
	switch fd.Kind() {
	case protoreflect.StringKind:
		texts := []string{"", "a", "ü", "a@example.com", "a@", "claim_0123456789abcdefXYZ", longest, tooLong}
		texts = append(texts, rules.GetString().GetIn()...)
		text := texts[source.IntN(len(texts))]
		switch text {
		case longest:
			text = strings.Repeat(longest, int(min(rules.GetString().GetMaxLen(), 30000)))
		case tooLong:
			text = strings.Repeat(tooLong, int(min(rules.GetString().GetMaxLen()+1, 30000)))
		}
		return protoreflect.ValueOfString(text)
	case protoreflect.Int32Kind:
		low, high := rules.GetInt32().GetGte(), rules.GetInt32().GetLte()
		return protoreflect.ValueOfInt32([]int32{0, -1, low, low - 1, high, high + 1, math.MaxInt32}[source.IntN(7)])
	case protoreflect.DoubleKind:
		low, high := rules.GetDouble().GetGte(), rules.GetDouble().GetLte()
		return protoreflect.ValueOfFloat64([]float64{0, -0.5, low, low - 1, high, high + 1, math.NaN(), math.Inf(1)}[source.IntN(8)])
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(source.IntN(2) == 0)
	case protoreflect.MessageKind:
		fill(source, empty.Message(), depth-1)
	}
	return empty
}

func TestCompileRefusesARuleThatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for name, rules := range map[string]*validate.FieldRules{
		"a prefix":            validate.FieldRules_builder{String: validate.StringRules_builder{Prefix: proto.String("x")}.Build()}.Build(),
		"an own pattern":      validate.FieldRules_builder{String: validate.StringRules_builder{Pattern: proto.String("^x$")}.Build()}.Build(),
		"an expression":       validate.FieldRules_builder{CelExpression: []string{"this == 'a'"}}.Build(),
		"ignored if zero":     validate.FieldRules_builder{Ignore: validate.Ignore_IGNORE_IF_ZERO_VALUE.Enum()}.Build(),
		"a rule of int64":     validate.FieldRules_builder{Int64: validate.Int64Rules_builder{Gte: proto.Int64(1)}.Build()}.Build(),
		"an exclusive number": validate.FieldRules_builder{Int32: validate.Int32Rules_builder{Gt: proto.Int32(1)}.Build()}.Build(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := &descriptorpb.FieldOptions{}
			proto.SetExtension(options, validate.E_Field, rules)
			file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
				Name: proto.String("x.proto"), Syntax: proto.String("proto3"), MessageType: []*descriptorpb.DescriptorProto{{
					Name: proto.String("X"), Field: []*descriptorpb.FieldDescriptorProto{{
						Name: proto.String("f"), Number: proto.Int32(1), Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum(),
						Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(), Options: options,
					}},
				}},
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := bounds.Compile(dynamicpb.NewMessageType(file.Messages().Get(0)).Descriptor()); err == nil {
				t.Error("got no error, want an error")
			}
		})
	}
}
