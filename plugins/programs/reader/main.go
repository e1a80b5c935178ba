// Package reader is the process that reads one file of a customer: whatever is wrong with
// the file, or with the code that reads it, ends this process and nothing else.
//
// It knows the file, its column map and the time, and has no network.
package reader

import (
	"context"
	"errors"
	"os"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/scrollery/scrollery/plugins/formats"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/peer"
	readerv1 "github.com/scrollery/scrollery/proto/gen/scrollery/reader/v1"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// What both ends name in the handshake.
const (
	// ID is the plugin's word on the command line.
	ID = "reader"
	// Name of the one service behind the handshake.
	Name = "reader"
	// MaxMessage in bytes: a batch of records, of at most a megabyte each.
	MaxMessage = 16 << 20
)

const (
	// batch is how many records one message has at most, of together at most batchBytes.
	batch      = 100
	batchBytes = 4 << 20
	// lineLimit is the longest line that is read, in bytes: yt-dlp's JSON of a video can
	// hold all its subtitles.
	lineLimit = 32 << 20
)

// Handshake proves to the process that a host started it.
func Handshake() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "SCROLLERY_READER", MagicCookieValue: "file-reader-1"}
}

// Main serves until the host ends the process.
func Main() {
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: Handshake(), TLSProvider: peer.Provide,
		Plugins: plugin.PluginSet{Name: &served{}},
		GRPCServer: func(options []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(options, grpc.MaxRecvMsgSize(MaxMessage), grpc.MaxSendMsgSize(MaxMessage))...)
		},
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: os.Stderr, JSONFormat: true}),
	})
}

// served is the service as go-plugin wants it.
type served struct{ plugin.NetRPCUnsupportedPlugin }

func (*served) GRPCServer(_ *plugin.GRPCBroker, server *grpc.Server) error {
	readerv1.RegisterReaderServiceServer(server, service{})
	return nil
}

func (*served) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("this end only serves")
}

type service struct {
	readerv1.UnimplementedReaderServiceServer
}

// Read implements the service.
func (service) Read(in *readerv1.ReadRequest, out grpc.ServerStreamingServer[readerv1.ReadResponse]) error {
	options := formats.Options{
		MapFirst: true, Now: in.GetNow(), Format: formats.Format(in.GetFormat()), LineLimit: lineLimit, ObservedAt: &in.ObservedAt,
	}
	if in.GetMap() != "" {
		columns, err := formats.ParseMap([]byte(in.GetMap()))
		if err != nil {
			return status.Error(codes.InvalidArgument, err.Error())
		}
		options.Map = columns
	}
	to := &answers{out: out, used: processorTime}
	stop := to.signs(sign)
	defer stop()
	var waiting []*stagev1.Record
	bytes := 0
	send := func() error {
		err := to.send(&readerv1.ReadResponse{Records: waiting})
		waiting, bytes = nil, 0
		return err
	}
	refused := 0
	report, err := formats.Read(out.Context(), os.DirFS(in.GetFolder()), []string{in.GetName()}, options, func(rec stage.Record) error {
		if _, err := rec.Clean(); err != nil {
			refused++
			return nil
		}
		waiting = append(waiting, stage.EncodeRecord(&rec))
		bytes += len(rec.Metadata)
		if len(waiting) < batch && bytes < batchBytes {
			return nil
		}
		return send()
	})
	if err == nil && len(waiting) > 0 {
		err = send()
	}
	if err != nil {
		return err
	}
	return to.send(&readerv1.ReadResponse{Report: encode(&report, refused)})
}
