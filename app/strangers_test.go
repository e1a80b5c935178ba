package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// An op is an operation on REST with the names of its input.
type op struct {
	*pb.Operation
	fields []string
	// isList: it reads, and asks for nothing.
	isList, isStream bool
}

// keyedOps are the operations that need a key.
func keyedOps(t *testing.T) (ops []op) {
	t.Helper()
	protoregistry.GlobalFiles.RangeFilesByPackage("scrollery.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				method := methods.Get(j)
				row, _ := proto.GetExtension(method.Options(), pb.E_Operation).(*pb.Operation)
				if row.GetAuth() != pb.Auth_AUTH_KEY && row.GetAuth() != pb.Auth_AUTH_OLDER_KEY {
					continue
				}
				one := op{Operation: row, isStream: method.IsStreamingServer()}
				for k := range method.Input().Fields().Len() {
					one.fields = append(one.fields, method.Input().Fields().Get(k).JSONName())
				}
				one.isList = row.Method == "GET" && !slices.ContainsFunc(one.fields, isID) && !one.isStream
				ops = append(ops, one)
			}
		}
		return true
	})
	return ops
}

// isID reports whether a field of an input is the id of something that a tenant has.
func isID(field string) bool {
	return field == "id" || field == "ids" || strings.HasSuffix(field, "Id")
}

// fill are values of fields that an operation needs beside an id.
var fill = map[string]any{"archived": true, "agentMetadata": map[string]any{"mine": "yes"}, "key": "hashtag:espresso"}

// idless are the inputs that look like an id of something and name nothing of a tenant.
var idless = map[string]bool{"canonicalId": true}

// calls are the operation's calls with each of the ids in each field for ids; without such
// a field it is one call.
func (o op) calls(ids ...string) (calls []string) {
	values := map[string]any{}
	for _, field := range o.fields {
		if value, ok := fill[field]; ok {
			values[field] = value
		}
	}
	write := func() string {
		if o.Method == "GET" {
			query := url.Values{}
			for name, value := range values {
				query.Set(name, fmt.Sprint(value))
			}
			return o.Method + " " + o.Path + "?" + query.Encode()
		}
		body, _ := json.Marshal(values) // of texts and numbers
		return o.Method + " " + o.Path + " " + string(body)
	}
	for _, field := range o.fields {
		if !isID(field) || idless[field] {
			continue
		}
		for _, id := range ids {
			values[field] = id
			calls = append(calls, write())
			delete(values, field)
		}
	}
	if calls == nil && o.isList {
		return []string{write()}
	}
	return calls
}

// ownCounts are lists that count the calls of this test, and so differ between tenants.
var ownCounts = map[string]bool{"getUsage": true, "getAccount": true, "listEvents": true}

const markOfOwner = "only the owner wrote this"

