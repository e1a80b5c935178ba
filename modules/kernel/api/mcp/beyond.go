package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// beyond answers the calls of tools that the caller is not offered, and says what to add.
func (s *Server) beyond(form func(*mcp.CallToolResult) *mcp.CallToolResult) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
			call, isCall := request.(*mcp.CallToolRequest)
			if !isCall {
				return next(ctx, method, request)
			}
			t, caller := s.byID[call.Params.Name], viewer.Known(ctx)
			asked, _ := ctx.Value(choiceKey{}).(choice)
			if t == nil || caller == nil || asked.offers(t, caller.Has) {
				return next(ctx, method, request)
			}
			return form(said(asked.missing(t, caller), true, s.config.Budget)), nil
		}
	}
}

// missing says why a tool is not offered.
func (c choice) missing(t *tool, caller *viewer.Viewer) *node {
	code, set := "not_offered", t.GetTool().Toolset
	var why []string
	if !caller.Has(t.Scope) {
		code = "forbidden"
		why = append(why, fmt.Sprintf("This key lacks the scope %s, which %s needs: use a key that has it.", t.Scope, t.Id))
	}
	if !slices.Contains(c.sets, set) && !slices.Contains(c.sets, allSets) {
		why = append(why, fmt.Sprintf("%s is in the toolset %s: add ?toolsets=%s to the address.", t.Id, set, strings.Join(append(slices.Clone(c.sets), set), ",")))
	}
	if c.readOnly && !t.ReadOnly() {
		why = append(why, t.Id+" writes, and the address asks for reads alone: leave read_only=true out of it.")
	}
	out := &node{kind: '{'}
	out.add("code", text(code))
	out.add("message", text(strings.Join(why, " ")))
	if code == "forbidden" {
		out.add("requiredScope", text(t.Scope))
	}
	return out
}
