package mcp

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

// skipMark begins a cursor that skips items of a page: `~8~` and the page's own cursor.
const skipMark = "~"

// call is one call of a tool.
type call struct {
	tool      *tool
	arguments *node // nil: they are no object
	raw       []byte
	compact   bool
	skip      int
	page      string // the cursor of the page that items are skipped of
	wait      time.Duration
	faults    []apierr.Issue
}

// newCall takes what is for this protocol alone out of the arguments.
func newCall(t *tool, raw []byte) *call {
	c := &call{tool: t, raw: raw, compact: true}
	if len(raw) == 0 {
		c.raw = []byte("{}")
	}
	arguments, err := parse(c.raw)
	if err != nil || arguments.kind != '{' {
		return c // the decoder says why
	}
	c.arguments = arguments
	if detail := arguments.take("detail"); detail != nil {
		c.compact = detail.text != "full"
		if !t.ReadOnly() {
			c.fault("detail", "is not known")
		} else if detail.kind != '"' || detail.text != "full" && detail.text != "compact" {
			c.fault("detail", "must be compact or full")
		}
	}
	if wait := arguments.get("waitSeconds"); wait != nil && streams[t.Id] != "" {
		seconds, err := strconv.Atoi(arguments.take("waitSeconds").text)
		if err != nil || wait.kind != 0 || seconds < 0 || seconds > longestWait {
			c.fault("waitSeconds", fmt.Sprintf("must be a whole number from 0 to %d", longestWait))
		}
		c.wait = time.Duration(seconds) * time.Second
	}
	if t.list != "" {
		c.readCursor()
	}
	if limit := t.GetTool().DefaultLimit; limit > 0 && arguments.get("limit") == nil {
		arguments.add("limit", number(int(limit)))
	}
	c.raw = arguments.appendTo(nil)
	return c
}

func (c *call) fault(path, message string) {
	c.faults = append(c.faults, apierr.Issue{Path: path, Message: message})
}

// readCursor splits a cursor into the items to skip and the cursor of the page.
func (c *call) readCursor() {
	cursor := c.arguments.get("cursor")
	if cursor == nil || cursor.kind != '"' {
		if cursor != nil && !c.tool.hasCursor {
			c.fault("cursor", "must be a string")
			c.arguments.take("cursor")
		}
		return
	}
	c.page = cursor.text
	if rest, skips := strings.CutPrefix(cursor.text, skipMark); skips {
		count, page, _ := strings.Cut(rest, skipMark)
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 || n > 1000 {
			c.fault("cursor", "is not the `next` of an answer")
		}
		c.skip, c.page = n, page
	}
	c.arguments.take("cursor")
	switch {
	case c.page != "" && c.tool.hasCursor:
		c.arguments.add("cursor", text(c.page))
	case c.page != "":
		c.fault("cursor", "is not the `next` of an answer")
	}
}

// result runs the call and returns its answer, of at most budget bytes.
func (c *call) result(ctx context.Context, budget int) *mcp.CallToolResult {
	out := c.run(ctx)
	body, err := parse(out.Body)
	switch {
	case err != nil:
		return said(&node{kind: '{', names: []string{"code", "message"}, nodes: []*node{text("operation_error"), text("The answer could not be read.")}}, true, budget)
	case out.Refused:
		return said(refusal(body, out.RetryAfter), true, budget)
	}
	shown := c.show(body, budget)
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(shown.appendTo(nil))}}}
}

func (c *call) run(ctx context.Context) api.Invoked {
	if c.wait > 0 && len(c.faults) == 0 {
		return api.Watch(ctx, streams[c.tool.Id], c.raw, c.wait)
	}
	return api.Invoke(ctx, c.tool.Id, c.raw, c.faults...)
}

// marks is the room for what stands beside a list that was cut.
const marks = 400

// show is the answer in the form of this protocol.
func (c *call) show(body *node, budget int) *node {
	v := &view{compact: c.compact}
	page := body.get(c.tool.list)
	of := 0
	if page != nil && page.kind == '[' {
		of = len(page.nodes)
		page.nodes = page.nodes[min(c.skip, of):]
	}
	shown := v.message(body, c.tool.Output)
	next := shown.take("nextCursor")
	list := shown.get(c.tool.list)
	if shown.fit(budget-marks, list) {
		shown.add("shown", number(len(list.nodes)))
		shown.add("of", number(of-min(c.skip, of)))
		next = text(fmt.Sprintf("%s%d%s%s", skipMark, c.skip+len(list.nodes), skipMark, c.page))
	}
	if next != nil && !next.empty() {
		shown.add("next", next)
	}
	if v.hidden > 0 {
		shown.add("hidden", number(v.hidden))
	}
	return shown
}

// refusal is the body of an error, with the names of this protocol.
func refusal(body *node, retryAfter string) *node {
	out := &node{kind: '{'}
	for i, name := range body.names {
		if name == "error" {
			name = "code"
		}
		out.add(name, body.nodes[i])
	}
	if seconds, err := strconv.Atoi(retryAfter); err == nil && out.get("retryAfter") == nil {
		out.add("retryAfter", number(seconds))
	}
	(&view{}).own(out)
	return out
}

func said(body *node, refused bool, budget int) *mcp.CallToolResult {
	body.fit(budget, nil)
	return &mcp.CallToolResult{IsError: refused, Content: []mcp.Content{&mcp.TextContent{Text: string(body.appendTo(nil))}}}
}
