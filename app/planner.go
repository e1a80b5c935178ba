package app

import (
	"context"

	"github.com/scrollery/scrollery/modules/sandbox"
	"github.com/scrollery/scrollery/plugins/agent"
)

// NewPlanner is the agent's planner: the configured endpoint, or nil for the
// built-in one.
func NewPlanner(cfg agent.Config) sandbox.Planner {
	if cfg.URL == "" {
		return nil
	}
	return endpoint{agent.New(cfg)}
}

// endpoint is the chat endpoint as the sandbox wants a planner.
type endpoint struct{ planner *agent.Planner }

func (e endpoint) Begin(goal string) sandbox.Session { return conversation{e.planner.Begin(goal)} }

type conversation struct{ *agent.Conversation }

func (c conversation) Next(ctx context.Context, seen []sandbox.Observation) (sandbox.Move, error) {
	told := make([]agent.Observation, len(seen))
	for i, one := range seen {
		told[i] = agent.Observation(one)
	}
	next, err := c.Conversation.Next(ctx, told)
	if err != nil {
		return sandbox.Move{}, err
	}
	move := sandbox.Move{Answer: next.Answer, Tokens: next.Tokens}
	for _, call := range next.Calls {
		move.Calls = append(move.Calls, sandbox.Call(call))
	}
	return move, nil
}
