package host

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/scrollery/scrollery/app/host/box"
	"github.com/scrollery/scrollery/app/host/box/launch"
	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// Why the host ended a call by itself.
var (
	errStall    = errors.New("gave no sign of life for too long")
	errDeadline = errors.New("took longer than a call may")
	errStart    = errors.New("took too long to start")
	errCheck    = errors.New("the check took longer than it may, or waited too long for other calls of the stage")
	errGarbage  = errors.New("sent nothing but records that had to be refused")
)

// protocolError is a stage that does not keep to the protocol.
type protocolError struct{ text string }

func (e *protocolError) Error() string { return e.text }

func protocol(format string, args ...any) error {
	return &protocolError{fmt.Sprintf(format, args...)}
}

// callerError is the callback's error: it is not the stage's fault, and goes back
// as it came.
type callerError struct{ cause error }

func (e *callerError) Error() string { return e.cause.Error() }
func (e *callerError) Unwrap() error { return e.cause }

// handshakeError is a process that did not become a stage.
type handshakeError struct {
	process *process
	cause   error
}

func (e *handshakeError) Error() string { return e.cause.Error() }
func (e *handshakeError) Unwrap() error { return e.cause }

// exitWait is how long a process whose stream broke has to be gone, to count as
// the reason for it.
const exitWait = time.Second

// failureOf names the error of a call for the scroll. The caller's own errors, and
// its giving up, are handed back plain.
func failureOf(ctx context.Context, e *entry, p *process, err error) error {
	var own *callerError
	if errors.As(err, &own) {
		return own.cause
	}
	if ctx.Err() != nil {
		return fmt.Errorf("stage %s: %w", e.id, context.Cause(ctx))
	}
	if errors.Is(err, box.ErrClosed) {
		return &stage.CallError{Stage: e.id, Failure: stage.StageCrashed, Retry: true, Cause: err}
	}
	var known *stage.CallError
	if errors.As(err, &known) {
		return known
	}
	kind, cause := classify(p, err)
	// A binary that is no stage stays none; another attempt can help with all else.
	return &stage.CallError{Stage: e.id, Failure: kind, Retry: kind != stage.StageProtocol, Cause: cause}
}

// classify says what kind of failure err is, in words that may be read.
func classify(p *process, err error) (stage.Failure, error) {
	kind, cause := kindOf(p, err)
	if p != nil {
		cause = p.output.cleaned(cause)
	}
	return kind, cause
}

func kindOf(p *process, err error) (stage.Failure, error) {
	var broken *protocolError
	var shake *handshakeError
	switch {
	case errors.Is(err, errStall), errors.Is(err, errDeadline), errors.Is(err, errStart):
		return stage.StageTimeout, err
	case errors.As(err, &broken), errors.Is(err, errGarbage):
		return stage.StageProtocol, err
	case errors.As(err, &shake):
		return handshakeFailure(shake)
	case p == nil:
		return stage.StageCrashed, err
	}
	switch code := status.Code(err); code {
	case codes.Unavailable, codes.Canceled:
		return stage.StageCrashed, p.exit(err)
	default:
		// Among these: a message that is too big or cannot be read, a verb that the
		// stage does not have, an error that its server made up.
		return stage.StageProtocol, err
	}
}

// handshakeFailure distinguishes a process that died from one with another protocol.
func handshakeFailure(e *handshakeError) (stage.Failure, error) {
	p := e.process
	select {
	case <-p.runner.exited:
	case <-time.After(exitWait):
		return stage.StageProtocol, fmt.Errorf("handshake: %s", firstLine(e.cause))
	}
	if p.refusedByLauncher() {
		return stage.StageProtocol, launch.ErrHash
	}
	if bound := p.runner.command.Exceeded(); bound != nil {
		return stage.StageCrashed, p.exit(bound)
	}
	if p.runner.killedByHost() || p.runner.exit == nil {
		return stage.StageProtocol, fmt.Errorf("handshake: %s", firstLine(e.cause))
	}
	return stage.StageCrashed, p.exit(errors.New("ended before the handshake"))
}

func (p *process) refusedByLauncher() bool {
	var exit *exec.ExitError
	return errors.As(p.runner.exit, &exit) && exit.ExitCode() == launch.ExitRefused
}

// exit is how the process ended, with its last words.
func (p *process) exit(err error) error {
	select {
	case <-p.runner.exited:
	case <-time.After(exitWait):
		return fmt.Errorf("lost the connection: %w", err)
	}
	if bound := p.runner.command.Exceeded(); bound != nil {
		return fmt.Errorf("the process was ended: it %w", bound)
	}
	how := "exit status 0"
	if p.runner.exit != nil {
		how = p.runner.exit.Error()
	}
	if words := p.output.last(); words != "" {
		return fmt.Errorf("the process ended (%s): %s", how, words)
	}
	return fmt.Errorf("the process ended (%s)", how)
}

// counts reports whether the breaker counts the error as a crash.
func counts(err error) bool {
	var known *stage.CallError
	if !errors.As(err, &known) {
		return false
	}
	var reported *stage.Error
	if errors.As(known.Cause, &reported) || errors.Is(err, errDeadline) {
		return false
	}
	return known.Failure == stage.StageCrashed || known.Failure == stage.StageTimeout || known.Failure == stage.StageProtocol
}

// reported is the stage's own account of why it could not do its work.
func reported(id string, o *output, m *stagev1.Error, now time.Time) *stage.CallError {
	cause := &stage.Error{Fault: stage.Fault(m.GetFault()), Message: o.clean([]byte(m.GetMessage()))}
	err := &stage.CallError{Stage: id, Failure: stage.SourceUnavailable, Cause: cause}
	if at := time.UnixMilli(m.GetRetryAt()); at.After(now) && at.Before(now.AddDate(0, 2, 0)) {
		millis := m.GetRetryAt()
		cause.RetryAt, err.RetryAt = at, &millis
	}
	switch cause.Fault {
	case stage.FaultBusy:
		err.Retry = true
	case stage.FaultQuota:
		err.Failure, err.Retry = stage.SourceQuota, err.RetryAt != nil
	case stage.FaultRefused:
		err.Failure = stage.SourceUnauthorized
	case stage.FaultMisconfigured:
		err.Setup = true
	case stage.FaultNotFound:
	default:
		cause.Fault = stage.FaultInternal
		err.Failure, err.Retry = stage.StageCrashed, true
	}
	return err
}

func firstLine(err error) string {
	text := err.Error()
	for i := range text {
		if text[i] == '\n' {
			return text[:i]
		}
	}
	return text
}
