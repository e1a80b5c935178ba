package stage

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"

	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// ahead is how many batches of input the stage asks for in advance.
const ahead = 4

// input is the stage's view of what the host sends. Seeds and refs come unasked;
// records come as asked for, so that a slow stage is not flooded.
type input struct {
	ctx     context.Context
	sender  *sender
	batches chan *stagev1.Input
	grants  chan *stagev1.Grant
	current []*stagev1.Record
	ended   bool
	asked   bool
	states  map[Seed][]byte // of the seeds, by Seed.Place
}

// read pumps the stream until its end. The channel holds all that was asked
// for; a host that sends more waits in gRPC's window.
func (in *input) read(stream grpc.BidiStreamingServer[stagev1.CallRequest, stagev1.CallResponse], fail context.CancelCauseFunc) {
	open := true
	end := func() {
		if open {
			close(in.batches)
			open = false
		}
	}
	defer end()
	for {
		message, err := stream.Recv()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				fail(err)
			}
			return
		}
		if grant := message.GetGrant(); grant != nil {
			select {
			case in.grants <- grant:
				continue
			default:
				fail(errors.New("the host granted what was not asked for"))
				return
			}
		}
		batch := message.GetInput()
		if batch == nil || !open {
			fail(errors.New("the host sent what is not input"))
			return
		}
		select {
		case in.batches <- batch:
		case <-in.ctx.Done():
			return
		}
		if batch.GetLast() {
			end() // grants may follow
		}
	}
}

// all waits for the seeds and refs of a source's call.
func (in *input) all() ([]Seed, []Ref, error) {
	seeds, refs, _, err := in.everything()
	return seeds, refs, err
}

// everything waits for the seeds, refs and facts of a call.
func (in *input) everything() (seeds []Seed, refs []Ref, facts []Fact, err error) {
	for {
		batch, err := in.batch()
		if err != nil {
			return nil, nil, nil, err
		}
		for _, fact := range batch.GetFacts() {
			facts = append(facts, DecodeFact(fact))
		}
		for _, seed := range batch.GetSeeds() {
			one := DecodeSeed(seed)
			seeds = append(seeds, one)
			if state := seed.GetState(); len(state) > 0 {
				if in.states == nil {
					in.states = map[Seed][]byte{}
				}
				in.states[one.Place()] = state
			}
		}
		for _, ref := range batch.GetRefs() {
			refs = append(refs, DecodeRef(ref))
		}
		if batch.GetLast() {
			return seeds, refs, facts, nil
		}
	}
}

// next is the record after the last one, or io.EOF.
func (in *input) next() (Record, error) {
	for len(in.current) == 0 {
		if in.ended {
			return Record{}, io.EOF
		}
		if err := in.want(); err != nil {
			return Record{}, err
		}
		batch, err := in.batch()
		if err != nil {
			return Record{}, err
		}
		in.current, in.ended = batch.GetRecords(), batch.GetLast()
	}
	var one Record
	one, in.current = DecodeRecord(in.current[0]), in.current[1:]
	return one, nil
}

func (in *input) want() error {
	want := int32(1)
	if !in.asked {
		in.asked, want = true, ahead
	}
	return in.sender.progress("", want)
}

func (in *input) batch() (*stagev1.Input, error) {
	select {
	case batch, ok := <-in.batches:
		if !ok {
			if err := context.Cause(in.ctx); err != nil {
				return nil, err
			}
			return nil, io.ErrUnexpectedEOF
		}
		return batch, nil
	case <-in.ctx.Done():
		return nil, context.Cause(in.ctx)
	}
}
