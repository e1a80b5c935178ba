package app_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/scrollery/scrollery/app/apptest"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// TestContractOnEveryProtocol makes every call of the contract, that a message
// can say at all, over Connect, gRPC and gRPC-Web: the same bounds, codes and
// paths of issues as on REST.
func TestContractOnEveryProtocol(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t)
	methods := restMethods()
	for _, protocol := range apptest.Protocols() {
		t.Run(protocol.Name, func(t *testing.T) {
			t.Parallel()
			made := 0
			for _, c := range contractCases() {
				method, request := inMessage(c, methods)
				if request == nil {
					continue
				}
				made++
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					checkOverRPC(t, running, protocol, c, method, request)
				})
			}
			if made < 80 {
				t.Errorf("only %d cases can be made, want at least 80", made)
			}
		})
	}
}

func checkOverRPC(t *testing.T, running *apptest.Running, protocol apptest.Protocol, c contractCase, method protoreflect.MethodDescriptor, request *dynamicpb.Message) {
	caller := running.Account(t, "pro")
	for _, given := range c.given {
		if answer := caller.Do(t, given, ""); answer.Status >= 300 {
			t.Fatalf("%s answered %d, want less than 300: %s", given, answer.Status, answer.Body)
		}
	}
	if c.anonymous {
		caller = running.Anonymous()
	}
	response, err := callMethod(t, caller, protocol, method, request)
	if c.code == "" {
		if err != nil {
			t.Fatal(err)
		}
		checkMembers(t, response, c.has)
		return
	}
	body := apptest.Refusal(t, err)
	if body.GetError() != c.code {
		t.Errorf("error %q, want %q: %v", body.GetError(), c.code, err)
	}
	if want := connectCode(c); connect.CodeOf(err) != want {
		t.Errorf("code %v, want %v", connect.CodeOf(err), want)
	}
	if c.paths == nil {
		return
	}
	var paths []string
	for _, issue := range body.GetIssues() {
		paths = append(paths, issue.GetPath())
	}
	slices.Sort(paths)
	want := slices.Clone(c.paths)
	for i := range want {
		want[i] = rpcName(method.Input(), want[i])
	}
	if slices.Sort(want); !slices.Equal(paths, want) {
		t.Errorf("issues at %q, want %q", paths, want)
	}
}

// connectCode is the status code that stands for a case's refusal.
func connectCode(c contractCase) connect.Code {
	switch c.code {
	case "invalid_request", "invalid_workspace_brief":
		return connect.CodeInvalidArgument
	case "unauthorized", "auth_required":
		return connect.CodeUnauthenticated
	case "workspace_already_set":
		return connect.CodeAlreadyExists
	case "workspace_required", "scroll_active_limit":
		return connect.CodeFailedPrecondition
	case "rate_limited":
		return connect.CodeResourceExhausted
	}
	return connect.CodeUnknown
}

func callMethod(t *testing.T, caller *apptest.Caller, protocol apptest.Protocol, method protoreflect.MethodDescriptor, request *dynamicpb.Message) (*dynamicpb.Message, error) {
	options := append(caller.Options(protocol), connect.WithSchema(method),
		connect.WithResponseInitializer(func(_ connect.Spec, message any) error {
			*message.(*dynamicpb.Message) = *dynamicpb.NewMessage(method.Output()) //nolint:govet // a fresh one, not in use yet
			return nil
		}))
	procedure := caller.Address() + "/" + string(method.Parent().FullName()) + "/" + string(method.Name())
	client := connect.NewClient[dynamicpb.Message, dynamicpb.Message](protocol.Client(), procedure, options...)
	response, err := client.CallUnary(t.Context(), connect.NewRequest(request))
	if err != nil {
		return nil, err
	}
	return response.Msg, nil
}

func checkMembers(t *testing.T, response proto.Message, has map[string]any) {
	t.Helper()
	text, err := protojson.MarshalOptions{EmitUnpopulated: true}.Marshal(response)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatal(err)
	}
	for member, want := range has {
		if got := members[member]; got != want {
			t.Errorf("%s is %v, want %v", member, got, want)
		}
	}
}

// restMethods finds the methods by `METHOD path`.
func restMethods() map[string]protoreflect.MethodDescriptor {
	methods := map[string]protoreflect.MethodDescriptor{}
	protoregistry.GlobalFiles.RangeFilesByPackage("scrollery.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			service := file.Services().Get(i).Methods()
			for j := range service.Len() {
				row := proto.GetExtension(service.Get(j).Options(), scrolleryv1.E_Operation).(*scrolleryv1.Operation)
				call := row.GetMethod() + " " + row.GetPath()
				if methods[call] != nil && service.Get(j).IsStreamingServer() {
					continue // the path's stream, which Accept asks for
				}
				methods[call] = service.Get(j)
			}
		}
		return true
	})
	return methods
}

// inMessage turns a call into a request message; nil for what only REST can say:
// a header, a body that is no such message, or a difference that JSON has and a
// message has not.
func inMessage(c contractCase, methods map[string]protoreflect.MethodDescriptor) (protoreflect.MethodDescriptor, *dynamicpb.Message) {
	verb, rest, _ := strings.Cut(c.call, " ")
	address, body, hasBody := strings.Cut(rest, " ")
	path, query, _ := strings.Cut(address, "?")
	method := methods[verb+" "+path]
	if method == nil || method.IsStreamingServer() || c.restOnly || c.header != "" {
		return nil, nil
	}
	if !hasBody {
		body = queryJSON(method.Input(), query)
	}
	request := dynamicpb.NewMessage(method.Input())
	if err := protojson.Unmarshal([]byte(body), request); err != nil {
		return nil, nil
	}
	return method, request
}

// rpcName is the name, on the other protocols, of a property of REST.
func rpcName(message protoreflect.MessageDescriptor, name string) string {
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		if rest := proto.GetExtension(field.Options(), scrolleryv1.E_RestName); name != "" && rest == name {
			return field.JSONName()
		}
	}
	return name
}

// queryJSON writes a query as the JSON of its message; what does not fit fails there.
func queryJSON(message protoreflect.MessageDescriptor, query string) string {
	values, err := url.ParseQuery(query)
	if err != nil {
		return ""
	}
	var members []string
	for name, all := range values {
		name, text := rpcName(message, name), all[0]
		field := message.Fields().ByJSONName(name)
		if len(all) > 1 {
			return ""
		}
		if field != nil && field.IsList() {
			quoted, _ := json.Marshal(strings.Split(text, ","))
			text = string(quoted)
		} else if field == nil || field.Kind() == protoreflect.StringKind {
			quoted, _ := json.Marshal(text)
			text = string(quoted)
		}
		members = append(members, `"`+name+`":`+text)
	}
	return "{" + strings.Join(members, ",") + "}"
}
