package stage

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/scrollery/scrollery/plugins/stage/peer"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// Main serves the stage until the host ends it. It must be the only call in a stage's
// main function: stdout belongs to the handshake, and later writes to os.Stdout go to
// the host's log. A spec that is not valid ends the process with status 1. More specs are
// for stages of the host's own program, whose process serves several for one scroll.
func Main(spec Spec, more ...Spec) {
	specs := append([]Spec{spec}, more...)
	for _, one := range specs {
		if err := one.Validate(); err != nil {
			fmt.Fprintf(os.Stderr, "stage %q is not fit to run:\n%v\n", one.ID, err)
			os.Exit(1)
		}
	}
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			ProtocolVersion: ProtocolVersion, MagicCookieKey: CookieKey, MagicCookieValue: CookieValue,
		},
		Plugins:     plugin.PluginSet{ServiceName: &served{specs: specs, log: logger(os.Stderr)}},
		TLSProvider: peer.Provide,
		GRPCServer: func(options []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(options,
				grpc.MaxRecvMsgSize(MaxMessage), grpc.MaxSendMsgSize(MaxMessage))...)
		},
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: os.Stderr, JSONFormat: true}),
	})
}

// served is the stage as go-plugin wants it.
type served struct {
	plugin.NetRPCUnsupportedPlugin
	specs []Spec
	log   *slog.Logger
}

func (s *served) GRPCServer(_ *plugin.GRPCBroker, server *grpc.Server) error {
	stagev1.RegisterStageServiceServer(server, newService(s.specs, s.log))
	return nil
}

func (s *served) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, fmt.Errorf("stage %s: this end only serves", s.specs[0].ID)
}

// logger writes the lines that the host reads from a stage's stderr.
func logger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) > 0 {
				return a
			}
			switch a.Key {
			case slog.TimeKey:
				a.Key = "@timestamp"
			case slog.LevelKey:
				return slog.String("@level", strings.ToLower(a.Value.String()))
			case slog.MessageKey:
				a.Key = "@message"
			}
			return a
		},
	}))
}
