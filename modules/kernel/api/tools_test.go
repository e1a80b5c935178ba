package api_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/scrollery/scrollery/proto/gen/openapi"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// eachOperation visits the rows of the operation table.
func eachOperation(do func(method protoreflect.MethodDescriptor, op *scrolleryv1.Operation)) {
	protoregistry.GlobalFiles.RangeFilesByPackage("scrollery.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				row, _ := proto.GetExtension(methods.Get(j).Options(), scrolleryv1.E_Operation).(*scrolleryv1.Operation)
				do(methods.Get(j), row)
			}
		}
		return true
	})
}

// TestTools: what agents may call is described in few words, and moves no money, no keys
// and no secrets.
func TestTools(t *testing.T) {
	t.Parallel()
	var described map[string]struct {
		Description string
		InputSchema json.RawMessage
	}
	if err := json.Unmarshal([]byte(openapi.Tools), &described); err != nil {
		t.Fatal(err)
	}
	byDefault, tools := 0, 0
	eachOperation(func(method protoreflect.MethodDescriptor, op *scrolleryv1.Operation) {
		if op.Tool == nil {
			return
		}
		tools++
		if op.Tool.Toolset == "default" {
			byDefault++
		}
		known := described[op.Id]
		if length := utf8.RuneCountInString(known.Description); length == 0 || length > 300 {
			t.Errorf("%s: got a description of %d characters, want 1 to 300", op.Id, length)
		}
		if strings.Contains(string(known.InputSchema), `"$ref"`) || !strings.Contains(string(known.InputSchema), `"additionalProperties": false`) {
			t.Errorf("%s: got input schema %s, want one without references that takes nothing else", op.Id, known.InputSchema)
		}
		switch service := method.Parent().Name(); service {
		case "BillingService", "KeysService", "SandboxService", "AccountService", "WebhooksService", "SourcesService", "SharesService":
			t.Errorf("got the tool %s of %s, want no tool of that service", op.Id, service)
		}
		if op.Auth != scrolleryv1.Auth_AUTH_KEY || op.Scope == "" || method.IsStreamingServer() {
			t.Errorf("%s: got auth %v, scope %q; want a key with a scope, and no stream", op.Id, op.Auth, op.Scope)
		}
		reads := strings.HasSuffix(op.Scope, ":read")
		if reads && (op.Tool.Destructive || op.Tool.Idempotent) || op.Method == "GET" && !reads {
			t.Errorf("%s: got scope %s, %v; want a read to need a scope for reading, and to be neither destructive nor idempotent", op.Id, op.Scope, op.Tool)
		}
		if op.Tool.DefaultLimit != 0 && !strings.Contains(string(known.InputSchema), `"limit": {`) {
			t.Errorf("%s: got the default limit %d and no limit in the input, want one", op.Id, op.Tool.DefaultLimit)
		}
		for i := range method.Output().Fields().Len() {
			if secret, _ := proto.GetExtension(method.Output().Fields().Get(i).Options(), scrolleryv1.E_Secret).(bool); secret {
				t.Errorf("%s answers with a secret, want not secret", op.Id)
			}
		}
	})
	if tools != len(described) || byDefault < 14 || byDefault > 16 {
		t.Errorf("got %d tools, %d of them by default, and %d descriptions; want as many, and 14 to 16 by default", tools, byDefault, len(described))
	}
}
