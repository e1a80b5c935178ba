package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"google.golang.org/grpc"

	"github.com/scrollery/scrollery/app/host/box"
	"github.com/scrollery/scrollery/app/host/box/launch"
	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// Trial starts one plugin outside of calls, for package conformance: without settings
// of the operator, without the breaker, and whether the plugin is set up or not.
type Trial struct {
	host  *Host
	entry *entry
	// Description is what the plugin says of itself; the zero value before Describe.
	Description
}

// Description is a plugin's spec without its functions, and the optional verbs that it has.
type Description struct {
	stage.Spec
	Refreshes, FetchesMedia, Checks bool
}

// Trial returns nil for an unknown id.
func (h *Host) Trial(id string) *Trial {
	e := h.plugins.entry(id)
	if e == nil {
		return nil
	}
	return &Trial{host: h, entry: e}
}

// TrialOf makes a host that has the binary at path as its only plugin, pinned to the
// hash that it has now. The caller closes the host.
func TrialOf(path string, log *slog.Logger) (h *Host, t *Trial, sha256 string, err error) {
	const id = "checked"
	sha256, err = launch.Hash(path)
	if err != nil {
		return nil, nil, "", err
	}
	h, err = New(Config{}, log)
	if err != nil {
		return nil, nil, "", err
	}
	h.plugins.add(&entry{id: id, enabled: true, path: path, manifest: Manifest{ID: id, SHA256: sha256}})
	return h, h.Trial(id), sha256, nil
}

// Limits are the most that the host grants to any stage.
func (h *Host) Limits() stage.Limits {
	return stage.Limits{Memory: h.config.Memory, Records: h.config.Records, Call: h.config.Call, Stall: h.config.Stall}
}

// Timeout is how long a process may take until it is ready.
func (t *Trial) Timeout() time.Duration { return t.host.config.Start }

// Builtin reports whether the plugin is compiled in.
func (t *Trial) Builtin() bool { return t.entry.builtin }

// Start starts a process. The caller stops it.
func (t *Trial) Start(ctx context.Context) (*Attempt, error) {
	p, err := t.host.Processes.start(ctx, t.entry, t.Spec, given{settings: map[string]string{}})
	if err != nil {
		_, cause := classify(failedProcess(err), err)
		return nil, cause
	}
	return &Attempt{Running{p}, t, given{}}, nil
}

// StartLogged starts a process without network that writes into log what it logs,
// secrets included.
func (t *Trial) StartLogged(ctx context.Context, log *slog.Logger) (*Attempt, error) {
	p, err := t.launch(ctx, stageContract(), &output{log: log, redact: redactor(nil)})
	if err != nil {
		return nil, err
	}
	p.stage = stagev1.NewStageServiceClient(p.connection)
	return &Attempt{Running{p}, t, given{}}, nil
}

func (t *Trial) launch(ctx context.Context, terms contract, out *output) (*process, error) {
	return t.host.Processes.launch(ctx, t.entry.id, t.host.config.Memory, terms, out, nil, func() (box.Policy, error) {
		return t.host.Processes.policy(t.entry, t.Spec, given{}, nil)
	})
}

// StartWithCookie starts the plugin as a host of another protocol would, and expects
// it to refuse: an error on stderr and exit status 1. It returns nil if the plugin does.
func (t *Trial) StartWithCookie(ctx context.Context, cookie string) error {
	terms := stageContract()
	terms.handshake.MagicCookieValue = cookie
	out := &output{log: t.host.log, redact: redactor(nil)}
	p, err := t.launch(ctx, terms, out)
	if err == nil {
		p.stop()
		return errors.New("does not look at SCROLLERY_STAGE: it serves a host of another protocol")
	}
	ended := failedProcess(err)
	if ended == nil {
		return err
	}
	select {
	case <-ended.runner.exited:
	case <-time.After(exitWait):
		return errors.New("does not leave when the protocol is another")
	}
	var exit *exec.ExitError
	if !errors.As(ended.runner.exit, &exit) || exit.ExitCode() != 1 {
		return fmt.Errorf("where the protocol is another, it ends with %v instead of exit status 1", ended.runner.exit)
	}
	if out.last() == "" {
		return errors.New("says nothing on stderr where the protocol is another")
	}
	return nil
}

// StartWith starts a process with settings and secrets of the plugin's author, and the
// network that they lead to. It fails for a name that the plugin does not have.
func (t *Trial) StartWith(ctx context.Context, settings, secrets map[string]string) (*Attempt, error) {
	for name := range settings {
		if !slices.ContainsFunc(t.Settings, func(s stage.Setting) bool { return s.Name == name }) {
			return nil, fmt.Errorf("the plugin has no setting %q", name)
		}
	}
	for name := range secrets {
		if !slices.Contains(t.Secrets, name) {
			return nil, fmt.Errorf("the plugin has no secret %q", name)
		}
	}
	t.entry.manifest.Settings, t.entry.manifest.Secrets = settings, slices.Collect(maps.Keys(secrets))
	t.host.grants.set.Store(&operatorValues{secrets: map[string]map[string]string{t.entry.id: secrets}})
	own, err := t.host.grants.give(t.entry, t.Spec, stage.Run{}, nil)
	if err != nil {
		return nil, err
	}
	p, err := t.host.Processes.start(ctx, t.entry, t.Spec, own)
	if err != nil {
		_, cause := classify(failedProcess(err), err)
		return nil, cause
	}
	return &Attempt{Running{p}, t, own}, nil
}

