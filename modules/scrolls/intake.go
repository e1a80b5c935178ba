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
	// Part is which of the import's parts, from 0, it came from, such as a file.
	Part int
}

// Tally is what became of readings.
type Tally struct {
	// New are videos that the library did not have.
	New int
	// Again are known videos of which it has one more observation.
	Again int
	// Same are readings that it had already.
	Same int
	// Repeated are further readings of a video of the same import: a scroll keeps one
	// of each, the newest of those that stand near each other.
	Repeated int
	// Refused are records that no database could keep.
	Refused int
}

// intake sorts what an import brings.
type intake struct {
	r    *run
	next func() ([]Reading, error)
	// earlier are the tenant's imports before this one, the newest first.
	earlier []int64
	tallies []Tally
	// fresh waits to be collected.
	fresh []fresh
	// seen is where the videos of the present portion are.
	seen map[stage.Ref]sighting
	// portions that have been collected.
	portions int
	ended    bool
}

// fresh is a reading that the library does not have.
type fresh struct {
	Reading
	known bool
}

// sighting is a video that the present portion has.
type sighting struct {
	id, at int64
	part   int
	known  bool
}

func (s *Service) newIntake(ctx context.Context, r *run, next func() ([]Reading, error)) (*intake, error) {
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	earlier, err := s.earlierImports(ctx)
	if err != nil {
		return nil, fmt.Errorf("earlier imports: %w", err)
	}
	return &intake{r: r, next: next, earlier: earlier, seen: map[stage.Ref]sighting{}}, nil
}

func (in *intake) tally(part int) *Tally {
	for len(in.tallies) <= part {
		in.tallies = append(in.tallies, Tally{})
	}
	return &in.tallies[part]
}

// look reads on until something fresh waits; io.EOF when nothing is left.
func (in *intake) look(ctx context.Context) error {
	for len(in.fresh) == 0 {
		if in.ended {
			return io.EOF
		}
		if err := ctx.Err(); err != nil {
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

// more tells whether a portion may be left.
func (in *intake) more() bool { return !in.ended || len(in.fresh) > 0 }

// again sorts anew what was read before the last portion was archived.
func (in *intake) again(ctx context.Context) error {
	waiting := make([]Reading, len(in.fresh))
	for i, f := range in.fresh {
		waiting[i] = f.Reading
	}
	in.fresh = nil
	return in.sort(ctx, waiting)
}

// usable leaves out what no database could keep.
func (in *intake) usable(readings []Reading) []Reading {
	kept := make([]Reading, 0, len(readings))
	for _, reading := range readings {
		rec := &reading.Record
		rec.Platform = strings.ToLower(rec.Platform)
		if rec.Platform == "" || rec.ExternalID == "" || strings.ContainsRune(rec.Platform+rec.ExternalID+rec.Seed, 0) {
			in.tally(reading.Part).Refused++
			continue
		}
		in.r.attribute(rec)
		kept = append(kept, reading)
	}
	return kept
}

// sort tells readings that the library has from fresh ones.
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
		case mine:
			in.tally(reading.Part).Repeated++
		default:
			in.fresh = append(in.fresh, fresh{reading, known})
		}
	}
	return in.renew(ctx, same)
}

// before looks up earlier observations where the last one does not tell all: where
// a reading is older than that, and where this import has archived a portion.
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
	scrolls := in.earlier
	if in.portions > 0 {
		scrolls, older = append([]int64{in.r.id}, scrolls[:min(len(scrolls), maxEarlier-1)]...), known
	}
	if len(older) == 0 {
		return nil, nil
	}
	found, err := in.r.s.needs.Library.ObservedIn(ctx, scrolls, older)
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

// renew hands over what known readings say besides their numbers: the file may be
// read again because it was read badly.
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

// collectImport writes down a portion of what an import brings. The portion is
// archived before the next is read, so an import of any length takes the room of
// one; where the command is lost by then, the scroll ends with what it has.
func (r *run) collectImport(ctx context.Context) error {
	if r.intake == nil {
		return errors.New("the command that imported is gone")
	}
	in := r.intake
	if err := r.beginPortion(ctx); err != nil {
		return err
	}
	if in.portions > 0 {
		if err := in.again(ctx); err != nil {
			return err
		}
	}
	for len(in.seen) < r.s.cfg.MaxRecords {
		err := in.look(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := in.put(ctx); err != nil {
			return err
		}
	}
	in.portions++
	in.seen = map[stage.Ref]sighting{}
	return r.finish(ctx, Collect, nil)
}

func (r *run) beginPortion(ctx context.Context) error {
	return r.commit(ctx, true, func(ctx context.Context, tx *store.Tx, next *state) error {
		next.stage = Collect
		return deleteRecords(ctx, tx, r.account, r.id)
	})
}

// put writes a batch of what waits. Of several readings of a video the newest stays,
// of equally new ones the first.
func (in *intake) put(ctx context.Context) error {
	n := min(len(in.fresh), in.r.s.cfg.BatchSize)
	batch := in.fresh[:n]
	in.fresh = in.fresh[n:]
	var items, changed []item
	place := map[int64]int{} // of an item's id in items
	for _, f := range batch {
		rec := f.Record
		had, seen := in.seen[rec.Ref]
		at := in.at(rec)
		if seen {
			in.tally(f.Part).Repeated++
			if at <= had.at {
				continue
			}
			in.tally(f.Part).Repeated--
			in.count(had.part, had.known, -1)
			in.tally(had.part).Repeated++
		}
		next := item{id: had.id, record: rec, seed: importTemplate, known: f.known}
		if !seen {
			next.id = in.r.s.db.NewID()
		}
		in.count(f.Part, f.known, 1)
		in.seen[rec.Ref] = sighting{next.id, at, f.Part, f.known}
		switch i, here := place[next.id]; {
		case here:
			items[i] = next
		case seen:
			changed = append(changed, next)
		default:
			place[next.id] = len(items)
			items = append(items, next)
		}
	}
	return in.write(ctx, items, changed)
}

func (in *intake) at(rec stage.Record) int64 {
	if rec.Metrics.ObservedAt != nil {
		return *rec.Metrics.ObservedAt
	}
	return in.r.call.Now
}

func (in *intake) count(part int, known bool, n int) {
	if known {
		in.tally(part).Again += n
		return
	}
	in.tally(part).New += n
}

func (in *intake) write(ctx context.Context, items, changed []item) error {
	if len(items)+len(changed) == 0 {
		return nil
	}
	r := in.r
	err := r.commit(ctx, false, func(ctx context.Context, tx *store.Tx, next *state) error {
		next.progress.Collected += len(items)
		n := float64(next.progress.Collected)
		next.progress.raise(percent(Collect, n/(n+500)))
		count(items).into(&next.progress, func(c *Coverage) *int { return &c.Returned })
		if err := r.insertItems(ctx, tx, items); err != nil {
			return err
		}
		return r.updateRecords(ctx, tx, changed)
	})
	r.pause(ctx, Collect, "batch")
	return err
}
