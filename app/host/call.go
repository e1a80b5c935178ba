package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/scrollery/scrollery/app/host/box/launch"
	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

type stream = grpc.BidiStreamingClient[stagev1.CallRequest, stagev1.CallResponse]

// verb is what differs between the kinds of calls. Its functions are called
// from one goroutine, so that next and take may share what they like.
type verb struct {
	kind stage.Kind // empty for any
	name string
	open func(stagev1.StageServiceClient, context.Context, ...grpc.CallOption) (stream, error)
	// most is what the call may emit; 0 leaves it to spec and config.
	most int
	// reads are paths that the stage may read, besides its own; the caller's media.
	reads []string
	// begun, if set, gets the process before anything is taken of it.
	begun func(*process)
	// unasked is the whole input of a source.
	unasked []*stagev1.Input
	// bill is of what a source may be paid for; nil for nothing.
	bill *bill
	// next is the input of the others, a batch at a time, nil after the last.
	next func() (*stagev1.Input, error)
	// keep takes a state of a seed, for Collect; nil refuses it.
	keep func(ctx context.Context, seed stage.Seed, state []byte) error
	// take judges a batch and hands it on. It answers how many of it were taken and refused.
	take func(*stagev1.CallResponse) (tally, error)
}

// call runs one verb, in a process of its own unless the session has one for it.
func (h *Host) call(ctx context.Context, s *Session, id string, run stage.Run, v verb) (*stagev1.Done, error) {
	e := h.plugins.entry(id)
	if e == nil {
		return nil, &stage.CallError{Stage: id, Failure: stage.StageProtocol, Cause: errors.New("no such plugin")}
	}
	if until := e.breaker.allow(time.Now()); !until.IsZero() {
		at := until.UnixMilli()
		return nil, &stage.CallError{Stage: id, Failure: stage.StageCrashed, Retry: true, RetryAt: &at, Cause: fmt.Errorf("%w until %s", errResting, until.UTC().Format(time.RFC3339))}
	}
	if err := h.ready(ctx, e); err != nil {
		return nil, notReady(ctx, e, err)
	}
	own, err := h.grants.own(ctx, e)
	if err != nil {
		return nil, fmt.Errorf("stage %s: %w", id, err)
	}
	leave, err := e.place(ctx, own)
	if err != nil {
		return nil, fmt.Errorf("stage %s: %w", id, err)
	}
	defer leave()
	done, err := h.work(ctx, s, e, run, v, own)
	if h.config.Observe != nil {
		h.config.Observe(id, ending(ctx, err))
	}
	switch {
	case counts(err):
		e.breaker.crashed(time.Now())
	case ctx.Err() == nil:
		e.breaker.worked()
	}
	if err != nil {
		return nil, err
	}
	return done, nil
}

// place waits until the stage may be called once more.
func (e *entry) place(ctx context.Context, own *Own) (leave func(), err error) {
	if own != nil {
		return e.ownTurns.enter(ctx, own.Ledger, e.spec.Limits.Calls)
	}
	return e.slots.enter(ctx, e.spec.Limits.Calls)
}

// ending names the end of a call, for metrics.
func ending(ctx context.Context, err error) string {
	var failed *stage.CallError
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &failed):
		return string(failed.Failure)
	case ctx.Err() != nil:
		return "cancelled"
	}
	return "refused" // by the caller, who could not store what the stage sent
}

var errResting = errors.New("it crashed too often and rests")

func notReady(ctx context.Context, e *entry, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("stage %s: %w", e.id, context.Cause(ctx))
	}
	return &stage.CallError{Stage: e.id, Failure: stage.StageProtocol, Cause: err}
}