// Attempt is one process of a plugin on trial.
type Attempt struct {
	Running
	trial *Trial
	given given
}

// Scratch is the folder that the process may write.
func (a *Attempt) Scratch() string { return a.process.work() }

// Describe asks the plugin what it is.
func (a *Attempt) Describe(ctx context.Context) (Description, error) {
	answer, err := a.process.stage.Describe(ctx, &stagev1.DescribeRequest{})
	if err != nil {
		return Description{}, err
	}
	spec, also := decodeSpec(answer.GetDescription())
	return Description{spec, also.refreshes, also.fetches, also.checks}, nil
}

// Cause is the reason of an error of a call, such as the end of the process.
func (a *Attempt) Cause(err error) error {
	_, cause := classify(a.process, err)
	return cause
}

// Noise counts the lines that the process wrote to stdout after the handshake.
func (a *Attempt) Noise() int { return a.process.output.noisyLines() }

// Exited is closed when the process has ended and its output is read.
func (a *Attempt) Exited() <-chan struct{} { return a.process.runner.exited }

// Leave asks the process to end, and kills it after two seconds.
func (a *Attempt) Leave() { a.process.client.Kill() }

// Killed reports, after the end, whether the host had to kill the process.
func (a *Attempt) Killed() bool { return a.process.runner.killedByHost() }

// Conversation is a whole call under the host's rules.
type Conversation struct {
	// Verb is Refresh, Media or Check; empty is the verb of the stage's kind.
	Verb string
	// Records are the input of a screen or evidence stage.
	Records []stage.Record
	// Facts are the input of a brief stage, Seeds that of a source or plan stage, Refs that of
	// Refresh and Media.
	Facts   []stage.Fact
	Seeds   []stage.Seed
	Refs    []stage.Ref
	Secrets map[string]string
	// Run is what the stage may know of the scroll; its number and time are set if they are not.
	Run stage.Run
	// Stall is how long the stage may be silent; 0 is the time of a start.
	Stall time.Duration
	// States have and take what a source keeps of seeds; nil has none.
	States stage.SeedStates
	// Hear, if set, gets each message before the host cleans it.
	Hear func(*stagev1.CallResponse)
}

// Converse holds one call. It returns the number of answers. An error that the stage
// reports about its work is an answer too, as it has no settings here: failed is set.
func (a *Attempt) Converse(ctx context.Context, c Conversation) (answers int, failed bool, err error) {
	asked := newAsked()
	input := c.Records
	next := asked.batches(func() ([]stage.Record, error) {
		if input == nil {
			return nil, io.EOF
		}
		batch := input
		input = nil
		return batch, nil
	})
	v := a.verb(cmp.Or(c.Verb, string(a.trial.Kind)), asked, next, c.Facts, &answers)
	if len(c.Refs) > 0 {
		v.unasked = refInput(c.Refs)
		if v.take = takeRecords(count[stage.Record](&answers)); c.Verb == "Media" {
			v.take = a.takeFiles(c.Refs, &answers)
		}
	}
	if take := v.take; c.Hear != nil {
		v.take = func(message *stagev1.CallResponse) (tally, error) {
			c.Hear(message)
			return take(message)
		}
	}
	h := a.trial.host
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t := &talk{
		process: a.process, verb: v, cancel: cancel, most: h.config.Records, stall: cmp.Or(c.Stall, h.config.Start),
		quotas: &spender{spec: a.trial.Spec}, tokens: tokens{first: map[string]string{}, output: a.process.output},
	}
	own := a.given
	if c.Secrets != nil {
		own.secrets = c.Secrets
	}
	for _, name := range a.trial.Tokens {
		if first, set := own.secrets[name]; set {
			t.tokens.first[name] = first
		}
	}
	if len(c.Seeds) > 0 {
		t.verb.unasked = seedInput(c.Seeds)
	}
	if t.verb.name == string(stage.SourceKind) {
		t.verb.unasked, t.verb.keep = statedInput(c.Seeds, c.States), heardKeep(c)
	}
	run := c.Run
	run.Number, run.Now = cmp.Or(run.Number, 1), cmp.Or(run.Now, time.Now().UnixMilli())
	done, err := t.run(inner, run, own)
	if err != nil {
		return answers, false, a.Cause(err)
	}
	if c.Hear != nil {
		c.Hear(&stagev1.CallResponse{Message: &stagev1.CallResponse_Done{Done: done}})
	}
	if fault := done.GetError(); fault != nil {
		if err := reported(a.trial.ID, a.process.output, fault, time.Now()); err.Failure == stage.StageCrashed {
			return answers, true, fmt.Errorf("broke: %w", err.Cause)
		}
	}
	if t.total.refused > 0 {
		return answers, false, fmt.Errorf("%d of its answers would be refused", t.total.refused)
	}
	return answers, done.GetError() != nil, nil
}

