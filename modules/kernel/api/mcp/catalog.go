package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/proto/gen/openapi"
)

// Toolsets that are no names of operations' own.
const (
	defaultSet = "default"
	allSets    = "all"
)

// streams are, by tool, the streams of the same message that a call with `waitSeconds`
// waits on.
var streams = map[string]string{"getScroll": "watchScroll"}

// longestWait is the most seconds of `waitSeconds`.
const longestWait = 25

// tool is an operation as agents see it.
type tool struct {
	api.Tool
	known *mcp.Tool
	// output is the schema of its answers as structured content.
	output func() json.RawMessage
	// list is the field with the items of an answer; empty: the answer is no list.
	list string
	// hasCursor and hasLimit are about the operation's own input.
	hasCursor, hasLimit bool
	// app shows its results; nil for none.
	app *App
}

// described is the generated part of a tool.
type described struct {
	Description string
	InputSchema *struct {
		Type                 string                     `json:"type"`
		Properties           map[string]json.RawMessage `json:"properties"`
		Required             []string                   `json:"required,omitempty"`
		AdditionalProperties bool                       `json:"additionalProperties"`
	}
}

// catalog describes all tools, by id.
func catalog(all []api.Tool) ([]*tool, error) {
	var known map[string]described
	if err := json.Unmarshal([]byte(openapi.Tools), &known); err != nil {
		return nil, fmt.Errorf("read the tools: %w", err)
	}
	tools := make([]*tool, 0, len(all))
	for _, operation := range all {
		text, ok := known[operation.Id]
		if !ok {
			return nil, fmt.Errorf("tool %s is not described", operation.Id)
		}
		t := &tool{Tool: operation, list: listOf(operation.Output)}
		properties := text.InputSchema.Properties
		_, t.hasCursor = properties["cursor"]
		_, t.hasLimit = properties["limit"]
		if t.ReadOnly() {
			properties["detail"] = json.RawMessage(`{"enum":["compact","full"]}`)
		}
		if streams[operation.Id] != "" {
			properties["waitSeconds"] = json.RawMessage(`{"type":"integer","minimum":0,"maximum":25,"description":"Waits so long for its end."}`)
		}
		if t.list != "" {
			properties["cursor"] = json.RawMessage(`{"type":"string","maxLength":300,"description":"` + "`next` of the answer before." + `"}`)
		}
		if t.GetTool().DefaultLimit > 0 {
			properties["limit"] = limited(properties["limit"], t.GetTool().DefaultLimit)
		}
		schema, err := json.Marshal(text.InputSchema)
		if err != nil {
			return nil, fmt.Errorf("describe tool %s: %w", operation.Id, err)
		}
		t.known = &mcp.Tool{
			Name: operation.Id, Title: operation.Tool.Title, Description: text.Description, InputSchema: json.RawMessage(schema),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.ReadOnly(), IdempotentHint: t.ReadOnly() || operation.Tool.Idempotent},
		}
		if !t.ReadOnly() {
			t.known.Annotations.DestructiveHint = &operation.Tool.Destructive
		}
		t.output = sync.OnceValue(func() json.RawMessage { return outputSchema(t) })
		tools = append(tools, t)
	}
	return tools, nil
}

// limited is the property `limit` with the default of the tool.
func limited(property json.RawMessage, standard int32) json.RawMessage {
	var of struct {
		Type    string `json:"type"`
		Minimum int32  `json:"minimum"`
		Maximum int32  `json:"maximum"`
		Default int32  `json:"default"`
	}
	_ = json.Unmarshal(property, &of) // generated
	of.Default = standard
	out, _ := json.Marshal(of)
	return out
}

// listOf is the name of the list that an answer is about: its only list of messages.
func listOf(output protoreflect.MessageDescriptor) string {
	name := ""
	for i := range output.Fields().Len() {
		field := output.Fields().Get(i)
		if field.IsList() && field.Message() != nil {
			if name != "" {
				return ""
			}
			name = nameOf(field)
		}
	}
	return name
}

// choice is what a client asked for in the address.
type choice struct {
	sets     []string
	readOnly bool
	// structured asks for answers as structured content instead of text.
	structured bool
}

// chosen reads the address. What it does not know is refused: a client that asks for reads
// alone by another spelling must not get more.
func (s *Server) chosen(query map[string][]string) (c choice, err error) {
	c.sets = []string{defaultSet}
	var issues []apierr.Issue
	for _, name := range slices.Sorted(maps.Keys(query)) {
		value := strings.Join(query[name], ",")
		switch name {
		case "toolsets":
			if asked := strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }); len(asked) > 0 {
				c.sets = asked
			}
			for _, set := range c.sets {
				if !slices.Contains(s.sets, set) {
					issues = append(issues, apierr.Issue{Path: name, Message: fmt.Sprintf("%q is none of %s", set, strings.Join(s.sets, ", "))})
				}
			}
		case "read_only", "structured":
			if value != "true" && value != "false" {
				issues = append(issues, apierr.Issue{Path: name, Message: "must be true or false"})
			}
			if name == "read_only" {
				c.readOnly = value == "true"
			} else {
				c.structured = value == "true"
			}
		default:
			issues = append(issues, apierr.Issue{Path: name, Message: "is not known; known are toolsets, read_only and structured"})
		}
	}
	if len(issues) > 0 {
		return c, apierr.InvalidIssues(issues...)
	}
	return c, nil
}

// offers reports whether a client sees a tool.
func (c choice) offers(t *tool, has func(scope string) bool) bool {
	set := t.GetTool().Toolset
	return (slices.Contains(c.sets, set) || slices.Contains(c.sets, allSets)) && has(t.Scope) && (t.ReadOnly() || !c.readOnly)
}