// TestTenantsAreStrangers has two tenants of the same shape on one server. Every list of
// the second is as the first one's was while it was alone. Then the second calls every
// operation with every id and cursor of the first: the answers are those for ids that no
// one has, they show nothing of the first, and change nothing of it.
func TestTenantsAreStrangers(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, running *apptest.Running) {
		ops, owner := keyedOps(t), travel(t, running)
		if len(ops) < 30 {
			t.Fatalf("%d operations, want all", len(ops))
		}
		alone := map[string]string{}
		var seen strings.Builder
		for _, o := range ops {
			if o.isList {
				call := o.calls()[0]
				answer := owner.Do(t, call, "")
				alone[o.Id] = shapeOf(t, answer)
				seen.Write(answer.Body)
			}
		}
		stranger := travel(t, running)
		for _, o := range ops {
			if !o.isList || ownCounts[o.Id] {
				continue
			}
			t.Run(o.Id+" shows a tenant its own", func(t *testing.T) {
				if diff := cmp.Diff(alone[o.Id], shapeOf(t, stranger.Do(t, o.calls()[0], ""))); diff != "" {
					t.Errorf("the second tenant's list is not the first one's when it was alone (-want +got):\n%s", diff)
				}
			})
		}
		found := idsIn(t, owner, everything(t, owner)+seen.String())
		for _, prefix := range []string{"vid_", "scr_", "rule_", "ws_", "key_"} {
			if len(found[prefix]) == 0 {
				t.Fatalf("the owner shows no id of %s, want some: %v", prefix, found)
			}
		}
		owner.Get(t, fmt.Sprintf(`POST /v1/library/annotate {"videoId":%q,"agentMetadata":{"note":%q}}`, found["vid_"][0], markOfOwner), &struct{}{})
		before := everything(t, owner)
		forbidden := append(slices.Concat(slices.Collect(maps.Values(found))...), markOfOwner, owner.Email)
		for _, o := range ops {
			for _, prefix := range slices.Sorted(maps.Keys(found)) {
				ids := found[prefix]
				t.Run(o.Id+" with "+prefix+" of another", func(t *testing.T) {
					strange := publicid.Format(strings.TrimSuffix(prefix, "_"), 12345)
					for _, id := range ids[:min(len(ids), 3)] {
						for i, call := range o.calls(id) {
							if o.isList {
								continue
							}
							got := stranger.Do(t, call, "")
							body := strings.ReplaceAll(string(got.Body), id, "ID")
							unknown := stranger.Do(t, o.calls(strange)[i], "")
							if want := strings.ReplaceAll(string(unknown.Body), strange, "ID"); body != want || got.Status != unknown.Status {
								t.Errorf("%s: status %d %s; want that of an id that no one has: %d %s", call, got.Status, body, unknown.Status, want)
							}
							wantNothingOf(t, forbidden, call, body)
						}
					}
				})
			}
		}
		for _, o := range ops {
			if !o.isList {
				continue
			}
			call := o.calls()[0]
			cursor, _ := owner.Do(t, call+"&limit=1", "").JSON(t)["nextCursor"].(string)
			if cursor != "" {
				call += "&limit=1&cursor=" + url.QueryEscape(cursor)
			}
			answer := stranger.Do(t, call, "")
			if answer.Status != http.StatusOK {
				t.Errorf("%s: got %d %s, want 200, and with the cursor of another tenant its own rows", call, answer.Status, answer.Body)
			}
			wantNothingOf(t, forbidden, call, string(answer.Body))
		}
		if diff := cmp.Diff(before, everything(t, owner)); diff != "" {
			t.Errorf("the strangers' calls changed what the owner reads (-want +got):\n%s", diff)
		}
	}, datedFeed(t))
}

// wantNothingOf fails the test where a text holds one of those that it must not.
func wantNothingOf(t *testing.T, forbidden []string, call, text string) {
	t.Helper()
	for _, other := range forbidden {
		if strings.Contains(text, other) {
			t.Errorf("%s: got %s of another tenant, want nothing of it: %.300s", call, other, text)
		}
	}
}

// idText is the public id of anything.
var idText = regexp.MustCompile(`^[a-z]{2,5}_[0-9a-z]{13}$`)

// shapeOf renders an answer without what two tenants of the same shape never share: ids are
// replaced by their prefix, times and what depends on them by 0.
func shapeOf(t *testing.T, answer *apptest.Answer) string {
	t.Helper()
	var plain func(name string, value any) any
	plain = func(name string, value any) any {
		switch value := value.(type) {
		case map[string]any:
			for name, member := range value {
				value[name] = plain(name, member)
			}
		case []any:
			for i := range value {
				value[i] = plain(name, value[i])
			}
		case string:
			if prefix, _, ok := strings.Cut(value, "_"); ok && idText.MatchString(value) {
				return prefix
			}
			if strings.HasSuffix(name, "Cursor") || name == "hint" { // hint: the end of a key's secret
				return name
			}
			if strings.HasPrefix(value, "scr_") || strings.Contains(value, "@example.com") {
				return "a secret or an address"
			}
		case float64: // scores depend on how old the videos are when the run observes them
			if value > 1e11 || name == "age" || name == "score" || name == "baselineViews" || name == "order" || value != float64(int64(value)) {
				return 0
			}
		}
		return value
	}
	text, err := json.MarshalIndent(plain("", any(answer.JSON(t))), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(answer.Status, " ", string(text))
}