// takeFiles counts the files that a folder of media would take. The first that it would not take is an
// error.
func (a *Attempt) takeFiles(refs []stage.Ref, answers *int) func(*stagev1.CallResponse) (tally, error) {
	asked := askedFor(refs)
	return func(message *stagev1.CallResponse) (counted tally, err error) {
		for _, m := range message.GetFiles().GetFiles() {
			file := stage.File{Ref: stage.DecodeRef(m.GetRef()), Name: m.GetName()}
			scratch, err := a.process.runner.command.Scratch()
			if err != nil {
				return counted, err
			}
			if errors.Join(file.Ref.Clean(), asked.answer(file.Ref)) != nil {
				return counted, fmt.Errorf("rule: a file is of a video of the input, and a video has one: %.40q is of %s %.40q", file.Name, file.Platform, file.ExternalID)
			}
			size, err := sizeOf(scratch, file.Name)
			if err != nil {
				return counted, fmt.Errorf("rule: a file is a plain one in the scratch folder, by its name there: %.40q is none", file.Name)
			}
			if most := a.trial.host.config.MediaFile; size > most {
				return counted, fmt.Errorf("rule: a file has at most %d bytes, or is left out: %.40q has %d", most, file.Name, size)
			}
			counted.taken++
			*answers++
		}
		return counted, nil
	}
}

// sizeOf is the size of a plain file in the scratch folder of a call.
func sizeOf(scratch, name string) (int64, error) {
	if err := plainName(name); err != nil {
		return 0, err
	}
	info, err := os.Lstat(filepath.Join(scratch, workFolder, name))
	if err != nil || !info.Mode().IsRegular() {
		return 0, errNotPlain
	}
	return info.Size(), nil
}

// heardKeep takes states as a call does, and has them heard.
func heardKeep(c Conversation) func(context.Context, stage.Seed, []byte) error {
	keep := keepIn(c.Seeds, c.States)
	return func(ctx context.Context, seed stage.Seed, state []byte) error {
		if c.Hear != nil {
			c.Hear(&stagev1.CallResponse{Message: &stagev1.CallResponse_Keep{Keep: &stagev1.Keep{Seed: stage.EncodeSeed(seed), State: state}}})
		}
		return keep(ctx, seed, state)
	}
}

// verb counts answers instead of handing them on.
func (a *Attempt) verb(name string, asked *asked, next func() (*stagev1.Input, error), facts []stage.Fact, answers *int) verb {
	v := verb{kind: a.trial.Kind, name: name, open: stagev1.StageServiceClient.Collect}
	switch name {
	case string(stage.ScreenKind):
		v.open, v.next, v.take = stagev1.StageServiceClient.Screen, next, takeVerdicts(asked, count[stage.Verdict](answers))
		return v
	case string(stage.EvidenceKind):
		v.open, v.next, v.take = stagev1.StageServiceClient.Evidence, next, takeFindings(asked, count[stage.Finding](answers))
		return v
	case string(stage.BriefKind):
		v.open, v.take = stagev1.StageServiceClient.Brief, takeSentences(facts, new(int), count[stage.Sentence](answers))
		v.unasked = []*stagev1.Input{factInput(facts, true)}
		return v
	case string(stage.PlanKind):
		v.open, v.take = stagev1.StageServiceClient.Plan, takeSeeds(count[stage.Seed](answers))
	case "Refresh":
		v.open, v.take = stagev1.StageServiceClient.Refresh, unwanted
	case "Media":
		v.open, v.take = stagev1.StageServiceClient.Media, unwanted
	case "Check":
		v.open, v.take = stagev1.StageServiceClient.Check, takeNothing
	default:
		v.take = takeRecords(count[stage.Record](answers))
	}
	v.unasked = []*stagev1.Input{{Last: true}}
	return v
}

func count[T any](n *int) func([]T) error {
	return func(batch []T) error {
		*n += len(batch)
		return nil
	}
}

func unwanted(*stagev1.CallResponse) (tally, error) {
	return tally{}, errors.New("answers though it was asked for nothing")
}

// Open starts the verb of the stage's kind, for a caller that breaks its rules.
func (a *Attempt) Open(ctx context.Context) (grpc.BidiStreamingClient[stagev1.CallRequest, stagev1.CallResponse], error) {
	return a.verb(string(a.trial.Kind), nil, nil, nil, nil).open(a.process.stage, ctx)
}
