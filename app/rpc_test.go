package app_test

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// eachProtocol runs a test with an account of its own over every protocol.
func eachProtocol(t *testing.T, running *apptest.Running, test func(t *testing.T, account *apptest.Caller, protocol apptest.Protocol)) {
	for _, protocol := range apptest.Protocols() {
		t.Run(protocol.Name, func(t *testing.T) {
			t.Parallel()
			account := running.Account(t, "pro")
			account.Get(t, setBrief, &struct{}{})
			test(t, account, protocol)
		})
	}
}

func wantRefusal(t *testing.T, err error, code connect.Code, kind string, paths ...string) *pb.Error {
	t.Helper()
	body := apptest.Refusal(t, err)
	var got []string
	for _, issue := range body.GetIssues() {
		got = append(got, issue.GetPath())
	}
	if connect.CodeOf(err) != code || body.GetError() != kind || !slices.Equal(got, paths) {
		t.Errorf("refused with %v %s at %q, want %v %s at %q", connect.CodeOf(err), body.GetError(), got, code, kind, paths)
	}
	return body
}

func TestSessionKeys(t *testing.T) {
	t.Parallel()
	eachProtocol(t, apptest.Start(t), func(t *testing.T, account *apptest.Caller, protocol apptest.Protocol) {
		mint := func(caller *apptest.Caller, ttl *int32, scopes ...string) (*pb.CreateSessionKeyResponse, error) {
			return caller.RPC(protocol).Keys.CreateSessionKey(t.Context(), &pb.CreateSessionKeyRequest{Scopes: scopes, TtlSeconds: ttl})
		}
		began := time.Now()
		session, err := mint(account, proto.Int32(60), "library:read", "keys:write")
		if err != nil {
			t.Fatal(err)
		}
		left := time.UnixMilli(int64(session.GetExpiresAt())).Sub(began)
		if !strings.HasPrefix(session.GetApiKey(), "scr_sess_") || !slices.Equal(session.GetScopes(), []string{"library:read", "keys:write"}) || left < 59*time.Second || left > 70*time.Second {
			t.Errorf("got %+v with %v left, want a session of library:read and keys:write with 59 to 70 s left", session, left)
		}
		holder := account.WithKey(session.GetApiKey())
		if _, err := holder.RPC(protocol).Library.GetHooks(t.Context(), &pb.GetHooksRequest{}); err != nil {
			t.Errorf("the session key may not read: %v", err)
		}
		_, err = holder.RPC(protocol).Rules.PutRules(t.Context(), &pb.PutRulesRequest{Text: proto.String("a")})
		if body := wantRefusal(t, err, connect.CodePermissionDenied, "forbidden"); body.GetRequiredScope() != "rules:write" || len(body.GetGrantedScopes()) != 2 {
			t.Errorf(`refused with %v, want RequiredScope "rules:write" and 2 GrantedScopes`, body)
		}
		_, err = mint(holder, nil)
		if body := wantRefusal(t, err, connect.CodePermissionDenied, "forbidden"); body.GetRequiredScope() == "" || len(body.GetGrantedScopes()) != 2 {
			t.Errorf("got the refusal %v, want the required scope and the 2 granted ones", body)
		}
		for _, ttl := range []int32{0, -1, 86401} {
			_, err = mint(account, &ttl)
			wantRefusal(t, err, connect.CodeInvalidArgument, "invalid_request", "ttlSeconds")
		}
		if _, err = mint(account, proto.Int32(86400)); err != nil {
			t.Errorf("a session of a day: %v", err)
		}
		_, err = mint(account, nil, "all:things")
		wantRefusal(t, err, connect.CodeInvalidArgument, "invalid_request", "scopes[0]")
		if whole, err := mint(account, nil); err != nil || len(whole.GetScopes()) != len(viewer.AllScopes()) {
			t.Errorf("a session of every scope: got %v, %v, want %d scopes", whole, err, len(viewer.AllScopes()))
		}
	})
}

