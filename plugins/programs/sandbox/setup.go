package sandbox

import (
	_ "embed"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"modernc.org/quickjs"
)

// prelude defines what a program sees, from the functions that setUp registers. It runs before the
// program, and leaves none of the raw functions behind.
//
//go:embed prelude.js
var prelude string

var (
	errText  = errors.New("want text")
	errFlood = errors.New("too much output")
)

// setUp gives the engine all that a program can reach.
func (p *program) setUp() error {
	for name, fn := range map[string]quickjs.HostFunc{
		"__print":    p.print,
		"__read":     p.path(func(path string) (any, error) { return p.files.Read(path) }),
		"__remove":   p.path(func(path string) (any, error) { return nil, p.files.Remove(path) }),
		"__write":    p.write,
		"__list":     p.list,
		"__data":     p.path(p.datum),
		"__names":    p.names,
		"__rejected": p.reject,
	} {
		if err := p.vm.RegisterHostFunc(name, fn); err != nil {
			return err
		}
	}
	var err error
	p.watch, err = p.vm.EvalValue(prelude, quickjs.EvalGlobal)
	return err
}

// reject notes that the promise was broken which the program ended with.
func (p *program) reject(args []any) (any, error) {
	text, err := texts(args, 1)
	if err == nil {
		p.rejected = errors.New(text[0])
	}
	return nil, err
}

// print takes text until the bound is hit, which ends the program.
func (p *program) print(args []any) (any, error) {
	text, err := texts(args, 1)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isFlooded() {
		return nil, errFlood
	}
	left := int(p.in.GetOutputBytes()) - p.output.Len()
	if len(text[0]) > left {
		p.output.WriteString(text[0][:left])
		close(p.flooded)
		return nil, errFlood
	}
	p.output.WriteString(text[0])
	return nil, nil
}

func (p *program) path(do func(string) (any, error)) quickjs.HostFunc {
	return func(args []any) (any, error) {
		text, err := texts(args, 1)
		if err != nil {
			return nil, err
		}
		return do(text[0])
	}
}

func (p *program) write(args []any) (any, error) {
	text, err := texts(args, 2)
	if err != nil {
		return nil, err
	}
	return nil, p.files.Write(text[0], text[1])
}

func (p *program) list([]any) (any, error) {
	files, err := p.files.List()
	if err != nil {
		return nil, err
	}
	list, err := json.Marshal(files)
	return string(list), err
}

// datum is a part of the data, as JSON.
func (p *program) datum(name string) (any, error) {
	if why, ok := p.in.GetMissing()[name]; ok {
		return nil, errors.New(why)
	}
	return p.in.GetData()[name], nil
}

func (p *program) names([]any) (any, error) {
	names := slices.AppendSeq([]string{}, maps.Keys(p.in.GetData()))
	names = slices.AppendSeq(names, maps.Keys(p.in.GetMissing()))
	slices.Sort(names)
	list, err := json.Marshal(slices.Compact(names))
	return string(list), err
}

func texts(args []any, n int) ([]string, error) {
	if len(args) < n {
		return nil, errText
	}
	all := make([]string, n)
	for i := range all {
		text, ok := args[i].(string)
		if !ok {
			return nil, errText
		}
		all[i] = text
	}
	return all, nil
}
