package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
)

// asProgram makes the test binary be scrollery itself, plugins included.
const asProgram = "SCROLLERY_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	plugin := len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "plugin")
	if os.Getenv(asProgram) != "" || plugin {
		main()
		return
	}
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// program is a scrollery process that has not started yet. It takes any free port, since
// the ones it has by default may be those of another test or of a server on this machine.
func program(ctx context.Context, dir string, args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	command := exec.CommandContext(ctx, self, args...)
	command.Env = []string{
		asProgram + "=1", "SCROLLERY_DATA_DIR=" + dir, "SCROLLERY_YOUTUBE_FEED=no", "PATH=" + os.Getenv("PATH"), "HOME=" + dir,
		"SCROLLERY_ADDR=127.0.0.1:0", "SCROLLERY_OPS_ADDR=127.0.0.1:0", "GOGC=400", // as docs/deploy/scrollery.service has it
	}
	if coverage := os.Getenv("GOCOVERDIR"); coverage != "" {
		command.Env = append(command.Env, "GOCOVERDIR="+coverage)
	}
	return command
}

// result is how a command ended.
type result struct {
	code           int
	stdout, stderr string
}

func runProgram(t *testing.T, dir string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := program(ctx, dir, args...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if command.ProcessState == nil {
		t.Fatal(err)
	}
	return result{command.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func TestDemoMakesTheWholeJourney(t *testing.T) {
	t.Parallel()
	got := runProgram(t, t.TempDir(), "demo")
	if got.code != exitDone {
		t.Fatalf("got exit %d, want %d\n%s\n%s", got.code, exitDone, got.stdout, got.stderr)
	}
	for _, want := range []string{"Hooks", "Outliers", "Trends", "ready after 3 completed scrolls", "run 3:", "#"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("the output lacks %q:\n%s", want, got.stdout)
		}
	}
}

// TestHelpOfSettings: the help of each setting is one plain line with its variable.
func TestHelpOfSettings(t *testing.T) {
	t.Parallel()
	command := withSettings(serveCommand(), app.Settings())
	for _, setting := range app.Settings() {
		t.Run(setting.Name, func(t *testing.T) {
			flag := command.PersistentFlags().Lookup(setting.Flag())
			if setting.Secret {
				if flag != nil {
					t.Errorf("a secret has the flag --%s, want none", flag.Name)
				}
				return
			}
			variable := "(" + app.Prefix + setting.Name
			if !strings.Contains(flag.Usage, variable) || strings.ContainsAny(flag.Usage, "`\"\n") || strings.Contains(flag.Usage, ". (") {
				t.Errorf("help of --%s: got %q, want %q in it, no quote and no full stop before it", flag.Name, flag.Usage, variable)
			}
		})
	}
	if got, want := command.PersistentFlags().Lookup("model-url").Usage, "default: none, which turns off plan and brief)"; !strings.HasSuffix(got, want) {
		t.Errorf("help of --model-url: got %q, want it to end with %q", got, want)
	}
}

func TestCommandsKeepTheirExitCodes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if got := runProgram(t, dir, "migrate"); got.code != exitDone {
		t.Fatalf("migrate: exit %d, want %v: %s", got.code, exitDone, got.stderr)
	}
	for _, c := range []struct {
		args string
		code int
	}{
		{"version", exitDone},
		{"--help", exitDone},
		{"doctor", exitDone},
		{"keys create --email a@example.com --plan standard", exitDone},
		{"keys create --email a@example.com --plan standard --scopes library:read --ttl 1h", exitDone},
		{"keys create --email a@example.com --plan pro", exitFailed}, // a key changes no plan
		{"keys list --email a@example.com", exitDone},
		{"scrolls list --email a@example.com", exitDone},
		{"scrolls list --status failed", exitDone},
		{"scrolls list --status lost", exitWrongUse},
		{"scrolls retry scr_unknown", exitFailed},
		{"scrolls verdicts --email a@example.com --dropped", exitDone},
		{"scrolls verdicts --email stranger@example.com", exitFailed},
		{"scrolls verdicts", exitWrongUse},
		{"plugins list", exitDone},
		{"keys list --email stranger@example.com", exitFailed},
		{"keys revoke key_0000000000000", exitFailed},
		{"scrolls cancel scr_unknown", exitFailed},
		{"admin import --email a@example.com nowhere.jsonl", exitFailed},
		{"keys create --email a@example.com --plan gold", exitWrongUse},
		{"keys create --plan pro", exitWrongUse},
		{"keys create --email a@example.com --plan pro --scopes all:things", exitWrongUse},
		{"keys create --email a@example.com --plan pro --ttl 25h", exitWrongUse},
		{"keys revoke", exitWrongUse},
		{"keys", exitWrongUse},
		{"admin import --email a@example.com", exitWrongUse},
		{"admin import nowhere.jsonl", exitWrongUse},
		{"admin import --email a@example.com --format vhs nowhere.jsonl", exitWrongUse},
		{"admin import --email a@example.com --map nowhere.json nowhere.csv", exitWrongUse},
		{"admin import --email a@example.com --observed-at tomorrow nowhere.csv", exitWrongUse},
		{"admin import --email a@example.com - -", exitWrongUse},
		{"serve --roles dancer", exitWrongUse},
		{"serve --colour red", exitWrongUse},
		{"serve extra", exitWrongUse},
		{"nonsense", exitWrongUse},
		{"doctor --config nowhere.yaml", exitWrongUse},
	} {
		t.Run(c.args, func(t *testing.T) {
			got := runProgram(t, dir, strings.Fields(c.args)...)
			if got.code != c.code {
				t.Errorf("got exit %d, want %d\n%s%s", got.code, c.code, got.stdout, got.stderr)
			}
			if got.code != exitDone && got.stderr == "" {
				t.Error("got no message on stderr, want one")
			}
		})
	}
	for _, form := range []string{"keys", "admin keys"} {
		t.Run(form+" list", func(t *testing.T) {
			got := runProgram(t, dir, strings.Fields(form+" list --email a@example.com")...)
			hinted := strings.Contains(got.stderr, "`scrollery keys list` is now `scrollery admin keys list`")
			if want := form == "keys"; got.code != exitDone || !strings.HasPrefix(got.stdout, "ID ") || hinted != want {
				t.Errorf("%s list: exit %d, got the hint: %v, want %v\n%s%s", form, got.code, hinted, want, got.stdout, got.stderr)
			}
		})
	}
	key := runProgram(t, dir, "keys", "create", "--email", "b@example.com", "--plan", "pro")
	if secret := strings.TrimSuffix(key.stdout, "\n"); !strings.HasPrefix(secret, "scr_live_") || strings.ContainsAny(secret, " \n") {
		t.Errorf("keys create printed %q, want the key alone", key.stdout)
	}
}
