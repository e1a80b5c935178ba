package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// LaunchVerb is the first argument of this program when it must call [Launch] and do
// nothing else.
const LaunchVerb = "plugin-launch"

// trial is the launcher's argument that does nothing: [Confiner.Missing] has a box
// run it.
const trial = "-"

// ExitRefused is the launcher's exit code for a binary that is not the pinned one;
// a plugin's own codes are others by convention alone.
const (
	ExitRefused = 97
	exitLaunch  = 98
)

// Launch checks the binary's hash, takes rights and resources away from this process,
// and runs the binary: in a box as its only child, else in its own place. It returns an
// exit code. args are the arguments after [LaunchVerb].
func Launch(args []string) int {
	if len(args) == 1 && args[0] == trial {
		return 0
	}
	var o order
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &o) != nil || o.Path == "" {
		fmt.Fprintln(os.Stderr, LaunchVerb+": this verb is for the host alone")
		return 2
	}
	code, err := become(o)
	if err == nil {
		return code
	}
	fmt.Fprintln(os.Stderr, LaunchVerb+":", err)
	if errors.Is(err, ErrHash) {
		return ExitRefused
	}
	return exitLaunch
}
