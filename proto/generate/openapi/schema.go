package main

import (
	"slices"
	"strings"

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

// request returns a reference to a request body, which has no additional properties.
func (d *document) request(desc protoreflect.MessageDescriptor) object {
	name := string(desc.Name())
	if d.schemas[name] == nil {
		d.schemas[name] = d.body(desc)
	}
	return reference(name)
}

func (d *document) body(desc protoreflect.MessageDescriptor) object {
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
		return d.annotations()
	}
	return d.plain(field)
}

// annotations is the only free-form property of requests.
func (d *document) annotations() object {
	text := object{"type": "string", "maxLength": 500}
	d.schemas["AgentMetadata"] = object{
		"description": "The caller's own annotations, or null.",
		"type":        []any{"object", "null"}, "maxProperties": 50,
		"propertyNames":        object{"minLength": 1, "maxLength": 100},
		"additionalProperties": object{"oneOf": []any{text, object{"type": "array", "maxItems": 20, "items": text}}},
	}
	return reference("AgentMetadata")
}

// freeForm describes a free-form field of answers by its usual members.
func (d *document) freeForm(field protoreflect.FieldDescriptor) object {
	if field.Name() == "agent_metadata" {
		return d.annotations()
	}
	name, _ := proto.GetExtension(field.Options(), scrolleryv1.E_Members).(string)
	members := field.ParentFile().Messages().ByName(protoreflect.Name(name))
	if members == nil {
		return d.message(field.Message())
	}
	known := d.message(members)
	d.schemas[name].(object)["additionalProperties"] = true
	if field.Message().FullName() == "google.protobuf.Value" {
		return object{"oneOf": []any{known, object{"type": "string"}, object{"type": "null"}}}
	}
	return known
}

// forms describes a message whose fields depend on its status.
func (d *document) forms(desc protoreflect.MessageDescriptor, forms []*scrolleryv1.Form) object {
	var all []any
	mapping := object{}
	for _, form := range forms {
		name := strings.TrimSuffix(string(desc.Name()), "Response") + form.Name
		statuses := []any{}
		for _, status := range form.Statuses {
			statuses = append(statuses, status)
			mapping[status] = "#/components/schemas/" + name
		}
		properties, must := object{"status": object{"type": "string", "enum": statuses, "description": "What became of it."}}, []any{"status"}
		for i := range desc.Fields().Len() {
			field := desc.Fields().Get(i)
			always := slices.Contains(form.Always, field.JSONName())
			if always || slices.Contains(form.Sometimes, field.JSONName()) {
				properties[field.JSONName()] = annotate(d.responseField(field), field)
			}
			if always {
				must = append(must, field.JSONName())
			}
		}
		d.schemas[name] = object{"type": "object", "properties": properties, "required": must}
		all = append(all, reference(name))
	}
	return object{"oneOf": all, "discriminator": object{"propertyName": "status", "mapping": mapping}}
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
	forms, _ := proto.GetExtension(desc.Options(), scrolleryv1.E_Form).([]*scrolleryv1.Form)
	if _, known := d.schemas[name]; !known && len(forms) > 0 {
		d.schemas[name] = d.forms(desc, forms)
	} else if !known {
		schema := object{"type": "object"}
		d.schemas[name] = schema
		d.fill(schema, desc, func(field protoreflect.FieldDescriptor) bool { return !omitUnset(field) })
		if text := nameless(comment(desc), name); text != "" {
			schema["description"] = text
		}
	}
	if of, is := strings.CutSuffix(name, "Response"); is { // a name that oapi-codegen has for what its client returns
		d.schemas[name].(object)["x-go-name"] = of + "Answer"
	}
	return reference(name)
}

// nameless is the comment of a message without its name, which the schema has.
func nameless(text, name string) string {
	if rest, found := strings.CutPrefix(text, name+" is "); found {
		text = rest
	} else if rest, found := strings.CutPrefix(text, name+" "); found {
		text = rest
	}
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
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
	if desc := field.Message(); desc != nil && (desc.FullName() == "google.protobuf.Struct" || desc.FullName() == "google.protobuf.Value") {
		return d.freeForm(field)
	}
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
		return numberBounds(object{"type": "number", "format": "double"}, rules)
	case protoreflect.Int32Kind:
		return numberBounds(object{"type": "integer"}, rules)
	default:
		return textBounds(openText(field), rules.GetString())
	}
}

// openText describes a text: an address, or one whose known values are its examples. They are
// no enum, since more may come: a client must take what it does not know.
func openText(field protoreflect.FieldDescriptor) object {
	if values := knownValues(field); len(values) > 0 {
		return object{"type": "string", "examples": values}
	}
	switch name := field.JSONName(); {
	case name == "sourceUrl": // may be empty, and is whatever the source gave
		return object{"type": "string", "format": "uri-reference"}
	case name == "url" || name == "website" || strings.HasSuffix(name, "Url"):
		return object{"type": "string", "format": "uri"}
	}
	return object{"type": "string"}
}

func knownValues(field protoreflect.FieldDescriptor) []string {
	values, _ := proto.GetExtension(field.Options(), scrolleryv1.E_KnownValue).([]string)
	return values
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
	text := comment(field)
	if len(knownValues(field)) > 0 {
		text += " More values may come."
	}
	if text != "" {
		schema["description"] = text
	}
	if options, ok := field.Options().(*descriptorpb.FieldOptions); ok && options.GetDeprecated() {
		schema["deprecated"] = true
	}
	return schema
}
