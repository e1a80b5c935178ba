package host

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	goplugin "github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/scrollery/scrollery/app/host/box"
	"github.com/scrollery/scrollery/app/host/wire"
	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

const (
	maxFiles = 256
	// maxHeader is the most of the heads of an answer, in bytes.
	maxHeader = 1 << 20
)

// process is one started plugin.
type process struct {
	all        *Processes
	scratch    *scratch
	folder     string // the scratch folder's path
	runner     *runner
	client     *plugin.Client
	output     *output
	connection *grpc.ClientConn
	net        *network
	recipe     string                     // of a shared one, its recipe's key
	stage      stagev1.StageServiceClient // of a stage
}

// contract is what both ends of a connection must agree on.
type contract struct {
	handshake  plugin.HandshakeConfig
	service    string
	maxMessage int
	external   bool     // of a third party
	env        []string // for the process, besides the usual
}

func stageContract() contract {
	return contract{
		handshake: plugin.HandshakeConfig{
			ProtocolVersion: stage.ProtocolVersion, MagicCookieKey: stage.CookieKey, MagicCookieValue: stage.CookieValue,
		},
		service: stage.ServiceName, maxMessage: stage.MaxMessage,
	}
}

// start brings up a stage that may do what spec needs, and no more. The caller
// stops it.
func (all *Processes) start(ctx context.Context, e *entry, spec stage.Spec, given given) (*process, error) {
	out := &output{redact: redactor(given.secrets), log: all.log.With("plugin", e.id, "scroll", given.scroll)}
	declared, endpoints := reach(spec, given)
	net, err := all.network(out, declared, endpoints, least(spec.Limits.Call, all.config.Call))
	if err != nil {
		return nil, err
	}
	terms := stageContract()
	terms.external = !e.builtin
	if e.builtin {
		terms.env = []string{startGC}
	}
	p, err := all.launch(ctx, e.id, all.config.Memory, terms, out, net, func() (box.Policy, error) {
		return all.policy(e, spec, given, net)
	})
	if err != nil {
		return nil, err
	}
	p.stage = stagev1.NewStageServiceClient(p.connection)
	return p, nil
}

// launch starts a process in a folder of its own, with the policy that allowed makes. The
// network ends with the process. The caller stops the process.
func (all *Processes) launch(ctx context.Context, id string, memory int64, terms contract, out *output, net *network, allowed func() (box.Policy, error)) (_ *process, err error) {
	made, err := newScratch(all.scratch, scratchPrefix)
	if err != nil {
		net.close()
		return nil, fmt.Errorf("make the scratch folder: %w", err)
	}
	p := &process{all: all, scratch: made, folder: made.path, output: out, net: net}
	defer func() {
		if err != nil {
			p.stop()
		}
	}()
	if err := os.Mkdir(p.work(), 0o700); err != nil {
		return nil, fmt.Errorf("make the scratch folder: %w", err)
	}
	policy, err := allowed()
	if err != nil {
		return nil, err
	}
	policy.Scratch, policy.Dir, policy.Files, policy.Tasks, policy.Disk = p.folder, p.work(), maxFiles, all.config.Tasks, all.config.Disk
	command, err := all.confiner.Command(policy)
	if err != nil {
		return nil, err
	}
	command.Serve = net.serve
	p.runner = newRunner(id, command, p.output)
	if err := all.enter(p); err != nil {
		return nil, err
	}
	trust, key, err := all.peer.Plugin()
	if err != nil {
		return nil, fmt.Errorf("make the plugin's key: %w", err)
	}
	p.client = plugin.NewClient(all.clientConfig(p, memory, terms, trust, key))
	if err := p.connect(ctx, terms.service); err != nil {
		return nil, err
	}
	return p, nil
}

func (all *Processes) clientConfig(p *process, memory int64, terms contract, trust *tls.Config, key []string) *plugin.ClientConfig {
	return &plugin.ClientConfig{
		HandshakeConfig:  terms.handshake,
		Plugins:          plugin.PluginSet{terms.service: &dispensed{}},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		TLSConfig:        trust,
		SkipHostEnv:      true,
		StartTimeout:     all.config.Start,
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: p.folder},
		Logger:           hclog.NewNullLogger(),
		SyncStdout:       copied{p.output, "stdout"},
		SyncStderr:       copied{p.output, "stderr"},
		GRPCDialOptions: []grpc.DialOption{
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(terms.maxMessage), grpc.MaxCallSendMsgSize(terms.maxMessage),
				grpc.ForceCodecV2(wire.Codec())),
			grpc.WithMaxHeaderListSize(maxHeader),
			grpc.WithTransportCredentials(wire.Credentials(trust, terms.external)),
			grpc.WithNoProxy(),
			grpc.WithStreamInterceptor(withoutBroker),
		},
		RunnerFunc: func(_ hclog.Logger, command *exec.Cmd, _ string) (goplugin.Runner, error) {
			// In a box the host's folder for sockets does not exist.
			p.runner.command.Env = slices.Concat(environment(p.work(), memory), p.net.environment(), command.Env, key, terms.env,
				[]string{plugin.EnvUnixSocketDir + "=" + p.folder})
			p.runner.sockets = p.folder
			return p.runner, nil
		},
	}
}

