// Package sandboxhost runs programs of accounts, each in a process of its own. It
// answers a need of the sandbox module.
package sandboxhost

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/modules/kernel/fair"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/sandbox"
	plugin "github.com/scrollery/scrollery/plugins/programs/sandbox"
	sandboxv1 "github.com/scrollery/scrollery/proto/gen/scrollery/sandbox/v1"
)

const (
	// grace is the time for a process to notice by itself that the time is up. The
	// engine looks at the clock between its steps, and a few steps are long.
	grace = 500 * time.Millisecond
	// ownMemory is what the process needs besides the program's values: its own
	// code, and copies of the text that a program hands over.
	ownMemory = 256 << 20
)

// block is what the smallest file takes on a disk.
const block = 4 << 10

// Host runs programs. It is safe for concurrent use.
type Host struct {
	plugins *host.Processes
	config  sandbox.Config
	log     *slog.Logger
	places  *fair.Places
}

// New returns a host with as many places as the config allows.
func New(plugins *host.Processes, config sandbox.Config, log *slog.Logger) *Host {
	return &Host{plugins: plugins, config: config, log: log, places: fair.New(config.Runs.AtOnce)}
}

// Scratch makes a folder that is deleted with the host.
func (h *Host) Scratch() (sandbox.Scratch, error) { return h.plugins.ScratchFolder() }

// Run runs a program in a process of its own, with the folder as all that it can reach.
// It waits for a place first.
func (h *Host) Run(ctx context.Context, folder func(context.Context) (string, error), program sandbox.Program, started func()) (sandbox.Result, error) {
	tenant, _, _ := viewer.Tenant(ctx)
	leave, err := h.places.Enter(ctx, tenant)
	if err != nil {
		return sandbox.Result{}, err
	}
	defer leave()
	dir, err := folder(ctx)
	if err != nil {
		return sandbox.Result{}, fmt.Errorf("get the program's files: %w", err)
	}
	runs := h.config.Runs
	running, err := h.plugins.StartProgram(ctx, host.Program{
		ID: plugin.ID, Handshake: plugin.Handshake(), Service: plugin.Name, MaxMessage: plugin.MaxMessage,
		Memory: runs.Memory + ownMemory, Writes: []string{dir},
		// The engine keeps the account's limits; this holds if it is taken over. Beside each
		// file, there may be one that is to take its place.
		Written: 2*h.config.Files.Total + int64(h.config.Files.Entries)*2*block, WrittenFiles: 2*h.config.Files.Entries + 100,
	})
	if err != nil {
		return sandbox.Result{}, fmt.Errorf("start the sandbox: %w", err)
	}
	defer running.Stop()
	started()
	limited, cancel := context.WithTimeoutCause(ctx, runs.Time+grace, errTime)
	defer cancel()
	answer, err := sandboxv1.NewSandboxServiceClient(running.Connection()).Run(limited, &sandboxv1.RunRequest{
		Name: program.Name, Source: program.Source, Data: program.Data, Missing: program.Missing, Folder: dir,
		MaxFileBytes: h.config.Files.File, MaxTotalBytes: h.config.Files.Total, MaxEntries: int64(h.config.Files.Entries),
		TimeMillis: runs.Time.Milliseconds(), MemoryBytes: runs.Memory, OutputBytes: runs.Output,
	})
	if err != nil {
		return h.failure(ctx, limited, running, err)
	}
	return sandbox.Result{Output: answer.GetOutput(), Failure: answer.GetFailure(), Message: answer.GetMessage()}, nil
}

var errTime = errors.New("the time is up")

// failure distinguishes a program that broke its process from a process that broke.
func (h *Host) failure(ctx, limited context.Context, running *host.Running, err error) (sandbox.Result, error) {
	if ctx.Err() != nil {
		return sandbox.Result{}, context.Cause(ctx)
	}
	// The call may end a little before its context does.
	if errors.Is(context.Cause(limited), errTime) || status.Code(err) == codes.DeadlineExceeded {
		return sandbox.Result{
			Failure: plugin.Time, Message: fmt.Sprintf("The program took longer than %v.", h.config.Runs.Time),
		}, nil
	}
	cause, ended := running.Ended(err)
	if !ended {
		return sandbox.Result{}, fmt.Errorf("run a program: %w", cause)
	}
	h.log.Warn("a program ended its process", "cause", cause)
	return sandbox.Result{
		Failure: sandbox.Crashed, Message: "The program ended its process; it may have needed too much memory.",
	}, nil
}
