// Package agenthost has a chat endpoint plan for the agent, in a process for each
// goal: it answers a need of the sandbox module.
//
// The process gets the goal, the endpoint with its key, and what came of the calls
// that it asked for; no environment, no file, and no network but the endpoint's.
// What it answers is not trusted: the module checks every call that it asks for.
package agenthost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/modules/kernel/fair"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/sandbox"
	"github.com/scrollery/scrollery/plugins/programs/agent"
	agentv1 "github.com/scrollery/scrollery/proto/gen/scrollery/agent/v1"
)

const (
	// grace is the time for a process to notice by itself that the time is up.
	grace = 2 * time.Second
	// memory of a process, which holds one conversation.
	memory = 512 << 20
	// maxText is the most bytes of a call's result that are handed over.
	maxText = 64 << 10
	// maxCalls of one move are taken; more are no sense.
	maxCalls = 64
)

// planners starts planners, a process for each goal.
type planners struct {
	plugins *host.Processes
	config  agent.Config
	places  *fair.Places
}

// New returns the configured endpoint as a planner; nil if there is none.
func New(plugins *host.Processes, config agent.Config) sandbox.Planner {
	if config.URL == "" {
		return nil
	}
	return &planners{plugins: plugins, config: config, places: fair.New(config.AtOnce)}
}

// Begin starts nothing yet.
func (p *planners) Begin(goal string) sandbox.Session { return &session{planners: p, goal: goal} }

// session is one goal's process.
type session struct {
	planners *planners
	goal     string
	leave    func() // gives the place back; nil before there is one
	running  *host.Running
	stream   grpc.BidiStreamingClient[agentv1.PlanRequest, agentv1.PlanResponse]
	hangUp   context.CancelFunc
}

var (
	errHung  = errors.New("the planner's process gave no sign of life for too long")
	errEnded = errors.New("the planner's process ended the conversation")
	errSense = errors.New("the planner's process made a move without sense")
)

// Next sends the results of the calls to the process, and waits for its move. It is
// bounded: after an error the session is of no use.
func (s *session) Next(ctx context.Context, seen []sandbox.Observation) (sandbox.Move, error) {
	request := &agentv1.PlanRequest{Message: &agentv1.PlanRequest_Seen{Seen: encode(seen)}}
	if s.stream == nil {
		if err := s.start(ctx); err != nil {
			return sandbox.Move{}, err
		}
		request = &agentv1.PlanRequest{Message: &agentv1.PlanRequest_Begin{Begin: s.begin()}}
	}
	limited, cancel := context.WithTimeoutCause(ctx, s.planners.config.Timeout+grace, errHung)
	defer cancel()
	defer context.AfterFunc(limited, s.hangUp)()
	if err := s.stream.Send(request); err != nil && !errors.Is(err, io.EOF) { // EOF: Recv knows why
		return sandbox.Move{}, s.failure(limited, err)
	}
	answer, err := s.stream.Recv()
	if err != nil {
		return sandbox.Move{}, s.failure(limited, err)
	}
	return decode(answer.GetMove())
}

// Enter waits for a place.
func (s *session) Enter(ctx context.Context) (err error) {
	tenant, _, _ := viewer.Tenant(ctx)
	s.leave, err = s.planners.places.Enter(ctx, tenant)
	return err
}

// start starts the process.
func (s *session) start(ctx context.Context) error {
	program, err := s.planners.program()
	if err != nil {
		return err
	}
	if s.running, err = s.planners.plugins.StartProgram(ctx, program); err != nil {
		return fmt.Errorf("start the planner: %w", err)
	}
	// The conversation lasts longer than one move.
	lasting, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	s.hangUp = hangUp
	s.stream, err = agentv1.NewAgentServiceClient(s.running.Connection()).Plan(lasting)
	if err != nil {
		return s.failure(ctx, err)
	}
	return nil
}

// program is what the process may do.
func (p *planners) program() (host.Program, error) {
	endpoint, err := p.config.Host()
	if err != nil {
		return host.Program{}, err
	}
	return host.Program{
		ID: agent.ID, Handshake: agent.Handshake(), Service: agent.Name, MaxMessage: agent.MaxMessage,
		Memory: memory, Endpoints: []string{endpoint}, Secrets: map[string]string{"key": p.config.Key},
	}, nil
}

func (s *session) begin() *agentv1.Begin {
	c := s.planners.config
	return &agentv1.Begin{Goal: s.goal, Endpoint: &agentv1.Endpoint{
		Url: c.URL, Model: c.Model, Key: c.Key, TimeoutMillis: c.Timeout.Milliseconds(), AnswerTokens: c.AnswerTokens, Proxy: s.running.Proxy(),
	}}
}

// failure says why there is no move: the time is up, the endpoint failed, or the
// process did.
func (s *session) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, io.EOF) {
		return errEnded
	}
	if status.Code(err) == codes.Aborted {
		return errors.New(status.Convert(err).Message())
	}
	cause, _ := s.running.Ended(err)
	return fmt.Errorf("the planner's process: %w", cause)
}

// Close ends the process.
func (s *session) Close() {
	if s.hangUp != nil {
		s.hangUp()
	}
	if s.running != nil {
		s.running.Stop()
	}
	if s.leave != nil {
		s.leave()
	}
}

func encode(seen []sandbox.Observation) *agentv1.Seen {
	out := &agentv1.Seen{Observations: make([]*agentv1.Observation, len(seen))}
	for i, one := range seen {
		text := one.Text
		if len(text) > maxText {
			text = text[:maxText]
		}
		out.Observations[i] = &agentv1.Observation{Id: one.ID, Text: strings.ToValidUTF8(text, "\ufffd"), Failed: one.Failed}
	}
	return out
}

func decode(move *agentv1.Move) (sandbox.Move, error) {
	calls := move.GetCalls()
	if len(calls) > maxCalls || len(calls) == 0 && move.GetAnswer() == "" || move.GetTokens() < 0 {
		return sandbox.Move{}, errSense
	}
	out := sandbox.Move{Answer: move.GetAnswer(), Tokens: move.GetTokens()}
	for _, call := range calls {
		out.Calls = append(out.Calls, sandbox.Call{ID: call.GetId(), Tool: call.GetTool(), Arguments: call.GetArguments()})
	}
	return out, nil
}
