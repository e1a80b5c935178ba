package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/app/host/conformance"
	"github.com/scrollery/scrollery/plugins/stage"
)

// TestMain makes the test binary the plugin that its name says.
func TestMain(m *testing.M) {
	switch name := filepath.Base(os.Args[0]); name {
	case "eager": // serves any host
		_ = os.Setenv(stage.CookieKey, stage.CookieValue)
		stage.Main(external(name))
	case "noise":
		fmt.Println("hello, I am a plugin")
	case "acme", "leaky", "idler", "vague", "telltale":
		stage.Main(external(name))
	case "filmer":
		stage.Main(filmer())
	case "careless", "lenient":
		stage.Main(careless(name))
	default:
		if !host.Dispatch(os.Args, builtins()) {
			os.Exit(m.Run())
		}
	}
}

func external(id string) stage.Spec {
	return stage.Spec{
		ID: id, Version: "2.1.0", Kind: stage.SourceKind, Platforms: []string{"acmetok"}, Summary: "A test's stage",
		Secrets: []string{"token"}, Hosts: []string{"localhost:9"},
		Collect: func(_ context.Context, call *stage.Call, _ []stage.Seed, _ func(stage.Record) error) ([]stage.Outcome, error) {
			if token := call.Secrets["token"]; token != "" && id == "leaky" {
				call.Log.Info("asking", "with", token)
			}
			return nil, nil
		},
		Refresh: func(_ context.Context, _ *stage.Call, _ []stage.Ref, emit func(stage.Record) error) ([]stage.Outcome, error) {
			if id == "idler" {
				return nil, emit(stage.Record{Ref: stage.Ref{Platform: "tiktok", ExternalID: "unasked"}})
			}
			return nil, nil
		},
		Check: func(_ context.Context, call *stage.Call) (string, error) {
			switch token := call.Secrets["token"]; {
			case id == "vague":
				return "", nil
			case id == "telltale" && token != "":
				return "signed in with " + token, nil
			case token == "":
				return "", stage.Misconfiguredf("the token is not set")
			}
			return "signed in", nil
		},
	}
}

func builtins() []stage.Spec {
	judge := func(skip int) func(context.Context, *stage.Call, func() (stage.Record, error), func(stage.Verdict) error) (stage.Summary, error) {
		return func(_ context.Context, _ *stage.Call, next func() (stage.Record, error), emit func(stage.Verdict) error) (stage.Summary, error) {
			for n := 0; ; n++ {
				r, err := next()
				if errors.Is(err, io.EOF) {
					return stage.Summary{}, nil
				}
				if err != nil {
					return stage.Summary{}, err
				}
				if n >= skip {
					if err := emit(stage.Verdict{Ref: r.Ref}); err != nil {
						return stage.Summary{}, err
					}
				}
			}
		}
	}
	return []stage.Spec{
		{ID: "judge", Version: "1", Kind: stage.ScreenKind, Screen: judge(0)},
		{ID: "forgetful", Version: "1", Kind: stage.ScreenKind, Screen: judge(1)},
		{
			ID: "listener", Version: "1", Kind: stage.EvidenceKind,
			Evidence: func(_ context.Context, _ *stage.Call, next func() (stage.Record, error), emit func(stage.Finding) error) error {
				for {
					r, err := next()
					if errors.Is(err, io.EOF) {
						return nil
					}
					text := "heard " + r.ExternalID
					if err := errors.Join(err, emit(stage.Finding{Ref: r.Ref, Evidence: stage.Evidence{Spoken: &text}})); err != nil {
						return err
					}
				}
			},
		},
		{
			ID: "panics", Version: "1", Kind: stage.SourceKind,
			Collect: func(context.Context, *stage.Call, []stage.Seed, func(stage.Record) error) ([]stage.Outcome, error) {
				panic("no seeds")
			},
		},
	}
}

func failed(report conformance.Report) []string {
	var names []string
	for _, c := range report.Checks {
		if c.Err != nil {
			names = append(names, c.Name)
		}
	}
	return names
}

// placed is the plugin of a name, in a file of its own.
func placed(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, raw, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCheckBinary(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"acme":     nil,
		"filmer":   nil,
		"noise":    {"starts and shakes hands"},
		"eager":    {"serves its own host only"},
		"leaky":    {"keeps its secrets to itself"},
		"idler":    {"has the other verbs that it declares"},
		"vague":    {"ends its check in time"},
		"telltale": {"keeps its secrets to itself"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, err := conformance.CheckBinary(t.Context(), placed(t, name))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, failed(report)); diff != "" {
				t.Errorf("failed checks (-want +got):\n%s\n%s", diff, report.Output)
			}
			if report.OK() != (want == nil) {
				t.Errorf("got OK %t with the failed checks %q, want OK exactly where none failed", report.OK(), failed(report))
			}
			if got := report.Plugin.ID; name != "noise" && got != name {
				t.Errorf("the report is of %q, want %q", got, name)
			}
		})
	}
	t.Run("a missing file is an error", func(t *testing.T) {
		t.Parallel()
		if report, err := conformance.CheckBinary(t.Context(), filepath.Join(t.TempDir(), "nothing")); err == nil {
			t.Errorf("got the report %+v, want an error", report)
		}
	})
}

func TestCheckBuiltin(t *testing.T) {
	t.Parallel()
	server, err := host.New(host.Config{Builtins: builtins(), ScratchDir: t.TempDir()}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	for id, want := range map[string][]string{
		"judge":     nil,
		"listener":  nil,
		"forgetful": {"answers records"},
		"panics":    {"answers an empty call"},
		"nothing":   {"exists"},
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			report := conformance.Check(t.Context(), server, id)
			if diff := cmp.Diff(want, failed(report)); diff != "" {
				t.Errorf("failed checks (-want +got):\n%s\n%+v", diff, report)
			}
		})
	}
}
