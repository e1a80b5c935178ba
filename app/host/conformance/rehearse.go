package conformance

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// Rehearsal is a call of a plugin with settings, secrets and input of its author.
type Rehearsal struct {
	Settings, Secrets map[string]string
	// Verb is a verb that the plugin has, as [Verb] takes it; empty is that of its kind.
	Verb string
	// Input has a JSON object in each line: seeds of a source or a plan stage, refs of refresh and
	// media, facts of a brief, records of the others. A seed of a source may have a text `state`.
	// Nil is no input.
	Input io.Reader
	// Run is a JSON object with brief, rules, prompt and pages, as stages get them. Nil is none.
	Run io.Reader
	// Within bounds the call; 0 is the time that the plugin asks for, or a minute.
	Within time.Duration
}

// usualCall is how long a call may take that neither the plugin nor its author bounds.
const usualCall = time.Minute

// maxInput is the longest line of the input.
const maxInput = 2 << 20

// Rehearse makes the call, confined as a server would, and prints a line for each answer,
// and one that begins with FAIL for each rule that an answer breaks. It returns an error
// if there is any.
func Rehearse(ctx context.Context, path string, r Rehearsal, out io.Writer) error {
	output := &tail{}
	server, trial, _, err := binary(path, output)
	if err != nil {
		return err
	}
	defer server.Close()
	c := &checker{Trial: trial}
	if err := c.handshake(ctx); err != nil {
		return err
	}
	call := host.Conversation{Stall: cmp.Or(min(c.Limits.Stall, server.Limits().Stall), server.Limits().Stall)}
	if call.Verb, err = Verb(r.Verb, c.Description); err != nil {
		return err
	}
	if err := r.Read(&call, trial.Kind); err != nil {
		return err
	}
	within := cmp.Or(r.Within, min(c.Limits.Call, server.Limits().Call), usualCall)
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var unconnected error
	if trial.Checks {
		unconnected = r.check(ctx, trial, out)
	}
	if call.Verb == "Check" {
		return unconnected
	}
	attempt, err := trial.StartWith(ctx, r.Settings, r.Secrets)
	if err != nil {
		return err
	}
	defer attempt.Stop()
	p := &printer{out: out, judge: judge{call: &call, spec: trial.Spec, answered: map[stage.Ref]int{}}}
	call.Hear = p.hear
	answers, failed, err := attempt.Converse(ctx, call)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("the call took longer than %v: set --within, or Limits.Call of the plugin", within)
	}
	if err != nil && p.broken == 0 {
		p.fail("the call", err)
	}
	attempt.Stop()
	if n := attempt.Noise(); n > 0 {
		p.fail("the call", fmt.Errorf("rule: standard output belongs to the handshake: %d lines were written to it", n))
	}
	fmt.Fprintf(out, "%d answers, %d rules broken\n", answers, p.broken)
	if p.broken > 0 {
		fmt.Fprint(out, host.Printable(output.String()))
		return errors.New("the plugin violates the rules of the protocol")
	}
	if failed {
		return errors.New("the plugin reports an error")
	}
	return unconnected
}

// check prints what the plugin says of the settings and secrets.
func (r Rehearsal) check(ctx context.Context, trial *host.Trial, out io.Writer) error {
	attempt, err := trial.StartWith(ctx, r.Settings, r.Secrets)
	if err != nil {
		return err
	}
	defer attempt.Stop()
	p := &printer{out: out}
	_, failed, err := attempt.Converse(ctx, host.Conversation{Verb: "Check", Hear: func(message *stagev1.CallResponse) {
		if done := message.GetDone(); done.GetError() != nil {
			p.line("check", map[string]string{"fault": done.GetError().GetFault(), "message": done.GetError().GetMessage()})
		} else if done != nil {
			p.line("check", done.GetChecked())
		}
	}})
	switch {
	case err != nil:
		return fmt.Errorf("check: %w", err)
	case failed:
		return errors.New("the plugin's check fails")
	}
	return nil
}

// Read reads the run and the input of a call of a plugin of a kind.
func (r Rehearsal) Read(call *host.Conversation, kind stage.Kind) error {
	if r.Run != nil {
		run := json.NewDecoder(r.Run)
		run.DisallowUnknownFields()
		if err := run.Decode(&call.Run); err != nil {
			return fmt.Errorf("run: %w; it may have brief, rules, prompt and pages", err)
		}
	}
	if r.Input == nil {
		return nil
	}
	lines := bufio.NewScanner(r.Input)
	lines.Buffer(nil, maxInput)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var err error
		if call.Verb != "" {
			kind = ""
		}
		switch kind {
		case "":
			err = add(lines.Bytes(), &call.Refs, func(ref *stage.Ref) error { return ref.Clean() })
		case stage.SourceKind, stage.PlanKind:
			err = addSeed(lines.Bytes(), call)
		case stage.BriefKind:
			err = add(lines.Bytes(), &call.Facts, func(*stage.Fact) error { return nil })
		default:
			err = add(lines.Bytes(), &call.Records, func(r *stage.Record) error { _, err := r.Clean(); return err })
		}
		if err != nil {
			return fmt.Errorf("input, line %d: %w", n, err)
		}
	}
	return lines.Err()
}

