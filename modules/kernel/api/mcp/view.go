package mcp

import (
	"slices"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/scrollery/scrollery/modules/kernel/visible"
)

const (
	untrusted = "untrusted"
	// compactText is the most characters of a creator's text in a compact answer.
	compactText = 200
	// longestName is the most characters of the name of a free-form member.
	longestName = 100
)

// view turns an answer of REST into that of a tool: creators' texts go into members named
// `untrusted`, invisible characters are replaced, and a compact answer leaves out what is
// rarely asked for.
type view struct {
	compact bool
	hidden  int // characters that were replaced
}

// own cleans a text in place, and all below it.
func (v *view) own(n *node) *node {
	cleaned, hidden := visible.Clean(n.text)
	if n.kind == '"' {
		n.text, v.hidden = cleaned, v.hidden+hidden
	}
	for i := range n.names {
		cleaned, hidden := visible.Clean(n.names[i])
		n.names[i], v.hidden = clip(cleaned, longestName), v.hidden+hidden
	}
	for _, inner := range n.nodes {
		v.own(inner)
	}
	return n
}

// foreign cleans what a creator wrote, and shortens its texts in a compact answer.
func (v *view) foreign(n *node) *node {
	v.own(n)
	if v.compact {
		n.clip(compactText)
	}
	n.mark()
	return n
}

func (n *node) clip(most int) {
	if n.kind == '"' {
		n.text = clip(n.text, most)
	}
	for _, inner := range n.nodes {
		inner.clip(most)
	}
}

// clip shortens a text to some characters.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := 0
	for at := range s {
		if n == most {
			return s[:at] + "…"
		}
		n++
	}
	return s
}

// mark makes objects of any members known as such.
func (n *node) mark() {
	n.free = n.kind == '{'
	for _, inner := range n.nodes {
		inner.mark()
	}
}

// message shows one message.
func (v *view) message(n *node, desc protoreflect.MessageDescriptor) *node {
	if n.kind != '{' {
		return n // null
	}
	form := rows[string(desc.Name())]
	out, strange := &node{kind: '{'}, &node{kind: '{'}
	for i := range desc.Fields().Len() {
		field := desc.Fields().Get(i)
		name := nameOf(field)
		value := n.get(name)
		if value == nil || rpcOnly(field) {
			continue
		}
		if v.compact && (value.empty() || slices.Contains(form.drop, name) || len(form.keep) > 0 && !slices.Contains(form.keep, name)) {
			continue
		}
		inline := v.compact && slices.Contains(form.inline, name)
		switch {
		case isFree(field):
			value = v.free(value, field)
			if inline && value.kind == '{' {
				merge(strange, value)
			} else if !value.empty() || !v.compact {
				strange.add(name, value)
			}
			continue
		case field.Message() != nil && field.IsList():
			if v.compact && slices.Contains(form.ids, name) {
				value = ids(value)
				break
			}
			for k, item := range value.nodes {
				value.nodes[k] = v.message(item, field.Message())
			}
		case field.Message() != nil:
			if value = v.message(value, field.Message()); inline && value.kind == '{' {
				merge(strange, value.take(untrusted))
				merge(out, value)
				continue
			}
		case field.Kind() == protoreflect.StringKind && !isOwn(field):
			strange.add(name, v.foreign(value))
			continue
		}
		if field.Kind() == protoreflect.StringKind {
			v.own(value)
		}
		most := form.most[name]
		out.add(name, value)
		if v.compact && most > 0 && len(value.nodes) > most {
			out.add(name+"Cut", shownOf(most, len(value.nodes)))
			value.nodes = value.nodes[:most]
		}
	}
	if len(strange.nodes) > 0 {
		out.add(untrusted, strange)
	}
	return out
}

// isFree reports whether a field holds any JSON.
func isFree(field protoreflect.FieldDescriptor) bool {
	return field.Message() != nil && (field.Message().FullName() == "google.protobuf.Struct" || field.Message().FullName() == "google.protobuf.Value")
}

// free shows a free-form value; a compact answer has only its usual members.
func (v *view) free(value *node, field protoreflect.FieldDescriptor) *node {
	if form, known := rows[members(field)]; v.compact && known && value.kind == '{' {
		kept := &node{kind: '{'}
		for _, name := range form.keep {
			if inner := value.get(name); inner != nil && !inner.empty() {
				kept.add(name, inner)
			}
		}
		value = kept
	}
	return v.foreign(value)
}

// merge adds the members of one object to another.
func merge(to, from *node) {
	if from == nil {
		return
	}
	for i, name := range from.names {
		to.add(name, from.nodes[i])
	}
}

// ids shows the ids of a list of messages.
func ids(list *node) *node {
	out := &node{kind: '['}
	for _, item := range list.nodes {
		if id := item.get("id"); id != nil {
			out.nodes = append(out.nodes, id)
		}
	}
	return out
}

func shownOf(shown, of int) *node {
	return &node{kind: '{', names: []string{"shown", "of"}, nodes: []*node{number(shown), number(of)}}
}

// of is the length that shownOf stored; 0 for a member of the same name that a creator made.
func (n *node) of() int {
	stored := n.get("of")
	if stored == nil {
		return 0
	}
	of, _ := strconv.Atoi(stored.text)
	return of
}