// work starts the process, talks to it and ends it.
func (h *Host) work(ctx context.Context, s *Session, e *entry, run stage.Run, v verb, own *Own) (*stagev1.Done, error) {
	if !e.has(v) {
		return nil, &stage.CallError{Stage: e.id, Failure: stage.StageProtocol, Cause: fmt.Errorf("has no %s", v.name)}
	}
	given, err := h.grants.give(e, e.spec, run, own)
	if err != nil {
		return nil, &stage.CallError{Stage: e.id, Failure: stage.SourceUnavailable, Setup: true, Cause: err}
	}
	e.handOver(&given)
	given.reads = v.reads
	renews, err := h.grants.renewed(ctx, e, given, own)
	if err != nil {
		return nil, failureOf(ctx, e, nil, err)
	}
	quotas := &spender{plugin: own.ledger(e.id), spec: e.spec, settings: given.settings, quotas: h.config.Quotas}
	if covered, err := v.bill.hold(ctx, quotas, &v); err != nil {
		return nil, errors.Join(failureOf(ctx, e, nil, err), v.bill.settle(ctx, nil))
	} else if !covered {
		return &stagev1.Done{}, nil
	}
	limit, cancelLimit := context.WithTimeoutCause(ctx, least(e.spec.Limits.Call, h.config.Call), errDeadline)
	defer cancelLimit()
	inner, cancel := context.WithCancelCause(limit)
	defer cancel(nil)
	if own != nil {
		s = nil // no process of others ever has an account's secrets
	}
	p, leave, err := s.engage(inner, e, run, given)
	if errors.Is(err, errAlone) {
		p, err = h.Processes.start(inner, e, e.spec, given)
		leave = func(bool) { p.stop() }
	}
	if err != nil {
		return nil, errors.Join(notStarted(ctx, e, err), v.bill.settle(ctx, nil))
	}
	clean := false
	defer func() { leave(clean) }()
	if v.begun != nil {
		v.begun(p)
	}
	t := &talk{
		process: p, verb: v, cancel: cancel,
		most:   int(least(int64(e.spec.Limits.Records), int64(h.config.Records))),
		stall:  least(e.spec.Limits.Stall, h.config.Stall),
		quotas: quotas,
	}
	t.tokens, t.tokens.output = renews, p.output
	t.memory = memory{e.id, e.builtin, h.config.Memories, own != nil, map[string]bool{}}
	defer t.memory.release(ctx)
	if v.most > 0 {
		t.most = v.most
	}
	if !e.builtin {
		t.flow = newFlow(h.config.Bytes, h.config.Rate, time.Now())
	}
	done, err := t.run(addressed(inner, e.serves()), run, given)
	t.report(e.id)
	if err != nil {
		if status.Code(err) == codes.DeadlineExceeded {
			// The stage's clock may have been first, by a hair.
			select {
			case <-inner.Done():
			case <-time.After(exitWait):
			}
		}
		if cause := context.Cause(inner); cause != nil && ctx.Err() == nil && !isCaller(err) {
			err = cause
		}
		err = failureOf(ctx, e, p, err)
		if !t.begun {
			err = errors.Join(err, v.bill.settle(ctx, nil))
		}
		return nil, err
	}
	if err := v.bill.settle(ctx, done); err != nil {
		return nil, failureOf(ctx, e, p, err)
	}
	if fault := done.GetError(); fault != nil {
		return done, reported(e.id, p.output, fault, time.Now())
	}
	clean = true
	return done, nil
}

// has reports whether the stage answers the verb.
func (e *entry) has(v verb) bool {
	if v.kind != "" && e.spec.Kind != v.kind {
		return false
	}
	switch v.name {
	case "Check":
		return e.checks || e.spec.Check != nil
	case "Refresh":
		return e.refreshes || e.spec.Refresh != nil
	case "Media":
		return e.fetches || e.spec.Media != nil
	}
	return true
}

// notStarted names the error, and refuses a binary that changed since it was pinned.
func notStarted(ctx context.Context, e *entry, err error) error {
	failure := failureOf(ctx, e, failedProcess(err), err)
	if errors.Is(failure, launch.ErrHash) {
		e.refuse(launch.ErrHash)
	}
	return failure
}

func (e *entry) refuse(reason error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refused = reason.Error()
}

func isCaller(err error) bool {
	var own *callerError
	return errors.As(err, &own)
}

// least is the smaller one; zero asks for nothing.
func least[T ~int64](asked, most T) T {
	if asked > 0 {
		return min(asked, most)
	}
	return most
}

// tally counts what a stage sent.
type tally struct {
	taken, refused int
	repairs        stage.Repairs
}

func (t *tally) add(other tally) {
	t.taken += other.taken
	t.refused += other.refused
	t.repairs.Add(other.repairs)
}

// maxCredit bounds how far ahead a stage may ask for input.
const maxCredit = 64

// talk is one call's conversation.
type talk struct {
	process *process
	verb    verb
	cancel  context.CancelCauseFunc
	most    int
	stall   time.Duration
	quotas  *spender
	tokens  tokens
	memory  memory
	flow    flow

	stream stream
	total  tally
	credit int
	begun  bool // the stage may have seen what it is asked for
	ended  bool // the last input was sent
}

