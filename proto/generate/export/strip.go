package main

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/bufbuild/protocompile/ast"
	"github.com/bufbuild/protocompile/parser"
	"github.com/bufbuild/protocompile/reporter"
)

// optionsFile defines the options that only the server reads.
const optionsFile = "scrollery/v1/operation.proto"

// serverOnly are the imports that only the removed options need.
var serverOnly = []string{optionsFile, "buf/validate/validate.proto"}

var (
	// emptyBody is what is left of an rpc whose only options were removed.
	emptyBody = regexp.MustCompile(`(?m)^(\s*rpc .*\)) \{\s*\}$`)
	// blank are the lines between which something was removed.
	blank = regexp.MustCompile(`\n{3,}`)
)

// edit replaces the bytes of a text from one offset up to another.
type edit struct {
	from, to int
	text     string
}

// stripper collects the edits of one file.
type stripper struct {
	file  *ast.FileNode
	text  []byte
	edits []edit
	// proto3 makes the file proto3, in which explicit presence is `optional`.
	proto3, explicit bool
	// done are the options in brackets, and the fields of a oneof, which are never optional.
	done map[ast.Node]bool
}

// strip removes every custom option, and the imports that only these need. All else stays
// as it is written, comments too. With proto3, the file becomes proto3 and means the same.
func strip(name string, text []byte, proto3 bool) ([]byte, error) {
	file, err := parser.Parse(name, bytes.NewReader(text), reporter.NewHandler(nil))
	if err != nil {
		return nil, err
	}
	s := &stripper{file: file, text: text, proto3: proto3, explicit: true, done: map[ast.Node]bool{}}
	if proto3 && file.Edition != nil {
		s.replace(file.Edition, `syntax = "proto3";`)
	}
	err = ast.Walk(file, &ast.SimpleVisitor{
		DoVisitImportNode: func(node *ast.ImportNode) error {
			if slices.Contains(serverOnly, node.Name.AsString()) {
				s.removeLines(node)
			}
			return nil
		},
		DoVisitOptionNode: func(node *ast.OptionNode) error {
			if s.done[node] || !s.dropped(node) {
				return nil
			}
			if presence, ok := presenceOf(node); ok {
				s.explicit = presence
			}
			s.removeLines(node)
			return nil
		},
		DoVisitOneofNode: func(node *ast.OneofNode) error {
			for _, part := range node.Decls {
				s.done[part] = true
			}
			return nil
		},
		DoVisitFieldNode:          s.field,
		DoVisitCompactOptionsNode: s.compact,
	})
	if err != nil {
		return nil, err
	}
	return blank.ReplaceAll(emptyBody.ReplaceAll(s.apply(), []byte("$1;")), []byte("\n\n")), nil
}

// at returns the offsets of a node: of its first byte, and of the one after its last.
func (s *stripper) at(node ast.Node) (from, to int) {
	info := s.file.NodeInfo(node)
	return info.Start().Offset, info.End().Offset + 1
}

func (s *stripper) replace(node ast.Node, text string) {
	from, to := s.at(node)
	s.edits = append(s.edits, edit{from, to, text})
}

// removeLines removes a statement with its indentation and the end of its line.
func (s *stripper) removeLines(node ast.Node) {
	from, to := s.at(node)
	for from > 0 && (s.text[from-1] == ' ' || s.text[from-1] == '\t') {
		from--
	}
	if to < len(s.text) && s.text[to] == '\n' {
		to++
	}
	s.edits = append(s.edits, edit{from: from, to: to})
}

// dropped reports whether an option is an extension, or one that proto3 does not have.
func (s *stripper) dropped(option *ast.OptionNode) bool {
	first := option.Name.Parts[0]
	return first.IsExtension() || s.proto3 && first.Value() == "features"
}

// presenceOf reads the option features.field_presence.
func presenceOf(option *ast.OptionNode) (explicit, ok bool) {
	parts := option.Name.Parts
	if len(parts) != 2 || parts[0].Value() != "features" || parts[1].Value() != "field_presence" {
		return false, false
	}
	value, _ := option.Val.Value().(ast.Identifier)
	return value == "EXPLICIT", true
}

// field writes the explicit presence of a scalar as proto3 does. The API has no enums.
func (s *stripper) field(node *ast.FieldNode) error {
	if !s.proto3 || s.done[node] || node.Label.KeywordNode != nil || !scalars[string(node.FldType.AsIdentifier())] {
		return nil
	}
	explicit := s.explicit
	if node.Options != nil {
		for _, option := range node.Options.Options {
			if presence, ok := presenceOf(option); ok {
				explicit = presence
			}
		}
	}
	if explicit {
		from, _ := s.at(node)
		s.edits = append(s.edits, edit{from, from, "optional "})
	}
	return nil
}

var scalars = map[string]bool{
	"double": true, "float": true, "int32": true, "int64": true, "uint32": true, "uint64": true, "sint32": true, "sint64": true,
	"fixed32": true, "fixed64": true, "sfixed32": true, "sfixed64": true, "bool": true, "string": true, "bytes": true,
}

// compact removes options in brackets, and the brackets if they have no other.
func (s *stripper) compact(node *ast.CompactOptionsNode) error {
	last := -1 // that stays
	_, inside := s.at(node.OpenBracket)
	for i, option := range node.Options {
		s.done[option] = true
		if s.dropped(option) {
			continue
		}
		from, _ := s.at(option)
		switch {
		case last >= 0: // one comma stays, with the space before the option
			_, end := s.at(node.Options[last])
			comma, _ := s.at(node.Commas[i-1])
			s.edits = append(s.edits, edit{from: end, to: comma})
		case i > 0:
			s.edits = append(s.edits, edit{from: inside, to: from})
		}
		last = i
	}
	from, to := s.at(node)
	switch {
	case last < 0: // the space before the bracket goes too
		s.edits = append(s.edits, edit{from: from - 1, to: to})
	case last < len(node.Options)-1:
		_, end := s.at(node.Options[last])
		s.edits = append(s.edits, edit{from: end, to: to - 1})
	}
	return nil
}

func (s *stripper) apply() []byte {
	slices.SortFunc(s.edits, func(a, b edit) int { return a.from - b.from })
	var out []byte
	end := 0
	for _, e := range s.edits {
		out = append(append(out, s.text[end:e.from]...), e.text...)
		end = e.to
	}
	return append(out, s.text[end:]...)
}
