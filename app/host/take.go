package host

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

func takeSeeds(emit func([]stage.Seed) error) func(*stagev1.CallResponse) (tally, error) {
	return func(message *stagev1.CallResponse) (tally, error) {
		batch, ok := message.GetMessage().(*stagev1.CallResponse_Seeds)
		if !ok {
			return tally{}, protocol("sent %T instead of seeds", message.GetMessage())
		}
		return take(batch.Seeds.GetSeeds(), stage.DecodeSeed, (*stage.Seed).Clean, emit)
	}
}

func takeRecords(emit func([]stage.Record) error) func(*stagev1.CallResponse) (tally, error) {
	return func(message *stagev1.CallResponse) (tally, error) {
		batch, ok := message.GetMessage().(*stagev1.CallResponse_Records)
		if !ok {
			return tally{}, protocol("sent %T instead of records", message.GetMessage())
		}
		return take(batch.Records.GetRecords(), stage.DecodeRecord, (*stage.Record).Clean, emit)
	}
}

func takeVerdicts(asked *asked, emit func([]stage.Verdict) error) func(*stagev1.CallResponse) (tally, error) {
	return func(message *stagev1.CallResponse) (tally, error) {
		batch, ok := message.GetMessage().(*stagev1.CallResponse_Verdicts)
		if !ok {
			return tally{}, protocol("sent %T instead of verdicts", message.GetMessage())
		}
		return take(batch.Verdicts.GetVerdicts(), stage.DecodeVerdict, func(v *stage.Verdict) (stage.Repairs, error) {
			repairs, err := v.Clean()
			return repairs, errors.Join(err, asked.answer(v.Ref))
		}, emit)
	}
}

func takeFindings(asked *asked, emit func([]stage.Finding) error) func(*stagev1.CallResponse) (tally, error) {
	return func(message *stagev1.CallResponse) (tally, error) {
		batch, ok := message.GetMessage().(*stagev1.CallResponse_Findings)
		if !ok {
			return tally{}, protocol("sent %T instead of findings", message.GetMessage())
		}
		var refused error
		count, err := take(batch.Findings.GetFindings(), stage.DecodeFinding, func(f *stage.Finding) (stage.Repairs, error) {
			repairs, err := f.Clean()
			if errors.Is(err, stage.ErrFrames) {
				refused = protocol("sent what is not kept: %v", err)
			}
			return repairs, errors.Join(err, asked.answer(f.Ref))
		}, emit)
		return count, cmp.Or(err, refused)
	}
}

var errUncited = errors.New("cites what is no fact")

// takeSentences refuses sentences that cite anything but the facts, and adds them to dropped.
func takeSentences(facts []stage.Fact, dropped *int, emit func([]stage.Sentence) error) func(*stagev1.CallResponse) (tally, error) {
	known := make(map[string]bool, len(facts))
	for i := range facts {
		known[facts[i].ID] = true
		for _, id := range facts[i].Examples {
			known[id] = true
		}
	}
	return func(message *stagev1.CallResponse) (tally, error) {
		batch, ok := message.GetMessage().(*stagev1.CallResponse_Sentences)
		if !ok {
			return tally{}, protocol("sent %T instead of sentences", message.GetMessage())
		}
		count, err := take(batch.Sentences.GetSentences(), stage.DecodeSentence, func(s *stage.Sentence) (stage.Repairs, error) {
			repairs, err := s.Clean()
			if slices.ContainsFunc(s.Cites, func(id string) bool { return !known[id] }) {
				err = errUncited
			}
			return repairs, err
		}, emit)
		*dropped += count.refused
		return count, err
	}
}

// take decodes, cleans and hands on one batch.
func take[M proto.Message, T any](messages []M, decode func(M) T, clean func(*T) (stage.Repairs, error), emit func([]T) error) (tally, error) {
	var count tally
	batch := make([]T, 0, len(messages))
	for _, message := range messages {
		if proto.Size(message) > stage.MaxRecord {
			count.refused++
			continue
		}
		one := decode(message)
		repairs, err := clean(&one)
		if err != nil {
			count.refused++
			continue
		}
		count.repairs.Add(repairs)
		batch = append(batch, one)
	}
	count.taken = len(batch)
	if len(batch) == 0 {
		return count, nil
	}
	if err := emit(batch); err != nil {
		return count, &callerError{err}
	}
	return count, nil
}

// asked keeps what a stage was asked about.
type asked struct{ open map[stage.Ref]bool }

func newAsked() *asked { return &asked{open: map[stage.Ref]bool{}} }

func askedFor(refs []stage.Ref) *asked {
	a := newAsked()
	for _, ref := range refs {
		a.open[ref] = true
	}
	return a
}

var errUnasked = errors.New("was not asked about")

func (a *asked) answer(ref stage.Ref) error {
	if !a.open[ref] {
		return errUnasked
	}
	a.open[ref] = false
	return nil
}

// batches cuts what the caller gives to the wire's measure.
func (a *asked) batches(next func() ([]stage.Record, error)) func() (*stagev1.Input, error) {
	var pending []stage.Record
	ended := false
	return func() (*stagev1.Input, error) {
		for len(pending) == 0 && !ended {
			batch, err := next()
			if errors.Is(err, io.EOF) {
				ended, err = true, nil
			}
			if err != nil {
				return nil, err
			}
			pending = batch
		}
		if len(pending) == 0 {
			return nil, nil
		}
		input, size := &stagev1.Input{}, 0
		for len(pending) > 0 && len(input.Records) < stage.BatchItems {
			message := stage.EncodeRecord(&pending[0])
			if size += proto.Size(message); size > stage.BatchBytes && len(input.Records) > 0 {
				break
			}
			a.open[pending[0].Ref] = true
			input.Records = append(input.Records, message)
			pending = pending[1:]
		}
		return input, nil
	}
}
