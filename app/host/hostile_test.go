package host_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/serve"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// hostile speaks the protocol without the SDK, and badly: its first seed says how.
type hostile struct {
	plugin.NetRPCUnsupportedPlugin
	stagev1.UnimplementedStageServiceServer
}

func serveHostile() {
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			ProtocolVersion: stage.ProtocolVersion, MagicCookieKey: stage.CookieKey, MagicCookieValue: stage.CookieValue,
		},
		Plugins: plugin.PluginSet{stage.ServiceName: &hostile{}},
		GRPCServer: func(options []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(options, grpc.MaxSendMsgSize(1<<30))...)
		},
	})
}

func (h *hostile) GRPCServer(_ *plugin.GRPCBroker, server *grpc.Server) error {
	stagev1.RegisterStageServiceServer(server, h)
	return nil
}

func (*hostile) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.ErrUnsupported
}

func some(n, size int) *stagev1.CallResponse {
	var records []*stagev1.Record
	for i := range n {
		records = append(records, &stagev1.Record{
			Ref: &stagev1.Ref{Platform: "tiktok", ExternalId: strconv.Itoa(i)}, CreatorId: strings.Repeat("x", size),
		})
	}
	return &stagev1.CallResponse{Message: &stagev1.CallResponse_Records{Records: &stagev1.Records{Records: records}}}
}

func over(done *stagev1.Done) *stagev1.CallResponse {
	return &stagev1.CallResponse{Message: &stagev1.CallResponse_Done{Done: done}}
}

func (h *hostile) Collect(stream grpc.BidiStreamingServer[stagev1.CallRequest, stagev1.CallResponse]) error {
	how, token := "", ""
	for how == "" {
		message, err := stream.Recv()
		if err != nil {
			return err
		}
		token = cmp.Or(message.GetOpen().GetSecrets()["token"], token)
		if seeds := message.GetInput().GetSeeds(); len(seeds) > 0 {
			how = seeds[0].GetTerm()
		}
	}
	switch how {
	case "one too big":
		_ = stream.Send(some(1, stage.MaxRecord))
		_ = stream.Send(some(2, 1))
		return stream.Send(over(nil))
	case "message too big":
		return stream.Send(some(9, 1<<20))
	case "too many parts":
		return stream.Send(&stagev1.CallResponse{Message: &stagev1.CallResponse_Records{
			Records: &stagev1.Records{Records: slices.Repeat([]*stagev1.Record{{}}, 1<<18)},
		}})
	case "too many outcomes":
		return stream.Send(over(&stagev1.Done{Outcomes: slices.Repeat([]*stagev1.Outcome{{}}, 1<<18)}))
	case "too many":
		for {
			if err := stream.Send(some(1000, 1)); err != nil {
				return err
			}
		}
	case "no done":
		return stream.Send(some(1, 1))
	case "empty":
		return stream.Send(&stagev1.CallResponse{})
	case "verdicts":
		return stream.Send(&stagev1.CallResponse{Message: &stagev1.CallResponse_Verdicts{Verdicts: &stagev1.Verdicts{}}})
	case "greedy":
		_ = stream.Send(&stagev1.CallResponse{Message: &stagev1.CallResponse_Progress{Progress: &stagev1.Progress{Want: 1 << 30}}})
		_ = stream.Send(&stagev1.CallResponse{Message: &stagev1.CallResponse_Progress{Progress: &stagev1.Progress{Want: -1 << 30}}})
		return stream.Send(over(&stagev1.Done{Outcomes: []*stagev1.Outcome{{Status: "splendid", Asked: -4}}}))
	case "deadline":
		return status.Error(codes.DeadlineExceeded, "so it says")
	case "telling":
		return stream.Send(over(&stagev1.Done{Outcomes: []*stagev1.Outcome{{
			Seed: "a", Platform: "tiktok", Status: "blocked", Detail: "asked with " + token + ", as ?key=" + url.QueryEscape(token),
		}}}))
	case "telling status":
		return status.Error(codes.Internal, token+strings.Repeat("!", 100<<10))
	case "telling end":
		return status.Error(codes.Unavailable, token)
	case "telling quota":
		return stream.Send(&stagev1.CallResponse{Message: &stagev1.CallResponse_Spend{Spend: &stagev1.Spend{Quota: token, Units: 1}}})
	case "keeps for another":
		_ = stream.Send(kept("another", 1))
		return stream.Send(over(nil))
	case "keeps too much":
		_ = stream.Send(kept(how, stage.MaxState+1))
		return stream.Send(over(nil))
	case "odd error":
		return stream.Send(over(&stagev1.Done{Error: &stagev1.Error{
			Fault: "the weather", Message: strings.Repeat("\xff", 1<<20), RetryAt: -1,
		}}))
	}
	return nil
}

