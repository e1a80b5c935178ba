package mcp

import (
	"slices"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// ownNames are fields whose text is an id that this server made, in any message.
var ownNames = []string{"id", "videoId", "scrollId", "workspaceId", "keyId", "ruleId", "keyHash", "outcome", "status", "method", "nextCursor"}

// isOwn reports whether the text of a field is not a creator's: it is one of few values, or has
// the option `own`. Every other text of an answer may be a creator's, or contain a part of one,
// and is `untrusted`.
func isOwn(field protoreflect.FieldDescriptor) bool {
	if rules, _ := proto.GetExtension(field.Options(), validate.E_Field).(*validate.FieldRules); len(rules.GetString().GetIn()) > 0 {
		return true
	}
	own, _ := proto.GetExtension(field.Options(), scrolleryv1.E_Own).(bool)
	return own || slices.Contains(ownNames, nameOf(field))
}

// nameOf is the name of a field on REST.
func nameOf(field protoreflect.FieldDescriptor) string {
	if name, _ := proto.GetExtension(field.Options(), scrolleryv1.E_RestName).(string); name != "" {
		return name
	}
	return field.JSONName()
}

func rpcOnly(field protoreflect.FieldDescriptor) bool {
	is, _ := proto.GetExtension(field.Options(), scrolleryv1.E_RpcOnly).(bool)
	return is
}

// row is how a message is shown in few words.
type row struct {
	drop   []string // fields that are left out
	keep   []string // if it is not empty, all other fields are left out
	inline []string // fields whose members become members of the row
	ids    []string // lists of messages of which only the ids are shown
	most   map[string]int
}

// rows are the compact forms. Without an entry a message shows all its fields that are
// not empty.
var rows = map[string]row{
	"Video":                {drop: []string{"externalId", "firstSeenAt", "lastSeenAt", "agentMetadata"}, inline: []string{"source", "metadata", "metrics"}},
	"VideoMetadata":        {keep: []string{"caption", "title"}},
	"Source":               {keep: []string{"kind", "handle"}},
	"Metrics":              {keep: []string{"views"}},
	"Outlier":              {drop: []string{"observedAt"}, inline: []string{"video"}},
	"Hook":                 {drop: []string{"version"}, inline: []string{"video", "visual"}},
	"VisualEvidence":       {keep: []string{"summary"}},
	"Trend":                {inline: []string{"metrics"}, ids: []string{"examples"}},
	"Scroll":               {drop: []string{"schedule", "template", "createdAt", "updatedAt", "startedAt"}},
	"Progress":             {drop: []string{"dispatchAttempts", "plan", "evidence"}, most: map[string]int{"coverage": 12, "droppedByRule": 12}},
	"Coverage":             {drop: []string{"trimmed", "reobserved"}},
	"Workspace":            {drop: []string{"subjectType", "subjectUrl", "canonicalId", "status", "createdAt", "updatedAt"}},
	"Rules":                {drop: []string{"workspaceId", "createdAt"}},
	"GetRulesResponse":     {drop: []string{"items"}},
	"OutlierExplanation":   {drop: []string{"method", "likes", "twiceNicheMedian", "twiceBaseline", "orderBaseline", "twiceUsualLikeRate"}, most: map[string]int{"flags": 5}},
	"ConsideredVideos":     {most: map[string]int{"videos": 5}},
	"ConsideredVideo":      {keep: []string{"videoId", "reason", "views", "age", "expectedViews"}},
	"TrendExplanation":     {drop: []string{"method", "droppedCounts"}, most: map[string]int{"videos": 5, "dropped": 5}},
	"TrendVideo":           {keep: []string{"videoId", "when", "growth"}},
	"PreviewRulesResponse": {most: map[string]int{"examples": 10, "droppedByRule": 12}},
}

// members is the name of the message with the usual members of a free-form field.
func members(field protoreflect.FieldDescriptor) string {
	name, _ := proto.GetExtension(field.Options(), scrolleryv1.E_Members).(string)
	return name
}
