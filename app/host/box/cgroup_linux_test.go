package box

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// fakeGroups is a folder with the files of a cgroup, without a kernel behind it.
func fakeGroups(t *testing.T, controllers string) string {
	t.Helper()
	folder := t.TempDir()
	for _, path := range []string{folder, filepath.Join(folder, serverGroup), filepath.Join(folder, callsGroup)} {
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"cgroup.procs", "cgroup.subtree_control", "cgroup.controllers", "cpu.weight"} {
			if err := os.WriteFile(filepath.Join(path, name), []byte(controllers), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return folder
}

func TestOnlyADelegatedGroupIsDivided(t *testing.T) {
	t.Parallel()
	whole := "cpuset cpu io memory hugetlb pids\n"
	for _, c := range []struct {
		name, controllers string
		mark              bool
		root, typed       bool
		want              string
	}{
		{"marked by systemd", whole, true, false, true, ""},
		{"the root of a container", whole, false, true, true, ""},
		{"the root of the machine", whole, false, true, false, "is not delegated"},
		{"of a login", whole, false, false, true, "is not delegated"},
		{"without memory", "cpu pids\n", true, false, true, "no controller of memory"},
		{"without processes", "cpu memory hugetlb\n", true, false, true, "no controller of pids"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			folder := fakeGroups(t, c.controllers)
			if c.mark {
				if err := unix.Setxattr(folder, "user.delegate", []byte("1"), 0); err != nil {
					t.Skipf("no attributes on this file system: %v", err)
				}
			}
			if c.typed {
				if err := os.WriteFile(filepath.Join(folder, "cgroup.type"), []byte("domain\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got := ""
			if err := delegated(folder, c.root); err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestGroupsAreDivided(t *testing.T) {
	t.Parallel()
	folder := fakeGroups(t, "")
	calls := filepath.Join(folder, callsGroup)
	// Linux has no process of this number, nor does it give it to one.
	for _, name := range []string{"4194305-1", "1-1"} {
		if err := os.Mkdir(filepath.Join(calls, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := divide(folder); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		serverGroup + "/cgroup.procs": "0", "cgroup.subtree_control": "+cpu", callsGroup + "/cgroup.subtree_control": "+cpu", callsGroup + "/cpu.weight": "50",
	} {
		t.Run(path, func(t *testing.T) {
			if raw, err := os.ReadFile(filepath.Join(folder, path)); !strings.HasPrefix(string(raw), want) || err != nil {
				t.Errorf("%s has %q (%v), want %q", path, raw, err, want)
			}
		})
	}
	left, _ := filepath.Glob(filepath.Join(calls, "*-*"))
	equal(t, "the groups that are left", []string{filepath.Join(calls, "1-1")}, left)
}

func TestHostsOfOneProcessHaveDifferentGroups(t *testing.T) {
	t.Parallel()
	folder := fakeGroups(t, "")
	made := map[string]bool{}
	for range 2 {
		g, err := divide(folder)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			path, err := g.folder()
			if err != nil {
				t.Fatal(err)
			}
			made[path] = true
		}
		g.sweep()
	}
	left, _ := filepath.Glob(filepath.Join(folder, callsGroup, "*-*"))
	if len(made) != 4 || len(left) != 4 {
		t.Errorf("got groups %v, of which %v are left, want 4 of each", made, left)
	}
}

// TestCallsHaveGroups needs a delegated cgroup. CI of this repository has none.
func TestCallsHaveGroups(t *testing.T) {
	b := setup(t)
	if err := b.confiner.Ungrouped(); err != nil {
		t.Skipf("no cgroup for calls here: %v", err)
	}
	equal(t, "a call", []string{"kept"}, b.attempt(t, policy(t), "keep:"))
	one, err := b.confiner.Command(policy(t))
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"memory.max": "285212672\n", "pids.max": "200\n"} {
		t.Run(file, func(t *testing.T) {
			if raw, err := os.ReadFile(filepath.Join(one.group.path, file)); string(raw) != want || err != nil {
				t.Errorf("%s is %q (%v), want %q", file, raw, err, want)
			}
		})
	}
	one.Close()
	if left, _ := filepath.Glob(filepath.Join(b.confiner.groups.calls, "*-*")); len(left) > 0 {
		t.Errorf("groups are left: %v, want none", left)
	}
}
