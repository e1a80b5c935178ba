package app

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"go.uber.org/dig"
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/usage"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// system serves the operations that belong to no module.
var system = fx.Provide(fx.Annotate(func() api.Operations {
	return func(m *api.Mux) {
		api.Unary(m, "GetHealth", func(context.Context, *pb.GetHealthRequest) (*pb.GetHealthResponse, error) {
			return &pb.GetHealthResponse{Status: "ok"}, nil
		})
	}
}, fx.ResultTags(`group:"operations"`)))

// readyNotes are the plugins that cannot be called, as far as that is known: a probe
// waits for none.
func readyNotes(plugins *host.Host) func() []string {
	return func() (notes []string) {
		for _, plugin := range plugins.Known() {
			if plugin.State == host.Resting || plugin.State == host.Refused {
				notes = append(notes, noted(plugin.ID)+string(plugin.State))
			}
		}
		return notes
	}
}

// noted is how a line of readiness about a plugin begins.
func noted(plugin string) string { return "plugin " + plugin + ": " }

// rest marks the plugins that rest in the server of this machine: a command's own host has
// called none. It changes nothing if no server answers.
func rest(ctx context.Context, cfg Config, plugins []host.Plugin) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var answer bytes.Buffer
	if err := Ready(ctx, cfg, &answer); err != nil && answer.Len() == 0 {
		return
	}
	for line := range strings.Lines(answer.String()) {
		for i := range plugins {
			if p := &plugins[i]; p.State == host.Ready && strings.TrimSpace(line) == noted(p.ID)+string(host.Resting) {
				p.State, p.Reason = host.Resting, "rests in the running server after crashes"
			}
		}
	}
}

// probed is what readiness asks: the database, and whether usage events get there.
type probed struct {
	*store.DB
	recorder *usage.Recorder
}

func (p probed) Probe(ctx context.Context) error {
	return errors.Join(p.DB.Probe(ctx), p.recorder.Check())
}

// readyTimeout bounds what Ready waits for.
const readyTimeout = 4 * time.Second

// Ready asks the operations port of the server that has this configuration and runs on
// this machine, prints the answer, and fails unless the server is ready.
func Ready(ctx context.Context, cfg Config, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	host, port, err := net.SplitHostPort(cfg.OpsAddr)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("the server does not answer: %w", err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(out, io.LimitReader(answer.Body, 64<<10)); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return errors.New("the server is not ready")
	}
	return nil
}

// readyFolders are those that the process writes to.
func readyFolders(cfg Config) []string {
	folders := []string{cfg.DataDir}
	if cfg.Worker() {
		folders = append(folders, cmp.Or(cfg.Plugins.ScratchDir, os.TempDir()))
	}
	return folders
}

// cause is what went wrong, without the path through the graph that led there.
func cause(err error) error {
	if err == nil {
		return nil
	}
	return dig.RootCause(err)
}
