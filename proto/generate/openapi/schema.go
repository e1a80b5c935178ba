package main

import (
	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

func rulesOf(field protoreflect.FieldDescriptor) *validate.FieldRules {
	rules, _ := proto.GetExtension(field.Options(), validate.E_Field).(*validate.FieldRules)
	return rules
}

func required(field protoreflect.FieldDescriptor) bool { return rulesOf(field).GetRequired() }

func rpcOnly(field protoreflect.FieldDescriptor) bool {
	is, _ := proto.GetExtension(field.Options(), scrolleryv1.E_RpcOnly).(bool)
	return is
}

// restName is the name of a field on REST.
func restName(field protoreflect.FieldDescriptor) string {
	if name, _ := proto.GetExtension(field.Options(), scrolleryv1.E_RestName).(string); name != "" {
		return name
	}
	return field.JSONName()
}

func omitUnset(field protoreflect.FieldDescriptor) bool {
	is, _ := proto.GetExtension(field.Options(), scrolleryv1.E_OmitUnset).(bool)
	return is
}

// request describes a request body, without additional properties.
func (d *document) request(desc protoreflect.MessageDescriptor) object {
	properties, must := object{}, []any{}
	for i := range desc.Fields().Len() {
		field := desc.Fields().Get(i)
		if rpcOnly(field) {
			continue
		}
		properties[restName(field)] = annotate(d.requestField(field), field)
		if required(field) {
			must = append(must, restName(field))
		}
	}
	schema := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(must) > 0 {
		schema["required"] = must
	}
	return schema
}

func (d *document) requestField(field protoreflect.FieldDescriptor) object {
	if field.Message() != nil && field.Message().FullName() == "google.protobuf.Value" {
		return annotations()
	}
	return d.plain(field)
}

// annotations is the only free-form property of requests.
func annotations() object {
	text := object{"type": "string", "maxLength": 500}
	return object{
		"type": []any{"object", "null"}, "maxProperties": 50,
		"propertyNames":        object{"minLength": 1, "maxLength": 100},
		"additionalProperties": object{"oneOf": []any{text, object{"type": "array", "maxItems": 20, "items": text}}},
	}
}

// message returns a reference to a response message, describing it when it is new.
func (d *document) message(desc protoreflect.MessageDescriptor) object {
	switch desc.FullName() {
	case "google.protobuf.Struct":
		return object{"type": "object"}
	case "google.protobuf.Value":
		return object{"type": []any{"string", "object", "null"}}
	}
	name := string(desc.Name())
	if _, known := d.schemas[name]; !known {
		schema := object{"type": "object"}
		d.schemas[name] = schema
		d.fill(schema, desc, func(field protoreflect.FieldDescriptor) bool { return !omitUnset(field) })
		if text := comment(desc); text != "" {
			schema["description"] = text
		}
	}
	return reference(name)
}

// fill describes the fields of a response message; always reports whether every answer
// has a field.
func (d *document) fill(schema object, desc protoreflect.MessageDescriptor, always func(protoreflect.FieldDescriptor) bool) {
	properties, must := object{}, []any{}
	for i := range desc.Fields().Len() {
		field := desc.Fields().Get(i)
		if rpcOnly(field) {
			continue
		}
		properties[restName(field)] = annotate(d.responseField(field), field)
		if always(field) {
			must = append(must, restName(field))
		}
	}
	schema["properties"] = properties
	if len(must) > 0 {
		schema["required"] = must
	}
}

// responseField allows null for a field with presence, unless its rules require it.
func (d *document) responseField(field protoreflect.FieldDescriptor) object {
	schema := d.plain(field)
	if !field.HasPresence() || field.IsList() || omitUnset(field) || required(field) {
		return schema
	}
	if field.Message() != nil && schema["$ref"] != nil {
		return object{"oneOf": []any{schema, object{"type": "null"}}}
	}
	if kind, ok := schema["type"].(string); ok {
		schema["type"] = []any{kind, "null"}
	}
	if values, ok := schema["enum"].([]any); ok {
		schema["enum"] = append(values, nil)
	}
	return schema
}

// plain describes a field's type and bounds.
func (d *document) plain(field protoreflect.FieldDescriptor) object {
	rules := rulesOf(field)
	if !field.IsList() {
		return d.bounded(field, rules)
	}
	schema := object{"type": "array", "items": d.bounded(field, rules.GetRepeated().GetItems())}
	if r := rules.GetRepeated(); r != nil {
		if r.HasMaxItems() {
			schema["maxItems"] = r.GetMaxItems()
		}
		if r.GetUnique() {
			schema["uniqueItems"] = true
		}
	}
	return schema
}

func (d *document) bounded(field protoreflect.FieldDescriptor, rules *validate.FieldRules) object {
	switch field.Kind() {
	case protoreflect.MessageKind:
		return d.message(field.Message())
	case protoreflect.BoolKind:
		return object{"type": "boolean"}
	case protoreflect.DoubleKind:
		return numberBounds(object{"type": "number"}, rules)
	case protoreflect.Int32Kind:
		return numberBounds(object{"type": "integer"}, rules)
	default:
		return textBounds(object{"type": "string"}, rules.GetString())
	}
}

func numberBounds(schema object, rules *validate.FieldRules) object {
	if r := rules.GetInt32(); r != nil {
		if r.HasGte() {
			schema["minimum"] = r.GetGte()
		}
		if r.HasLte() {
			schema["maximum"] = r.GetLte()
		}
	}
	if r := rules.GetDouble(); r != nil {
		if r.HasGte() {
			schema["minimum"] = r.GetGte()
		}
		if r.HasLte() {
			schema["maximum"] = r.GetLte()
		}
	}
	return schema
}

func textBounds(schema object, r *validate.StringRules) object {
	if r == nil {
		return schema
	}
	if r.HasMinLen() {
		schema["minLength"] = r.GetMinLen()
	}
	if r.HasMaxLen() {
		schema["maxLength"] = r.GetMaxLen()
	}
	if r.HasPattern() {
		schema["pattern"] = r.GetPattern()
	}
	if r.GetEmail() {
		schema["format"] = "email"
	}
	if len(r.GetIn()) > 0 {
		var values []any
		for _, value := range r.GetIn() {
			values = append(values, value)
		}
		schema["enum"] = values
	}
	return schema
}

// annotate adds a field's comment and its deprecation.
func annotate(schema object, field protoreflect.FieldDescriptor) object {
	if text := comment(field); text != "" {
		schema["description"] = text
	}
	if options, ok := field.Options().(*descriptorpb.FieldOptions); ok && options.GetDeprecated() {
		schema["deprecated"] = true
	}
	return schema
}