// Screen notes its secret.
func (h *hostile) Screen(stream grpc.BidiStreamingServer[stagev1.CallRequest, stagev1.CallResponse]) error {
	message, err := stream.Recv()
	if err != nil {
		return err
	}
	return stream.Send(over(&stagev1.Done{Notes: []string{"asked with " + message.GetOpen().GetSecrets()["token"]}}))
}

// Evidence asks for input and never reads it.
func (h *hostile) Evidence(stream grpc.BidiStreamingServer[stagev1.CallRequest, stagev1.CallResponse]) error {
	for stream.Send(&stagev1.CallResponse{Message: &stagev1.CallResponse_Progress{Progress: &stagev1.Progress{Want: 1000}}}) == nil {
	}
	return io.EOF
}

func kept(term string, size int) *stagev1.CallResponse {
	return &stagev1.CallResponse{Message: &stagev1.CallResponse_Keep{Keep: &stagev1.Keep{
		Seed: &stagev1.Seed{Kind: "niche", Term: term}, State: make([]byte, size),
	}}}
}

func TestHostile(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *host.Config) {
		c.Records, c.Crashes = 5000, 100
		c.Stall = 30 * time.Second
	})
	for _, c := range []struct {
		how  string
		want stage.Failure
		most int
	}{
		{"one too big", "", 2},
		{"message too big", stage.StageProtocol, 0},
		{"too many parts", stage.StageProtocol, 0},
		{"too many outcomes", stage.StageProtocol, 0},
		{"too many", stage.StageProtocol, 6000},
		{"no done", stage.StageProtocol, 1},
		{"empty", stage.StageProtocol, 0},
		{"verdicts", stage.StageProtocol, 0},
		{"greedy", "", 0},
		{"deadline", stage.StageProtocol, 0},
		{"odd error", stage.StageCrashed, 0},
		{"keeps for another", stage.StageProtocol, 0},
		{"keeps too much", stage.StageProtocol, 0},
	} {
		t.Run(c.how, func(t *testing.T) {
			records, err := b.probe(t.Context(), "hostile", c.how)
			if c.want == "" && err != nil {
				t.Errorf("%s: got %v, want no error", c.how, err)
			}
			if c.want != "" {
				wantFailure(t, err, c.want)
				if len(err.Error()) > 20<<10 {
					t.Errorf("%s: got an error of %d bytes, want at most %d", c.how, len(err.Error()), 20<<10)
				}
			}
			if len(records) > c.most {
				t.Errorf("%s: %d records, want at most %d", c.how, len(records), c.most)
			}
		})
	}
}

// broker is a stage that has go-plugin's broker too, and sends there without end.
type broker struct {
	stagev1.UnimplementedStageServiceServer
	asked chan struct{} // closed when the host listens
}

func serveBroker() {
	b := &broker{asked: make(chan struct{})}
	once := sync.OnceFunc(func() { close(b.asked) })
	flood := func(_ any, stream grpc.ServerStream) error {
		once()
		for id := uint32(0); ; id++ {
			if err := stream.SendMsg(wrapperspb.UInt32(id)); err != nil { // as its message has it
				return err
			}
		}
	}
	_ = serve.Serve(serve.Handshake{Version: stage.ProtocolVersion, CookieKey: stage.CookieKey, CookieValue: stage.CookieValue}, func(s *grpc.Server) {
		fmt.Println("what a package says when it is set up is no handshake")
		stagev1.RegisterStageServiceServer(s, b)
		s.RegisterService(&grpc.ServiceDesc{ServiceName: "plugin.GRPCBroker", Streams: []grpc.StreamDesc{
			{StreamName: "StartStream", Handler: flood, ServerStreams: true, ClientStreams: true},
		}}, nil)
	})
	os.Exit(0)
}

