package pluginhost

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/scrollery/scrollery/plugins/stage"
)

// The verbs that the program must answer before it does anything else.
const (
	// LaunchVerb confines the process and becomes a plugin.
	LaunchVerb = "plugin-launch"
	// PluginVerb serves a built-in.
	PluginVerb = "plugin"
)

// Exit codes of the launcher, which the host tells from a plugin's own.
const (
	exitRefused = 97
	exitLaunch  = 98
)

// Main is a plugin of this program that is no stage.
type Main struct {
	ID    string
	Serve func()
}

// Dispatch answers the two verbs of this package, with args as in os.Args. It
// tells whether args was for it; where it is not, nothing has happened.
func Dispatch(args []string, builtins []stage.Spec, mains ...Main) bool {
	if len(args) < 2 {
		return false
	}
	switch args[1] {
	case LaunchVerb:
		os.Exit(Launch(args[2:]))
	case PluginVerb:
		for _, spec := range builtins {
			if len(args) == 3 && spec.ID == args[2] {
				stage.Main(spec)
				os.Exit(0)
			}
		}
		for _, main := range mains {
			if len(args) == 3 && main.ID == args[2] {
				main.Serve()
				os.Exit(0)
			}
		}
		fmt.Fprintln(os.Stderr, "plugin: no such built-in; this verb is for the host alone")
		os.Exit(2)
	}
	return false
}

// policy is what a process is confined to; it travels as one argument.
type policy struct {
	// Parent is the host's process id: a launcher whose parent is gone already
	// must not go on.
	Parent int `json:"parent"`
	// Path and Args of the plugin; SHA256 is empty for a built-in.
	Path   string   `json:"path"`
	Args   []string `json:"args,omitempty"`
	SHA256 string   `json:"sha256,omitempty"`
	// Memory in bytes; Files is the number of open ones.
	Memory int64 `json:"memory"`
	Files  int   `json:"files"`
	// Scratch and Writes may be written, Reads read.
	Scratch string   `json:"scratch"`
	Writes  []string `json:"writes,omitempty"`
	Reads   []string `json:"reads,omitempty"`
	// Proxy is the one port that it may connect to; 0 is no network.
	Proxy uint16 `json:"proxy,omitempty"`
	// Watched has the host connect the process's sockets for it.
	Watched bool `json:"watched,omitempty"`
	// Programs tells whether it runs programs of the system.
	Programs bool `json:"programs,omitempty"`
}

// Launch checks the plugin's hash, takes rights and resources away from this
// process, and becomes the plugin. It returns an exit code only where that fails.
func Launch(args []string) int {
	var p policy
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &p) != nil || p.Path == "" {
		fmt.Fprintln(os.Stderr, "plugin-launch: this verb is for the host alone")
		return 2
	}
	err := become(p)
	fmt.Fprintln(os.Stderr, "plugin-launch:", err)
	if refusal(err) {
		return exitRefused
	}
	return exitLaunch
}
