// Package launch is the launcher: it runs in the place of a plugin until the box is built
// around it, and starts the plugin in it. See the package confine, whose half it is.
//
// It runs before the program's other packages are initialised, as far as Go allows: the
// order is that of import paths, once all that a package imports is done. So this one
// imports nothing that needs long or comes late, such as net.
package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// Verb is the first argument of this program when it must launch a plugin and do nothing
// else.
const Verb = "plugin-launch"

// Trial is the launcher's argument that does nothing, for a box that is only tried.
const Trial = "-"

// ExitRefused is the launcher's exit code for a binary that is not the pinned one;
// a plugin's own codes are others by convention alone.
const (
	ExitRefused = 97
	exitLaunch  = 98
)

func init() {
	if len(os.Args) > 1 && os.Args[1] == Verb {
		os.Exit(run(os.Args[2:]))
	}
}

// run checks the binary's hash, takes rights and resources away from this process,
// and runs the binary: in a box as its only child, else in its own place. It returns an
// exit code. args are the arguments after [Verb].
func run(args []string) int {
	if len(args) == 1 && args[0] == Trial {
		return 0
	}
	var o Order
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &o) != nil || o.Path == "" {
		fmt.Fprintln(os.Stderr, Verb+": this verb is for the host alone")
		return 2
	}
	code, err := become(o)
	if err == nil {
		return code
	}
	fmt.Fprintln(os.Stderr, Verb+":", err)
	if errors.Is(err, ErrHash) {
		return ExitRefused
	}
	return exitLaunch
}
