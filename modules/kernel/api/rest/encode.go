package rest

import (
	"fmt"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
)

// AppendMessage appends a message in its REST form: the fields in the order of their
// declaration, null for an unset one, without the fields that REST does not have.
func AppendMessage(dst []byte, message protoreflect.Message, s *Shape) ([]byte, error) {
	if s.free != notFree {
		return appendFreeForm(dst, message)
	}
	dst = append(dst, '{')
	first := true
	for _, f := range s.fields {
		if f.rpcOnly {
			continue
		}
		unset := (f.presence || f.omitUnset) && !message.Has(f.desc)
		if unset && f.omitUnset {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, f.key...)
		var err error
		switch {
		case unset:
			dst = append(dst, "null"...)
		case f.list:
			dst, err = appendList(dst, message.Get(f.desc).List(), f)
		default:
			dst, err = appendValue(dst, message.Get(f.desc), f)
		}
		if err != nil {
			return dst, fmt.Errorf("encode %s: %w", f.desc.FullName(), err)
		}
	}
	return append(dst, '}'), nil
}

func appendList(dst []byte, list protoreflect.List, f *field) ([]byte, error) {
	dst = append(dst, '[')
	for i := range list.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendValue(dst, list.Get(i), f); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func appendValue(dst []byte, value protoreflect.Value, f *field) ([]byte, error) {
	switch f.kind {
	case protoreflect.StringKind:
		return appendText(dst, value.String()), nil
	case protoreflect.BoolKind:
		return strconv.AppendBool(dst, value.Bool()), nil
	case protoreflect.Int32Kind:
		return strconv.AppendInt(dst, value.Int(), 10), nil
	case protoreflect.DoubleKind:
		return appendNumber(dst, value.Float())
	case protoreflect.MessageKind:
		return AppendMessage(dst, value.Message(), f.message)
	default:
		return dst, fmt.Errorf("no JSON form for %s", f.kind)
	}
}

// appendText quotes text; invalid UTF-8 becomes U+FFFD.
func appendText(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text)
	return dst
}

// appendNumber appends a number without an exponent.
func appendNumber(dst []byte, number float64) ([]byte, error) {
	if whole := int64(number); float64(whole) == number && whole > -1<<53 && whole < 1<<53 {
		return strconv.AppendInt(dst, whole, 10), nil
	}
	if math.IsNaN(number) || math.IsInf(number, 0) {
		return dst, fmt.Errorf("%v is not a JSON number", number)
	}
	return strconv.AppendFloat(dst, number, 'f', -1, 64), nil
}

// appendFreeForm appends a free-form message, with sorted names.
func appendFreeForm(dst []byte, message protoreflect.Message) ([]byte, error) {
	switch free := message.Interface().(type) {
	case *structpb.Value:
		return AppendFree(dst, free)
	case *structpb.Struct:
		return appendFreeObject(dst, free)
	case *structpb.ListValue:
		return appendFreeList(dst, free)
	default:
		return dst, fmt.Errorf("%T is not free-form", free)
	}
}

// AppendFree appends a free-form value, with sorted names.
func AppendFree(dst []byte, value *structpb.Value) ([]byte, error) {
	switch kind := value.GetKind().(type) {
	case *structpb.Value_StringValue:
		return appendText(dst, kind.StringValue), nil
	case *structpb.Value_NumberValue:
		return appendNumber(dst, kind.NumberValue)
	case *structpb.Value_BoolValue:
		return strconv.AppendBool(dst, kind.BoolValue), nil
	case *structpb.Value_StructValue:
		return appendFreeObject(dst, kind.StructValue)
	case *structpb.Value_ListValue:
		return appendFreeList(dst, kind.ListValue)
	default:
		return append(dst, "null"...), nil
	}
}

func appendFreeObject(dst []byte, object *structpb.Struct) ([]byte, error) {
	dst = append(dst, '{')
	for i, name := range sortedKeys(object.GetFields()) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendText(dst, name), ':')
		var err error
		if dst, err = AppendFree(dst, object.Fields[name]); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func appendFreeList(dst []byte, list *structpb.ListValue) ([]byte, error) {
	dst = append(dst, '[')
	for i, item := range list.GetValues() {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = AppendFree(dst, item); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}
