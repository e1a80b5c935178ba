package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// builtin is the planner that needs no endpoint. It does a few kinds of goals, and
// says so where a goal is none of them. Only the goal decides what it does: what
// it reads on the way is shown, never followed.
type builtin struct{}

const abilities = `I can do these things:
- run a program: put JavaScript between two lines of three backquotes, or say "run <path>" for a file of your sandbox;
- "list my files", or "show <path>";
- "summarise my hooks", "summarise my outliers", "summarise my trends", or several at once.
I found none of them in the goal, so nothing was run.`

// Compiled when they are first used, for the sake of every start of the program.
var (
	fenced   = pattern("(?s)(?:^|\n)[ \t]*```[ \t]*([A-Za-z]*)[ \t]*\r?\n(.*?)\n?[ \t]*```")
	runs     = pattern(`(?i)\b(?:run|execute|start)\s+(?:(?:the|my)\s+)?(?:(?:program|file|script)\s+)?["'\x60]?([^\s"'\x60]+\.m?js|[^\s"'\x60]*/[^\s"'\x60]+)["'\x60]?`)
	quotedAs = pattern(`(?i)\b(?:run|execute|start)\s+(?:(?:the|my)\s+)?(?:program|file|script)\s+(?:"([^"\n]+)"|'([^'\n]+)'|\x60([^\x60\n]+)\x60|(\S+)\s*$)`)
	shows    = pattern(`(?i)^\s*(?:please\s+)?(?:show|read|print)\s+(?:(?:me|the|my)\s+)*(?:file\s+)?["'\x60]?([^\s"'\x60]+\.[^\s"'\x60]+|[^\s"'\x60]+/[^\s"'\x60]+)["'\x60]?\s*\.?\s*$`)
	lists    = pattern(`(?i)\b(?:list|show|which|what)\b.*\bfiles\b`)
	wanted   = pattern(`(?i)\b(hook|outlier|trend)s?\b`)
)

func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

func (builtin) Begin(goal string) Session {
	if block := fenced().FindStringSubmatch(goal); block != nil {
		switch strings.ToLower(block[1]) {
		case "", "js", "javascript", "mjs":
			return &plan{calls: []Call{call(RunProgram, "source", block[2])}, report: whole}
		}
		return &plan{answer: fmt.Sprintf("I run JavaScript only; the program in the goal is marked as %s.", block[1])}
	}
	if path := named(goal); path != "" {
		return &plan{calls: []Call{call(RunProgram, "path", path)}, report: whole}
	}
	if match := shows().FindStringSubmatch(goal); match != nil {
		return &plan{calls: []Call{call(ReadFile, "path", match[1])}, report: whole}
	}
	if lists().MatchString(goal) {
		return &plan{calls: []Call{{Tool: ListFiles, Arguments: "{}"}}, report: fileList}
	}
	p := &plan{}
	asked := map[string]bool{}
	for _, match := range wanted().FindAllStringSubmatch(goal, -1) {
		asked[strings.ToLower(match[1])+"s"] = true
	}
	for _, name := range Views() {
		if asked[name] {
			p.calls = append(p.calls, call(ReadLibrary, "view", name))
			p.views = append(p.views, name)
		}
	}
	if len(p.calls) == 0 {
		p.answer = abilities
	}
	return p
}

// named is the path of the program that the goal names; empty for none.
func named(goal string) string {
	if match := quotedAs().FindStringSubmatch(goal); match != nil {
		return strings.TrimRight(match[1]+match[2]+match[3]+match[4], ".,;!?")
	}
	if match := runs().FindStringSubmatch(goal); match != nil {
		return strings.TrimRight(match[1], ".,;!?")
	}
	return ""
}

func call(tool, name, value string) Call {
	text, _ := json.Marshal(map[string]string{name: value})
	return Call{Tool: tool, Arguments: string(text)}
}

// plan is made at once: some calls, then an answer of what came of them.
type plan struct {
	calls  []Call
	views  []string
	report func(Observation) string
	answer string
}

// Enter returns at once: the planner needs no place.
func (p *plan) Enter(context.Context) error { return nil }

func (p *plan) Next(_ context.Context, seen []Observation) (Move, error) {
	if len(seen) == 0 {
		if len(p.calls) == 0 {
			return Move{Answer: p.answer}, nil
		}
		return Move{Calls: p.calls}, nil
	}
	var parts []string
	for i, one := range seen {
		switch {
		case one.Failed:
			parts = append(parts, "That did not work: "+one.Text)
		case len(p.views) > i:
			parts = append(parts, summary(p.views[i], one.Text))
		default:
			parts = append(parts, p.report(one))
		}
	}
	return Move{Answer: strings.Join(parts, "\n\n")}, nil
}

// Close has nothing to end.
func (*plan) Close() {}

func whole(seen Observation) string {
	if seen.Text == "" {
		return "The program printed nothing."
	}
	return seen.Text
}

func fileList(seen Observation) string {
	var files []struct {
		Path string
		Size int64
	}
	if json.Unmarshal([]byte(seen.Text), &files) != nil || len(files) == 0 {
		return "There are no files in your sandbox."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d files:", len(files))
	for _, file := range files {
		fmt.Fprintf(&b, "\n- %s (%d bytes)", file.Path, file.Size)
	}
	return b.String()
}
