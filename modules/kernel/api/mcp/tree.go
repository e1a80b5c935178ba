package mcp

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// node is a JSON value that keeps the order of its members.
type node struct {
	kind  byte // '{', '[', '"', or 0 for a number, a boolean and null
	text  string
	names []string // of the members of an object
	nodes []*node  // the members, or the items of a list
	// free marks an object of any members, which may be cut like a list.
	free bool
	// bytes of the value as JSON, when it was measured.
	bytes int
}

func text(s string) *node    { return &node{kind: '"', text: s} }
func number(n int) *node     { return &node{text: strconv.Itoa(n)} }
func (n *node) isNull() bool { return n.kind == 0 && n.text == "null" }

// empty reports whether a value says nothing: null, an empty text, list or object.
func (n *node) empty() bool {
	return n.isNull() || n.kind == '"' && n.text == "" || n.kind != '"' && n.kind != 0 && len(n.nodes) == 0
}

func (n *node) add(name string, value *node) {
	n.names, n.nodes = append(n.names, name), append(n.nodes, value)
}

// get returns a member of an object, or nil.
func (n *node) get(name string) *node {
	if n == nil || n.kind != '{' {
		return nil
	}
	for i, known := range n.names {
		if known == name {
			return n.nodes[i]
		}
	}
	return nil
}

// take removes a member of an object and returns it, or nil.
func (n *node) take(name string) *node {
	for i, known := range n.names {
		if n.kind == '{' && known == name {
			value := n.nodes[i]
			n.names = append(n.names[:i], n.names[i+1:]...)
			n.nodes = append(n.nodes[:i], n.nodes[i+1:]...)
			return value
		}
	}
	return nil
}

// parse reads a JSON text.
func parse(body []byte) (*node, error) {
	return read(jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)))
}

func read(in *jsontext.Decoder) (*node, error) {
	token, err := in.ReadToken()
	if err != nil {
		return nil, err
	}
	switch kind := token.Kind(); kind {
	case '{':
		n := &node{kind: '{'}
		for in.PeekKind() != '}' {
			name, err := in.ReadToken()
			if err != nil {
				return nil, err
			}
			key := name.String()
			value, err := read(in)
			if err != nil {
				return nil, err
			}
			n.add(key, value)
		}
		_, err := in.ReadToken()
		return n, err
	case '[':
		n := &node{kind: '['}
		for in.PeekKind() != ']' {
			value, err := read(in)
			if err != nil {
				return nil, err
			}
			n.nodes = append(n.nodes, value)
		}
		_, err := in.ReadToken()
		return n, err
	case '"':
		return text(token.String()), nil
	default:
		return &node{text: token.String()}, nil
	}
}

// appendTo appends the value as JSON.
func (n *node) appendTo(dst []byte) []byte {
	switch n.kind {
	case '{':
		dst = append(dst, '{')
		for i, name := range n.names {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst, _ = jsontext.AppendQuote(dst, name)
			dst = append(dst, ':')
			dst = n.nodes[i].appendTo(dst)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		for i, item := range n.nodes {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.appendTo(dst)
		}
		return append(dst, ']')
	case '"':
		dst, _ = jsontext.AppendQuote(dst, n.text)
		return dst
	default:
		return append(dst, n.text...)
	}
}
