package show

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// JSON is a message as the REST API returns it.
func JSON(m proto.Message) []byte { return appendMessage(nil, m.ProtoReflect()) }

func appendMessage(out []byte, m protoreflect.Message) []byte {
	if free, ok := freeForm(m); ok {
		return append(out, free...)
	}
	out = append(out, '{')
	first := true
	for i := range m.Descriptor().Fields().Len() {
		field := m.Descriptor().Fields().Get(i)
		if option[bool](field, pb.E_RpcOnly) || !m.Has(field) && option[bool](field, pb.E_OmitUnset) {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(strconv.AppendQuote(out, nameOf(field)), ':')
		out = appendField(out, m, field)
	}
	return append(out, '}')
}

// freeForm is the text of a message of any shape.
func freeForm(m protoreflect.Message) ([]byte, bool) {
	switch m.Descriptor().FullName() {
	case "google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue":
		text, err := protojson.Marshal(m.Interface())
		var compact bytes.Buffer // protojson adds spaces by chance
		if err != nil || json.Compact(&compact, text) != nil {
			return []byte("null"), true
		}
		return compact.Bytes(), true
	}
	return nil, false
}

func appendField(out []byte, m protoreflect.Message, field protoreflect.FieldDescriptor) []byte {
	switch {
	case field.IsList():
		out = append(out, '[')
		list := m.Get(field).List()
		for i := range list.Len() {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendValue(out, list.Get(i))
		}
		return append(out, ']')
	case field.HasPresence() && !m.Has(field):
		return append(out, "null"...)
	}
	return appendValue(out, m.Get(field))
}

func appendValue(out []byte, value protoreflect.Value) []byte {
	switch v := value.Interface().(type) {
	case protoreflect.Message:
		return appendMessage(out, v)
	case string:
		out, _ = jsontext.AppendQuote(out, v) // the error reports broken UTF-8, which it replaced
		return out
	case bool:
		return strconv.AppendBool(out, v)
	case int32:
		return strconv.AppendInt(out, int64(v), 10)
	case float64:
		return jsontext.AppendFloat(out, v, 64)
	case []byte:
		return strconv.AppendQuote(out, base64.StdEncoding.EncodeToString(v))
	}
	return append(out, "null"...) // the API has no other kinds
}

// nameOf is the name of a field on REST.
func nameOf(field protoreflect.FieldDescriptor) string {
	if name := option[string](field, pb.E_RestName); name != "" {
		return name
	}
	return field.JSONName()
}

func option[T any](field protoreflect.FieldDescriptor, extension protoreflect.ExtensionType) T {
	value, _ := proto.GetExtension(field.Options(), extension).(T)
	return value
}
