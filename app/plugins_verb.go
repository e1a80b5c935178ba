package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/app/host/conformance"
	"github.com/scrollery/scrollery/plugins/stage"
)

// TryVerb calls any verb of a plugin with input of its author and the operator's settings and
// secrets, after its check, and prints a line for each answer. What it takes of a quota is in the
// ledger, if there is one, and media are deleted at its end.
func TryVerb(ctx context.Context, cfg Config, id string, r conformance.Rehearsal, out io.Writer, log *slog.Logger) (err error) {
	h, _, done, err := commandHost(cfg, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	plugin, err := readyPlugin(h, id)
	if err != nil {
		return err
	}
	spec, _ := h.Spec(id)
	call := host.Conversation{}
	if call.Verb, err = conformance.Verb(r.Verb, host.Description{Spec: spec, Refreshes: plugin.Refreshes, FetchesMedia: plugin.FetchesMedia, Checks: plugin.Checks}); err != nil {
		return err
	}
	if err := r.Read(&call, plugin.Kind); err != nil {
		return err
	}
	if plugin.Checks {
		line, err := h.Check(ctx, id)
		if err != nil {
			return fmt.Errorf("check: %w", err)
		}
		conformance.Line(out, "check", line)
	}
	if call.Verb == "Check" {
		return nil
	}
	t := &tryout{host: h, id: id, out: out}
	err = t.call(ctx, plugin.Kind, call)
	fmt.Fprintf(out, "%d answers\n", t.answers)
	if err == nil && t.answers == 0 && plugin.Kind == stage.SourceKind {
		err = errors.New("nothing came")
	}
	return err
}

// commandHost is the host of a command: what it takes of a quota is in the server's ledger, if
// there is one. done closes it.
func commandHost(cfg Config, log *slog.Logger) (h *host.Host, quotas *operatorQuotas, done func() error, err error) {
	quotas, settle := commandQuotas(cfg, log)
	cfg.Plugins.Quotas, cfg.Plugins.Tokens = quotas, newStageTokens(cfg)
	if h, err = host.New(cfg.Plugins, log); err != nil {
		return nil, nil, nil, errors.Join(err, settle())
	}
	return h, quotas, func() error { return errors.Join(h.Close(), settle()) }, nil
}

// readyPlugin finds a plugin that can be called.
func readyPlugin(h *host.Host, id string) (host.Plugin, error) {
	plugin, ok := h.Find(id)
	switch {
	case !ok:
		return plugin, fmt.Errorf("there is no plugin %q; see `scrollery plugins list`", id)
	case plugin.State != host.Ready:
		return plugin, fmt.Errorf("%s is %s: %s", id, plugin.State, plugin.Reason)
	}
	return plugin, nil
}

// tryout is one call whose answers are printed.
type tryout struct {
	host    *host.Host
	id      string
	out     io.Writer
	answers int
}

func (t *tryout) call(ctx context.Context, kind stage.Kind, c host.Conversation) (err error) {
	run := c.Run
	run.Number, run.Now, run.States = 1, time.Now().UnixMilli(), c.States
	var outcomes []stage.Outcome
	var summary stage.Summary
	switch {
	case c.Verb == "Refresh":
		outcomes, err = t.host.Refresh(ctx, t.id, run, c.Refs, printed[stage.Record](t, "record"))
	case c.Verb == "Media":
		outcomes, err = t.media(ctx, run, c.Refs)
	case kind == stage.SourceKind:
		outcomes, err = t.host.Collect(ctx, t.id, run, c.Seeds, printed[stage.Record](t, "record"))
	case kind == stage.PlanKind:
		var seeds []stage.Seed
		seeds, err = t.host.Plan(ctx, t.id, run, c.Seeds)
		_ = printed[stage.Seed](t, "seed")(seeds)
	case kind == stage.BriefKind:
		var sentences []stage.Sentence
		sentences, _, err = t.host.Brief(ctx, t.id, run, c.Facts)
		_ = printed[stage.Sentence](t, "sentence")(sentences)
	case kind == stage.ScreenKind:
		summary, err = t.host.Screen(ctx, t.id, run, once(c.Records), printed[stage.Verdict](t, "verdict"))
	default:
		err = t.host.Evidence(ctx, t.id, run, once(c.Records), printed[stage.Finding](t, "finding"))
	}
	for _, outcome := range outcomes {
		conformance.Line(t.out, "outcome", outcome)
	}
	for _, id := range summary.Unclear {
		conformance.Line(t.out, "unclear", id)
	}
	for _, note := range summary.Notes {
		conformance.Line(t.out, "note", note)
	}
	return err
}

// media fetches into a folder that is deleted.
func (t *tryout) media(ctx context.Context, run stage.Run, refs []stage.Ref) ([]stage.Outcome, error) {
	folder, err := t.host.MediaFolder()
	if err != nil {
		return nil, err
	}
	defer folder.Remove()
	return folder.Fetch(ctx, t.id, run, refs, func(file stage.File) error {
		file.Name = filepath.Base(file.Name)
		return printed[stage.File](t, "file")([]stage.File{file})
	})
}

// printed prints and counts answers.
func printed[T any](t *tryout, what string) func([]T) error {
	return func(batch []T) error {
		t.answers += len(batch)
		for _, one := range batch {
			conformance.Line(t.out, what, one)
		}
		return nil
	}
}

// once gives records in one batch.
func once(records []stage.Record) func() ([]stage.Record, error) {
	return func() ([]stage.Record, error) {
		if records == nil {
			return nil, io.EOF
		}
		batch := records
		records = nil
		return batch, nil
	}
}
