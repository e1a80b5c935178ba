package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// bundle is a mux over a fake module, behind a server that speaks HTTP/1.1 and h2c.
type bundle struct {
	mux     *api.Mux
	server  *httptest.Server
	events  *events
	callers map[string]*api.Caller
	revoked *sync.Map // secrets that end while a test runs
	fake    *fakeModule
	log     *written
}

// written is a log that a test may keep.
type written struct {
	mu   sync.Mutex
	text *strings.Builder // nil: drop it
}

func (l *written) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text != nil {
		l.text.Write(line)
	}
	return len(line), nil
}

// keep runs do and returns the log of it.
func (l *written) keep(do func()) string {
	set := func(text *strings.Builder) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.text = text
	}
	var text strings.Builder
	set(&text)
	do()
	set(nil)
	return text.String()
}

// events is a Recorder in memory.
type events struct {
	mu   sync.Mutex
	list []api.Event
	fail error
}

func (e *events) Record(_ context.Context, event api.Event) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, event)
	return e.fail
}

// outcome is the part of an event that tests compare.
type outcome struct {
	Op, Status string
	Account    int64 // 0: without a caller
	Units      int
}

func (e *events) outcome(t *testing.T) outcome {
	t.Helper()
	last := e.last(t)
	o := outcome{Op: last.Op, Status: last.Status, Units: last.Units}
	if last.Viewer != nil {
		o.Account = last.Viewer.AccountID
	}
	return o
}

// check reports the difference between two values.
func check(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func (e *events) last(t *testing.T) api.Event {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.list) == 0 {
		t.Fatalf("no event was recorded: got %v, want some", len(e.list))
	}
	return e.list[len(e.list)-1]
}

func (e *events) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.list)
}

// Admit returns the caller of the bundle with that secret.
func (b *bundle) Admit(_ context.Context, secret string) (*api.Caller, error) {
	if _, ended := b.revoked.Load(secret); ended {
		return nil, apierr.New(apierr.Unauthorized, "The API key is not valid.")
	}
	switch secret {
	case "ended":
		return nil, apierr.New(apierr.AuthRequired, "The session has ended.")
	case "broken":
		return nil, errors.New("the database is down")
	}
	if caller := b.callers[secret]; caller != nil {
		return caller, nil
	}
	return nil, apierr.New(apierr.Unauthorized, "The API key is not valid.")
}

// fakeModule implements all operations: it returns the answer that a test sets.
type fakeModule struct {
	export   string // what comes of an export: nothing, half, or all
	mu       sync.Mutex
	requests []proto.Message
	raw      json.RawMessage
	do       func(ctx context.Context, request proto.Message) (proto.Message, error)
	page     api.Rendered
	// stream replaces WatchScroll.
	stream func(ctx context.Context, send func(*scrolleryv1.WatchScrollResponse) error) error
}

func (r *fakeModule) keep(ctx context.Context, request proto.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, request)
	r.raw = api.RawField(ctx, "agentMetadata")
}

func (r *fakeModule) last(t *testing.T) proto.Message {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.requests) == 0 {
		t.Fatalf("no request reached the module: got %v, want some", len(r.requests))
	}
	return r.requests[len(r.requests)-1]
}

func upload[Req, Resp any](b *bundle, method string) {
	api.Upload(b.mux, method, func(ctx context.Context, req *Req, file io.Reader) (*Resp, error) {
		b.fake.keep(ctx, any(req).(proto.Message))
		_, err := io.Copy(io.Discard, file)
		return new(Resp), err
	})
}

func unary[Req, Resp any](b *bundle, method string) {
	api.Unary(b.mux, method, func(ctx context.Context, req *Req) (*Resp, error) {
		b.fake.keep(ctx, any(req).(proto.Message))
		if b.fake.do != nil {
			response, err := b.fake.do(ctx, any(req).(proto.Message))
			if err != nil || response != nil {
				typed, _ := any(response).(*Resp)
				return typed, err
			}
		}
		return new(Resp), nil
	})
}

