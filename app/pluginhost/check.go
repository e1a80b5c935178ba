package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// Report is what the conformance kit found out about a plugin.
type Report struct {
	Plugin Plugin
	Checks []Checked
	// Output is the end of what the plugin wrote meanwhile.
	Output string
}

// Checked is one question and its answer.
type Checked struct {
	Name string
	// Err is nil where the plugin passed.
	Err error
}

// OK tells whether the plugin passed everything.
func (r Report) OK() bool {
	for _, c := range r.Checks {
		if c.Err != nil {
			return false
		}
	}
	return len(r.Checks) > 0
}

// patience is how long a stage may take to notice that a call is cancelled.
const patience = 2 * time.Second

// Check tries one of the host's own plugins.
func (h *Host) Check(ctx context.Context, id string) Report {
	e := h.entries[id]
	if e == nil {
		return Report{Plugin: Plugin{ID: id}, Checks: []Checked{{"exists", errors.New("no such plugin")}}}
	}
	c := &checker{host: h, entry: e}
	c.check("starts and shakes hands", c.handshake(ctx))
	if c.failed {
		return c.report
	}
	c.check("serves no one but the house", c.stranger(ctx))
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"describes itself", c.describes},
		{"stays within the house's limits", c.limits},
		{"asks for no odd secrets", c.secrets},
		{"answers an empty call", c.empty},
		{"answers records", c.records},
		{"has the other verbs that it says it has", c.others},
		{"keeps its secrets to itself", c.discreet},
		{"refuses a call that does not open", c.unopened},
		{"lets go of a cancelled call", c.cancelled},
	} {
		c.check(step.name, step.do(ctx))
	}
	return c.report
}

type checker struct {
	host   *Host
	entry  *entry
	spec   stage.Spec
	also   extras
	report Report
	failed bool
}

func (c *checker) check(name string, err error) {
	c.failed = c.failed || err != nil
	c.report.Checks = append(c.report.Checks, Checked{name, err})
}

// with runs do against a fresh process, and looks at what it wrote to stdout.
func (c *checker) with(ctx context.Context, do func(context.Context, *process) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.host.config.Start)
	defer cancel()
	p, err := c.host.start(ctx, c.entry, c.spec, given{settings: map[string]string{}})
	if err != nil {
		_, cause := c.host.classify(failedProcess(err), err)
		return cause
	}
	err = do(ctx, p)
	p.stop()
	if n := p.output.noisyLines(); err == nil && n > 0 {
		return fmt.Errorf("wrote %d lines to stdout, which belongs to the handshake", n)
	}
	return err
}

func (c *checker) handshake(ctx context.Context) error {
	return c.with(ctx, func(ctx context.Context, p *process) error {
		answer, err := p.stage.Describe(ctx, &stagev1.DescribeRequest{})
		if err != nil {
			return fmt.Errorf("describe: %w", err)
		}
		var also extras
		c.spec, also = decodeSpec(answer.GetDescription())
		c.also = also
		c.report.Plugin = Plugin{
			ID: c.spec.ID, Kind: c.spec.Kind, Version: c.spec.Version, Summary: c.spec.Summary,
			Platforms: c.spec.Platforms, Refreshes: also.refreshes, FetchesMedia: also.fetches,
			NeedsMedia: c.spec.NeedsMedia, Builtin: c.entry.builtin, State: Ready,
		}
		return nil
	})
}

func (c *checker) describes(context.Context) error { return plausible(c.spec, c.spec.ID) }

func (c *checker) limits(context.Context) error {
	want, most := c.spec.Limits, c.host.config
	if want.Memory > most.Memory || want.Call > most.Call || want.Stall > most.Stall || want.Records > most.Records {
		return fmt.Errorf("asks for %+v; the house gives %d bytes, %v a call, %v without a sign of life, %d records",
			want, most.Memory, most.Call, most.Stall, most.Records)
	}
	return nil
}

func (c *checker) secrets(context.Context) error {
	endpoint := slices.ContainsFunc(c.spec.Settings, func(s stage.Setting) bool { return s.Endpoint })
	if len(c.spec.Secrets) > 0 && len(c.spec.Hosts) == 0 && !endpoint {
		return errors.New("wants secrets, but names no host to use them at")
	}
	return nil
}

// open starts the stage's own verb.
func (c *checker) open(ctx context.Context, p *process) (stream, error) {
	switch c.spec.Kind {
	case stage.ScreenKind:
		return p.stage.Screen(ctx)
	case stage.EvidenceKind:
		return p.stage.Evidence(ctx)
	case stage.PlanKind:
		return p.stage.Plan(ctx)
	default:
		return p.stage.Collect(ctx)
	}
}

func (c *checker) empty(ctx context.Context) error {
	return c.with(ctx, func(ctx context.Context, p *process) error { return c.converse(ctx, p, nil, given{}, nil) })
}

func (c *checker) records(ctx context.Context) error {
	if c.spec.Kind == stage.SourceKind || c.spec.Kind == stage.PlanKind {
		return nil
	}
	return c.with(ctx, func(ctx context.Context, p *process) error { return c.converse(ctx, p, samples(), given{}, nil) })
}

