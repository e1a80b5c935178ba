package rest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

// Bounds of a free-form property; protovalidate has no rules for them.
const (
	freeKeys  = 50
	freeName  = 100
	freeText  = 500
	freeItems = 20
)

// free decodes a free-form property: an object of texts and lists of texts, or null.
// It stores a deeper value as null, which CheckFree then reports at its path.
func (d *Decoder) free(message protoreflect.Message, f *field) error {
	raw, err := d.json.ReadValue()
	if err != nil {
		return err
	}
	kept := raw.Clone()
	value := d.freeMember(kept, f.name)
	_ = kept.Compact()
	message.Set(f.desc, protoreflect.ValueOfMessage(value.ProtoReflect()))
	d.Raw = append(d.Raw, RawField{f.name, json.RawMessage(kept)})
	return nil
}

func (d *Decoder) freeMember(raw jsontext.Value, path string) *structpb.Value {
	switch raw.Kind() {
	case 'n':
		return structpb.NewNullValue()
	case '{':
	default:
		return structpb.NewBoolValue(false)
	}
	object := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	in := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	_, _ = in.ReadToken()
	for in.PeekKind() == '"' {
		name := d.freeString(in, func(name string) string { return path + "." + name })
		at := path + "." + name
		if _, repeated := object.Fields[name]; repeated {
			d.Report(at, "is repeated")
		}
		object.Fields[name] = d.freeItem(in, at, true)
	}
	return structpb.NewStructValue(object)
}

// freeItem reads a text or, if lists is set, a list of texts.
func (d *Decoder) freeItem(in *jsontext.Decoder, path string, lists bool) *structpb.Value {
	switch kind := in.PeekKind(); {
	case kind == '"':
		return structpb.NewStringValue(d.freeString(in, func(string) string { return path }))
	case kind == '[' && lists:
		_, _ = in.ReadToken()
		list := &structpb.ListValue{}
		for k := in.PeekKind(); k != ']' && k != jsontext.KindInvalid; k = in.PeekKind() {
			list.Values = append(list.Values, d.freeItem(in, path+"["+strconv.Itoa(len(list.Values))+"]", false))
		}
		_, _ = in.ReadToken()
		return structpb.NewListValue(list)
	default:
		_ = in.SkipValue()
		return structpb.NewNullValue()
	}
}

func (d *Decoder) freeString(in *jsontext.Decoder, path func(string) string) string {
	raw, _ := in.ReadValue()
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil || bytes.IndexByte(text, 0) >= 0 {
		d.Report(path(string(text)), BadText)
	}
	return string(text)
}

// CheckFree checks a free-form value against its bounds, for every protocol.
func CheckFree(s *Issues, path string, value *structpb.Value) {
	if _, null := value.GetKind().(*structpb.Value_NullValue); null {
		return
	}
	if _, object := value.GetKind().(*structpb.Value_StructValue); !object {
		s.Add(path, "must be an object or null")
		return
	}
	fields := value.GetStructValue().GetFields()
	if len(fields) > freeKeys {
		s.Add(path, "must have at most %d keys", freeKeys)
	}
	for _, name := range sortedKeys(fields) {
		at := path + "." + name
		if length := utf8.RuneCountInString(name); length < 1 || length > freeName {
			s.Add(at, "key names must have 1 to %d characters", freeName)
		}
		if !IsSound(name) {
			s.Add(at, BadText)
		}
		checkFreeMember(s, at, fields[name])
	}
}

func checkFreeMember(s *Issues, path string, value *structpb.Value) {
	switch kind := value.GetKind().(type) {
	case *structpb.Value_StringValue:
		checkFreeText(s, path, kind.StringValue)
	case *structpb.Value_ListValue:
		items := kind.ListValue.GetValues()
		if len(items) > freeItems {
			s.Add(path, "must have at most %d items", freeItems)
		}
		for i, item := range items {
			at := path + "[" + strconv.Itoa(i) + "]"
			if text, ok := item.GetKind().(*structpb.Value_StringValue); ok {
				checkFreeText(s, at, text.StringValue)
			} else {
				s.Add(at, "must be a string")
			}
		}
	default:
		s.Add(path, "must be a string or a list of strings")
	}
}

func checkFreeText(s *Issues, path, text string) {
	if utf8.RuneCountInString(text) > freeText {
		s.Add(path, "must be at most %d characters", freeText)
	}
	if !IsSound(text) {
		s.Add(path, BadText)
	}
}

func sortedKeys(fields map[string]*structpb.Value) []string {
	return slices.Sorted(maps.Keys(fields))
}

// FreeBounds checks the JSON of a free-form property that is about to be stored, wherever it
// came from. It is empty for none; path is its name. It returns nil or an InvalidRequest with
// all faults.
func FreeBounds(path string, raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	text := jsontext.Value(raw)
	if !text.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		return apierr.Invalid(path, "must be an object or null")
	}
	d := NewDecoder()
	value := d.freeMember(text, path)
	CheckFree(&d.Issues, path, value)
	return d.Issues.OrNil()
}
