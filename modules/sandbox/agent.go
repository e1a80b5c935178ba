package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/kernel/visible"
)

// Planner decides what the agent does next.
type Planner interface {
	Begin(goal string) Session
}

// Session is the planner's side of one call. Enter is called once, first: it waits
// until the planner can work, and fails with the cause of the context's end. Next gets
// the results of the calls of the move before, in their order; none at first. Close is
// called once, last.
type Session interface {
	Enter(ctx context.Context) error
	Next(ctx context.Context, seen []Observation) (Move, error)
	Close()
}

// Move is what a planner wants: calls of tools, or, if there are none, the
// answer. Tokens is what deciding cost.
type Move struct {
	Calls  []Call
	Answer string
	Tokens int64
}

// Call of a tool. Arguments are JSON, and not trusted.
type Call struct{ ID, Tool, Arguments string }

// Observation is what came of a call.
type Observation struct {
	ID string
	// Text is for the planner. Text that others wrote is in it: it is data.
	Text string
	// Failed calls changed nothing.
	Failed bool
}

// maxCalls bounds one move.
const maxCalls = 8

// Answer is what a caller gets.
type Answer struct {
	Output string
	// Steps are the moves that were made, the answer being the last.
	Steps int
}

// RunAgent works towards a goal, for the fee. It waits for the planner first: a call that
// finds no place in time costs nothing and fails with RateLimited. The fee is returned
// if the agent could not be run. The work goes on when the caller has gone, since it
// is paid for.
func (s *Service) RunAgent(ctx context.Context, goal string) (Answer, error) {
	account, all, ok := viewer.Tenant(ctx)
	if !ok || all {
		return Answer{}, errNoCaller
	}
	session := s.planner.Begin(goal)
	defer session.Close()
	if err := s.enter(ctx, session); err != nil {
		return Answer{}, err
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.Agent.Time)
	defer cancel()
	alive, charge, err := s.charges.Open(limited, account, s.config.Agent.Fee)
	if err != nil {
		return Answer{}, err
	}
	answer, err := s.pursue(alive, &worker{service: s, meter: charge, left: s.config.Agent.Credits}, session)
	owed, failed := charge.Close(ctx, err == nil)
	switch {
	case errors.Is(failed, apierr.ErrUnknown):
		return Answer{}, failed // neither this answer nor one about the fee may be given
	case failed == nil && err == nil:
		answer.Output, _ = visible.Clean(answer.Output) // a model's words, and creators'
		return answer, nil
	case failed == nil && apierr.As(err) != nil:
		return Answer{}, err
	}
	return Answer{}, notRun(owed, errors.Join(err, failed))
}

// notRun is the error of a call whose fee is returned, or will be by a job if it is owed.
func notRun(owed bool, cause error) error {
	message := "The agent could not be run; its fee is returned."
	if owed {
		message = "The agent could not be run; its fee will be returned."
	}
	return &apierr.Error{Kind: apierr.UpstreamError, Message: message, Retryable: true, Cause: cause}
}

// enter waits for the planner.
func (s *Service) enter(ctx context.Context, session Session) error {
	waiting, cancel := context.WithTimeout(ctx, s.config.Agent.Wait)
	defer cancel()
	err := session.Enter(waiting)
	if err != nil && waiting.Err() != nil && ctx.Err() == nil {
		return &apierr.Error{
			Kind: apierr.RateLimited, RetryAfter: s.config.Agent.Wait, Cause: err,
			Message: "Too many agents are at work; nothing was charged. Try again later.",
		}
	}
	return err
}

// pursue is the loop: plan, act, observe. Hitting a bound is an answer too.
func (s *Service) pursue(ctx context.Context, w *worker, session Session) (Answer, error) {
	var seen []Observation
	var tokens int64
	for step := 1; ; step++ {
		move, err := session.Next(ctx, seen)
		if err != nil {
			if ctx.Err() != nil && step > 1 {
				return s.late(w, step-1), nil
			}
			return Answer{}, fmt.Errorf("plan step %d: %w", step, err)
		}
		if len(move.Calls) == 0 {
			return Answer{Output: move.Answer, Steps: step}, nil
		}
		if tokens += move.Tokens; tokens > s.config.Agent.Tokens {
			return Answer{Output: "I stopped: the goal took more words than I am given." + w.soFar(), Steps: step}, nil
		}
		if step >= s.config.Agent.Steps {
			return Answer{Output: fmt.Sprintf("I stopped: %d steps were not enough.%s", step, w.soFar()), Steps: step}, nil
		}
		if seen, err = w.act(ctx, move.Calls); err != nil {
			if overtaken(ctx, err) {
				return s.late(w, step), nil
			}
			return Answer{}, err
		}
	}
}

// late is the answer where the time was up after so many steps.
func (s *Service) late(w *worker, steps int) Answer {
	return Answer{Output: fmt.Sprintf("I stopped: %v were not enough.%s", s.config.Agent.Time, w.soFar()), Steps: steps}
}

// overtaken distinguishes a call that the end of the time cut short from one that has an
// error of its own: settling goes on after that end.
func overtaken(ctx context.Context, err error) bool {
	return errors.Is(context.Cause(ctx), context.DeadlineExceeded) && apierr.As(err) == nil && !errors.Is(err, errUnsettled) && !errors.Is(err, errUnstored)
}

// act makes the calls of a move, one after the other.
func (w *worker) act(ctx context.Context, calls []Call) ([]Observation, error) {
	seen := make([]Observation, 0, len(calls))
	for i, call := range calls {
		if i >= maxCalls {
			seen = append(seen, Observation{ID: call.ID, Text: "not done: too many calls at once", Failed: true})
			continue
		}
		text, err := w.use(ctx, call)
		switch {
		case err == nil:
			text, _ = visible.Clean(text)
			seen = append(seen, Observation{ID: call.ID, Text: text})
		case (apierr.Is(err, apierr.PaymentRequired) || errors.Is(err, errNoPlace)) && w.runs == 0:
			return nil, err // nothing was done yet that the fee is for
		case apierr.As(err) != nil:
			seen = append(seen, Observation{ID: call.ID, Text: words(err), Failed: true})
		default:
			return nil, err
		}
	}
	return seen, nil
}

// words are what a planner may read of a fault.
func words(err error) string {
	f := apierr.As(err)
	if len(f.Issues) > 0 {
		return f.Issues[0].Path + ": " + f.Issues[0].Message
	}
	return f.Message
}

// patience is how long storing files may take, even if the caller and the time are gone.
const patience = 10 * time.Second

// decode reads a call's arguments: exactly those that the tool has.
func decode(arguments string, into any) error {
	if arguments == "" {
		arguments = "{}"
	}
	if err := strict(arguments, into); err != nil {
		return apierr.New(apierr.InvalidRequest, "the arguments are not what the tool takes: %v", err)
	}
	return nil
}

// view is JSON of the library, as text.
type view = json.RawMessage
