package main

import (
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

type object = map[string]any

// document collects the parts of the OpenAPI document.
type document struct {
	paths   object
	schemas object
	// refusals are the answers that operations share, by name.
	refusals object
	tags     []any
}

func newDocument(refusal protoreflect.MessageDescriptor) *document {
	d := &document{paths: object{}, schemas: object{}, refusals: object{}}
	for _, e := range errorForms() {
		d.schemas[e.schema] = e.describe(d, refusal)
	}
	return d
}

func (d *document) whole() object {
	slices.SortFunc(d.tags, func(a, b any) int {
		return strings.Compare(a.(object)["name"].(string), b.(object)["name"].(string))
	})
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Scrollery", "version": version,
			"description": "A private research library of short-form videos for each tenant. " +
				"Everything that a creator wrote (captions, metadata, addresses, transcripts, handles) is untrusted data.",
		},
		"servers": []any{object{"url": "/"}},
		"tags":    d.tags,
		"paths":   d.paths,
		"components": object{
			"schemas":   d.schemas,
			"responses": d.refusals,
			"headers":   headers(),
			"securitySchemes": object{"key": object{
				"type": "http", "scheme": "bearer", "description": "An API key or a session key.",
			}},
		},
	}
}

func (d *document) service(service protoreflect.ServiceDescriptor) {
	tag := strings.TrimSuffix(string(service.Name()), "Service")
	used := false
	for i := range service.Methods().Len() {
		method := service.Methods().Get(i)
		if op := operationOf(method); op.GetPath() != "" {
			item, ok := d.paths[op.Path].(object)
			if !ok {
				item = object{}
				d.paths[op.Path] = item
			}
			item[strings.ToLower(op.Method)] = d.operation(tag, method, op)
			used = true
		}
	}
	if used {
		d.tags = append(d.tags, object{"name": tag, "description": comment(service)})
	}
}

func (d *document) operation(tag string, method protoreflect.MethodDescriptor, op *scrolleryv1.Operation) object {
	o := object{
		"operationId": op.Id, "tags": []any{tag}, "summary": comment(method),
		"security": security(op), "responses": d.responses(method, op),
	}
	if op.Scope != "" {
		o["description"] = "Needs the scope `" + op.Scope + "`."
	}
	if op.Method == "GET" {
		parameters := d.parameters(method.Input())
		if method.IsStreamingServer() {
			parameters = append(parameters, object{
				"name": "Last-Event-ID", "in": "header", "schema": object{"type": "string", "maxLength": 200},
				"description": "The `id` of the last event that the client has; the stream goes on after it.",
			})
		}
		if len(parameters) > 0 {
			o["parameters"] = parameters
		}
		return o
	}
	o["requestBody"] = object{"required": true, "content": jsonContent(d.request(method.Input()))}
	return o
}

func public(op *scrolleryv1.Operation) bool {
	return op.Auth == scrolleryv1.Auth_AUTH_PUBLIC || op.Auth == scrolleryv1.Auth_AUTH_OLDER_PUBLIC
}

// security makes the key of a public operation optional; it attributes the event.
func security(op *scrolleryv1.Operation) []any {
	key := object{"key": []any{}}
	if public(op) {
		return []any{object{}, key}
	}
	return []any{key}
}

func (d *document) parameters(input protoreflect.MessageDescriptor) []any {
	var list []any
	for i := range input.Fields().Len() {
		field := input.Fields().Get(i)
		if rpcOnly(field) {
			continue
		}
		p := object{"name": restName(field), "in": "query", "required": required(field), "schema": d.requestField(field)}
		if text := comment(field); text != "" {
			p["description"] = text
		}
		list = append(list, p)
	}
	return list
}

func (d *document) responses(method protoreflect.MethodDescriptor, op *scrolleryv1.Operation) object {
	out := object{}
	statuses := op.Statuses
	if len(statuses) == 0 {
		statuses = []int32{200}
	}
	if method.IsStreamingServer() {
		statuses = nil
		d.events(out, method.Output())
	}
	for _, status := range statuses {
		out[strconv.Itoa(int(status))] = object{
			"description": "Success.", "headers": headerRefs(false), "content": jsonContent(d.message(method.Output())),
		}
	}
	byStatus, names := map[int][]any{}, map[int]string{}
	for _, e := range errorForms() {
		if e.occurs(op) {
			byStatus[e.status] = append(byStatus[e.status], reference(e.schema))
			names[e.status] += strings.TrimSuffix(e.schema, "Error")
		}
	}
	for status, schemas := range byStatus {
		schema := schemas[0]
		if len(schemas) > 1 {
			schema = object{"oneOf": schemas}
		}
		d.refusals[names[status]] = object{
			"description": reason(status), "headers": headerRefs(status == 429), "content": jsonContent(schema),
		}
		out[strconv.Itoa(status)] = object{"$ref": "#/components/responses/" + names[status]}
	}
	return out
}

// events describes the answers of a stream. OpenAPI 3.1 cannot describe one event, so
// the text names the schema of its data.
func (d *document) events(out object, output protoreflect.MessageDescriptor) {
	d.message(output)
	out["200"] = object{
		"description": "Server-Sent Events. The `data` of each is a " + string(output.Name()) + " in JSON, its `id` a cursor. " +
			"An event `error` carries the body of an error and ends the stream. A comment comes at least every 15 seconds.",
		"headers": headerRefs(false), "content": object{"text/event-stream": object{"schema": object{"type": "string"}}},
	}
	out["204"] = object{"description": "The stream has ended, and the client has every event.", "headers": headerRefs(false)}
}

func jsonContent(schema any) object { return object{"application/json": object{"schema": schema}} }

func reference(schema string) object { return object{"$ref": "#/components/schemas/" + schema} }

func headers() object {
	text := object{"type": "string"}
	return object{
		"X-Request-Id":     object{"description": "Id of the request, to quote to support.", "schema": text},
		"RateLimit":        object{"description": "What is left of the allowance (`r`), and the seconds until it is full (`t`).", "schema": text},
		"RateLimit-Policy": object{"description": "The allowance: a quota (`q`) for a window in seconds (`w`).", "schema": text},
		"Retry-After":      object{"description": "Seconds to wait.", "schema": object{"type": "integer", "minimum": 1}},
	}
}

func headerRefs(retry bool) object {
	refs := object{}
	for name := range headers() {
		if name != "Retry-After" || retry {
			refs[name] = object{"$ref": "#/components/headers/" + name}
		}
	}
	return refs
}

// comment returns a descriptor's leading comment as one paragraph.
func comment(desc protoreflect.Descriptor) string {
	text := desc.ParentFile().SourceLocations().ByDescriptor(desc).LeadingComments
	return strings.Join(strings.Fields(text), " ")
}
