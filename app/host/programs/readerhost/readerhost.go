// Package readerhost reads files of customers, each in a process of its own. It answers a
// need of the module imports.
package readerhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/modules/imports"
	"github.com/scrollery/scrollery/modules/kernel/fair"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/programs/reader"
	"github.com/scrollery/scrollery/plugins/stage"
	readerv1 "github.com/scrollery/scrollery/proto/gen/scrollery/reader/v1"
)

const (
	// memory of a process, in bytes.
	memory = 256 << 20
	// within bounds the reading of one file.
	within = 10 * time.Minute
	// stall is how long a process may say nothing. One that works gives signs of life.
	stall = time.Minute
	// atOnce is how many files a process of the server reads at a time.
	atOnce = 2
)

// Host reads files. It is safe for concurrent use.
type Host struct {
	plugins *host.Processes
	log     *slog.Logger
	places  *fair.Places
}

// New returns a host of readers.
func New(plugins *host.Processes, log *slog.Logger) *Host {
	return &Host{plugins: plugins, log: log, places: fair.New(atOnce)}
}

var (
	errStalled = errors.New("the reader's process gave no sign of life for too long")
	errLong    = errors.New("the reader's process took too long")
	errNoEnd   = errors.New("the reader's process sent no report")
)

// Read implements imports.Reader.
func (h *Host) Read(ctx context.Context, file imports.File, emit func([]stage.Record) error) (imports.Understood, error) {
	tenant, _, _ := viewer.Tenant(ctx)
	leave, err := h.places.Enter(ctx, tenant)
	if err != nil {
		return imports.Understood{}, err
	}
	defer leave()
	folder, err := h.plugins.ScratchFolder()
	if err != nil {
		return imports.Understood{}, fmt.Errorf("make a folder: %w", err)
	}
	defer folder.Remove()
	name := fileName(file.Name)
	if err := write(filepath.Join(folder.Path(), name), file.Write); err != nil {
		return imports.Understood{}, fmt.Errorf("write the file: %w", err)
	}
	running, err := h.plugins.StartProgram(ctx, host.Program{
		ID: reader.ID, Handshake: reader.Handshake(), Service: reader.Name, MaxMessage: reader.MaxMessage,
		Memory: memory, Reads: []string{folder.Path()},
	})
	if err != nil {
		return imports.Understood{}, fmt.Errorf("start the reader: %w", err)
	}
	defer running.Stop()
	limited, cancel := context.WithTimeoutCause(ctx, within, errLong)
	defer cancel()
	read, err := stream(limited, running, &readerv1.ReadRequest{
		Folder: folder.Path(), Name: name, Map: file.Map, Format: file.Format, ObservedAt: file.ObservedAt, Now: time.Now().UnixMilli(),
	}, emit)
	if err != nil {
		return read, h.failure(ctx, limited, running, err)
	}
	return read, nil
}

// maxStem is how many characters of a name the reader sees.
const maxStem = 80

// fileName is a safe name with the endings of the one that was sent, which tell a table from
// JSON, and with its words, which may say what platform the videos are of.
func fileName(sent string) string {
	sent = strings.ToLower(sent)
	endings := ""
	for range 2 {
		ending := filepath.Ext(sent)
		if len(ending) < 2 || len(ending) > 8 || strings.Trim(ending[1:], "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			break
		}
		endings, sent = ending+endings, strings.TrimSuffix(sent, ending)
	}
	stem := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, sent)
	return "file_" + stem[:min(len(stem), maxStem)] + endings
}

func write(name string, to func(io.Writer) error) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(to(file), file.Close())
}

// emitError is an error of the caller, which is no fault of the process.
type emitError struct{ error }

func (e *emitError) Unwrap() error { return e.error }

func stream(ctx context.Context, running *host.Running, request *readerv1.ReadRequest, emit func([]stage.Record) error) (read imports.Understood, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alive := time.AfterFunc(stall, func() { cancel(errStalled) })
	defer alive.Stop()
	answers, err := readerv1.NewReaderServiceClient(running.Connection()).Read(ctx, request)
	for err == nil {
		var answer *readerv1.ReadResponse
		if answer, err = answers.Recv(); err != nil {
			break
		}
		alive.Reset(24 * time.Hour) // while the caller works
		if report := answer.GetReport(); report != nil {
			return decode(report), nil
		}
		if len(answer.GetRecords()) == 0 { // a sign of life
			alive.Reset(stall)
			continue
		}
		records := make([]stage.Record, len(answer.GetRecords()))
		for i, m := range answer.GetRecords() {
			records[i] = stage.DecodeRecord(m)
		}
		if err := emit(records); err != nil {
			return read, &emitError{err}
		}
		alive.Reset(stall)
	}
	switch {
	case errors.Is(err, io.EOF):
		err = errNoEnd
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	}
	return read, err
}

// failure distinguishes a file that broke its process from a process that broke.
func (h *Host) failure(ctx, limited context.Context, running *host.Running, err error) error {
	var own *emitError
	switch {
	case errors.As(err, &own):
		return own.error
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case status.Code(err) == codes.InvalidArgument:
		return &imports.FileError{Message: "The column map cannot be used: " + host.Printable(status.Convert(err).Message()) + "."}
	case limited.Err() != nil, errors.Is(err, errStalled):
		return &imports.FileError{Message: "The file takes too long to read. Send it in smaller parts."}
	}
	cause, ended := running.Ended(err)
	h.log.Warn("the reader of a file failed", "cause", cause, "ended", ended)
	return &imports.FileError{Message: "The file could not be read: it needs too much memory, or breaks the reader. Send it in smaller parts, or as JSON Lines or CSV."}
}
