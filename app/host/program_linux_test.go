package host_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/hashicorp/go-plugin"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// TestProgram has a process that is no stage to the host reach what it is started
// with, and no more.
func TestProgram(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	b := o.setup(t)
	double := strings.TrimPrefix(o.double.URL, "http://")
	for _, c := range []struct {
		name      string
		endpoints []string
		want      [3]string
	}{
		{"with an endpoint", []string{double}, [3]string{"200 the double", "403 egress", "permission denied"}},
		{"without", nil, [3]string{"permission denied", "permission denied", "permission denied"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			running, err := b.Processes.StartProgram(t.Context(), host.Program{
				ID: "outward", Service: stage.ServiceName, MaxMessage: stage.MaxMessage, Memory: 512 << 20, Endpoints: c.endpoints,
				Handshake: plugin.HandshakeConfig{
					ProtocolVersion: stage.ProtocolVersion, MagicCookieKey: stage.CookieKey, MagicCookieValue: stage.CookieValue,
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer running.Stop()
			if got := running.Proxy(); (got == "") != (c.endpoints == nil) {
				t.Errorf("%s: got the proxy %q, want one exactly where there are endpoints", c.name, got)
			}
			got := converse(t, running, "get:"+o.double.URL, "get:http://"+o.other, "dial:tcp,"+double)
			for i, want := range c.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("%s: %q, want %q", c.name, got[i], want)
				}
			}
		})
	}
}

// converse speaks the stage's protocol by itself.
func converse(t *testing.T, running *host.Running, terms ...string) []string {
	t.Helper()
	stream, err := stagev1.NewStageServiceClient(running.Connection()).Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	input := &stagev1.Input{Last: true}
	for _, term := range terms {
		input.Seeds = append(input.Seeds, stage.EncodeSeed(stage.Seed{Term: term}))
	}
	for _, message := range []*stagev1.CallRequest{
		{Message: &stagev1.CallRequest_Open{Open: &stagev1.Open{Proxy: running.Proxy(), MaxRecords: 10}}},
		{Message: &stagev1.CallRequest_Input{Input: input}},
	} {
		if err := stream.Send(message); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for {
		message, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range message.GetRecords().GetRecords() {
			got = append(got, found(t, stage.DecodeRecord(r)))
		}
	}
	if len(got) != len(terms) {
		t.Fatalf("got %d answers, want one to each of %d attempts", len(got), len(terms))
	}
	return got
}
