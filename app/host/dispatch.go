package host

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/scrollery/scrollery/plugins/stage"
)

// PluginVerb is the first argument of this program when it must serve a built-in.
const PluginVerb = "plugin"

// Main is a plugin of this program that is no stage.
type Main struct {
	ID    string
	Serve func()
}

// Dispatch answers PluginVerb, by which the host starts this program; the launcher's verb
// is answered before, see the package launch. args are as in os.Args. For PluginVerb it
// serves and exits; else it does nothing and returns false.
func Dispatch(args []string, builtins []stage.Spec, mains ...Main) bool {
	if len(args) < 2 {
		return false
	}
	if args[1] != PluginVerb {
		return false
	}
	for _, main := range mains {
		if len(args) == 3 && main.ID == args[2] {
			main.Serve()
			os.Exit(0)
		}
	}
	if specs := named(builtins, args[2:]); len(specs) > 0 {
		collectLater()
		stage.Main(specs[0], specs[1:]...)
		os.Exit(0)
	}
	fmt.Fprintln(os.Stderr, "plugin: no such built-in; this verb is for the host alone")
	os.Exit(2)
	return false
}

// startGC has the process of built-in stages collect garbage for the first time when it
// holds 32 MiB, which most never do: among what packages make when they are initialised
// there is little to collect, and looking for it was a third of a start.
const startGC = "GOGC=800"

// collectLater returns to Go's usual pace of collection after the first one.
func collectLater() {
	first := new([1 << 10]byte)
	runtime.AddCleanup(first, func(percent int) { debug.SetGCPercent(percent) }, 100)
}

// named are the specs of some ids, or none if one of them is of no spec. What they hand over is as sites
// wrote it: the host repairs it.
func named(builtins []stage.Spec, ids []string) (specs []stage.Spec) {
	for _, id := range ids {
		at := slices.IndexFunc(builtins, func(s stage.Spec) bool { return s.ID == id })
		if at < 0 {
			return nil
		}
		spec := builtins[at]
		spec.Lenient = true
		specs = append(specs, spec)
	}
	return specs
}