// withoutBroker keeps go-plugin's broker from the plugin. By it the two would agree on more
// connections, which the host never has; but it keeps what the plugin sends there, without
// a bound, and starts a goroutine for each message.
func withoutBroker(ctx context.Context, desc *grpc.StreamDesc, to *grpc.ClientConn, method string, open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
	if strings.HasPrefix(method, "/plugin.GRPCBroker/") {
		return nil, status.Error(codes.Unimplemented, "the host has one connection")
	}
	return open(ctx, desc, to, method, options...)
}

// environment is all that a plugin gets to see, besides what go-plugin adds.
func environment(work string, memory int64) []string {
	return []string{
		"HOME=" + work, "TMPDIR=" + work, "LANG=C.UTF-8", "TZ=UTC", "PATH=" + programPath,
		"GOMEMLIMIT=" + strconv.FormatInt(memory/10*8, 10),
	}
}

// connect shakes hands. It ends early when ctx does.
func (p *process) connect(ctx context.Context, service string) error {
	type result struct {
		connection any
		err        error
	}
	done := make(chan result, 1)
	go func() {
		client, err := p.client.Client()
		if err != nil {
			done <- result{err: err}
			return
		}
		raw, err := client.Dispense(service)
		done <- result{connection: raw, err: err}
	}()
	var r result
	began := time.Now()
	late := time.NewTimer(p.all.config.Start)
	defer late.Stop()
	select {
	case r = <-done:
	case <-late.C: // it may have shaken hands, and be silent at its socket
		p.runner.kill()
		<-done
		return errStart
	case <-ctx.Done():
		p.runner.kill()
		<-done
		return context.Cause(ctx)
	}
	if r.err != nil {
		if time.Since(began) >= p.all.config.Start {
			return errStart
		}
		return &handshakeError{process: p, cause: r.err}
	}
	p.connection = r.connection.(*grpc.ClientConn)
	return nil
}

// policy is what a stage may do in a call.
func (all *Processes) policy(e *entry, spec stage.Spec, given given, net *network) (box.Policy, error) {
	rules := box.Policy{
		Path: e.path, SHA256: e.manifest.SHA256, Memory: all.memory(spec), Proxy: net.port(), Programs: len(spec.Programs) > 0,
	}
	if e.builtin {
		if err := all.again(&rules, e.serves()); err != nil {
			return box.Policy{}, err
		}
	}
	files, err := given.files()
	rules.Reads = slices.Concat(given.reads, files)
	return rules, err
}

// files are what the settings that are paths lead to. It makes those settings absolute.
func (g given) files() (reads []string, err error) {
	for _, name := range g.paths {
		value := g.settings[name]
		if !isPath(value) {
			continue
		}
		path, err := filepath.Abs(value)
		if err != nil {
			return nil, err
		}
		// A value that names no file may be a word that the stage understands.
		if _, err := os.Stat(path); err != nil {
			continue
		}
		g.settings[name] = path
		reads = append(reads, path)
	}
	return reads, nil
}

// again has the process become this program's own plugin.
func (all *Processes) again(rules *box.Policy, id string) error {
	path, err := exec.LookPath(all.self[0])
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	rules.Path = path
	rules.Args = append(append(slices.Clone(all.self[1:]), PluginVerb), strings.Fields(id)...)
	return nil
}

// isPath distinguishes a path from another word that a path setting takes (`sample`, or
// a map written out): it is absolute, or begins with a dot.
func isPath(value string) bool {
	return filepath.IsAbs(value) || strings.HasPrefix(value, "./") || strings.HasPrefix(value, "../")
}

func (all *Processes) memory(spec stage.Spec) int64 {
	if want := spec.Limits.Memory; want > 0 {
		return max(min(want, all.config.Memory), minMemory)
	}
	return all.config.Memory
}

func (p *process) work() string { return filepath.Join(p.folder, workFolder) }

// gone reports whether the process has ended.
func (p *process) gone() bool {
	select {
	case <-p.runner.ended:
		return true
	default:
		return false
	}
}

// stop kills the process group, whatever the plugin thinks of it, waits for its
// end and deletes its folder. A stage that is done has nothing left to do.
func (p *process) stop() {
	if p.runner != nil {
		p.runner.kill()
	}
	if p.client != nil {
		p.client.Kill()
	}
	if p.runner != nil {
		p.runner.close()
	}
	p.net.close()
	p.scratch.remove()
	p.all.leave(p)
}

// dispensed is the plugin as go-plugin wants it: its connection.
type dispensed struct{ plugin.NetRPCUnsupportedPlugin }

func (*dispensed) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error {
	return errors.New("the host serves nothing")
}

func (*dispensed) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, connection *grpc.ClientConn) (any, error) {
	return connection, nil
}
