package host

import (
	"context"
	"errors"
	"os/exec"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/scrollery/scrollery/app/host/box"
)

// Program is a plugin of this binary that is no stage: it has a protocol of its
// own, and is confined and ended as stages are.
type Program struct {
	// ID is what Dispatch knows it by.
	ID string
	// Handshake and Service are what both ends agree on; MaxMessage in bytes too.
	Handshake  plugin.HandshakeConfig
	Service    string
	MaxMessage int
	// Memory in bytes.
	Memory int64
	// Reads are the files and folders that it may read, besides its scratch folder.
	Reads []string
	// Writes are the folders that it may write, besides its scratch folder.
	Writes []string
	// Written is the most bytes that these may have on the disk, and WrittenFiles the most
	// files.
	Written      int64
	WrittenFiles int
	// Hosts that it reaches, as a stage's; Endpoints are addresses that the operator
	// set, which may lie in a private network. None of both is no network.
	Hosts, Endpoints []string
	// Secrets are left out of what it writes into the log.
	Secrets map[string]string
}

// Running is a program's process. The caller that started it stops it.
type Running struct{ process *process }

// StartProgram brings a process up, confined to what program says.
func (all *Processes) StartProgram(ctx context.Context, program Program) (*Running, error) {
	terms := contract{handshake: program.Handshake, service: program.Service, maxMessage: program.MaxMessage}
	out := &output{log: all.log.With("plugin", program.ID), redact: redactor(program.Secrets)}
	net, err := all.network(out, program.Hosts, program.Endpoints, all.config.Call)
	if err != nil {
		return nil, err
	}
	p, err := all.launch(ctx, program.ID, program.Memory, terms, out, net, func() (box.Policy, error) {
		rules := box.Policy{Memory: program.Memory, Reads: program.Reads, Writes: program.Writes, Written: program.Written, WrittenFiles: program.WrittenFiles, Proxy: net.port()}
		err := all.again(&rules, program.ID)
		return rules, err
	})
	if err != nil {
		return nil, err
	}
	return &Running{p}, nil
}

// Connection is how to speak with the program.
func (r *Running) Connection() grpc.ClientConnInterface { return r.process.connection }

// Proxy is the address through which the program reaches its hosts, credential
// included; empty if it has none. The environment of the program has it
// too, but Go's own client ignores that for addresses of this machine.
func (r *Running) Proxy() string { return r.process.net.url() }

// Stop kills the process and whatever it started, and deletes its scratch folder.
func (r *Running) Stop() { r.process.stop() }

// Ended reports whether an error of a call is the end of the process, and returns the
// cause with secrets removed.
func (r *Running) Ended(err error) (cause error, ended bool) {
	if code := status.Code(err); code != codes.Unavailable && code != codes.Canceled {
		return r.process.output.cleaned(err), false
	}
	cause = r.process.output.cleaned(r.process.exit(err))
	var exit *exec.ExitError
	select {
	case <-r.process.runner.exited:
		return cause, errors.As(r.process.runner.exit, &exit)
	default:
		return cause, false
	}
}
