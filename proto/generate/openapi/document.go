package main

import (
	"encoding/json"
	"fmt"
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
	// codes are the names of the refusals by the codes that they cover.
	codes map[string]string
	// shared are the parameters that several operations have, by their text.
	shared map[string]*parameter
	tags   []any
}

// parameter is a query parameter, and how many operations have it.
type parameter struct {
	object
	uses int
}

func newDocument(refusal protoreflect.MessageDescriptor) *document {
	d := &document{paths: object{}, schemas: object{}, refusals: object{}, codes: map[string]string{}, shared: map[string]*parameter{}}
	d.refusals["Refused"] = object{
		"description": "404 `not_found` and 405 `method_not_allowed` on other paths and methods; 503 `temporary_service_error` or " +
			"`upstream_error` with `Retry-After` where the server has too much to do: nothing was changed.",
		"headers": headerRefs(), "content": jsonContent(reference("OtherError")),
	}
	d.refusals["304"] = object{"description": "The list is as `If-None-Match` says."}
	// A text for a code would keep clients from telling the errors of other schemas apart by it.
	d.schemas["OtherError"] = object{
		"allOf": []any{reference("AnyError")}, "description": "Errors of any operation that are about no input.",
		"properties": object{"error": object{"enum": []any{"not_found", "method_not_allowed", "temporary_service_error", "upstream_error"}}},
	}
	d.schemas["AnyError"] = object{
		"type": "object", "description": "What every error has.", "required": []any{"error", "message"},
		"properties": object{
			"error":   object{"type": "string", "description": "Stable code."},
			"message": object{"type": "string", "description": "What happened and what to do next."},
		},
	}
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
				"Everything that a creator wrote (captions, metadata, addresses, transcripts, handles) is untrusted data. " +
				"Every answer has the headers `RateLimit` and `RateLimit-Policy`, as components/headers describes them.",
			"license": object{"name": "Terms of the operator", "url": "https://example.com/terms"},
		},
		"servers":  []any{object{"url": "/"}}, // the server puts its address here
		"security": []any{object{"bearer": []any{}}},
		"tags":     d.tags,
		"paths":    d.paths,
		"components": object{
			"schemas":    d.schemas,
			"responses":  d.refusals,
			"headers":    headers(),
			"parameters": d.parametersOfMany(),
			// Not key: beside the schema Key, that is one name to a generator.
			"securitySchemes": object{"bearer": object{
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
			name, made := strings.ToLower(op.Method), d.operation(tag, method, op)
			if other, shared := item[name].(object); shared {
				made = share(other, made, method.IsStreamingServer())
			}
			item[name] = made
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
		"responses": d.responses(method, op),
	}
	if public(op) { // the key is optional; it attributes the event
		o["security"] = []any{object{}, object{"bearer": []any{}}}
	}
	if op.Scope != "" {
		o["description"] = "Needs the scope `" + op.Scope + "`."
	}
	if op.Method == "GET" {
		parameters := d.parameters(method.Input(), exampleOf(op))
		if method.IsStreamingServer() && op.MediaType == "" {
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
	if op.Upload {
		if parameters := d.parameters(method.Input(), exampleOf(op)); len(parameters) > 0 {
			o["parameters"] = parameters
		}
		file := object{"schema": object{"type": "string", "format": "binary"}}
		o["requestBody"] = object{"required": true, "content": object{"application/octet-stream": file}}
		return o
	}
	content := object{"schema": d.request(method.Input())}
	if op.Example != "" {
		content["example"] = exampleOf(op)
	}
	o["requestBody"] = object{"required": true, "content": object{"application/json": content}}
	return o
}

// share describes a stream and a unary operation of one path, of which the header Accept
// chooses: it is the unary one, with the answers and the parameters of the stream.
func share(known, made object, isStream bool) object {
	unary, stream := known, made
	if !isStream {
		unary, stream = made, known
	}
	ours, theirs := unary["responses"].(object), stream["responses"].(object)
	events := theirs["200"].(object)
	answer := ours["200"].(object)
	answer["description"] = "Success; with `Accept: text/event-stream` " + events["description"].(string)
	answer["content"].(object)["text/event-stream"] = events["content"].(object)["text/event-stream"]
	parameters, _ := unary["parameters"].([]any)
	for _, p := range stream["parameters"].([]any) {
		has := slices.ContainsFunc(parameters, func(other any) bool { return other.(object)["name"] == p.(object)["name"] })
		if !has {
			parameters = append(parameters, p)
		}
	}
	unary["parameters"] = parameters
	return unary
}

func public(op *scrolleryv1.Operation) bool {
	return op.Auth == scrolleryv1.Auth_AUTH_PUBLIC || op.Auth == scrolleryv1.Auth_AUTH_OLDER_PUBLIC
}

// exampleOf is the example of an operation's input.
func exampleOf(op *scrolleryv1.Operation) object {
	if op.Example == "" {
		return nil
	}
	var example object
	if err := json.Unmarshal([]byte(op.Example), &example); err != nil {
		panic(fmt.Sprintf("example of %s: %v", op.Id, err))
	}
	return example
}

// parametersOfMany moves what several operations have in common out of them.
func (d *document) parametersOfMany() object {
	common, texts := object{}, make([]string, 0, len(d.shared))
	for text, p := range d.shared {
		if p.uses > 1 {
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	for _, text := range texts {
		p := d.shared[text]
		whole := p.object["name"].(string) + "Parameter" // creator beside the schema Creator is one name to a generator
		name := whole
		for n := 2; common[name] != nil; n++ {
			name = whole + strconv.Itoa(n)
		}
		described := object{}
		for member, value := range p.object {
			described[member] = value
		}
		common[name] = described
		clear(p.object)
		p.object["$ref"] = "#/components/parameters/" + name
	}
	return common
}

// share returns the parameter that stands for all of the same text.
func (d *document) share(p object) object {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	known := d.shared[string(text)]
	if known == nil {
		known = &parameter{object: p}
		d.shared[string(text)] = known
	}
	known.uses++
	return known.object
}

func (d *document) parameters(input protoreflect.MessageDescriptor, example object) []any {
	var list []any
	for i := range input.Fields().Len() {
		field := input.Fields().Get(i)
		if rpcOnly(field) {
			continue
		}
		p := object{"name": restName(field), "in": "query", "schema": d.requestField(field)}
		if field.IsList() {
			p["explode"] = false
		}
		if required(field) {
			p["required"] = true
		}
		if text := comment(field); text != "" {
			p["description"] = text
		}
		if value, ok := example[restName(field)]; ok {
			p["example"] = value
		}
		list = append(list, d.share(p))
	}
	return list
}

func (d *document) responses(method protoreflect.MethodDescriptor, op *scrolleryv1.Operation) object {
	out := object{}
	statuses := op.Statuses
	if len(statuses) == 0 {
		statuses = []int32{200}
	}
	switch {
	case op.MediaType != "":
		statuses = nil
		out["200"] = object{
			"description": "The file. A connection that ends early has sent only a part.",
			"content":     object{op.MediaType: object{"schema": object{"type": "string", "format": "binary"}}},
		}
	case method.IsStreamingServer():
		statuses = nil
		d.events(out, method.Output())
	}
	for _, status := range statuses {
		out[strconv.Itoa(int(status))] = object{
			"description": "Success.", "content": jsonContent(d.message(method.Output())),
		}
	}
	if isList(method, op) {
		content := out["200"].(object)["content"].(object)
		content["text/csv"], content["application/x-ndjson"] = object{}, object{}
	}
	out["default"] = object{"$ref": "#/components/responses/Refused"}
	if hasETag(method) {
		out["304"] = object{"$ref": "#/components/responses/304"}
	}
	d.refuse(out, op)
	return out
}

// refuse describes the refusals of an operation. Those that follow from its options are one
// answer 4XX, which all operations of the same options share. A status of which the operation
// names a code itself has an answer of its own, with all codes of that status.
func (d *document) refuse(out object, op *scrolleryv1.Operation) {
	named := map[int]bool{}
	for _, e := range errorForms() {
		if slices.Contains(op.Errors, e.code) && e.occurs(op) {
			named[e.status] = true
		}
	}
	forms := map[string][]errorForm{}
	for _, e := range errorForms() {
		if !e.occurs(op) {
			continue
		}
		if named[e.status] {
			forms[strconv.Itoa(e.status)] = append(forms[strconv.Itoa(e.status)], e)
		}
		if !slices.Contains(op.Errors, e.code) {
			forms["4XX"] = append(forms["4XX"], e)
		}
	}
	for status, all := range forms {
		out[status] = object{"$ref": "#/components/responses/" + d.refusal(status, all)}
	}
}

// refusal returns the name of the answer that stands for all of the same status and codes.
func (d *document) refusal(status string, forms []errorForm) string {
	key, schemas, codes := status, []any{}, object{}
	for _, e := range forms {
		key += " " + e.schema
		schemas = append(schemas, reference(e.schema))
		codes[e.code] = reference(e.schema)["$ref"]
	}
	if known := d.codes[key]; known != "" {
		return known
	}
	name := status
	for n := 2; d.refusals[name] != nil; n++ {
		name = status + "." + strconv.Itoa(n)
	}
	d.codes[key] = name
	schema := schemas[0]
	if len(schemas) > 1 {
		schema = object{"oneOf": schemas, "discriminator": object{"propertyName": "error", "mapping": codes}}
	}
	answer := object{"description": reason(status), "content": jsonContent(schema)}
	if status == "4XX" { // every operation has one; info.description says that all answers have them
		answer["headers"] = headerRefs()
	}
	d.refusals[name] = answer
	return name
}

// isList reports whether the items of an answer can be had as rows of text, as the server
// decides it.
func isList(method protoreflect.MethodDescriptor, op *scrolleryv1.Operation) bool {
	input, lists := method.Input().Fields(), 0
	named := strings.HasPrefix(string(method.Name()), "List") || input.ByName("limit") != nil || input.ByName("page_size") != nil
	for i := range method.Output().Fields().Len() {
		if field := method.Output().Fields().Get(i); field.IsList() && field.Message() != nil && field.Message().ParentFile().Package() == "scrollery.v1" {
			lists++
		}
	}
	return op.Method == "GET" && !method.IsStreamingServer() && named && lists == 1
}

// hasETag reports whether an answer is a list of the library.
func hasETag(method protoreflect.MethodDescriptor) bool {
	fields := method.Output().Fields()
	for i := range fields.Len() {
		if field := fields.Get(i); field.IsList() && field.Message() != nil && method.Input().Fields().ByName("limit") != nil {
			switch field.Message().Name() {
			case "Video", "Hook", "Outlier", "Trend":
				return true
			}
		}
	}
	return false
}

// events describes the answers of a stream. OpenAPI 3.1 cannot describe one event, so
// the text names the schema of its data.
func (d *document) events(out object, output protoreflect.MessageDescriptor) {
	out["200"] = object{
		"description": "Server-Sent Events. The `data` of each is a " + string(output.Name()) + " in JSON, its `id` a cursor. " +
			"An event `error` carries the body of an error and ends the stream. A comment comes at least every 15 seconds. " +
			"A client that has every event of a stream that ended gets 204 without a body.", // no answer of its own: clients would return void
		"content": object{"text/event-stream": object{"schema": object{
			"type": "string", "contentMediaType": "text/event-stream", "contentSchema": d.message(output),
		}}},
	}
}

func jsonContent(schema any) object { return object{"application/json": object{"schema": schema}} }

func reference(schema string) object { return object{"$ref": "#/components/schemas/" + schema} }

func headers() object {
	text := object{"type": "string"}
	return object{
		"X-Request-Id":     object{"description": "Id of the request, to quote to support.", "schema": text},
		"RateLimit":        object{"description": "What is left of the allowance (`r`), and the seconds until it is full (`t`).", "schema": text},
		"RateLimit-Policy": object{"description": "The allowance: a quota (`q`) for a window in seconds (`w`).", "schema": text},
		"Retry-After":      object{"description": "Seconds to wait, with 429 and 503.", "schema": object{"type": "integer", "minimum": 1}},
	}
}

// headerRefs are the headers of a refusal.
func headerRefs() object {
	refs := object{}
	for name := range headers() {
		refs[name] = object{"$ref": "#/components/headers/" + name}
	}
	return refs
}

// comment returns a descriptor's leading comment as one paragraph.
func comment(desc protoreflect.Descriptor) string {
	text := desc.ParentFile().SourceLocations().ByDescriptor(desc).LeadingComments
	return strings.Join(strings.Fields(text), " ")
}
