package mcp

import (
	"encoding/json"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// outputSchema describes what answers of a tool have, in both details: of a compact one any
// member may be missing. Texts of creators are in members named `untrusted`.
func outputSchema(t *tool) json.RawMessage {
	properties := propertiesOf(t.Output, map[protoreflect.FullName]bool{})
	delete(properties, "nextCursor")
	properties["next"] = kindOf("string")
	for _, mark := range []string{"shown", "of", "hidden"} {
		properties[mark] = kindOf("integer")
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
	if err != nil {
		panic(err) // names and kinds are texts
	}
	return schema
}

func kindOf(kinds ...string) map[string]any {
	if len(kinds) == 1 {
		return map[string]any{"type": kinds[0]}
	}
	return map[string]any{"type": kinds}
}

// propertiesOf are the members of a message as a view shows it. above are the messages that it
// is in.
func propertiesOf(desc protoreflect.MessageDescriptor, above map[protoreflect.FullName]bool) map[string]any {
	properties := map[string]any{untrusted: kindOf("object")}
	if above[desc.FullName()] {
		return properties
	}
	above[desc.FullName()] = true
	defer delete(above, desc.FullName())
	form := rows[string(desc.Name())]
	for i := range desc.Fields().Len() {
		field := desc.Fields().Get(i)
		name := nameOf(field)
		switch {
		case rpcOnly(field), isFree(field), field.Kind() == protoreflect.StringKind && !isOwn(field): // not there, or untrusted
			continue
		case field.IsList() && field.Message() != nil && !slices.Contains(form.ids, name):
			properties[name] = map[string]any{"type": "array", "items": map[string]any{"type": "object", "properties": propertiesOf(field.Message(), above)}}
		case field.IsList():
			properties[name] = kindOf("array")
		case field.Message() != nil:
			inner := propertiesOf(field.Message(), above)
			properties[name] = map[string]any{"type": []string{"object", "null"}, "properties": inner}
			if slices.Contains(form.inline, name) { // of a compact answer
				for member, schema := range inner {
					properties[member] = schema
				}
			}
		case field.Kind() == protoreflect.StringKind:
			properties[name] = kindOf("string", "null")
		case field.Kind() == protoreflect.BoolKind:
			properties[name] = kindOf("boolean", "null")
		default:
			properties[name] = kindOf("number", "null")
		}
	}
	return properties
}
