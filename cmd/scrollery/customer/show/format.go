package show

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Everything, in place of names of fields, stands for all of them.
const Everything = "all"

// Format is the form of an answer that a caller asked for. Without any it is for people.
type Format struct {
	// Fields are names with dots, separated by commas, or Everything.
	Fields string
	// JQ is a program for the JSON.
	JQ  string
	CSV bool

	paths [][]string
	code  *gojq.Code
}

// Programs reports whether JSON was asked for.
func (f *Format) Programs() bool { return f.Fields != "" || f.JQ != "" }

// Check reads the fields and the program. of has the fields; nil for an answer of any shape.
func (f *Format) Check(of protoreflect.MessageDescriptor) error {
	if f.CSV && f.Programs() {
		return fmt.Errorf("--csv does not go with --json or --jq")
	}
	if f.Fields != "" && f.Fields != Everything {
		for _, name := range strings.Split(f.Fields, ",") {
			path := strings.Split(strings.TrimSpace(name), ".")
			if err := known(of, path); err != nil {
				return fmt.Errorf("--json: %w", err)
			}
			f.paths = append(f.paths, path)
		}
	}
	if f.JQ == "" {
		return nil
	}
	query, err := gojq.Parse(f.JQ)
	if err != nil {
		return fmt.Errorf("--jq: %w", err)
	}
	if f.code, err = gojq.Compile(query); err != nil { // without the environment and without files
		return fmt.Errorf("--jq: %w", err)
	}
	return nil
}

// known checks a path as far as the shape is known.
func known(of protoreflect.MessageDescriptor, path []string) error {
	for i, name := range path {
		if of == nil || of.ParentFile().Package() == "google.protobuf" {
			return nil
		}
		var names []string
		var next protoreflect.FieldDescriptor
		for j := range of.Fields().Len() {
			field := of.Fields().Get(j)
			names = append(names, nameOf(field))
			if nameOf(field) == name {
				next = field
			}
		}
		if next == nil {
			return fmt.Errorf("there is no field %q; choose from: %s, or %s", strings.Join(path[:i+1], "."), strings.Join(names, ", "), Everything)
		}
		if of = next.Message(); of == nil && i+1 < len(path) {
			return fmt.Errorf("the field %q has no fields", strings.Join(path[:i+1], "."))
		}
	}
	return nil
}

// pick returns the chosen fields of a JSON text.
func (f *Format) pick(text []byte) ([]byte, error) {
	if f.paths == nil {
		return text, nil
	}
	value, err := parse(text)
	if err != nil {
		return nil, err
	}
	return encode(choose(value, f.paths))
}

func choose(value any, paths [][]string) any {
	switch v := value.(type) {
	case []any:
		all := make([]any, len(v))
		for i, one := range v {
			all[i] = choose(one, paths)
		}
		return all
	case map[string]any:
		chosen := map[string]any{}
		deeper := map[string][][]string{}
		for _, path := range paths {
			if len(path) == 1 {
				chosen[path[0]] = v[path[0]]
			} else {
				deeper[path[0]] = append(deeper[path[0]], path[1:])
			}
		}
		for name, rest := range deeper {
			if _, whole := chosen[name]; !whole {
				chosen[name] = choose(v[name], rest)
			}
		}
		return chosen
	}
	return value // null, or what has no fields
}

// Value prints one JSON text, chosen and filtered.
func (p Printer) Value(ctx context.Context, f *Format, text []byte) error {
	text, err := f.pick(text)
	if err != nil {
		return err
	}
	if f.code == nil {
		return p.line(text)
	}
	value, err := parse(text)
	if err != nil {
		return err
	}
	return p.run(ctx, f.code, value)
}

// run prints the results of a jq program, a line each; texts without their quotes.
func (p Printer) run(ctx context.Context, code *gojq.Code, value any) error {
	results := code.RunWithContext(ctx, value)
	for {
		result, ok := results.Next()
		if !ok {
			return nil
		}
		switch r := result.(type) {
		case error:
			return fmt.Errorf("--jq: %w", r)
		case string:
			if p.Terminal {
				r = p.Lines(r)
			}
			if _, err := io.WriteString(p.Out, r+"\n"); err != nil {
				return err
			}
		default:
			text, err := gojq.Marshal(r)
			if err != nil {
				return fmt.Errorf("--jq: %w", err)
			}
			if err := p.line(text); err != nil {
				return err
			}
		}
	}
}

func (p Printer) line(text []byte) error {
	if p.Terminal {
		var indented bytes.Buffer
		if json.Indent(&indented, text, "", "  ") == nil {
			text = indented.Bytes()
		}
	}
	_, err := p.Out.Write(append(slices.Clip(p.safeJSON(text)), '\n'))
	return err
}

// parse keeps numbers as they are written.
func parse(text []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
