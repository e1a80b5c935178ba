package pluginhost

import (
	"fmt"
	"os"

	"github.com/scrollery/scrollery/app/pluginhost/confine"
	"github.com/scrollery/scrollery/plugins/stage"
)

// PluginVerb is the first argument of this program when it must serve a built-in.
const PluginVerb = "plugin"

// Main is a plugin of this program that is no stage.
type Main struct {
	ID    string
	Serve func()
}

// Dispatch answers the verbs that the host starts this program with: the launcher's
// and PluginVerb. args are as in os.Args. For these verbs it serves and exits; for
// others it does nothing and returns false.
func Dispatch(args []string, builtins []stage.Spec, mains ...Main) bool {
	if len(args) < 2 {
		return false
	}
	switch args[1] {
	case confine.LaunchVerb:
		os.Exit(confine.Launch(args[2:]))
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
