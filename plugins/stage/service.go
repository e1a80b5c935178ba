package stage

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

type stream = grpc.BidiStreamingServer[stagev1.CallRequest, stagev1.CallResponse]

// IDKey names the stage that a call is for, in the call's metadata. It is needed only
// where a process serves several; without it, the first one is meant.
const IDKey = "scrollery-stage"

// service answers the host in the author's name.
type service struct {
	stagev1.UnimplementedStageServiceServer
	spec Spec
	log  *slog.Logger
}

// several directs each call to the stage that it is for.
type several struct {
	stagev1.UnimplementedStageServiceServer
	first  *service
	stages map[string]*service
}

func newService(specs []Spec, log *slog.Logger) stagev1.StageServiceServer {
	all := &several{stages: map[string]*service{}}
	for _, spec := range specs {
		all.stages[spec.ID] = &service{spec: spec, log: log}
	}
	all.first = all.stages[specs[0].ID]
	return all
}

func (s *several) of(ctx context.Context) (*service, error) {
	ids := metadata.ValueFromIncomingContext(ctx, IDKey)
	if len(ids) == 0 {
		return s.first, nil
	}
	if one := s.stages[ids[0]]; one != nil {
		return one, nil
	}
	return nil, status.Errorf(codes.NotFound, "this process has no stage %.40q", ids[0])
}

func (s *several) Describe(ctx context.Context, r *stagev1.DescribeRequest) (*stagev1.DescribeResponse, error) {
	one, err := s.of(ctx)
	if err != nil {
		return nil, err
	}
	return one.Describe(ctx, r)
}

// pass hands a call to one of the stages.
func (s *several) pass(call stream, verb func(*service, stream) error) error {
	one, err := s.of(call.Context())
	if err != nil {
		return err
	}
	return verb(one, call)
}

func (s *several) Plan(stream stream) error     { return s.pass(stream, (*service).Plan) }
func (s *several) Collect(stream stream) error  { return s.pass(stream, (*service).Collect) }
func (s *several) Refresh(stream stream) error  { return s.pass(stream, (*service).Refresh) }
func (s *several) Media(stream stream) error    { return s.pass(stream, (*service).Media) }
func (s *several) Screen(stream stream) error   { return s.pass(stream, (*service).Screen) }
func (s *several) Evidence(stream stream) error { return s.pass(stream, (*service).Evidence) }
func (s *several) Brief(stream stream) error    { return s.pass(stream, (*service).Brief) }
func (s *several) Check(stream stream) error    { return s.pass(stream, (*service).Check) }

func (s *service) Describe(context.Context, *stagev1.DescribeRequest) (*stagev1.DescribeResponse, error) {
	return &stagev1.DescribeResponse{Description: describe(s.spec)}, nil
}

func (s *service) Plan(stream stream) error {
	if s.spec.Plan == nil {
		return missing("Plan")
	}
	return s.serve(stream, func(ctx context.Context, w *work) (*stagev1.Done, error) {
		seeds, _, err := w.input.all()
		if err != nil {
			return nil, err
		}
		emit := func(seed Seed) error { return w.seeds.emit(EncodeSeed(seed)) }
		return &stagev1.Done{}, s.spec.Plan(ctx, w.call, seeds, emit)
	})
}

func (s *service) Collect(stream stream) error {
	if s.spec.Collect == nil {
		return missing("Collect")
	}
	return s.serve(stream, func(ctx context.Context, w *work) (*stagev1.Done, error) {
		seeds, _, err := w.input.all()
		if err != nil {
			return nil, err
		}
		w.call.States = &hostStates{of: w.input.states, work: w}
		outcomes, err := s.spec.Collect(ctx, w.call, seeds, w.emitRecord)
		return &stagev1.Done{Outcomes: EncodeOutcomes(outcomes)}, err
	})
}

func (s *service) Refresh(stream stream) error {
	if s.spec.Refresh == nil {
		return missing("Refresh")
	}
	return s.serve(stream, func(ctx context.Context, w *work) (*stagev1.Done, error) {
		_, refs, err := w.input.all()
		if err != nil {
			return nil, err
		}
		outcomes, err := s.spec.Refresh(ctx, w.call, refs, w.emitRecord)
		return &stagev1.Done{Outcomes: EncodeOutcomes(outcomes)}, err
	})
}

func (s *service) Media(stream stream) error {
	if s.spec.Media == nil {
		return missing("Media")
	}
	return s.serve(stream, func(ctx context.Context, w *work) (*stagev1.Done, error) {
		_, refs, err := w.input.all()
		if err != nil {
			return nil, err
		}
		emit := func(f File) error {
			return w.files.emit(encodeFile(f))
		}
		outcomes, err := s.spec.Media(ctx, w.call, refs, emit)
		return &stagev1.Done{Outcomes: EncodeOutcomes(outcomes)}, err
	})
}

func (s *service) Screen(stream stream) error {
	if s.spec.Screen == nil {
		return missing("Screen")
	}
	return s.serve(stream, func(ctx context.Context, w *work) (*stagev1.Done, error) {
		emit := func(v Verdict) error { return w.verdicts.emit(EncodeVerdict(&v)) }
		summary, err := s.spec.Screen(ctx, w.call, w.input.next, emit)
		done := &stagev1.Done{UnclearRules: summary.Unclear, Notes: summary.Notes}
		for _, one := range summary.Readings {
			done.Readings = append(done.Readings, &stagev1.Reading{Rule: one.Rule, Text: one.Text})
		}
		return done, err
	})
}

