package recipe

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/scrollery/scrollery/modules/kernel/nearest"
	"github.com/scrollery/scrollery/plugins/stage"
)

// most is how large a recipe may be, in bytes, and deep how far its values may nest.
const (
	most = 64 << 10
	deep = 20
)

// reader reads a document and collects its faults, each with its line.
type reader struct{ faults []string }

func (r *reader) fault(at ast.Node, format string, args ...any) {
	line := 1
	if at != nil && at.GetToken() != nil {
		line = at.GetToken().Position.Line
	}
	r.faults = append(r.faults, fmt.Sprintf("line %d: %s", line, fmt.Sprintf(format, args...)))
}

// document is the only value of a text.
func (r *reader) document(text []byte) ast.Node {
	if len(text) > most {
		r.fault(nil, "more than %d KiB", most>>10)
		return nil
	}
	file, err := parser.ParseBytes(text, 0)
	switch {
	case err != nil:
		words := strings.SplitN(err.Error(), "\n", 2)[0] // what follows is a drawing of the place
		if at, rest, ok := strings.Cut(strings.TrimPrefix(words, "["), "] "); ok && strings.HasPrefix(words, "[") {
			line, _, _ := strings.Cut(at, ":")
			words = "line " + line + ": " + rest
		}
		r.faults = append(r.faults, words)
		return nil
	case len(file.Docs) != 1 || file.Docs[0].Body == nil:
		r.fault(nil, "want one document")
		return nil
	}
	return file.Docs[0].Body
}

// keys are what a mapping may have, each with what reads it.
type keys map[string]func(ast.Node)

// mapping reads a mapping; a key that it may not have, or has twice, is a fault.
func (r *reader) mapping(node ast.Node, what string, known keys) {
	seen := map[string]bool{}
	for _, pair := range r.pairs(node, what) {
		name := textOf(pair.Key)
		read := known[name]
		switch {
		case read == nil:
			var names []string
			for one := range known {
				names = append(names, one)
			}
			slices.Sort(names)
			r.fault(pair.Key, "%s has no %q%s", what, name, nearest.Hint(name, names))
		case seen[name]:
			r.fault(pair.Key, "%q twice", name)
		default:
			read(pair.Value)
		}
		seen[name] = true
	}
}

// pairs are those of a mapping.
func (r *reader) pairs(node ast.Node, what string) []*ast.MappingValueNode {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	r.fault(node, "%s: want names with values", what)
	return nil
}

// textOf is a scalar as it is written, without its quotes.
func textOf(node ast.Node) string {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value
	}
	return ""
}

// text reads a text that is not empty.
func (r *reader) text(to *string, what string) func(ast.Node) {
	return func(node ast.Node) {
		if *to = strings.TrimSpace(textOf(node)); *to == "" {
			r.fault(node, "%s: want a text", what)
		}
	}
}

// texts reads a text or a list of texts.
func (r *reader) texts(to *[]string, what string) func(ast.Node) {
	return func(node ast.Node) {
		nodes := []ast.Node{node}
		if list, is := node.(*ast.SequenceNode); is {
			nodes = list.Values
		}
		for _, one := range nodes {
			var text string
			r.text(&text, what)(one)
			*to = append(*to, text)
		}
	}
}

// table reads names with texts.
func (r *reader) table(to *map[string]string, what string) func(ast.Node) {
	return func(node ast.Node) {
		*to = map[string]string{}
		for _, pair := range r.pairs(node, what) {
			(*to)[textOf(pair.Key)] = textOf(pair.Value)
		}
	}
}

// whole reads a whole number within bounds.
func (r *reader) whole(to *int, what string, least, most int) func(ast.Node) {
	return func(node ast.Node) {
		n, err := strconv.Atoi(textOf(node))
		if err != nil || n < least || n > most {
			r.fault(node, "%s: want a whole number from %d to %d", what, least, most)
			return
		}
		*to = n
	}
}

// money reads an amount of US dollars.
func (r *reader) money(to *int64, what string) func(ast.Node) {
	return func(node ast.Node) {
		n, err := stage.ParseMoney(textOf(node))
		if err != nil {
			r.fault(node, "%s: %v", what, err)
		}
		*to = n
	}
}

// within reads a time within bounds.
func (r *reader) within(to *time.Duration, what string, least, most time.Duration) func(ast.Node) {
	return func(node ast.Node) {
		d, err := time.ParseDuration(textOf(node))
		if err != nil || d < least || d > most {
			r.fault(node, "%s: want a time from %v to %v, such as 45s", what, least, most)
			return
		}
		*to = d
	}
}

// value is any value as JSON has it.
func (r *reader) value(node ast.Node, depth int) any {
	switch n := node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		all := map[string]any{}
		for _, pair := range r.pairs(node, "a body") {
			if depth >= deep {
				r.fault(node, "a body of more than %d levels", deep)
				return nil
			}
			if _, empty := pair.Value.(*ast.NullNode); empty && placeholders[textOf(pair.Key)] {
				r.fault(pair.Key, "write \"{%s}\" in quotes: without them it is an object", textOf(pair.Key))
			}
			all[textOf(pair.Key)] = r.value(pair.Value, depth+1)
		}
		return all
	case *ast.SequenceNode:
		all := []any{}
		for _, one := range n.Values {
			if depth >= deep {
				r.fault(node, "a body of more than %d levels", deep)
				return nil
			}
			all = append(all, r.value(one, depth+1))
		}
		return all
	case *ast.NullNode:
		return nil
	case *ast.BoolNode:
		return n.Value
	case *ast.IntegerNode, *ast.FloatNode:
		return json.Number(textOf(node))
	case *ast.StringNode, *ast.LiteralNode:
		return textOf(node)
	}
	r.fault(node, "want a text, a number, a list or names with values")
	return nil
}