func (t *talk) run(ctx context.Context, run stage.Run, given given) (*stagev1.Done, error) {
	var err error
	if t.stream, err = t.verb.open(t.process.stage, ctx); err != nil {
		return nil, err
	}
	opening := &stagev1.Open{
		Run: stage.EncodeRun(run), Settings: given.settings, Secrets: given.secrets,
		Scratch: t.process.work(), MaxRecords: int64(t.most), Proxy: t.process.net.url(),
	}
	if err := t.send(&stagev1.CallRequest{Message: &stagev1.CallRequest_Open{Open: opening}}); err != nil {
		return nil, err
	}
	for _, input := range t.verb.unasked {
		if err := t.input(input); err != nil {
			return nil, err
		}
	}
	t.ended = t.verb.next == nil
	for {
		message, err := t.receive()
		if err == nil {
			err = t.flow.pace(ctx, message)
		}
		if err != nil {
			return nil, err
		}
		if asked, err := t.ask(ctx, message); asked {
			if err != nil {
				return nil, err
			}
			continue
		}
		done, err := t.handle(ctx, message)
		if done != nil || err != nil {
			return done, err
		}
	}
}

// handle takes one message; at the last one it answers Done.
func (t *talk) handle(ctx context.Context, message *stagev1.CallResponse) (*stagev1.Done, error) {
	switch m := message.GetMessage().(type) {
	case *stagev1.CallResponse_Done:
		t.process.output.redactDone(m.Done)
		if m.Done.GetError() == nil && t.total.taken == 0 && t.total.refused > 0 {
			return nil, errGarbage
		}
		return m.Done, nil
	case *stagev1.CallResponse_Keep:
		return nil, t.keep(ctx, m.Keep)
	case *stagev1.CallResponse_Progress:
		t.credit = min(t.credit+max(int(m.Progress.GetWant()), 0), maxCredit)
		if note := m.Progress.GetNote(); note != "" {
			t.process.output.line([]byte(`{"@level":"debug","@message":` + quote(note) + `}`))
		}
		return nil, t.feed()
	}
	counted, err := t.verb.take(message)
	t.total.add(counted)
	if err != nil {
		return nil, err
	}
	if sum := t.total.taken + t.total.refused; sum > t.most {
		return nil, protocol("sent more than the %d records that a call may have", t.most)
	}
	return nil, nil
}

// ask answers a question of the stage, and reports whether the message is one.
func (t *talk) ask(ctx context.Context, message *stagev1.CallResponse) (asked bool, err error) {
	switch m := message.GetMessage().(type) {
	case *stagev1.CallResponse_Spend:
		return true, t.grant(t.quotas.asked(ctx, m.Spend))
	case *stagev1.CallResponse_Token:
		return true, t.grant(t.tokens.keep(ctx, m.Token))
	case *stagev1.CallResponse_Recall:
		return true, t.grant(t.memory.recall(ctx, m.Recall))
	case *stagev1.CallResponse_Remember:
		return true, t.grant(t.memory.remember(ctx, m.Remember))
	}
	return false, nil
}

// grant answers a question before anything else is read, so that answers keep the
// order of questions.
func (t *talk) grant(grant *stagev1.Grant, err error) error {
	if err != nil {
		return err
	}
	return t.send(&stagev1.CallRequest{Message: &stagev1.CallRequest_Grant{Grant: grant}})
}

// feed sends the batches that were asked for.
func (t *talk) feed() error {
	for ; t.credit > 0 && !t.ended; t.credit-- {
		input, err := t.verb.next()
		if err != nil {
			return &callerError{err}
		}
		if input == nil {
			input, t.ended = &stagev1.Input{Last: true}, true
		}
		if err := t.input(input); err != nil {
			return err
		}
	}
	return nil
}

func (t *talk) input(input *stagev1.Input) error {
	t.begun = true
	return t.send(&stagev1.CallRequest{Message: &stagev1.CallRequest_Input{Input: input}})
}

func (t *talk) send(message *stagev1.CallRequest) error {
	defer t.watch()()
	err := t.stream.Send(message)
	if errors.Is(err, io.EOF) {
		// The stream is over; why is to be read from it.
		for err = error(nil); err == nil; _, err = t.stream.Recv() {
		}
		if errors.Is(err, io.EOF) {
			return protocol("ended the call before its input")
		}
	}
	return err
}

func (t *talk) receive() (*stagev1.CallResponse, error) {
	defer t.watch()()
	message, err := t.stream.Recv()
	if errors.Is(err, io.EOF) {
		return nil, protocol("ended the call without Done")
	}
	return message, err
}

// watch ends the call when the stage lets the host wait for too long. Time that
// the caller takes for a batch does not count.
func (t *talk) watch() (stop func() bool) {
	return time.AfterFunc(t.stall, func() {
		t.cancel(errStall)
		t.process.runner.kill()
	}).Stop
}

func (t *talk) report(id string) {
	if t.total.refused > 0 || t.total.repairs.Any() {
		t.process.output.log.Warn("stage sent what had to be refused or repaired", "stage", id,
			"taken", t.total.taken, "refused", t.total.refused, "texts", t.total.repairs.Text,
			"json", t.total.repairs.JSON, "values", t.total.repairs.Values)
	}
}