func TestScrollsOverRPC(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t, sampleFeed)
	eachProtocol(t, running, func(t *testing.T, account *apptest.Caller, protocol apptest.Protocol) {
		scrolls := account.RPC(protocol).Scrolls
		var started []string
		for range 3 {
			created, err := scrolls.CreateScroll(t.Context(), &pb.CreateScrollRequest{Schedule: proto.Int32(1)})
			if err != nil || created.GetOutcome() != "queued" {
				t.Fatalf(`%v %v, want no error and Outcome "queued"`, created, err)
			}
			started = append([]string{created.GetScroll().GetId()}, started...)
			watch(t, account, protocol, created.GetScroll().GetId())
		}
		if listed := listScrolls(t, account, protocol); !slices.Equal(listed, started) {
			t.Errorf("listed %v, want %v", listed, started)
		}
		for size, token := range map[int32]string{0: "", 101: ""} {
			_, err := scrolls.ListScrolls(t.Context(), &pb.ListScrollsRequest{PageSize: &size, PageToken: &token})
			wantRefusal(t, err, connect.CodeInvalidArgument, "invalid_request", "pageSize")
		}
		_, err := scrolls.ListScrolls(t.Context(), &pb.ListScrollsRequest{PageToken: proto.String("x")})
		wantRefusal(t, err, connect.CodeInvalidArgument, "invalid_request", "pageToken")
		for _, want := range []bool{true, false} {
			if stopped, err := scrolls.StopSchedule(t.Context(), &pb.StopScheduleRequest{}); err != nil || stopped.GetStopped() != want {
				t.Errorf("StopSchedule: got %v, error %v; want stopped %v", stopped, err, want)
			}
		}
		if got, err := scrolls.CancelScroll(t.Context(), &pb.CancelScrollRequest{Id: &started[0]}); err != nil || !got.GetFound() || got.GetScroll().GetStatus() != "completed" {
			t.Errorf("cancelling an ended scroll: got %v, %v, want it found and completed", got, err)
		}
		if got, err := scrolls.CancelScroll(t.Context(), &pb.CancelScrollRequest{Id: proto.String("scr_unknown")}); err != nil || got.GetFound() {
			t.Errorf("cancelling an unknown scroll: got %v, %v, want no error and none found", got, err)
		}
		_, err = scrolls.CancelScroll(t.Context(), &pb.CancelScrollRequest{})
		wantRefusal(t, err, connect.CodeInvalidArgument, "invalid_request", "id")
		checkPages(t, account, protocol)
	})
}

func TestAScrollIsWatchedOnREST(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t, sampleFeed)
	account, other := running.Account(t, "pro"), running.Account(t, "pro")
	account.Get(t, setBrief, &struct{}{})
	var started struct{ Scroll struct{ ID string } }
	account.Get(t, "POST /v1/scrolls {}", &started)
	call := "GET /v1/scrolls/watch?id=" + started.Scroll.ID
	body := account.Read(t, call)
	found := regexp.MustCompile(`id: (\S+)\ndata: .*"status":"(\w+)"`).FindAllStringSubmatch(body, -1)
	if len(found) == 0 || found[len(found)-1][2] != "completed" {
		t.Fatalf("got the events %q, want the last to be completed", found)
	}
	if answer := account.Do(t, call, "Last-Event-ID: "+found[len(found)-1][1]); answer.Status != http.StatusNoContent {
		t.Errorf("after the last event: got %d, want 204: %s", answer.Status, answer.Body)
	}
	if answer := other.Do(t, call, ""); answer.Status != http.StatusNotFound {
		t.Errorf("another account: got %d, want 404: %s", answer.Status, answer.Body)
	}
}

// watch follows a scroll to its end.
func watch(t *testing.T, account *apptest.Caller, protocol apptest.Protocol, id string) {
	t.Helper()
	stream, err := account.RPC(protocol).Scrolls.WatchScroll(t.Context(), &pb.WatchScrollRequest{Id: &id})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	percent, status := 0.0, ""
	for stream.Receive() {
		scroll := stream.Msg().GetScroll()
		if now := scroll.GetProgress().GetPercent(); now < percent {
			t.Errorf("got progress %v after %v, want it never to fall", now, percent)
		}
		percent, status = scroll.GetProgress().GetPercent(), scroll.GetStatus()
	}
	if err := stream.Err(); err != nil || status != "completed" || percent != 100 {
		t.Errorf(`the stream: got the end %s at %v percent, want completed at 100; error %v`, status, percent, err)
	}
	unknown, err := account.RPC(protocol).Scrolls.WatchScroll(t.Context(), &pb.WatchScrollRequest{Id: proto.String("scr_unknown")})
	if err == nil {
		for unknown.Receive() {
			t.Errorf("an unknown scroll: got the message %v, want none", unknown.Msg())
		}
		err = unknown.Err()
	}
	wantRefusal(t, err, connect.CodeNotFound, "not_found")
}

func listScrolls(t *testing.T, account *apptest.Caller, protocol apptest.Protocol) []string {
	t.Helper()
	var ids []string
	for token := ""; ; {
		page, err := account.RPC(protocol).Scrolls.ListScrolls(t.Context(), &pb.ListScrollsRequest{PageSize: proto.Int32(2), PageToken: &token})
		if err != nil {
			t.Fatal(err)
		}
		for _, scroll := range page.GetScrolls() {
			ids = append(ids, scroll.GetId())
		}
		if token = page.GetNextPageToken(); token == "" {
			return ids
		}
	}
}

