package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// maxSeeds is how many seeds a plan stage may find.
const maxSeeds = 200

// Plan asks a plan stage where to look, given the seeds that are known already.
func (s *Session) Plan(ctx context.Context, id string, run stage.Run, seeds []stage.Seed) ([]stage.Seed, error) {
	var found []stage.Seed
	_, err := s.host.call(ctx, s, id, run, verb{
		kind: stage.PlanKind, name: "Plan", most: maxSeeds,
		open:    stagev1.StageServiceClient.Plan,
		unasked: seedInput(seeds),
		take: takeSeeds(func(batch []stage.Seed) error {
			found = append(found, batch...)
			return nil
		}),
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// maxSentences is how many sentences a brief may have.
const maxSentences = 50

// Brief asks a brief stage for sentences that rest on facts. dropped counts those that
// cite nothing, or anything but the facts.
func (h *Host) Brief(ctx context.Context, id string, run stage.Run, facts []stage.Fact) (sentences []stage.Sentence, dropped int, err error) {
	_, err = h.call(ctx, h.alone(), id, run, verb{
		kind: stage.BriefKind, name: "Brief", most: maxSentences,
		open:    stagev1.StageServiceClient.Brief,
		unasked: chunks(facts, factInput),
		take: takeSentences(facts, &dropped, func(batch []stage.Sentence) error {
			sentences = append(sentences, batch...)
			return nil
		}),
	})
	return sentences, dropped, err
}

func factInput(facts []stage.Fact, last bool) *stagev1.Input {
	input := &stagev1.Input{Last: last}
	for i := range facts {
		input.Facts = append(input.Facts, stage.EncodeFact(&facts[i]))
	}
	return input
}

func seedInput(seeds []stage.Seed) []*stagev1.Input {
	input := make([]*stagev1.Seed, 0, len(seeds))
	for _, seed := range seeds {
		input = append(input, stage.EncodeSeed(seed))
	}
	return chunks(input, func(batch []*stagev1.Seed, last bool) *stagev1.Input {
		return &stagev1.Input{Seeds: batch, Last: last}
	})
}

// Collect asks a source for videos. Emit gets clean records in batches, from this
// goroutine, and the source waits while it works. What was emitted before an
// error stays good. Errors are *record.CallError, but for emit's own and the end of ctx.
// The states of run.States go with the seeds, and new ones come to it after the records
// before them were emitted, from this goroutine.
func (s *Session) Collect(ctx context.Context, id string, run stage.Run, seeds []stage.Seed, emit func([]stage.Record) error) ([]stage.Outcome, error) {
	return s.host.source(ctx, s, id, run, verb{
		kind: stage.SourceKind, name: "Collect",
		open: stagev1.StageServiceClient.Collect, keep: keepIn(seeds, run.States),
		bill: newBill(seeds, func(some []stage.Seed) []*stagev1.Input { return statedInput(some, run.States) }, func(seed stage.Seed) payable {
			return payable{seed.Text(), seed.Platform, seed.Limit}
		}),
		take: takeRecords(emit),
	})
}

// Refresh asks a source for the present state of known videos.
func (h *Host) Refresh(ctx context.Context, id string, run stage.Run, refs []stage.Ref, emit func([]stage.Record) error) ([]stage.Outcome, error) {
	return h.source(ctx, nil, id, run, verb{
		kind: stage.SourceKind, name: "Refresh",
		open: stagev1.StageServiceClient.Refresh,
		bill: newBill(refs, refInput, func(ref stage.Ref) payable { return payable{ref.ExternalID, ref.Platform, 1} }),
		take: takeRecords(emit),
	})
}

func refInput(refs []stage.Ref) []*stagev1.Input {
	return chunks(refs, func(batch []stage.Ref, last bool) *stagev1.Input {
		input := &stagev1.Input{Last: last}
		for _, ref := range batch {
			input.Refs = append(input.Refs, stage.EncodeRef(ref))
		}
		return input
	})
}

// source asks for all that the budget covers, as often as money that was given back covers more.
func (h *Host) source(ctx context.Context, s *Session, id string, run stage.Run, v verb) (outcomes []stage.Outcome, err error) {
	for more := true; more && err == nil; more = v.bill.more() {
		var done *stagev1.Done
		done, err = h.call(ctx, s, id, run, v)
		outcomes = append(outcomes, stage.DecodeOutcomes(done.GetOutcomes())...)
	}
	for i := range outcomes {
		outcomes[i].Clean()
	}
	if err == nil {
		outcomes = append(outcomes, v.bill.refusals(id)...)
	}
	return outcomes, err
}

// Screen has a stage judge records. Next and emit are called from this goroutine,
// never at once; next answers io.EOF after the last batch. A verdict on a video
// that was not asked about, or a second one, is refused.
func (s *Session) Screen(ctx context.Context, id string, run stage.Run, next func() ([]stage.Record, error), emit func([]stage.Verdict) error) (stage.Summary, error) {
	asked := newAsked()
	done, err := s.host.call(ctx, s, id, run, verb{
		kind: stage.ScreenKind, name: "Screen",
		open: stagev1.StageServiceClient.Screen,
		next: asked.batches(next),
		take: takeVerdicts(asked, emit),
	})
	return stage.Summary{Unclear: capped(done.GetUnclearRules()), Notes: notes(done.GetNotes()), Readings: readings(done.GetReadings())}, err
}

// Evidence has a stage look for what the first seconds of videos show and say.
func (s *Session) Evidence(ctx context.Context, id string, run stage.Run, next func() ([]stage.Record, error), emit func([]stage.Finding) error) error {
	return s.host.evidence(ctx, s, id, run, nil, next, emit)
}

func (h *Host) evidence(ctx context.Context, s *Session, id string, run stage.Run, reads []string, next func() ([]stage.Record, error), emit func([]stage.Finding) error) error {
	asked := newAsked()
	_, err := h.call(ctx, s, id, run, verb{
		kind: stage.EvidenceKind, name: "Evidence", reads: reads,
		open: stagev1.StageServiceClient.Evidence,
		next: asked.batches(next),
		take: takeFindings(asked, emit),
	})
	return err
}

// Check has a stage of any kind say whether its settings, secrets and connection work, with
// those that a call for the tenant of the context would have. line is for people, in the
// stage's words, without secrets and of at most [stage.MaxChecked] characters. The error is a
// *stage.CallError, or the end of ctx. A check has [stage.CheckWithin] from here on, in which
// it waits for its turn too, and a process of its own; what it spends of quotas is spent.
func (h *Host) Check(ctx context.Context, id string) (line string, err error) {
	inner, cancel := context.WithTimeoutCause(ctx, h.checkWithin, errCheck)
	defer cancel()
	done, err := h.call(inner, h.alone(), id, stage.Run{Number: 1, Now: time.Now().UnixMilli()}, verb{
		name: "Check", open: stagev1.StageServiceClient.Check,
		unasked: []*stagev1.Input{{Last: true}}, take: takeNothing,
	})
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(inner), errCheck) {
		err = &stage.CallError{Stage: id, Failure: stage.StageTimeout, Retry: true, Cause: errCheck}
	}
	if err != nil {
		return "", err
	}
	return checked(done), nil
}

// checked is the line of a check for people.
func checked(done *stagev1.Done) string {
	line := []rune(Printable(strings.Join(strings.Fields(done.GetChecked()), " ")))
	if len(line) > stage.MaxChecked {
		line = append(line[:stage.MaxChecked-1], '…')
	}
	return cmp.Or(string(line), "works")
}

// takeNothing ends a call whose whole answer is its end.
func takeNothing(message *stagev1.CallResponse) (tally, error) {
	return tally{}, protocol("sent %T in a check, whose whole answer is Done", message.GetMessage())
}

// chunks cuts a source's input into messages, the last of them marked.
func chunks[M any](items []M, wrap func(batch []M, last bool) *stagev1.Input) []*stagev1.Input {
	return chunksOf(items, 1000, wrap)
}

func chunksOf[M any](items []M, most int, wrap func(batch []M, last bool) *stagev1.Input) []*stagev1.Input {
	var inputs []*stagev1.Input
	for len(items) > most {
		inputs = append(inputs, wrap(items[:most], false))
		items = items[most:]
	}
	return append(inputs, wrap(items, true))
}

// notes are few and short: people read them.
func notes(texts []string) []string {
	texts = texts[:min(len(texts), 20)]
	for i, text := range texts {
		texts[i] = strings.ToValidUTF8(text[:min(len(text), stage.MaxLabel)], "")
	}
	return texts
}

// readings keeps a stage from saying more of a ruleset than people read.
func readings(said []*stagev1.Reading) (all []stage.Reading) {
	for _, one := range said[:min(len(said), 1000)] {
		rule, text := one.GetRule(), one.GetText()
		all = append(all, stage.Reading{
			Rule: strings.ToValidUTF8(rule[:min(len(rule), 4*stage.MaxLabel)], ""), Text: strings.ToValidUTF8(text[:min(len(text), 4*stage.MaxLabel)], ""),
		})
	}
	return all
}

// capped keeps a stage from naming more than a ruleset can hold.
func capped(ids []string) []string { return ids[:min(len(ids), 10_000)] }

func quote(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}
