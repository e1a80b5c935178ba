package host

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Config is what the operator and the program say about plugins.
type Config struct {
	// Self is the command that starts this program again: built-ins and the
	// launcher are verbs of it. Empty is the running executable.
	Self []string `yaml:"-"`
	// Builtins are the stages that are compiled in.
	Builtins []stage.Spec `yaml:"-"`
	// Together are the built-ins that share a process in a Session: those that only
	// compute, and trust each other.
	Together []string `yaml:"-"`
	// Late are the sources that files describe; nil is none. It is called again every few
	// seconds. LateGroup is the name that stands for all of them in a template.
	Late      func() []Late `yaml:"-"`
	LateGroup string        `yaml:"-"`
	// Dir holds the manifests and binaries of other stages; empty is none.
	Dir string `yaml:"dir"`
	// Settings and Secrets by plugin, then by name. A plugin gets those that its
	// spec names; a secret only where its manifest grants it too.
	Settings map[string]map[string]string `yaml:"settings"`
	Secrets  map[string]map[string]string `yaml:"secrets"`
	// Variables are the environment variables of settings and secrets of built-ins, by
	// plugin, then by name. Errors name them where a value is missing.
	Variables map[string]map[string]string `yaml:"-"`
	// Quotas keeps the allowances that stages spend; nil grants everything.
	Quotas Quotas `yaml:"-"`
	// Tokens keeps the secrets that stages renew; nil keeps none.
	Tokens Tokens `yaml:"-"`
	// Memories keeps the public pages that built-ins share between accounts; nil keeps none.
	Memories Memory `yaml:"-"`
	// Accounts keeps the secrets that accounts set for sources; nil keeps none.
	Accounts Accounts `yaml:"-"`
	// ScratchDir is where calls get their folder, and fetched media; empty, or a path
	// too long for a socket, is the system's folder for temporary files. It must be
	// of this machine: locks in it mark the folders of running hosts.
	ScratchDir string `yaml:"scratch_dir"`

	// Observe, if set, is called with how each call of a plugin ended: `ok`,
	// `cancelled`, or the failure. It must not block.
	Observe func(plugin, cause string) `yaml:"-"`
	// Box is empty, or NoBox.
	Box string `yaml:"box"`

	// Start is how long a process may take until it is ready. 10 s by default.
	Start time.Duration `yaml:"start"`
	// Call is how long one call may last, whatever a spec asks for. 30 min by default.
	Call time.Duration `yaml:"call"`
	// Stall is how long a call may go on without a sign of life. 60 s by default.
	Stall time.Duration `yaml:"stall"`
	// Memory is the most that a process may hold, in bytes, and Disk the most that its
	// scratch folder may; both together are the most for all processes of a call.
	// 512 MiB and 256 MiB by default.
	Memory int64 `yaml:"memory"`
	Disk   int64 `yaml:"disk"`
	// Tasks is the most processes and threads of a call. 512 by default.
	Tasks int `yaml:"tasks"`
	// Records is the most that one call may emit. 100,000 by default.
	Records int `yaml:"records"`
	// Bytes is the most that a call of an external plugin may emit, and Rate how many a
	// second in the long run. 64 MiB and 4 MiB by default.
	Bytes int64 `yaml:"bytes"`
	Rate  int64 `yaml:"rate"`
	// MediaFile and MediaTotal bound, in bytes, one fetched video and those that lie
	// in scratch at once for one scroll. 64 MiB and 512 MiB by default.
	MediaFile  int64 `yaml:"media_file"`
	MediaTotal int64 `yaml:"media_total"`
	// Traffic is how many bytes a call may send and receive in all. 1 GiB by default.
	Traffic int64 `yaml:"traffic"`
	// Connections is how many a call may have at once; one more waits. 32 by default.
	Connections int `yaml:"connections"`
	// Crashes in a row rest a plugin for CoolDown. 3 and 1 min by default.
	Crashes  int           `yaml:"crashes"`
	CoolDown time.Duration `yaml:"cool_down"`
	// Lookup resolves the names of hosts for plugins; nil asks the system.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error) `yaml:"-"`
}

// NoBox is the Config.Box of an operator who runs plugins with the rights of the server.
const NoBox = "none"

// Defaults is the config that an empty one is filled with.
func Defaults() Config {
	return Config{
		Start: 10 * time.Second, Call: 30 * time.Minute, Stall: time.Minute,
		Memory: 512 << 20, Records: 100_000, Traffic: 1 << 30, Connections: 32, Crashes: 3, CoolDown: time.Minute,
		MediaFile: 64 << 20, MediaTotal: 512 << 20, Disk: 256 << 20, Tasks: 512, Bytes: 64 << 20, Rate: 4 << 20,
	}
}

// Validate reports all errors; zero means the default.
func (c Config) Validate() error {
	var faults []error
	for name, value := range map[string]time.Duration{"start": c.Start, "call": c.Call, "stall": c.Stall, "cool-down": c.CoolDown} {
		if value < 0 {
			faults = append(faults, fmt.Errorf("plugins: %s: below zero", name))
		}
	}
	if c.Memory != 0 && c.Memory < minMemory {
		faults = append(faults, fmt.Errorf("plugins: memory: below %d bytes no stage starts", minMemory))
	}
	if c.Records < 0 || c.Crashes < 0 || c.MediaFile < 0 || c.MediaTotal < 0 || c.Traffic < 0 || c.Connections < 0 || c.Disk < 0 || c.Tasks < 0 || c.Bytes < 0 || c.Rate < 0 {
		faults = append(faults, errors.New("plugins: records, crashes, media, traffic, connections, disk, tasks, bytes, rate: below zero"))
	}
	if c.Box != "" && c.Box != NoBox {
		faults = append(faults, fmt.Errorf("plugins: box: %q is neither empty nor %s", c.Box, NoBox))
	}
	seen := map[string]bool{}
	for _, spec := range c.Builtins {
		if err := spec.Validate(); err != nil {
			faults = append(faults, fmt.Errorf("plugins: built-in %q: %w", spec.ID, err))
		}
		if seen[spec.ID] {
			faults = append(faults, fmt.Errorf("plugins: built-in %q: twice", spec.ID))
		}
		seen[spec.ID] = true
	}
	return errors.Join(faults...)
}

// minMemory is what a Go process needs to come up at all.
const minMemory = 64 << 20

func (c Config) filled() Config {
	d := Defaults()
	fill(&c.Start, d.Start)
	fill(&c.Call, d.Call)
	fill(&c.Stall, d.Stall)
	fill(&c.Memory, d.Memory)
	fill(&c.Disk, d.Disk)
	fill(&c.Tasks, d.Tasks)
	fill(&c.Bytes, d.Bytes)
	fill(&c.Rate, d.Rate)
	fill(&c.Records, d.Records)
	fill(&c.MediaFile, d.MediaFile)
	fill(&c.MediaTotal, d.MediaTotal)
	fill(&c.Traffic, d.Traffic)
	fill(&c.Connections, d.Connections)
	fill(&c.Crashes, d.Crashes)
	fill(&c.CoolDown, d.CoolDown)
	return c
}

func fill[T comparable](value *T, fallback T) {
	var zero T
	if *value == zero {
		*value = fallback
	}
}
