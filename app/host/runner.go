package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/scrollery/scrollery/app/host/box"
)

const (
	// handshakeLine is the most that a handshake may take.
	handshakeLine = 16 << 10
	// drain is how long the last words of an ended process are waited for.
	drain = 500 * time.Millisecond
)

// runner is one process, as go-plugin wants to see it. It reads the
// plugin's output itself, since go-plugin trusts too much of it.
type runner struct {
	id      string
	command *box.Command
	output  *output
	sockets string // the only folder where the plugin's socket may lie

	stdout, stderr *os.File // our ends
	out            *io.PipeReader
	outIn          *io.PipeWriter
	errs           *io.PipeReader
	errsIn         *io.PipeWriter

	mu     sync.Mutex
	killed bool
	hit    bool // killed while it lived
	reaped bool
	ended  chan struct{} // closed when the process has ended
	exited chan struct{} // closed when its output is read too
	exit   error
	socket []io.Closer // keep the paths of PluginToHost valid
}

func newRunner(id string, command *box.Command, out *output) *runner {
	r := &runner{id: id, command: command, output: out, ended: make(chan struct{}), exited: make(chan struct{})}
	r.out, r.outIn = io.Pipe()
	r.errs, r.errsIn = io.Pipe()
	return r
}

// Start takes the environment that was prepared, and nothing else of go-plugin's
// command: that one would hand over the host's stdin.
func (r *runner) Start(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.killed {
		return errKilled
	}
	var theirs [2]*os.File
	var err error
	if r.stdout, theirs[0], err = os.Pipe(); err != nil {
		return err
	}
	if r.stderr, theirs[1], err = os.Pipe(); err != nil {
		_, _ = r.stdout.Close(), theirs[0].Close()
		return err
	}
	r.command.Stdout, r.command.Stderr = theirs[0], theirs[1]
	err = r.command.Start()
	_, _ = theirs[0].Close(), theirs[1].Close()
	if err != nil {
		_, _ = r.stdout.Close(), r.stderr.Close()
		return fmt.Errorf("start the process: %w", err)
	}
	var readers sync.WaitGroup
	readers.Go(r.readStdout)
	readers.Go(r.readStderr)
	go r.reap(&readers)
	return nil
}

// reap waits for the end, takes the rest of the group along, and lets go.
func (r *runner) reap(readers *sync.WaitGroup) {
	wait := r.command.AwaitExit()
	close(r.ended)
	r.mu.Lock()
	r.command.Kill()
	r.exit = wait()
	r.reaped = true
	r.mu.Unlock()
	// A process that got away from its group must not keep us waiting.
	late := time.Now().Add(drain)
	_, _ = r.stdout.SetReadDeadline(late), r.stderr.SetReadDeadline(late)
	readers.Wait()
	_, _ = r.stdout.Close(), r.stderr.Close()
	close(r.exited)
}

// readStdout hands the first line to go-plugin; what follows is noise.
func (r *runner) readStdout() {
	defer r.outIn.Close()
	reader := bufio.NewReaderSize(r.stdout, handshakeLine)
	line, err := reader.ReadSlice('\n')
	if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
		// go-plugin kills what has no handshake; a process that died is not to be
		// taken for one that was killed for its silence.
		select {
		case <-r.ended:
		case <-time.After(drain):
		}
		return
	}
	if _, err := r.outIn.Write(append(line[:max(len(line)-1, 0):max(len(line)-1, 0)], '\n')); err != nil {
		return
	}
	r.output.read(reader, r.output.noise)
}

func (r *runner) readStderr() {
	defer r.errsIn.Close()
	r.output.read(bufio.NewReaderSize(r.stderr, maxLine), r.output.line)
}

func (r *runner) kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.killed = true
	if r.command.Pid() == 0 || r.reaped {
		return
	}
	select {
	case <-r.ended:
	default:
		r.hit = true
	}
	r.command.Kill()
}

// close lets go of the process's folder and sockets. It is called after the end.
func (r *runner) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.command.Pid() > 0 {
		<-r.ended
	}
	r.command.Close()
	for _, socket := range r.socket {
		_ = socket.Close()
	}
}

// killedByHost reports, after the end, whether the host ended the process.
func (r *runner) killedByHost() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hit && r.command.Signaled()
}

// Kill ends the process group.
func (r *runner) Kill(context.Context) error {
	r.kill()
	return nil
}

// Wait returns after the process has ended and its output is read.
func (r *runner) Wait(context.Context) error {
	<-r.exited
	return r.exit
}

func (r *runner) Stdout() io.ReadCloser { return r.out }

// Stderr stays silent: output reads it.
func (r *runner) Stderr() io.ReadCloser { return r.errs }

func (r *runner) Name() string { return r.id }

func (r *runner) ID() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.command.Pid() == 0 {
		return ""
	}
	return strconv.Itoa(r.command.Pid())
}

func (r *runner) Diagnose(context.Context) string { return r.output.last() }

var errKilled = errors.New("killed before it started")

var errAddress = errors.New("the plugin's address is no socket in its folder")

// PluginToHost lets the host connect to nothing but a socket in the call's folder,
// whatever address the plugin names and whatever it puts there later.
func (r *runner) PluginToHost(network, address string) (string, string, error) {
	if network != "unix" || filepath.Dir(filepath.Clean(address)) != r.sockets {
		return "", "", errAddress
	}
	socket, path, err := r.command.Socket(filepath.Base(address))
	if err != nil {
		return "", "", errAddress
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.socket = append(r.socket, socket)
	return network, path, nil
}

func (r *runner) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}
