package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// bench is a sandbox with fake needs.
type bench struct {
	*Service
	ledger *ledger
	runner *runner
	views  map[string]string
}

func setup(t *testing.T, change func(*Config, *Needs)) (*bench, context.Context) {
	t.Helper()
	return setupOn(t, storetest.SQLite(t), change)
}

func setupOn(t *testing.T, db *store.DB, change func(*Config, *Needs)) (*bench, context.Context) {
	t.Helper()
	cfg := Defaults()
	cfg.Dir = t.TempDir()
	b := &bench{
		ledger: &ledger{balance: 100}, runner: &runner{},
		views: map[string]string{"hooks": `{"hooks":[]}`, "outliers": `{"outliers":[]}`, "trends": `{"status":"insufficient_history","completedScrolls":1,"trends":[]}`},
	}
	needs := Needs{Charges: b.ledger, Library: b, Programs: b.runner, Scratch: scratch(t)}
	if change != nil {
		change(&cfg, &needs)
	}
	var err error
	if b.Service, err = New(cfg, db, needs); err != nil {
		t.Fatal(err)
	}
	b.second = 30 * time.Millisecond
	ctx := viewer.NewContext(t.Context(), &viewer.Viewer{AccountID: 7, Scopes: viewer.AllScopes(), Status: "active"})
	return b, ctx
}

func (b *bench) View(_ context.Context, name string) (json.RawMessage, error) {
	return json.RawMessage(b.views[name]), nil
}

// ledger is a list of movements, and the charge of the one call that is open.
type ledger struct {
	mu      sync.Mutex
	balance int64
	held    int64
	ran     bool
	open    bool
	log     []string
	// unsettled and unclosed are the errors of the next Settle and Close.
	unsettled, unclosed error
	// owed is what Close reports with its error.
	owed bool
}

func (l *ledger) Open(ctx context.Context, _, fee int64) (context.Context, Charge, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.enough(fee); err != nil {
		return nil, nil, err
	}
	l.open = true
	l.move(-fee, "fee")
	return ctx, l, nil
}

func (l *ledger) Close(_ context.Context, answered bool) (owed bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = false
	if l.unclosed != nil {
		return l.owed, l.unclosed
	}
	l.settle()
	if !answered {
		l.move(50, "return")
	}
	return false, nil
}

func (l *ledger) Hold(ctx context.Context, first bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := l.enough(1); err != nil {
		return err
	}
	l.held++
	l.ran = l.ran && !first
	return nil
}

func (l *ledger) Started(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ran = true
	return nil
}

func (l *ledger) Settle(_ context.Context, ran bool) (paid int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.unsettled; err != nil {
		l.unsettled = nil
		return 0, err
	}
	l.ran = l.ran && ran
	return l.settle(), nil
}

func (l *ledger) settle() (paid int64) {
	if l.held > 0 && l.ran {
		paid = l.held
		l.move(-paid, "run")
	}
	l.held, l.ran = 0, false
	return paid
}

func (l *ledger) enough(credits int64) error {
	if l.balance-l.held < credits {
		return &apierr.Error{Kind: apierr.PaymentRequired, Message: "too few", Required: credits, Balance: l.balance - l.held}
	}
	return nil
}

func (l *ledger) move(amount int64, reason string) {
	l.balance += amount
	l.log = append(l.log, fmt.Sprintf("%s%+d", reason, amount))
}

func (l *ledger) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.log, " ")
}

// runner runs nothing; run says how, and use what happens in the folder.
type runner struct {
	programs []Program
	run      func(ctx context.Context) (Result, error)
	use      func(dir string)
}

func (r *runner) Run(ctx context.Context, folder func(context.Context) (string, error), program Program, started func()) (Result, error) {
	r.programs = append(r.programs, program)
	dir, err := folder(ctx)
	if err != nil {
		return Result{}, err
	}
	started()
	if r.use != nil {
		r.use(dir)
	}
	if r.run != nil {
		return r.run(ctx)
	}
	return Result{Output: "ran " + program.Source}, nil
}

// scratch makes folders of the test.
func scratch(t *testing.T) func() (Scratch, error) {
	dir := t.TempDir()
	return func() (Scratch, error) {
		made, err := os.MkdirTemp(dir, "files-")
		return scratchFolder(made), err
	}
}

type scratchFolder string

func (s scratchFolder) Path() string { return string(s) }
func (s scratchFolder) Remove()      { _ = os.RemoveAll(string(s)) }

func TestWriteFile(t *testing.T) {
	t.Parallel()
	s, ctx := setup(t, nil)
	if err := s.WriteFile(ctx, "a/b.js", "1"); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteFile(viewer.As(ctx, 8), "a/b.js", "2"); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(s.config.Dir, "*", "files", "a", "b.js"))
	if err != nil || len(found) != 2 {
		t.Fatalf("got folders %v, error %v; want one for each of the 2 accounts", found, err)
	}
	if text, err := os.ReadFile(found[0]); err != nil || string(text) != "1" {
		t.Errorf("got %q, %v for the file of the first, want 1", text, err)
	}
	for _, c := range []struct{ name, path, data, want string }{
		{"a path that leads out is refused", "../x", "", "[path]"},
		{"the path of a folder is refused", "a", "", "[path]"},
		{"a mebibyte is stored", "x", strings.Repeat("x", 1<<20), "[]"},
		{"more than a mebibyte is refused", "x", strings.Repeat("x", 1<<20+1), "[data]"},
		{"a wrong path with too much data has two issues", "/x", strings.Repeat("ü", 1<<19) + "x", "[path data]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := s.WriteFile(ctx, c.path, c.data)
			paths := []string{}
			if f := apierr.As(err); f != nil && f.Kind == apierr.InvalidRequest {
				for _, issue := range f.Issues {
					paths = append(paths, issue.Path)
				}
			} else if err != nil {
				t.Error(err)
			}
			if fmt.Sprint(paths) != c.want {
				t.Errorf("got issues at %v, want %s", paths, c.want)
			}
		})
	}
	if err := s.WriteFile(context.Background(), "x", ""); err == nil || apierr.As(err) != nil {
		t.Errorf("got %v for a write without an account, want an error that is the server's own", err)
	}
	if err := s.WriteFile(viewer.System(ctx), "x", ""); err == nil {
		t.Error("the system has no sandbox, want an error")
	}
}
