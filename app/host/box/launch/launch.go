// Package launch is the launcher: it runs in the place of a plugin until the box is built
// around it, and starts the plugin in it. See the package box, whose half it is.
//
// It runs before the program's other packages are initialised, as far as Go allows: the
// order is that of import paths, once all that a package imports is done. So this one
// imports nothing that needs long or comes late, such as net or path/filepath:
// app/imports_test.go has the list.
package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// Verb is the last argument but one of this program when it must launch a plugin and do
// nothing else.
const Verb = "plugin-launch"

// Starter is the launcher's argument for the process that starts launchers for the host.
const Starter = "+"

// Trial is the launcher's argument that does nothing, for a box that is only tried.
const Trial = "-"

// ExitRefused is the launcher's exit code for a binary that is not the pinned one;
// a plugin's own codes are others by convention alone.
const (
	ExitRefused = 97
	exitLaunch  = 98
)

func init() {
	if last := len(os.Args) - 1; last > 1 && os.Args[last-1] == Verb {
		os.Exit(run(os.Args[last]))
	}
}

// run checks the binary's hash, takes rights and resources away from this process,
// and runs the binary: in a box as its only child, else in its own place. It returns an
// exit code.
func run(order string) int {
	switch order {
	case Trial:
		return 0
	case Starter:
		return attendStarts()
	}
	var o Order
	if json.Unmarshal([]byte(order), &o) != nil || o.Path == "" {
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
