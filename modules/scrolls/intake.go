package scrolls

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Reading is one record of an import.
type Reading struct {
	Record stage.Record
	// Part is the number, from 0, of the part of the import that it came from, such as
	// a file.
	Part int
}

// Tally counts what became of readings.
type Tally struct {
	// New are videos that the library did not have.
	New int
	// Again are known videos that get one more observation.
	Again int
	// Same are readings that the library has already.
	Same int
	// Repeated are further readings of a video of the same import: a scroll keeps one
	// of each, the newest of those in one portion.
	Repeated int
	// Refused are records that no database can store.
	Refused int
}

// intake is the source of an import, beside the installed stages. It delivers the
// readings that the library does not have, one portion at each call of Collect. A
// portion is archived before the next one is read, so that an import of any length
// needs the memory of one.
type intake struct {
	Stages
	r *run
	// next is nil in a run whose command is gone.
	next func() ([]Reading, error)
	// seeds name the accounts that readings may belong to.
	seeds   []stage.Seed
	tallies []Tally
	// fresh readings wait to be delivered.
	fresh []fresh
	// seen are the videos of the present portion.
	seen map[stage.Ref]sighting
	// portions that have been delivered.
	portions int
	ended    bool
}

// fresh is a reading that the library does not have; known means that it has the video.
type fresh struct {
	Reading
	known bool
}

// sighting is the reading of a video that the present portion has.
type sighting struct {
	at    int64
	part  int
	known bool
}

// Find describes the source of the import, or another stage.
func (in *intake) Find(id string) Stage {
	if id != importTemplate {
		return in.Stages.Find(id)
	}
	return Stage{ID: id, Kind: stage.SourceKind, Usable: true}
}

// Session begins one of the installed stages.
func (in *intake) Session() (stages Stages, end func()) {
	in.Stages, end = in.Stages.Session()
	return in, end
}