// states are what a source keeps of seeds, by place.
type states map[stage.Seed][]byte

func (s states) State(seed stage.Seed) []byte { return s[seed.Place()] }

func (s states) Keep(_ context.Context, seed stage.Seed, state []byte) error {
	s[seed.Place()] = state
	return nil
}

// addSeed reads a seed, with its state.
func addSeed(line []byte, call *host.Conversation) error {
	if err := add(line, &call.Seeds, func(s *stage.Seed) error { _, err := s.Clean(); return err }); err != nil {
		return err
	}
	var kept struct{ State string }
	if err := json.Unmarshal(line, &kept); err != nil || kept.State == "" {
		return err
	}
	if call.States == nil {
		call.States = states{}
	}
	return call.States.Keep(context.Background(), call.Seeds[len(call.Seeds)-1], []byte(kept.State))
}

func add[T any](line []byte, all *[]T, clean func(*T) error) error {
	var one T
	err := json.Unmarshal(line, &one)
	if err == nil {
		err = clean(&one)
	}
	*all = append(*all, one)
	return err
}

// printer shows what a plugin answers.
type printer struct {
	out    io.Writer
	judge  judge
	broken int
}

func (p *printer) hear(message *stagev1.CallResponse) {
	switch m := message.GetMessage().(type) {
	case *stagev1.CallResponse_Seeds:
		shown(p, "seed", m.Seeds.GetSeeds(), stage.DecodeSeed, (*stage.Seed).Clean)
	case *stagev1.CallResponse_Records:
		shown(p, "record", m.Records.GetRecords(), stage.DecodeRecord, p.judge.record)
	case *stagev1.CallResponse_Keep:
		p.line("state", map[string]any{"seed": stage.DecodeSeed(m.Keep.GetSeed()).Text(), "bytes": len(m.Keep.GetState()), "state": string(m.Keep.GetState())})
	case *stagev1.CallResponse_Files:
		for _, file := range m.Files.GetFiles() {
			p.judge.records++
			p.line("file", stage.File{Ref: stage.DecodeRef(file.GetRef()), Name: file.GetName()})
		}
	case *stagev1.CallResponse_Verdicts:
		shown(p, "verdict", m.Verdicts.GetVerdicts(), stage.DecodeVerdict, p.judge.verdict)
	case *stagev1.CallResponse_Findings:
		shown(p, "finding", m.Findings.GetFindings(), stage.DecodeFinding, p.judge.finding)
	case *stagev1.CallResponse_Sentences:
		shown(p, "sentence", m.Sentences.GetSentences(), stage.DecodeSentence, p.judge.sentence)
	case *stagev1.CallResponse_Done:
		for _, outcome := range stage.DecodeOutcomes(m.Done.GetOutcomes()) {
			p.line("outcome", outcome)
		}
		for _, note := range m.Done.GetNotes() {
			p.line("note", note)
		}
		if fault := m.Done.GetError(); fault != nil {
			p.line("error", map[string]string{"fault": fault.GetFault(), "message": fault.GetMessage()})
			return // what is missing then is no fault
		}
		for _, missing := range p.judge.missing(m.Done) {
			p.fail("the call", missing)
		}
	}
}

// shown prints answers and what is wrong with each.
func shown[M, T any](p *printer, what string, messages []M, decode func(M) T, clean func(*T) (stage.Repairs, error)) {
	for _, message := range messages {
		one := decode(message)
		p.line(what, one)
		repairs, err := clean(&one)
		if err != nil {
			p.fail(what, err)
		} else if repairs != (stage.Repairs{}) {
			p.line("repaired", repairs)
		}
	}
}

func (p *printer) line(what string, value any) { Line(p.out, what, value) }

// Line prints one answer of a plugin, as JSON.
func Line(out io.Writer, what string, value any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		fmt.Fprintf(&text, "%+v", value) // free-form JSON that is none
	}
	fmt.Fprintf(out, "%-8s %s\n", what, host.Printable(strings.TrimSpace(text.String())))
}

func (p *printer) fail(what string, err error) {
	p.broken++
	fmt.Fprintf(p.out, "FAIL     %s: %s\n", what, host.Printable(err.Error()))
}