// converse has a whole call of the stage's own verb. What comes back is shown to
// hear, where it is not nil.
func (c *checker) converse(ctx context.Context, p *process, input []stage.Record, given given, hear func(*stagev1.CallResponse)) error {
	asked := newAsked()
	fed := false
	next := asked.batches(func() ([]stage.Record, error) {
		if fed {
			return nil, io.EOF
		}
		fed = true
		return input, nil
	})
	v, answered := c.verb(asked, next)
	if take := v.take; hear != nil {
		v.take = func(message *stagev1.CallResponse) (tally, error) {
			hear(message)
			return take(message)
		}
	}
	done, err := c.talk(ctx, p, v, given)
	if err != nil {
		return err
	}
	if hear != nil {
		hear(&stagev1.CallResponse{Message: &stagev1.CallResponse_Done{Done: done}})
	}
	if c.spec.Kind == stage.ScreenKind && done.GetError() == nil && *answered != len(input) {
		return fmt.Errorf("gave %d verdicts for %d records", *answered, len(input))
	}
	return nil
}

// talk has one call. An error that the stage reports is an answer too: it has no
// settings here.
func (c *checker) talk(ctx context.Context, p *process, v verb, given given) (*stagev1.Done, error) {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t := &talk{process: p, verb: v, cancel: cancel, most: c.host.config.Records, stall: c.host.config.Start, purse: spender{spec: c.spec}}
	done, err := t.run(inner, stage.Run{Number: 1, Now: time.Now().UnixMilli()}, given)
	if err != nil {
		_, cause := c.host.classify(p, err)
		return nil, cause
	}
	if fault := done.GetError(); fault != nil {
		if err := reported(c.spec.ID, p.output, fault, time.Now()); err.Failure == stage.StageCrashed {
			return nil, fmt.Errorf("broke: %w", err.Cause)
		}
	}
	if t.total.refused > 0 {
		return nil, fmt.Errorf("%d of its answers would be refused", t.total.refused)
	}
	return done, nil
}

func (c *checker) verb(asked *asked, next func() (*stagev1.Input, error)) (verb, *int) {
	answered := new(int)
	v := verb{kind: c.spec.Kind, next: next}
	switch c.spec.Kind {
	case stage.ScreenKind:
		v.open = func(ctx context.Context, s stagev1.StageServiceClient) (stream, error) { return s.Screen(ctx) }
		v.take = takeVerdicts(asked, func(batch []stage.Verdict) error { *answered += len(batch); return nil })
	case stage.EvidenceKind:
		v.open = func(ctx context.Context, s stagev1.StageServiceClient) (stream, error) { return s.Evidence(ctx) }
		v.take = takeFindings(asked, func(batch []stage.Finding) error { *answered += len(batch); return nil })
	case stage.PlanKind:
		v.open = func(ctx context.Context, s stagev1.StageServiceClient) (stream, error) { return s.Plan(ctx) }
		v.next, v.unasked = nil, []*stagev1.Input{{Last: true}}
		v.take = takeSeeds(func(batch []stage.Seed) error { *answered += len(batch); return nil })
	default:
		v.open = func(ctx context.Context, s stagev1.StageServiceClient) (stream, error) { return s.Collect(ctx) }
		v.next, v.unasked = nil, []*stagev1.Input{{Last: true}}
		v.take = takeRecords(func(batch []stage.Record) error { *answered += len(batch); return nil })
	}
	return v, answered
}

// unopened sends input where Open belongs.
func (c *checker) unopened(ctx context.Context) error {
	return c.with(ctx, func(ctx context.Context, p *process) error {
		short, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		s, err := c.open(short, p)
		if err != nil {
			return err
		}
		_ = s.Send(&stagev1.CallRequest{Message: &stagev1.CallRequest_Input{Input: &stagev1.Input{Last: true}}})
		message, err := s.Recv()
		switch {
		case short.Err() != nil:
			return fmt.Errorf("says nothing for %v", patience)
		case err == nil && message.GetDone().GetError() == nil:
			return errors.New("works on regardless")
		}
		return c.alive(ctx, p)
	})
}

// cancelled gives up in the middle of a call.
func (c *checker) cancelled(ctx context.Context) error {
	return c.with(ctx, func(ctx context.Context, p *process) error {
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		s, err := c.open(inner, p)
		if err != nil {
			return err
		}
		open := &stagev1.Open{Scratch: p.work(), MaxRecords: 1}
		if err := s.Send(&stagev1.CallRequest{Message: &stagev1.CallRequest_Open{Open: open}}); err != nil {
			return err
		}
		cancel()
		if err := c.alive(ctx, p); err != nil {
			return err
		}
		go p.client.Kill() // asks it to leave first
		select {
		case <-p.runner.exited:
		case <-time.After(patience + time.Second):
			return errors.New("does not leave when told to")
		}
		if p.runner.struck() {
			return fmt.Errorf("did not leave within %v", patience)
		}
		return nil
	})
}

func (c *checker) alive(ctx context.Context, p *process) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := p.stage.Describe(ctx, &stagev1.DescribeRequest{}); err != nil {
		_, cause := c.host.classify(p, err)
		return fmt.Errorf("is no longer there: %w", cause)
	}
	return nil
}