func (s *service) Evidence(stream stream) error {
	if s.spec.Evidence == nil {
		return missing("Evidence")
	}
	return s.serve(stream, func(ctx context.Context, w *work) (*stagev1.Done, error) {
		emit := func(f Finding) error { return w.findings.emit(EncodeFinding(&f)) }
		return &stagev1.Done{}, s.spec.Evidence(ctx, w.call, w.input.next, emit)
	})
}

func (s *service) Brief(stream stream) error {
	if s.spec.Brief == nil {
		return missing("Brief")
	}
	return s.serve(stream, func(ctx context.Context, w *work) (*stagev1.Done, error) {
		_, _, facts, err := w.input.everything()
		if err != nil {
			return nil, err
		}
		emit := func(one Sentence) error { return w.sentences.emit(EncodeSentence(one)) }
		return &stagev1.Done{}, s.spec.Brief(ctx, w.call, facts, emit)
	})
}

// checkRequests is how long the requests of a check may take: a little less than the host
// waits, so that the stage says itself that a site hangs.
const checkRequests = CheckWithin - 5*time.Second

func (s *service) Check(stream stream) error {
	if s.spec.Check == nil {
		return missing("Check")
	}
	return s.serve(stream, func(ctx context.Context, w *work) (*stagev1.Done, error) {
		ctx, cancel := context.WithTimeout(ctx, checkRequests)
		defer cancel()
		checked, err := s.spec.Check(ctx, w.call)
		if err != nil {
			checked = "" // it is one or the other
		}
		return &stagev1.Done{Checked: checked}, err
	})
}

// work is one call in the making.
type work struct {
	call     *Call
	input    *input
	sender   *sender
	records  batcher[*stagev1.Record]
	verdicts batcher[*stagev1.Verdict]
	findings batcher[*stagev1.Finding]
	files    batcher[*stagev1.File]
	seeds    batcher[*stagev1.Seed]

	sentences batcher[*stagev1.Sentence]
}

func (w *work) emitRecord(r Record) error { return w.records.emit(EncodeRecord(&r)) }

// serve runs the author's function over the stream and says Done after it.
func (s *service) serve(stream stream, do func(context.Context, *work) (*stagev1.Done, error)) error {
	message, err := stream.Recv()
	if err != nil {
		return err
	}
	open := message.GetOpen()
	if open == nil {
		return status.Error(codes.InvalidArgument, "the first message must be Open")
	}
	ctx, cancel := context.WithCancelCause(stream.Context())
	defer cancel(nil)
	send := &sender{send: stream.Send, lenient: s.spec.Lenient, end: cancel}
	in := &input{ctx: ctx, sender: send, batches: make(chan *stagev1.Input, ahead), grants: make(chan *stagev1.Grant, 1)}
	w := &work{
		call:     s.call(open, in),
		input:    in,
		sender:   send,
		records:  batcher[*stagev1.Record]{sender: send, wrap: records, max: open.GetMaxRecords()},
		verdicts: batcher[*stagev1.Verdict]{sender: send, wrap: verdicts},
		findings: batcher[*stagev1.Finding]{sender: send, wrap: findings},
		files:    batcher[*stagev1.File]{sender: send, wrap: files},
		seeds:    batcher[*stagev1.Seed]{sender: send, wrap: seeds, max: open.GetMaxRecords()},

		sentences: batcher[*stagev1.Sentence]{sender: send, wrap: sentences, max: open.GetMaxRecords()},
	}
	go w.input.read(stream, cancel)
	done, err := s.guard(ctx, w, do)
	if done == nil {
		done = &stagev1.Done{}
	}
	if err = cmp.Or(send.refused(), err); err != nil {
		done.Error = encodeError(fault(err))
	}
	return w.finish(done)
}

// guard turns a panic into an error; where it happened is for the log.
func (s *service) guard(ctx context.Context, w *work, do func(context.Context, *work) (*stagev1.Done, error)) (done *stagev1.Done, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			s.log.Error("the stage panicked", "panic", fmt.Sprint(reason), "stack", string(debug.Stack()))
			done, err = nil, fmt.Errorf("panic: %v", reason)
		}
	}()
	return do(ctx, w)
}

func (w *work) finish(done *stagev1.Done) error {
	for _, flush := range []func() error{w.records.flush, w.verdicts.flush, w.findings.flush, w.files.flush, w.seeds.flush, w.sentences.flush} {
		if err := flush(); err != nil {
			return err
		}
	}
	w.sender.mu.Lock()
	defer w.sender.mu.Unlock()
	err := w.sender.send(&stagev1.CallResponse{Message: &stagev1.CallResponse_Done{Done: done}})
	w.sender.send = func(*stagev1.CallResponse) error { return status.Error(codes.FailedPrecondition, "the call is over") }
	return err
}

func (s *service) call(open *stagev1.Open, in *input) *Call {
	host := &spender{input: in}
	call := &Call{
		Run: DecodeRun(open.GetRun()), Settings: map[string]string{}, Secrets: map[string]string{},
		Scratch: open.GetScratch(), Log: s.log,
		Transport: transport(open.GetProxy()), Grant: host.spend, Return: host.giveBack, Keep: host.keep,
		Memory:   hostMemory{host, in.sender.note},
		progress: in.sender.note,
	}
	for _, setting := range s.spec.Settings {
		if setting.Default != "" {
			call.Settings[setting.Name] = setting.Default
		}
	}
	for name, value := range open.GetSettings() {
		call.Settings[name] = value
	}
	for name, value := range open.GetSecrets() {
		call.Secrets[name] = value
	}
	return call
}

func missing(verb string) error {
	return status.Errorf(codes.Unimplemented, "this stage has no %s", verb)
}
