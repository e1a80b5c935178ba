package stage

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"google.golang.org/grpc"

	"github.com/scrollery/scrollery/plugins/stage/serve"
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
	log := logger(os.Stderr)
	err := serve.Serve(
		serve.Handshake{Version: ProtocolVersion, CookieKey: CookieKey, CookieValue: CookieValue},
		func(server *grpc.Server) { stagev1.RegisterStageServiceServer(server, newService(specs, log)) },
		grpc.MaxRecvMsgSize(MaxMessage), grpc.MaxSendMsgSize(MaxMessage))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
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
