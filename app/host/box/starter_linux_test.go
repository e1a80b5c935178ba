package box

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestAHelperStartsBoxes: the process of a box is a child of the host, and after the helper's death another one starts boxes.
func TestAHelperStartsBoxes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if b.confiner.groups != nil {
		t.Skip("a box that begins in a cgroup has no helper")
	}
	if b.confiner.starter.alone || b.confiner.starter.helper == nil { // the first box has started
		t.Fatal("a box was started without a helper, want by one")
	}
	// The helper dies at its next start; the call fails, and the one after it does not.
	first := b.confiner.starter.helper
	if err := first.link.Close(); err != nil {
		t.Fatal(err)
	}
	p := policy(t, "attempt", "wait:")
	lost, err := b.confiner.Command(p)
	if err != nil {
		t.Fatal(err)
	}
	lost.Env = []string{}
	if err := lost.Start(); err == nil {
		t.Error("a start without the helper's answer: got no error, want one")
	}
	lost.Close()
	var parent int
	b.run(t, policy(t, "attempt", "wait:"), nil, func(c *Command) {
		pid := plugin(c)
		text, err := os.ReadFile("/proc/" + strconv.Itoa(c.Pid()) + "/status")
		if err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(string(text)) {
			if rest, is := strings.CutPrefix(line, "PPid:"); is {
				parent, _ = strconv.Atoi(strings.TrimSpace(rest))
			}
		}
		crash(pid)
	})
	if parent != syscall.Getpid() {
		t.Errorf("the parent of a box: got %d, want %d, the host", parent, syscall.Getpid())
	}
	if second := b.confiner.starter.helper; second == nil || second == first || b.confiner.starter.alone {
		t.Errorf("after the helper's death: got helper %v, alone %v, want another helper", second, b.confiner.starter.alone)
	}
}

// TestAHelperTakesTheLastValue of a variable that is given twice, as exec.Cmd does.
func TestAHelperTakesTheLastValue(t *testing.T) {
	t.Parallel()
	b := setup(t)
	command, err := b.confiner.Command(policy(t, "attempt", "wait:"))
	if err != nil {
		t.Fatal(err)
	}
	defer command.Close()
	command.Env = []string{"MARK=first", "MARK=last"}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	path, got := "/proc/"+strconv.Itoa(plugin(command))+"/environ", ""
	for end := deadline(t); got == "" && err == nil && time.Now().Before(end); time.Sleep(time.Millisecond) {
		var text []byte // none before the plugin's program has begun
		text, err = os.ReadFile(path)
		got = string(text)
	}
	command.Kill()
	_ = command.AwaitExit()()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(got, "first") || !strings.Contains(got, "MARK=last") {
		t.Errorf("the environment: got %q, want the last MARK alone", got)
	}
}
