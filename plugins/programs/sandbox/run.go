package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"modernc.org/quickjs"

	"github.com/scrollery/scrollery/modules/kernel/files"
	sandboxv1 "github.com/scrollery/scrollery/proto/gen/scrollery/sandbox/v1"
)

// The ways in which a program fails.
const (
	Time      = "time"
	Memory    = "memory"
	Stack     = "stack"
	Output    = "output"
	Syntax    = "syntax"
	Exception = "exception"
)

// stackSlots is the depth of calls, in frames of the engine: the engine's own
// default lets a deep recursion end the process.
const stackSlots = 16 << 10

// maxMessage is the most that a failure says.
const maxMessage = 2000

// late is what the engine gets to notice by itself that the time is up. It looks
// at the clock between its steps, and a few steps are long.
const late = 200 * time.Millisecond

// program is one run.
type program struct {
	in    *sandboxv1.RunRequest
	vm    *quickjs.VM
	files *files.Folder
	limit time.Duration
	ends  time.Time
	// flooded is closed when the output hits its bound.
	flooded chan struct{}
	// watch is a function for the value that the program ends with, and rejected
	// what comes of it.
	watch    quickjs.Value
	rejected error

	mu     sync.Mutex
	output strings.Builder
}

// run answers when the program has ended or hit a bound. It does not wait for an
// engine that does not notice, and closes none: all of it goes with the process.
func run(in *sandboxv1.RunRequest) (*sandboxv1.RunResponse, error) {
	folder, err := files.Open(in.GetFolder(), files.Limits{
		File: in.GetMaxFileBytes(), Total: in.GetMaxTotalBytes(), Entries: int(in.GetMaxEntries()),
	}, false)
	if err != nil {
		return nil, err
	}
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, fmt.Errorf("make an engine: %w", err)
	}
	vm.SetMemoryLimit(uintptr(in.GetMemoryBytes()))
	vm.SetMaxStackSize(stackSlots)
	vm.SetCanBlock(false)
	p := &program{in: in, vm: vm, files: folder, flooded: make(chan struct{})}
	if err := p.setUp(); err != nil {
		return nil, fmt.Errorf("set up an engine: %w", err)
	}
	p.limit = time.Duration(in.GetTimeMillis()) * time.Millisecond
	p.ends = time.Now().Add(p.limit)
	ended := make(chan error, 1)
	go func() { ended <- p.work() }()
	overdue := time.NewTimer(p.limit + late)
	defer overdue.Stop()
	select {
	case err = <-ended:
	case <-p.flooded:
	case <-overdue.C:
	}
	failure, message := p.why(err)
	p.mu.Lock()
	defer p.mu.Unlock()
	return &sandboxv1.RunResponse{
		Output:  strings.ToValidUTF8(p.output.String(), "\uFFFD"),
		Failure: failure, Message: strings.ToValidUTF8(message, "\uFFFD"),
	}, nil
}

// work runs the program, then what it left to be done later.
func (p *program) work() error {
	_ = p.vm.SetEvalTimeout(p.limit)
	value, err := p.vm.EvalValue(p.in.GetSource(), quickjs.EvalGlobal)
	if err != nil {
		return err
	}
	if _, err := p.watch.Call(p.vm.GlobalObject(), value); err != nil {
		return err
	}
	for left := time.Until(p.ends); left > 0; left = time.Until(p.ends) {
		_ = p.vm.SetEvalTimeout(left)
		_, err = p.vm.ExecutePendingJobs()
		// The engine stops after a million jobs at a time. The time alone is our bound,
		// and on a quick machine it is not up by then.
		if err == nil || !strings.Contains(err.Error(), "aborted draining") {
			break
		}
	}
	return cmp.Or(p.rejected, err)
}

func (p *program) isFlooded() bool {
	select {
	case <-p.flooded:
		return true
	default:
		return false
	}
}

// why names the bound that was hit, whatever the program made of it.
func (p *program) why(err error) (failure, message string) {
	switch {
	case p.isFlooded():
		return Output, fmt.Sprintf("The program printed more than %d bytes.", p.in.GetOutputBytes())
	case !time.Now().Before(p.ends):
		return Time, fmt.Sprintf("The program took longer than %v.", p.limit)
	case err == nil:
		return "", ""
	}
	text := err.Error()
	var thrown *quickjs.Error
	switch {
	case strings.Contains(text, "InternalError: out of memory"):
		return Memory, fmt.Sprintf("The program needed more than %d MiB of memory.", p.in.GetMemoryBytes()>>20)
	case text == "null":
		// So it looks where there was no memory left for an error.
		return Memory, fmt.Sprintf("The program threw null: it may have needed more than %d MiB of memory.", p.in.GetMemoryBytes()>>20)
	case strings.Contains(text, "stack overflow"):
		return Stack, "The program's calls went too deep."
	case errors.As(err, &thrown) && thrown.Name == "SyntaxError":
		failure = Syntax
	default:
		failure = Exception
	}
	if text == "" {
		text = "The program threw something that has no text."
	}
	if len(text) > maxMessage {
		text = text[:maxMessage] + "…"
	}
	return failure, text
}
