// Package conformance tries a plugin against the rules of the protocol, as the host
// would use it: confined, without settings, secrets and records of any account.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// Report is the result of all checks of one plugin.
type Report struct {
	// Plugin is what the plugin says of itself.
	Plugin host.Plugin
	// Checks are in the order in which they ran. The rest is left out after a plugin
	// did not start.
	Checks []Checked
	// Output is the end of what the plugin wrote meanwhile, at most 16 KiB.
	Output string
}

// Checked is the result of one check.
type Checked struct {
	Name string
	// Err is nil if the plugin passed.
	Err error
}

// OK reports whether the plugin passed every check.
func (r Report) OK() bool {
	return len(r.Checks) > 0 && !slices.ContainsFunc(r.Checks, func(c Checked) bool { return c.Err != nil })
}

// patience is how long a stage may take to notice that a call is cancelled.
const patience = 2 * time.Second

// errLate is the error of a stage that had to be killed after a cancelled call.
var errLate = fmt.Errorf("does not leave within %v when asked to", patience)

// Check tries a plugin that the host has.
func Check(ctx context.Context, server *host.Host, id string) Report {
	trial := server.Trial(id)
	if trial == nil {
		return Report{Plugin: host.Plugin{ID: id}, Checks: []Checked{{"exists", errors.New("no such plugin")}}}
	}
	return check(ctx, trial, server.Limits())
}

func check(ctx context.Context, trial *host.Trial, limits stage.Limits) Report {
	c := &checker{Trial: trial, most: limits}
	var report Report
	try := func(name string, do func(context.Context) error) bool {
		err := do(ctx)
		report.Checks = append(report.Checks, Checked{name, err})
		return err == nil
	}
	if !try("starts and shakes hands", c.handshake) {
		return report
	}
	report.Plugin = host.Plugin{
		ID: c.ID, Kind: c.Kind, Version: c.Version, Summary: c.Summary, Platforms: c.Platforms,
		Refreshes: c.Refreshes, FetchesMedia: c.FetchesMedia, NeedsMedia: c.NeedsMedia, Checks: c.Checks, AfterEvidence: c.AfterEvidence,
		Builtin: c.Builtin(), State: host.Ready,
	}
	try("serves its own host only", c.otherProtocol)
	try("describes itself", func(context.Context) error { return host.Plausible(c.Spec, c.ID) })
	try("stays within the host's limits", c.limits)
	try("asks for no odd secrets", c.oddSecrets)
	try("answers an empty call", func(ctx context.Context) error { return c.converse(ctx, nil) })
	try("answers "+c.input(), c.records)
	try("has the other verbs that it declares", c.others)
	try("ends its check in time", c.checkEnds)
	try("keeps its secrets to itself", c.keepsSecrets)
	try("refuses a call that does not open", c.unopened)
	try("lets go of a cancelled call", c.cancelled)
	return report
}

type checker struct {
	*host.Trial
	most stage.Limits
}

// with runs do against a fresh process, and looks at what the process wrote to stdout.
func (c *checker) with(ctx context.Context, do func(context.Context, *host.Attempt) error) error {
	return c.within(ctx, c.Timeout(), do)
}

func (c *checker) within(ctx context.Context, most time.Duration, do func(context.Context, *host.Attempt) error) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	a, err := c.Start(ctx)
	if err != nil {
		return err
	}
	err = do(ctx, a)
	a.Stop()
	if n := a.Noise(); err == nil && n > 0 {
		return fmt.Errorf("wrote %d lines to stdout, which belongs to the handshake", n)
	}
	return err
}

func (c *checker) handshake(ctx context.Context) error {
	return c.with(ctx, func(ctx context.Context, a *host.Attempt) (err error) {
		if c.Description, err = a.Describe(ctx); err != nil {
			return fmt.Errorf("describe: %w", err)
		}
		return nil
	})
}

func (c *checker) otherProtocol(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout())
	defer cancel()
	return c.StartWithCookie(ctx, "research-stage-0")
}

func (c *checker) limits(context.Context) error {
	want, most := c.Limits, c.most
	if want.Memory > most.Memory || want.Call > most.Call || want.Stall > most.Stall || want.Records > most.Records {
		return fmt.Errorf("asks for %+v; the host grants %d bytes, %v a call, %v without a sign of life, %d records",
			want, most.Memory, most.Call, most.Stall, most.Records)
	}
	return nil
}