// Collect delivers a portion. A newer reading of a video follows an older one.
func (in *intake) Collect(ctx context.Context, _ string, _ stage.Run, _ []stage.Seed, emit func([]stage.Record) error) ([]stage.Outcome, error) {
	if in.next == nil {
		return nil, &stage.CallError{Stage: Collect, Failure: internalFailure, Cause: errors.New("the command that imported is gone")}
	}
	in.seen = map[stage.Ref]sighting{}
	if in.portions > 0 { // the last portion has changed the library
		waiting := make([]Reading, len(in.fresh))
		for i, f := range in.fresh {
			waiting[i] = f.Reading
		}
		in.fresh = nil
		if err := in.sort(ctx, waiting); err != nil {
			return nil, err
		}
	}
	for len(in.seen) < in.r.s.cfg.MaxRecords {
		err := in.look(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := emit(in.take()); err != nil {
			return nil, err
		}
	}
	in.portions++
	return nil, nil
}

// more reports whether readings may be left.
func (in *intake) more() bool { return !in.ended || len(in.fresh) > 0 }

// look reads on until a fresh reading waits, and returns io.EOF when none is left.
func (in *intake) look(ctx context.Context) error {
	for len(in.fresh) == 0 {
		if in.ended {
			return io.EOF
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		readings, err := in.next()
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read: %w", err)
		}
		in.ended = err != nil
		if err := in.sort(ctx, in.usable(readings)); err != nil {
			return err
		}
	}
	return nil
}

// take returns the next waiting readings that are the newest of their video, of
// equally new ones the first.
func (in *intake) take() []stage.Record {
	n := min(len(in.fresh), in.r.s.cfg.BatchSize, in.r.s.cfg.MaxRecords-len(in.seen))
	batch := in.fresh[:n]
	in.fresh = in.fresh[n:]
	records := make([]stage.Record, 0, n)
	for _, f := range batch {
		now := sighting{in.r.call.Now, f.Part, f.known}
		if at := f.Record.Metrics.ObservedAt; at != nil {
			now.at = *at
		}
		if had, seen := in.seen[f.Record.Ref]; seen {
			if now.at <= had.at {
				in.tally(f.Part).Repeated++
				continue
			}
			*in.count(had)--
			in.tally(had.part).Repeated++
		}
		*in.count(now)++
		in.seen[f.Record.Ref] = now
		records = append(records, f.Record)
	}
	return records
}

func (in *intake) tally(part int) *Tally {
	for len(in.tallies) <= part {
		in.tallies = append(in.tallies, Tally{})
	}
	return &in.tallies[part]
}

func (in *intake) count(s sighting) *int {
	if s.known {
		return &in.tally(s.part).Again
	}
	return &in.tally(s.part).New
}

// usable leaves out what no database can store. The seed of a reading only serves to
// attribute it: coverage counts all readings of an import together.
func (in *intake) usable(readings []Reading) []Reading {
	kept := make([]Reading, 0, len(readings))
	for _, reading := range readings {
		rec := &reading.Record
		rec.Platform = strings.ToLower(rec.Platform)
		if !storable(*rec) {
			in.tally(reading.Part).Refused++
			continue
		}
		in.r.s.receive(rec, in.seeds)
		rec.Seed = ""
		kept = append(kept, reading)
	}
	return kept
}

// sort separates readings that the library has from fresh ones.
func (in *intake) sort(ctx context.Context, readings []Reading) error {
	if len(readings) == 0 {
		return nil
	}
	refs := make([]stage.Ref, len(readings))
	for i := range readings {
		refs[i] = readings[i].Record.Ref
	}
	last, err := in.r.s.needs.Library.LastObserved(ctx, refs)
	if err != nil {
		return fmt.Errorf("ask library: %w", err)
	}
	before, err := in.before(ctx, readings, last)
	if err != nil {
		return err
	}
	var same []stage.Record
	for _, reading := range readings {
		ref, at := reading.Record.Ref, reading.Record.Metrics.ObservedAt
		observed, known := last[ref]
		_, mine := before[ref][in.r.id]
		switch {
		case at != nil && known && (observed == *at || contains(before[ref], *at)):
			in.tally(reading.Part).Same++
			same = append(same, reading.Record)
		case known && reading.Record.Unread:
			in.tally(reading.Part).Same++
			same = append(same, reading.Record)
		case mine:
			in.tally(reading.Part).Repeated++
		default:
			in.fresh = append(in.fresh, fresh{reading, known})
		}
	}
	return in.renew(ctx, same)
}

// before returns earlier observations where the last one is not enough: where a
// reading is older than it, and where this import has archived a portion.
func (in *intake) before(ctx context.Context, readings []Reading, last map[stage.Ref]int64) (map[stage.Ref]map[int64]int64, error) {
	var older, known []stage.Ref
	for _, reading := range readings {
		observed, ok := last[reading.Record.Ref]
		if !ok {
			continue
		}
		known = append(known, reading.Record.Ref)
		if at := reading.Record.Metrics.ObservedAt; at != nil && *at < observed {
			older = append(older, reading.Record.Ref)
		}
	}
	if in.portions > 0 {
		older = known
	}
	if len(older) == 0 {
		return nil, nil
	}
	found, err := in.r.s.needs.Library.ObservedIn(ctx, nil, older)
	if err != nil {
		return nil, fmt.Errorf("ask library: %w", err)
	}
	return found, nil
}

func contains(times map[int64]int64, at int64) bool {
	for _, time := range times {
		if time == at {
			return true
		}
	}
	return false
}

// renew updates the documents of known readings, without an observation: an earlier
// import may have read the file badly.
func (in *intake) renew(ctx context.Context, same []stage.Record) error {
	if len(same) == 0 {
		return nil
	}
	r := in.r
	err := r.s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		_, err := r.s.needs.Archiver.Renew(ctx, tx, Batch{ScrollID: r.id, Subject: r.state.subject, Stage: Observe, At: r.call.Now, Records: same})
		return err
	})
	if err != nil {
		return fmt.Errorf("renew: %w", err)
	}
	return nil
}
