package scrolls

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/scrolls/plan"
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
	// of each, the newest of those in one batch.
	Repeated int
	// Refused are records that no database can store.
	Refused int
}

// importBatch is how many readings of an import are archived in one transaction, in
// which other writers of SQLite wait.
const importBatch = 500

// intake finds out which readings of an import the library does not have, one batch
// after another. A batch is archived before the next one is made, so that an import of any
// length needs the memory of one.
type intake struct {
	r    *run
	next func() ([]Reading, error)
	// seeds name the accounts that readings may belong to.
	seeds   []stage.Seed
	tallies []Tally
	// total is how many readings there are, 0 if that is not known; passed are archived.
	total, passed int
	// fresh readings wait for a batch.
	fresh []item
	// seen are the videos of the present batch.
	seen map[stage.Ref]sighting
	// batches that were made.
	batches int
	ended   bool
	// looked and faults are the results of the evidence stages so far.
	looked []Looked
	faults map[string]int
}

// newIntake prepares the run for the readings of next; total is how many there are, 0 if
// that is not known.
func (r importing) newIntake(next func() ([]Reading, error), total int) *intake {
	return &intake{
		r: r.run, next: next, total: total, seeds: plan.Seeds(r.call.Brief, nil, "", r.template.options(0)),
		seen: map[stage.Ref]sighting{}, faults: map[string]int{},
	}
}

// sighting is the reading of a video that the present batch has.
type sighting struct {
	at    int64
	part  int
	known bool
	// index is its place in the batch.
	index int
}

