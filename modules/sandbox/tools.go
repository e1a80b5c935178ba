package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// The tools. A planner has no others, whatever it asks for.
const (
	WriteFile   = "write_file"
	ReadFile    = "read_file"
	ListFiles   = "list_files"
	RunProgram  = "run_program"
	ReadLibrary = "read_library"
)

// Views are what read_library can show.
func Views() []string { return []string{"hooks", "outliers", "trends"} }

// worker makes the calls of one agent.
type worker struct {
	service *Service
	meter   Meter
	// left is what its runs may still cost.
	left int64
	// runs that were begun, and what the last printed.
	runs    int
	printed string
	views   map[string]view
}

// use makes one call. Its error is a fault where the planner may go on.
func (w *worker) use(ctx context.Context, call Call) (string, error) {
	var args struct {
		Path   *string `json:"path"`
		Data   *string `json:"data"`
		Source *string `json:"source"`
		View   *string `json:"view"`
	}
	if !slices.Contains([]string{WriteFile, ReadFile, ListFiles, RunProgram, ReadLibrary}, call.Tool) {
		return "", apierr.New(apierr.InvalidRequest, "there is no tool %.40q", call.Tool)
	}
	if err := decode(call.Arguments, &args); err != nil {
		return "", err
	}
	has := func(wanted ...*string) bool { return !slices.Contains(wanted, nil) }
	switch {
	case call.Tool == WriteFile && has(args.Path, args.Data):
		return "written", w.service.WriteFile(ctx, *args.Path, *args.Data)
	case call.Tool == ReadFile && has(args.Path):
		return w.service.readFile(ctx, *args.Path)
	case call.Tool == ListFiles:
		return w.service.listFiles(ctx)
	case call.Tool == RunProgram && has(args.Source):
		return w.run(ctx, Program{Name: "program", Source: *args.Source})
	case call.Tool == RunProgram && has(args.Path):
		source, err := w.service.readFile(ctx, *args.Path)
		if err != nil {
			return "", err
		}
		return w.run(ctx, Program{Name: *args.Path, Source: source})
	case call.Tool == ReadLibrary && has(args.View):
		text, err := w.view(ctx, *args.View)
		return string(text), err
	}
	return "", apierr.New(apierr.InvalidRequest, "%s lacks an argument", call.Tool)
}

// strict decodes one object without unknown members and nothing after it.
func strict(text string, into any) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the object")
	}
	return nil
}

// view reads the caller's library, as far as the key may. It is read once.
func (w *worker) view(ctx context.Context, name string) (view, error) {
	if !slices.Contains(Views(), name) {
		return nil, apierr.New(apierr.InvalidRequest, "there is no view %.40q; there are %s", name, strings.Join(Views(), ", "))
	}
	if caller := viewer.FromContext(ctx); !caller.Has("library:read") || !caller.Active() {
		return nil, apierr.New(apierr.Forbidden, "The library takes a key with library:read and an active subscription.")
	}
	if text, ok := w.views[name]; ok {
		return text, nil
	}
	text, err := w.service.library.View(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("read %s of the library: %w", name, err)
	}
	if w.views == nil {
		w.views = map[string]view{}
	}
	w.views[name] = text
	return text, nil
}

// maxView is the most bytes of a view that a program is handed: all three have to
// fit into one message, and into the memory of the program's process.
const maxView = 8 << 20

// run has a program run, with the library's views as its data, and says how it
// went. A program that fails is no failed call: it ran, and cost.
func (w *worker) run(ctx context.Context, program Program) (string, error) {
	if w.left < 1 {
		return "", apierr.New(apierr.OperationError, "the programs of one goal may run for %d seconds together; they are used up", w.service.config.Agent.Credits)
	}
	if err := w.setUp(ctx, &program); err != nil {
		return "", err
	}
	result, seconds, err := w.service.metered(ctx, w.meter, w.left, program)
	w.left -= seconds
	if err != nil {
		return "", err
	}
	w.runs++
	w.printed = result.Output
	if result.Failure != "" {
		return fmt.Sprintf("%s\nThe program failed (%s): %s", result.Output, result.Failure, result.Message), nil
	}
	return result.Output, nil
}

// setUp gives a program the views that the key may read.
func (w *worker) setUp(ctx context.Context, program *Program) error {
	program.Data, program.Missing = map[string]string{}, map[string]string{}
	for _, name := range Views() {
		text, err := w.view(ctx, name)
		switch {
		case apierr.As(err) != nil:
		case err != nil:
			return err
		case len(text) > maxView:
			program.Missing[name] = fmt.Sprintf("%s are too big for a program: %d bytes, of which at most %d are handed over", name, len(text), maxView)
		default:
			program.Data[name] = string(text)
		}
	}
	return nil
}

// soFar is what an agent that had to stop leaves.
func (w *worker) soFar() string {
	if w.printed == "" {
		return ""
	}
	return " The last program printed:\n" + w.printed
}

// readFile is a file as text. A program may store what is no UTF-8, such as half of
// a pair of UTF-16; no message could carry that.
func (s *Service) readFile(ctx context.Context, path string) (string, error) {
	text, err := s.files.read(ctx, path)
	return strings.ToValidUTF8(text, "\uFFFD"), usage(err)
}

func (s *Service) listFiles(ctx context.Context) (string, error) {
	list, err := s.files.list(ctx)
	if err != nil {
		return "", usage(err)
	}
	text, err := json.Marshal(list)
	return string(text), err
}
