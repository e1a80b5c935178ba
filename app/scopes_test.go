package app_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/scrollery/scrollery/app/apptest"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// revealing are the messages that show rows of an account, with the scopes of which an
// operation has to ask for one before it answers with such a message.
var revealing = map[string][]string{
	"Workspace": {"workspace"}, "Rules": {"rules"}, "RuleItem": {"rules"}, "RuleReading": {"rules"}, "UnclearRule": {"rules"},
	"Scroll": {"scrolls"}, "Schedule": {"scrolls"}, "Verdict": {"scrolls"}, "Template": {"scrolls"}, "SourceEstimate": {"scrolls"},
	"Video": {"library"}, "Hook": {"library"}, "Outlier": {"library"}, "Trend": {"library"}, "Creator": {"library"}, "Observation": {"library"}, "Frame": {"library"}, "Deletion": {"library"}, "Collection": {"library"}, "Share": {"shares"}, "CollectedVideo": {"library"},
	"OutlierExplanation": {"library"}, "TrendExplanation": {"library"}, "BacktestRun": {"library"}, "TrendBacktestRun": {"library"},
	"KeptData": {"library"}, "HeldSource": {"library"}, "PreviewExample": {"rules"}, "BriefSentence": {"agent"},
	"Usage": {"usage"}, "UsageEvent": {"usage"}, "Key": {"keys"}, "Change": {"account"}, "ChangedVideo": {"library"}, "ChangedTrend": {"library"}, "CallingKey": {"account"}, "UnitBudget": {"account"},
	"Webhook": {"webhooks"}, "Delivery": {"webhooks"},
	"SourceState": {"sources"}, "SourceSecret": {"sources"}, "SourceSetting": {"sources"}, "SourceQuota": {"sources"},
	"RemoveSourceResponse": {"sources:write"}, "TrySourceResponse": {"sources:write"}, "SourceField": {"sources"},
	"Import": {"library"}, "ImportReport": {"library"}, "ImportedVideo": {"library"},
	"ExportAccountResponse": {"account:export"}, "EraseAccountResponse": {"account:write"},
	"CreateSessionKeyResponse": {"keys:write"}, "RevokeKeyResponse": {"keys:write"},
	"TopupResponse": {"billing"}, "ConfirmTopupResponse": {"billing"},
	"RunAgentResponse": {"agent"}, "WriteSandboxFileResponse": {"sandbox"},
}

// parts are messages that stand in others alone, or show nothing of an account.
var parts = strings.Fields(`VideoMetadata VisualEvidence Source Metrics TrendMetrics CreatorKind CreatorRhythm ConsideredVideos
	ConsideredVideo ReasonCount OutlierFlag TrendWindow TrendVideo TrendReading DroppedKey BacktestRow TrendBacktestSum DirectionBacktest Early Progress ScrollFailure ScrollPlan Seed
	Looked Coverage Truncated RuleDrops ResultCounts TemplateStage QuotaEstimate CostEstimate Budget AccountLimits ChangeCount
	ImportFormat ImportSkip ImportDay ImportFile ImportField ImportColumn ImportPlace ImportText ImportDifference`)

// TestEveryAnswerIsBehindItsScope: whatever rows an operation can answer with, it asks for
// a scope of that kind; and every message of an answer is known here.
func TestEveryAnswerIsBehindItsScope(t *testing.T) {
	t.Parallel()
	operations := 0
	protoregistry.GlobalFiles.RangeFilesByPackage("scrollery.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				row, _ := proto.GetExtension(methods.Get(j).Options(), pb.E_Operation).(*pb.Operation)
				if row.GetAuth() != pb.Auth_AUTH_KEY && row.GetAuth() != pb.Auth_AUTH_OLDER_KEY {
					continue
				}
				operations++
				for name := range reachable(methods.Get(j).Output(), map[string]bool{}) {
					wantScope(t, row, name, methods.Get(j).Output())
				}
			}
		}
		return true
	})
	if operations < 50 {
		t.Errorf("got %d operations with a key, want those of the API", operations)
	}
}

// wantScope compares the scope of an operation with what a message of its answer reveals.
func wantScope(t *testing.T, row *pb.Operation, message string, answer protoreflect.MessageDescriptor) {
	t.Helper()
	asks, known := revealing[message]
	if !known {
		// An answer of its own has no rows but in the messages that it contains.
		if !slices.Contains(parts, message) && message != string(answer.Name()) {
			t.Errorf("%s answers with %s, want it named in this test with its scope", row.GetId(), message)
		}
		return
	}
	if row.GetId() == "revokeKey" {
		return // a key may end itself, whatever its scopes; for another one it asks for keys:write
	}
	resource, _, _ := strings.Cut(row.GetScope(), ":")
	if !slices.Contains(asks, resource) && !slices.Contains(asks, row.GetScope()) {
		t.Errorf("%s can answer with %s and asks for %q, want one of %v", row.GetId(), message, row.GetScope(), asks)
	}
}

// reachable are the names of our messages in a message, itself included.
func reachable(message protoreflect.MessageDescriptor, seen map[string]bool) map[string]bool {
	if message.ParentFile().Package() != "scrollery.v1" || seen[string(message.Name())] {
		return seen
	}
	seen[string(message.Name())] = true
	for i := range message.Fields().Len() {
		if inner := message.Fields().Get(i).Message(); inner != nil {
			reachable(inner, seen)
		}
	}
	return seen
}

// TestNoAgentIsOfferedTheExportSourcesNorShares: neither by its scopes nor by a tool.
func TestNoAgentIsOfferedTheExportSourcesNorShares(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t)
	offered := running.Anonymous().Read(t, "GET /.well-known/oauth-protected-resource/mcp")
	if strings.Contains(offered, "account:export") || !strings.Contains(offered, "account:read") {
		t.Errorf("got %s, want account:read without account:export", offered)
	}
	if strings.Contains(offered, "sources:") || strings.Contains(offered, "shares:") {
		t.Errorf("got %s, want no scope of the account's own keys of sources, and none of public pages", offered)
	}
	account := running.Account(t, "pro")
	tools, err := os.ReadFile("../proto/gen/openapi/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"listSources", "setSource", "removeSource", "trySource", "createShare", "listShares", "revokeShare"} {
		if strings.Contains(string(tools), id) {
			t.Errorf("got the tool %s, want none", id)
		}
	}
	for _, call := range []string{
		"GET /v1/sources/list", `POST /v1/sources/set {"source":"youtube"}`, `POST /v1/sources/remove {"source":"youtube"}`, `POST /v1/sources/try {"source":"youtube","seed":"@a"}`,
		"GET /v1/shares/list", `POST /v1/shares/create {"kind":"finding","title":"a","sentences":["b"]}`, `POST /v1/shares/revoke {"id":"shr_x"}`,
	} {
		agent := account.Do(t, `POST /v1/api_keys/sessions {"scopes":["account:read","library:read","scrolls:write"],"ttlSeconds":600}`, "").JSON(t)["apiKey"].(string)
		account.WithKey(agent).Do(t, call, "").WantError(t, "forbidden")
	}
	key := account.Do(t, `POST /v1/api_keys/sessions {"scopes":["account:read"],"ttlSeconds":600}`, "").JSON(t)["apiKey"].(string)
	answer := account.WithKey(key).Do(t, "GET /v1/account/export", "")
	if answer.WantError(t, "forbidden"); answer.JSON(t)["requiredScope"] != "account:export" {
		t.Errorf("got %s, want account:export required", answer.Body)
	}
}
