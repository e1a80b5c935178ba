package app

import (
	"log/slog"

	"github.com/scrollery/scrollery/app/pluginhost"
)

// RunPlugin becomes a plugin's process where args, as in os.Args, ask for one;
// it does not return then. It must be called before anything else.
func RunPlugin(args []string) { pluginhost.Dispatch(args, Stages()) }

// Plugins lists what a server with this configuration would use and refuse.
func Plugins(cfg Config, log *slog.Logger) ([]pluginhost.Plugin, error) {
	host, err := pluginhost.New(cfg.Plugins, log)
	if err != nil {
		return nil, err
	}
	return host.List(), host.Close()
}