func (c *checker) oddSecrets(context.Context) error {
	endpoint := slices.ContainsFunc(c.Settings, func(s stage.Setting) bool { return s.Endpoint })
	if len(c.Secrets) > 0 && len(c.Hosts) == 0 && !endpoint {
		return errors.New("wants secrets, but names no host to use them at")
	}
	return nil
}

// input names what a stage of the kind reads.
func (c *checker) input() string {
	if c.Kind == stage.BriefKind {
		return "facts"
	}
	return "records"
}

func (c *checker) records(ctx context.Context) error {
	if c.Kind == stage.SourceKind || c.Kind == stage.PlanKind {
		return nil
	}
	return c.converse(ctx, samples())
}

// converse holds a whole call of the verb of the stage's kind.
func (c *checker) converse(ctx context.Context, input []stage.Record) error {
	return c.with(ctx, func(ctx context.Context, a *host.Attempt) error {
		call := host.Conversation{Records: input}
		if len(input) > 0 {
			call.Facts = sampleFacts()
		}
		return c.complete(ctx, a, call)
	})
}

// complete wants a verdict for each record of a screen.
func (c *checker) complete(ctx context.Context, a *host.Attempt, call host.Conversation) error {
	answers, failed, err := a.Converse(ctx, call)
	if err == nil && !failed && c.Kind == stage.ScreenKind && answers != len(call.Records) {
		return fmt.Errorf("gave %d verdicts for %d records", answers, len(call.Records))
	}
	return err
}

// others asks a source for nothing by the optional verbs that it declares.
func (c *checker) others(ctx context.Context) error {
	for _, one := range []struct {
		verb string
		has  bool
	}{{"Refresh", c.Refreshes}, {"Media", c.FetchesMedia}} {
		if !one.has {
			continue
		}
		err := c.with(ctx, func(ctx context.Context, a *host.Attempt) error {
			_, _, err := a.Converse(ctx, host.Conversation{Verb: one.verb})
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", one.verb, err)
		}
	}
	return nil
}

// checkEnds has the plugin check itself without settings and secrets. That it says what is
// missing is an answer.
func (c *checker) checkEnds(ctx context.Context) error {
	if !c.Checks {
		return nil
	}
	return c.within(ctx, stage.CheckWithin, func(ctx context.Context, a *host.Attempt) error {
		var done *stagev1.Done
		_, failed, err := a.Converse(ctx, host.Conversation{Verb: "Check", Hear: func(message *stagev1.CallResponse) {
			if message.GetDone() != nil {
				done = message.GetDone()
			}
		}})
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("gives no answer within %v", stage.CheckWithin)
		case err != nil || failed:
			return err
		}
		return lineOf(done)
	})
}

// lineOf is what is wrong with what a check says that has no error.
func lineOf(done *stagev1.Done) error {
	switch n := utf8.RuneCountInString(done.GetChecked()); {
	case n == 0:
		return errors.New("says neither what works nor what does not")
	case n > stage.MaxChecked || strings.ContainsFunc(done.GetChecked(), unicode.IsControl):
		return fmt.Errorf("says %d characters, want one line of at most %d", n, stage.MaxChecked)
	}
	return nil
}

// unopened sends input where Open belongs.
func (c *checker) unopened(ctx context.Context) error {
	return c.with(ctx, func(ctx context.Context, a *host.Attempt) error {
		short, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		s, err := a.Open(short)
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
		return c.alive(ctx, a)
	})
}

// cancelled gives up in the middle of a call, up to three times while the
// stage is late: the machine may be busy.
func (c *checker) cancelled(ctx context.Context) error {
	for range 2 {
		if err := c.givenUp(ctx); !errors.Is(err, errLate) {
			return err
		}
	}
	return c.givenUp(ctx)
}

func (c *checker) givenUp(ctx context.Context) error {
	return c.with(ctx, func(ctx context.Context, a *host.Attempt) error {
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		s, err := a.Open(inner)
		if err != nil {
			return err
		}
		open := &stagev1.Open{Scratch: a.Scratch(), MaxRecords: 1}
		if err := s.Send(&stagev1.CallRequest{Message: &stagev1.CallRequest_Open{Open: open}}); err != nil {
			return err
		}
		cancel()
		if err := c.alive(ctx, a); err != nil {
			return err
		}
		go a.Leave()
		select {
		case <-a.Exited():
		case <-time.After(patience + time.Second):
			return errLate
		}
		if a.Killed() {
			return errLate
		}
		return nil
	})
}

func (c *checker) alive(ctx context.Context, a *host.Attempt) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := a.Describe(ctx); err != nil {
		return fmt.Errorf("is no longer there: %w", a.Cause(err))
	}
	return nil
}