func page[Req any](b *bundle, method string) {
	api.Page(b.mux, method, func(ctx context.Context, req *Req) (api.Rendered, error) {
		b.fake.keep(ctx, any(req).(proto.Message))
		return b.fake.page, nil
	})
}

func setup(t testing.TB, change ...func(*api.Config)) *bundle {
	t.Helper()
	cfg := api.Defaults()
	cfg.BaseURL, cfg.RateLimit = "https://api.scrollery.test/", false
	for _, c := range change {
		c(&cfg)
	}
	b := &bundle{log: &written{}, events: &events{}, revoked: &sync.Map{}, fake: &fakeModule{}, callers: map[string]*api.Caller{
		"good":    {Viewer: &viewer.Viewer{AccountID: 1, KeyID: 11, Scopes: viewer.AllScopes(), Plan: "standard", Status: "active"}},
		"session": {Viewer: &viewer.Viewer{AccountID: 1, KeyID: 21, Session: true, Scopes: viewer.AllScopes(), Plan: "standard", Status: "active"}},
		"pro":     {Viewer: &viewer.Viewer{AccountID: 5, KeyID: 15, Scopes: viewer.AllScopes(), Plan: "pro", Status: "active"}},
		"lapsed":  {Viewer: &viewer.Viewer{AccountID: 2, KeyID: 12, Scopes: viewer.AllScopes(), Plan: "standard", Status: "past_due"}},
		"reader":  {Viewer: &viewer.Viewer{AccountID: 3, KeyID: 13, Scopes: []string{"library:read"}, Plan: "standard", Status: "active"}},
		"drained": {Viewer: &viewer.Viewer{AccountID: 4, KeyID: 14, Scopes: viewer.AllScopes(), Plan: "standard", Status: "active"}, BudgetWait: 90 * time.Second},
	}}
	mux, err := api.New(cfg, b, b.events, slog.New(slog.NewJSONHandler(b.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	b.mux = mux
	b.mount()
	if err := mux.Err(); err != nil {
		t.Fatal(err)
	}
	if missing := mux.Missing(); len(missing) > 0 {
		t.Fatalf("not mounted: %v, want none", missing)
	}
	b.server = httptest.NewUnstartedServer(mux.Handler())
	b.server.Config.Protocols = new(http.Protocols)
	b.server.Config.Protocols.SetHTTP1(true)
	b.server.Config.Protocols.SetUnencryptedHTTP2(true)
	b.server.Start()
	t.Cleanup(b.server.Close)
	return b
}

func (b *bundle) mount() {
	unary[scrolleryv1.GetHealthRequest, scrolleryv1.GetHealthResponse](b, "GetHealth")
	unary[scrolleryv1.GetPricingRequest, scrolleryv1.GetPricingResponse](b, "GetPricing")
	unary[scrolleryv1.SubscribeRequest, scrolleryv1.SubscribeResponse](b, "Subscribe")
	unary[scrolleryv1.ClaimSubscriptionRequest, scrolleryv1.ClaimSubscriptionResponse](b, "ClaimSubscription")
	unary[scrolleryv1.TopupRequest, scrolleryv1.TopupResponse](b, "Topup")
	unary[scrolleryv1.ConfirmTopupRequest, scrolleryv1.ConfirmTopupResponse](b, "ConfirmTopup")
	unary[scrolleryv1.SignupRequest, scrolleryv1.SignupResponse](b, "Signup")
	unary[scrolleryv1.ClaimSignupRequest, scrolleryv1.ClaimSignupResponse](b, "ClaimSignup")
	unary[scrolleryv1.RecoverRequest, scrolleryv1.RecoverResponse](b, "Recover")
	unary[scrolleryv1.ReissueRequest, scrolleryv1.ReissueResponse](b, "Reissue")
	unary[scrolleryv1.CreateSessionKeyRequest, scrolleryv1.CreateSessionKeyResponse](b, "CreateSessionKey")
	unary[scrolleryv1.GetWorkspaceRequest, scrolleryv1.GetWorkspaceResponse](b, "GetWorkspace")
	unary[scrolleryv1.SetWorkspaceRequest, scrolleryv1.SetWorkspaceResponse](b, "SetWorkspace")
	unary[scrolleryv1.UpdateWorkspaceRequest, scrolleryv1.UpdateWorkspaceResponse](b, "UpdateWorkspace")
	unary[scrolleryv1.GetRulesRequest, scrolleryv1.GetRulesResponse](b, "GetRules")
	unary[scrolleryv1.PutRulesRequest, scrolleryv1.PutRulesResponse](b, "PutRules")
	unary[scrolleryv1.CreateScrollRequest, scrolleryv1.CreateScrollResponse](b, "CreateScroll")
	unary[scrolleryv1.GetScrollRequest, scrolleryv1.GetScrollResponse](b, "GetScroll")
	unary[scrolleryv1.ListScrollsRequest, scrolleryv1.ListScrollsResponse](b, "ListScrolls")
	unary[scrolleryv1.CancelScrollRequest, scrolleryv1.CancelScrollResponse](b, "CancelScroll")
	unary[scrolleryv1.StopScheduleRequest, scrolleryv1.StopScheduleResponse](b, "StopSchedule")
	unary[scrolleryv1.ListVerdictsRequest, scrolleryv1.ListVerdictsResponse](b, "ListVerdicts")
	unary[scrolleryv1.ListKeysRequest, scrolleryv1.ListKeysResponse](b, "ListKeys")
	unary[scrolleryv1.RevokeKeyRequest, scrolleryv1.RevokeKeyResponse](b, "RevokeKey")
	unary[scrolleryv1.ListRuleVersionsRequest, scrolleryv1.ListRuleVersionsResponse](b, "ListRuleVersions")
	unary[scrolleryv1.PreviewRulesRequest, scrolleryv1.PreviewRulesResponse](b, "PreviewRules")
	unary[scrolleryv1.DraftBriefRequest, scrolleryv1.DraftBriefResponse](b, "DraftBrief")
	unary[scrolleryv1.GetScheduleRequest, scrolleryv1.GetScheduleResponse](b, "GetSchedule")
	unary[scrolleryv1.ListTemplatesRequest, scrolleryv1.ListTemplatesResponse](b, "ListTemplates")
	unary[scrolleryv1.EstimateScrollRequest, scrolleryv1.EstimateScrollResponse](b, "EstimateScroll")
	unary[scrolleryv1.SummarizeChangesRequest, scrolleryv1.SummarizeChangesResponse](b, "SummarizeChanges")
	unary[scrolleryv1.ListChangesRequest, scrolleryv1.ListChangesResponse](b, "ListChanges")
	api.Stream(b.mux, "WatchChanges", func(context.Context, *scrolleryv1.WatchChangesRequest, func(*scrolleryv1.WatchChangesResponse) error) error {
		return nil
	})
	unary[scrolleryv1.ListWebhooksRequest, scrolleryv1.ListWebhooksResponse](b, "ListWebhooks")
	unary[scrolleryv1.CreateWebhookRequest, scrolleryv1.CreateWebhookResponse](b, "CreateWebhook")
	unary[scrolleryv1.UpdateWebhookRequest, scrolleryv1.UpdateWebhookResponse](b, "UpdateWebhook")
	unary[scrolleryv1.RotateWebhookSecretRequest, scrolleryv1.RotateWebhookSecretResponse](b, "RotateWebhookSecret")
	unary[scrolleryv1.TestWebhookRequest, scrolleryv1.TestWebhookResponse](b, "TestWebhook")
	unary[scrolleryv1.DeleteWebhookRequest, scrolleryv1.DeleteWebhookResponse](b, "DeleteWebhook")
	unary[scrolleryv1.ListDeliveriesRequest, scrolleryv1.ListDeliveriesResponse](b, "ListDeliveries")
	unary[scrolleryv1.RedeliverRequest, scrolleryv1.RedeliverResponse](b, "Redeliver")
	unary[scrolleryv1.ListSourcesRequest, scrolleryv1.ListSourcesResponse](b, "ListSources")
	unary[scrolleryv1.SetSourceRequest, scrolleryv1.SetSourceResponse](b, "SetSource")
	unary[scrolleryv1.RemoveSourceRequest, scrolleryv1.RemoveSourceResponse](b, "RemoveSource")
	unary[scrolleryv1.TrySourceRequest, scrolleryv1.TrySourceResponse](b, "TrySource")
	unary[scrolleryv1.ListCollectionsRequest, scrolleryv1.ListCollectionsResponse](b, "ListCollections")
	unary[scrolleryv1.CreateCollectionRequest, scrolleryv1.CreateCollectionResponse](b, "CreateCollection")
	unary[scrolleryv1.UpdateCollectionRequest, scrolleryv1.UpdateCollectionResponse](b, "UpdateCollection")
	unary[scrolleryv1.AddToCollectionRequest, scrolleryv1.AddToCollectionResponse](b, "AddToCollection")
	unary[scrolleryv1.RemoveFromCollectionRequest, scrolleryv1.RemoveFromCollectionResponse](b, "RemoveFromCollection")
	unary[scrolleryv1.MoveInCollectionRequest, scrolleryv1.MoveInCollectionResponse](b, "MoveInCollection")
	unary[scrolleryv1.DeleteCollectionRequest, scrolleryv1.DeleteCollectionResponse](b, "DeleteCollection")
	page[scrolleryv1.GetCollectionRequest](b, "GetCollection")
	unary[scrolleryv1.CreateShareRequest, scrolleryv1.CreateShareResponse](b, "CreateShare")
	unary[scrolleryv1.ListSharesRequest, scrolleryv1.ListSharesResponse](b, "ListShares")
	unary[scrolleryv1.RevokeShareRequest, scrolleryv1.RevokeShareResponse](b, "RevokeShare")
	page[scrolleryv1.GetHooksRequest](b, "GetHooks")
	page[scrolleryv1.GetOutliersRequest](b, "GetOutliers")
	page[scrolleryv1.GetTrendsRequest](b, "GetTrends")
	page[scrolleryv1.GetLibraryRequest](b, "GetLibrary")
	page[scrolleryv1.ListOutliersRequest](b, "ListOutliers")
	page[scrolleryv1.ListHooksRequest](b, "ListHooks")
	page[scrolleryv1.ListTrendsRequest](b, "ListTrends")
	unary[scrolleryv1.ArchiveLibraryVideoRequest, scrolleryv1.ArchiveLibraryVideoResponse](b, "ArchiveLibraryVideo")
	unary[scrolleryv1.DeleteFromLibraryRequest, scrolleryv1.DeleteFromLibraryResponse](b, "DeleteFromLibrary")
	unary[scrolleryv1.UndoLibraryDeletionRequest, scrolleryv1.UndoLibraryDeletionResponse](b, "UndoLibraryDeletion")
	unary[scrolleryv1.ListLibraryDeletionsRequest, scrolleryv1.ListLibraryDeletionsResponse](b, "ListLibraryDeletions")
	unary[scrolleryv1.AnnotateLibraryVideoRequest, scrolleryv1.AnnotateLibraryVideoResponse](b, "AnnotateLibraryVideo")
	page[scrolleryv1.GetVideoRequest](b, "GetVideo")
	page[scrolleryv1.GetVideosRequest](b, "GetVideos")
	unary[scrolleryv1.GetFramesRequest, scrolleryv1.GetFramesResponse](b, "GetFrames")
	unary[scrolleryv1.ListObservationsRequest, scrolleryv1.ListObservationsResponse](b, "ListObservations")
	unary[scrolleryv1.ExplainOutlierRequest, scrolleryv1.ExplainOutlierResponse](b, "ExplainOutlier")
	unary[scrolleryv1.ExplainTrendRequest, scrolleryv1.ExplainTrendResponse](b, "ExplainTrend")
	unary[scrolleryv1.ListScoresRequest, scrolleryv1.ListScoresResponse](b, "ListScores")
	unary[scrolleryv1.GetTrendSeriesRequest, scrolleryv1.GetTrendSeriesResponse](b, "GetTrendSeries")
	unary[scrolleryv1.BacktestOutliersRequest, scrolleryv1.BacktestOutliersResponse](b, "BacktestOutliers")
	unary[scrolleryv1.BacktestTrendsRequest, scrolleryv1.BacktestTrendsResponse](b, "BacktestTrends")
	unary[scrolleryv1.GetCreatorRequest, scrolleryv1.GetCreatorResponse](b, "GetCreator")
	unary[scrolleryv1.GetUsageRequest, scrolleryv1.GetUsageResponse](b, "GetUsage")
	unary[scrolleryv1.ListEventsRequest, scrolleryv1.ListEventsResponse](b, "ListEvents")
	unary[scrolleryv1.WriteSandboxFileRequest, scrolleryv1.WriteSandboxFileResponse](b, "WriteSandboxFile")
	unary[scrolleryv1.RunAgentRequest, scrolleryv1.RunAgentResponse](b, "RunAgent")
	unary[scrolleryv1.GetPolicyRequest, scrolleryv1.GetPolicyResponse](b, "GetPolicy")
	unary[scrolleryv1.GetAccountRequest, scrolleryv1.GetAccountResponse](b, "GetAccount")
	unary[scrolleryv1.EraseAccountRequest, scrolleryv1.EraseAccountResponse](b, "EraseAccount")
	upload[scrolleryv1.CreateImportRequest, scrolleryv1.CreateImportResponse](b, "CreateImport")
	upload[scrolleryv1.PreviewImportRequest, scrolleryv1.PreviewImportResponse](b, "PreviewImport")
	unary[scrolleryv1.ImportVideosRequest, scrolleryv1.ImportVideosResponse](b, "ImportVideos")
	unary[scrolleryv1.GetImportRequest, scrolleryv1.GetImportResponse](b, "GetImport")
	page[scrolleryv1.ListImportsRequest](b, "ListImports")
	unary[scrolleryv1.UndoImportRequest, scrolleryv1.UndoImportResponse](b, "UndoImport")
	api.Download(b.mux, "ExportAccount", func(_ context.Context, _ *scrolleryv1.ExportAccountRequest, out io.Writer) error {
		if b.fake.export == "nothing" {
			return apierr.New(apierr.RateLimited, "Another export is running.")
		}
		for _, part := range []string{"one,", "two"} {
			if _, err := io.WriteString(out, part); err != nil {
				return err
			}
		}
		if b.fake.export == "half" {
			return errors.New("the rest is lost")
		}
		return nil
	})
	api.Stream(b.mux, "WatchScroll", func(ctx context.Context, req *scrolleryv1.WatchScrollRequest, send func(*scrolleryv1.WatchScrollResponse) error) error {
		if b.fake.stream != nil {
			return b.fake.stream(ctx, send)
		}
		for _, status := range []string{"queued", "completed"} {
			if err := send(&scrolleryv1.WatchScrollResponse{Scroll: &scrolleryv1.Scroll{Id: req.GetId(), Status: status}}); err != nil {
				return err
			}
		}
		if req.GetId() == "scr_waits" {
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	})
}

// reply is an answer of REST.
type reply struct {
	status int
	header http.Header
	body   string
}

// json decodes the body.
func (r reply) json(t *testing.T) map[string]any {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal([]byte(r.body), &body); err != nil {
		t.Fatalf("the answer is not a JSON object: %v: %s", err, r.body)
	}
	return body
}

// call makes one REST call; key may be empty.
func (b *bundle) call(t testing.TB, method, path, key, body string, headers ...string) reply {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	request, err := http.NewRequest(method, b.server.URL+path, reader)
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	client := *b.server.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{response.StatusCode, response.Header, string(text)}
}