// Collect says whether the host listens to the broker.
func (b *broker) Collect(stream grpc.BidiStreamingServer[stagev1.CallRequest, stagev1.CallResponse]) error {
	detail := "deaf"
	select {
	case <-b.asked:
		detail = "listens"
	case <-time.After(500 * time.Millisecond):
	}
	return stream.Send(over(&stagev1.Done{Outcomes: []*stagev1.Outcome{{Seed: "a", Platform: "tiktok", Status: "ok", Detail: detail}}}))
}

func TestTheHostListensToNoBroker(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	before := runtime.NumGoroutine()
	outcomes, err := b.Collect(t.Context(), "brokering", stage.Run{}, []stage.Seed{{Term: "a"}}, nil)
	if err != nil || len(outcomes) != 1 || outcomes[0].Detail != "deaf" {
		t.Errorf("got %+v, %v, want one outcome of a deaf host", outcomes, err)
	}
	t.Logf("goroutines: %d before, %d after", before, runtime.NumGoroutine())
}

// TestSecretsStayInside has a stage say its secret wherever it has words.
func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	const secret = "T0ken/Value+x"
	b := setup(t, func(c *host.Config) {
		c.Crashes = 100
		given := map[string]string{"token": secret}
		c.Secrets = map[string]map[string]string{"hostile": given, "noter": given, "outward": {"token": "T0kenValue"}}
	})
	outcomes, err := b.Collect(t.Context(), "hostile", stage.Run{}, []stage.Seed{{Term: "telling"}}, nil)
	if err != nil || len(outcomes) != 1 || outcomes[0].Detail != "asked with [token], as ?key=[token]" {
		t.Errorf(`got %+v, error %v; want 1 outcome with the detail: asked with [token], as ?key=[token]`, outcomes, err)
	}
	for _, how := range []string{"telling status", "telling end", "telling quota"} {
		t.Run(how, func(t *testing.T) {
			_, err := b.probe(t.Context(), "hostile", how)
			var failure *stage.CallError
			if !errors.As(err, &failure) || !strings.Contains(err.Error(), "[token]") || strings.Contains(err.Error(), secret) || len(err.Error()) > 5<<10 {
				t.Errorf("%s: got an error of %d bytes, want at most %d, with [token] for the secret: %.200v", how, len(fmt.Sprint(err)), 5<<10, err)
			}
		})
	}
	summary, err := b.Screen(t.Context(), "noter", stage.Run{}, input(1, 1), nil)
	if err != nil || !slices.Equal(summary.Notes, []string{"asked with [token]"}) {
		t.Errorf("got the notes %q, %v, want one with [token] for the secret", summary.Notes, err)
	}
	if _, err := b.probe(t.Context(), "outward", "tunnel:T0kenValue.example.com:443"); err != nil {
		t.Error(err)
	}
	log := b.log.String()
	if !strings.Contains(log, "host=[token].example.com:443") || strings.Contains(strings.ToLower(log), "t0kenvalue") {
		t.Errorf("got %s, want the denied host as [token].example.com:443, and the secret nowhere", log)
	}
}

func TestStageThatDoesNotRead(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *host.Config) { c.Stall = time.Second })
	big := strings.Repeat("x", 1<<16)
	err := b.Evidence(t.Context(), "unread", stage.Run{}, func() ([]stage.Record, error) {
		r := stage.Record{Ref: stage.Ref{Platform: "tiktok", ExternalID: "1"}, CreatorID: big}
		return []stage.Record{r, r, r, r, r, r, r, r}, nil
	}, func([]stage.Finding) error { return nil })
	wantFailure(t, err, stage.StageTimeout)
}