// batch returns the next readings to archive, one of a video, or io.EOF.
func (in *intake) batch(ctx context.Context) ([]item, error) {
	clear(in.seen)
	if in.batches > 0 { // the last batch has changed the library
		waiting := make([]Reading, len(in.fresh))
		for i, f := range in.fresh {
			waiting[i] = Reading{Record: f.record, Part: f.part}
		}
		in.fresh = nil
		if err := in.sort(ctx, waiting); err != nil {
			return nil, err
		}
	}
	var batch []item
	for most := in.r.atOnce; len(batch) < most; {
		err := in.look(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		batch = in.take(batch, most)
	}
	if in.batches++; len(batch) == 0 {
		return nil, io.EOF
	}
	return batch, nil
}

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

// take adds waiting readings to a batch of at most so many: of a video the newest, of
// equally new ones the first.
func (in *intake) take(batch []item, most int) []item {
	n := min(len(in.fresh), most-len(batch))
	next := in.fresh[:n]
	in.fresh = in.fresh[n:]
	for _, f := range next {
		now := sighting{in.r.call.Now, f.part, f.known, len(batch)}
		if at := f.record.Metrics.ObservedAt; at != nil {
			now.at = *at
		}
		had, seen := in.seen[f.record.Ref]
		if seen && now.at <= had.at {
			in.tally(f.part).Repeated++
			continue
		}
		*in.count(now)++
		if !seen {
			batch = append(batch, f)
		} else {
			*in.count(had)--
			in.tally(had.part).Repeated++
			now.index = had.index
			batch[had.index] = f
		}
		in.seen[f.record.Ref] = now
	}
	return batch
}

// welcome leaves out of a batch, and of the tallies, what was deleted from the library.
func (in *intake) welcome(ctx context.Context, batch []item) ([]item, error) {
	welcome, err := in.r.welcome(ctx, batch)
	if err != nil || len(welcome) == len(batch) {
		return batch, err
	}
	left := map[stage.Ref]bool{}
	for i := range welcome {
		left[welcome[i].record.Ref] = true
	}
	for i := range batch {
		if ref := batch[i].record.Ref; !left[ref] {
			*in.count(in.seen[ref])--
		}
	}
	return welcome, nil
}

// recount corrects the tallies where fewer videos of an archived batch were new than it
// seemed: another import, or a scroll, has archived them meanwhile.
func (in *intake) recount(ctx context.Context, batch []item, added int) error {
	var refs []stage.Ref
	for i := range batch {
		if !batch[i].known {
			refs = append(refs, batch[i].record.Ref)
		}
	}
	if added >= len(refs) {
		return nil
	}
	observed, err := in.r.s.needs.Library.ObservedIn(ctx, nil, refs)
	if err != nil {
		return fmt.Errorf("ask library: %w", err)
	}
	for i := range batch {
		scrolls, tally := observed[batch[i].record.Ref], in.tally(batch[i].part)
		_, mine := scrolls[in.r.id]
		switch {
		case batch[i].known || mine && len(scrolls) == 1:
		case mine:
			tally.New, tally.Again = tally.New-1, tally.Again+1
		case len(scrolls) > 0:
			tally.New, tally.Same = tally.New-1, tally.Same+1
		}
	}
	return nil
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
func (in *intake) usable(readings []Reading) (usable []Reading) {
	usable = make([]Reading, 0, len(readings))
	for _, reading := range readings {
		rec := &reading.Record
		rec.Platform = strings.ToLower(rec.Platform)
		if !storable(*rec) {
			in.tally(reading.Part).Refused++
			continue
		}
		in.r.s.receive(rec, in.seeds)
		rec.Seed = ""
		usable = append(usable, reading)
	}
	return usable
}

// sort separates readings that the library has from fresh ones.
func (in *intake) sort(ctx context.Context, readings []Reading) error {
	if len(readings) == 0 {
		return nil
	}
	records := make([]*stage.Record, len(readings))
	for i := range readings {
		records[i] = &readings[i].Record
	}
	last, repeats, err := in.r.s.needs.Library.LastObserved(ctx, records)
	if err != nil {
		return fmt.Errorf("ask library: %w", err)
	}
	before, err := in.before(ctx, readings, last)
	if err != nil {
		return err
	}
	var same []stage.Record
	for i, reading := range readings {
		ref, at := reading.Record.Ref, reading.Record.Metrics.ObservedAt
		observed, known := last[ref]
		_, mine := before[ref][in.r.id]
		switch {
		case known && (reading.Record.Unread || at != nil && (observed == *at || contains(before[ref], *at))):
			if in.tally(reading.Part).Same++; !repeats[i] {
				same = append(same, reading.Record)
			}
		case mine:
			in.tally(reading.Part).Repeated++
		default:
			in.fresh = append(in.fresh, item{id: in.r.s.db.NewID(), record: reading.Record, source: importTemplate, part: reading.Part, known: known})
		}
	}
	return in.renew(ctx, same)
}

// before returns earlier observations where the last one is not enough: all of a video
// of which a reading is older, and those by this import, once it has archived a batch.
func (in *intake) before(ctx context.Context, readings []Reading, last map[stage.Ref]int64) (map[stage.Ref]map[int64]int64, error) {
	var older, others []stage.Ref
	for _, reading := range readings {
		ref, at := reading.Record.Ref, reading.Record.Metrics.ObservedAt
		observed, known := last[ref]
		switch {
		case !known:
		case at != nil && *at < observed:
			older = append(older, ref)
		case at != nil && *at == observed: // the same reading
		case in.batches > 0:
			others = append(others, ref)
		}
	}
	found := map[stage.Ref]map[int64]int64{}
	for _, ask := range []struct {
		scrolls []int64
		refs    []stage.Ref
	}{{[]int64{in.r.id}, others}, {nil, older}} { // a video may be in both: all of it counts
		if len(ask.refs) == 0 {
			continue
		}
		some, err := in.r.s.needs.Library.ObservedIn(ctx, ask.scrolls, ask.refs)
		if err != nil {
			return nil, fmt.Errorf("ask library: %w", err)
		}
		maps.Copy(found, some)
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

// renew updates the documents of known readings that say something new, without an
// observation: an earlier import may have read the file badly.
func (in *intake) renew(ctx context.Context, same []stage.Record) error {
	if len(same) == 0 {
		return nil
	}
	r := in.r
	err := r.s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		_, err := r.s.needs.Archiver.Renew(ctx, tx, Batch{ScrollID: r.id, Subject: r.state.subject, Stage: importTemplate, At: r.call.Now, Records: same})
		return err
	})
	if err != nil {
		return fmt.Errorf("renew: %w", err)
	}
	return nil
}