// checkPages reads every list in pages and holds it against REST's first page.
func checkPages(t *testing.T, account *apptest.Caller, protocol apptest.Protocol) {
	t.Helper()
	services := account.RPC(protocol)
	type page struct {
		ids  []string
		next string
	}
	limit := proto.Int32(7)
	for path, read := range map[string]func(ctx context.Context, token *string) (page, error){
		"hooks": func(ctx context.Context, token *string) (p page, err error) {
			got, err := services.Library.GetHooks(ctx, &pb.GetHooksRequest{Limit: limit, PageToken: token})
			for _, hook := range got.GetHooks() {
				p.ids = append(p.ids, hook.GetVideo().GetId())
			}
			p.next = got.GetNextPageToken()
			return p, err
		},
		"outliers": func(ctx context.Context, token *string) (p page, err error) {
			got, err := services.Library.GetOutliers(ctx, &pb.GetOutliersRequest{Limit: limit, PageToken: token})
			for _, outlier := range got.GetOutliers() {
				p.ids = append(p.ids, outlier.GetVideo().GetId())
			}
			p.next = got.GetNextPageToken()
			return p, err
		},
		"trends": func(ctx context.Context, token *string) (p page, err error) {
			got, err := services.Library.GetTrends(ctx, &pb.GetTrendsRequest{Limit: limit, PageToken: token})
			for _, trend := range got.GetTrends() {
				p.ids = append(p.ids, trend.GetKey())
			}
			p.next = got.GetNextPageToken()
			return p, err
		},
	} {
		var all []string
		for token := (*string)(nil); ; {
			p, err := read(t.Context(), token)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			all = append(all, p.ids...)
			if p.next == "" {
				break
			}
			token = &p.next
		}
		if unique := slices.Compact(slices.Sorted(slices.Values(all))); len(unique) != len(all) || len(all) < 2 {
			t.Errorf("%s: got %d ids, %d of them different, want at least 2 and each once", path, len(all), len(unique))
		}
		first := firstOnREST(t, account, path)
		if len(first) > len(all) || !slices.Equal(first, all[:len(first)]) {
			t.Errorf("%s: got %v on REST, want the first of the pages %v", path, first, all)
		}
		_, err := read(t.Context(), proto.String("no token"))
		wantRefusal(t, err, connect.CodeInvalidArgument, "invalid_request", "pageToken")
	}
}

func firstOnREST(t *testing.T, account *apptest.Caller, path string) []string {
	t.Helper()
	var got struct {
		Hooks, Outliers []struct{ Video struct{ ID string } }
		Trends          []struct{ Key string }
	}
	account.Get(t, "GET /v1/"+path, &got)
	var ids []string
	for _, item := range append(got.Hooks, got.Outliers...) {
		ids = append(ids, item.Video.ID)
	}
	for _, item := range got.Trends {
		ids = append(ids, item.Key)
	}
	return ids
}

func TestCancelOverRPC(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t, sampleFeed, func(cfg *app.Config) {
		cfg.Scrolls.Pause = func(ctx context.Context, _, _ string) { <-ctx.Done() } // until cancelled
	})
	eachProtocol(t, running, func(t *testing.T, account *apptest.Caller, protocol apptest.Protocol) {
		scrolls := account.RPC(protocol).Scrolls
		created, err := scrolls.CreateScroll(t.Context(), &pb.CreateScrollRequest{})
		if err != nil {
			t.Fatal(err)
		}
		id := created.GetScroll().GetId()
		stream, err := scrolls.WatchScroll(t.Context(), &pb.WatchScrollRequest{Id: &id})
		if err != nil || !stream.Receive() {
			t.Fatalf("got %v, want a stream with a first message", err)
		}
		defer stream.Close()
		cancelled, err := scrolls.CancelScroll(t.Context(), &pb.CancelScrollRequest{Id: &id})
		if err != nil || cancelled.GetScroll().GetStatus() != "cancelled" || cancelled.GetScroll().GetStage() != "" {
			t.Errorf(`got %v, error %v; want it cancelled, without a stage`, cancelled, err)
		}
		last := stream.Msg().GetScroll()
		for stream.Receive() {
			last = stream.Msg().GetScroll()
		}
		if err := stream.Err(); err != nil || last.GetStatus() != "cancelled" {
			t.Errorf(`the stream: got the end %s, want cancelled; error %v`, last.GetStatus(), err)
		}
	})
}

var anyID = regexp.MustCompile(`"((?:vid|rule|scr|ws|key|acct)_)[0-9a-z]+"`)

// idsIn finds the ids of what an owner sees, by prefix, and those of its scrolls.
func idsIn(t *testing.T, owner *apptest.Caller, text string) map[string][]string {
	t.Helper()
	ids := map[string][]string{"scr_": listScrolls(t, owner, apptest.Protocols()[0])}
	for _, match := range anyID.FindAllStringSubmatch(text, -1) {
		if id := strings.Trim(match[0], `"`); !slices.Contains(ids[match[1]], id) {
			ids[match[1]] = append(ids[match[1]], id)
		}
	}
	return ids
}
