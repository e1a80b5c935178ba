package archive

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
)

// killed is the environment variable with the step at which an installation kills itself.
const killed = "SCROLLERY_TEST_KILLED_AT"

// TestMain is the plugin acme too, and the process of an installation that is killed.
func TestMain(m *testing.M) {
	switch name := filepath.Base(os.Args[0]); {
	case strings.HasPrefix(name, "acme"):
		stage.Main(acme())
	case os.Getenv(killed) != "":
		installAndDie(os.Args[1], os.Args[2])
	default:
		if !host.Dispatch(os.Args, nil) {
			os.Exit(m.Run())
		}
	}
}

// acme has the version that the end of its own file says.
func acme() stage.Spec {
	version := "0.1.0"
	if file, err := os.Open(self()); err == nil {
		end := make([]byte, 64)
		if info, err := file.Stat(); err == nil {
			_, _ = file.ReadAt(end, info.Size()-int64(len(end)))
		}
		if _, text, found := bytes.Cut(end, []byte("version=")); found {
			version = string(text)
		}
	}
	return stage.Spec{
		ID: "acme", Version: version, Kind: stage.SourceKind, Platforms: []string{"acmetok"}, Summary: "A test's stage",
		Settings: []stage.Setting{{Name: "region"}, {Name: "dir", Path: true}}, Secrets: []string{"token"}, Hosts: []string{"localhost:9"},
		Collect: func(_ context.Context, _ *stage.Call, _ []stage.Seed, emit func(stage.Record) error) ([]stage.Outcome, error) {
			return nil, emit(stage.Record{Ref: stage.Ref{Platform: "acmetok", ExternalID: version}})
		},
	}
}

func self() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

// plugin writes a version of acme and a manifest into a folder.
func plugin(t *testing.T, version string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	raw, err := os.ReadFile(self())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "acme"), string(raw)+strings.Repeat(" ", 40)+"version="+version)
	if err := os.Chmod(filepath.Join(folder, "acme"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "plugin.yaml"), "# A comment\nid: acme\nsettings: {region: eu}\nsecrets: [token]\n")
	return folder
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// archives are those that archiveOf made, by version.
var archives sync.Map

// archiveOf packages a version of acme, once.
func archiveOf(t *testing.T, version string) (path string) {
	t.Helper()
	made, _ := archives.LoadOrStore(version, sync.OnceValues(func() (string, error) {
		path := filepath.Join(t.TempDir(), "acme.tar.gz")
		_, _, err := Write(t.Context(), Order{Manifest: plugin(t, version), Out: path})
		if err != nil {
			return "", err
		}
		raw, err := os.ReadFile(path)
		return string(raw), err
	}))
	raw, err := made.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "acme.tar.gz")
	write(t, path, raw)
	return path
}

// install unpacks and installs an archive.
func install(ctx context.Context, dir, archive string, reached func(string)) (Plugin, error) {
	folder, err := Enter(dir)
	if err != nil {
		return Plugin{}, err
	}
	defer folder.Leave()
	folder.reached = reached
	p, _, err := folder.Unpack(ctx, Fetcher{}, archive, nil)
	if err != nil {
		return Plugin{}, err
	}
	at, err := folder.Find(p.ID)
	if err != nil {
		return Plugin{}, err
	}
	return p, folder.Install(p, at)
}

func installAndDie(dir, archive string) {
	_, err := install(context.Background(), dir, archive, func(step string) {
		if step == os.Getenv(killed) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	})
	panic(err)
}

// installKilled installs in a process that is killed before a step.
func installKilled(t *testing.T, dir, archive, step string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), self(), dir, archive)
	command.Env = append(os.Environ(), killed+"="+step)
	out, err := command.CombinedOutput()
	if command.ProcessState == nil || command.ProcessState.Success() || !strings.Contains(command.ProcessState.String(), "killed") {
		t.Fatalf("got %v, want that it is killed at %s:\n%s", err, step, out)
	}
}

// listed is what a server finds of acme.
func listed(t *testing.T, dir string) (p host.Plugin) {
	t.Helper()
	for _, one := range serving(t, dir).List() {
		if !one.Builtin {
			if p.ID != "" {
				t.Errorf("got a second plugin %+v, want one", one)
			}
			p = one
		}
	}
	return p
}

func serving(t *testing.T, dir string) *host.Host {
	t.Helper()
	h, err := host.New(host.Config{Dir: dir}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// found collects with acme, and returns the version that it is.
func found(t *testing.T, h *host.Host) (version string) {
	t.Helper()
	_, err := h.Collect(t.Context(), "acme", stage.Run{ScrollID: "scr_1"}, []stage.Seed{{Kind: "niche", Platform: "acmetok", Term: "coffee"}}, func(batch []stage.Record) error {
		version = batch[0].ExternalID
		return nil
	})
	if err != nil {
		t.Errorf("collect: %v", err)
	}
	return version
}
