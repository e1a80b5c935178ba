package operator

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"slices"

	"github.com/scrollery/scrollery/plugins/stage"
)

// A scroll observes a video once. So a file with several readings of a video becomes several
// runs: the first has the first reading of every video, and each further one the readings of
// one day, of which a video has one. That keeps every reading, with its time, and the runs
// of a tracked series show growth as scrolls on those days would have.

// runKey is the day of a run, and which of the day's readings of a video it has.
type runKey struct {
	day int64
	nth uint32
}

// runsByDay are the readings of further runs.
type runsByDay struct {
	runs map[runKey]*laterRun
	// counts is how many further readings of a video a day has.
	counts map[videoDay]uint32
	// whole counts the records that are kept with their texts.
	whole int
}

func newRunsByDay() runsByDay {
	return runsByDay{runs: map[runKey]*laterRun{}, counts: map[videoDay]uint32{}}
}

type videoDay struct {
	video videoHash
	day   int32
}

// laterRun are the readings of one further run: those with their texts, and the others as
// lines of JSON, which take half of the memory.
type laterRun struct {
	whole []Reading
	bare  bytes.Buffer
}

// bareReading is a reading without texts.
type bareReading struct {
	stage.Ref
	Metrics stage.Metrics
	Part    int
}

// firstReadings have the reading of each video that the first run gets. They are all that an
// import keeps of a video, so they are small: a million take about 40 MB.
type firstReadings struct {
	seeds [2]maphash.Seed
	known map[videoHash]firstReading
}

// videoHash stands for a video: 96 random bits, so that no two videos have the same one.
type videoHash [3]uint32

// firstReading is the time of a reading, as two halves, and its part. Words of 32 bits leave
// no gaps between the entries.
type firstReading struct{ high, low, part uint32 }

func (f firstReading) at() int64 { return int64(f.high)<<32 | int64(f.low) }

func newFirstReadings() firstReadings {
	return firstReadings{[2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, map[videoHash]firstReading{}}
}

// add notes the reading of a video that has none yet, and returns the one that it has.
func (f *firstReadings) add(video videoHash, at int64, part int) (known firstReading, isNew bool) {
	if known, has := f.known[video]; has {
		return known, false
	}
	f.known[video] = firstReading{uint32(at >> 32), uint32(at), uint32(part)}
	return firstReading{}, true
}

func (f *firstReadings) hash(ref stage.Ref) videoHash {
	a, b := maphash.Comparable(f.seeds[0], ref), maphash.Comparable(f.seeds[1], ref)
	return videoHash{uint32(a >> 32), uint32(a), uint32(b)}
}

const (
	dayMillis = 24 * 3600 * 1000
	// maxWhole bounds the memory for further readings. Beyond it, what they say besides
	// their numbers is left out.
	maxWhole = 50_000
)

// isLater keeps a further reading of a video for a run of its own. Of the same file the
// first reading has said everything but the numbers.
func (r *fileReading) isLater(rec *stage.Record, part int) bool {
	if r.together || rec.Metrics.ObservedAt == nil {
		return false
	}
	at := *rec.Metrics.ObservedAt
	video := r.first.hash(rec.Ref)
	known, isNew := r.first.add(video, at, part)
	if isNew || known.at() == at {
		return false // also the same reading again
	}
	later, day := &r.later, at/dayMillis
	of := videoDay{video, int32(day)}
	key := runKey{day, later.counts[of]}
	later.counts[of]++
	run := later.runs[key]
	if run == nil {
		run = &laterRun{}
		later.runs[key] = run
	}
	if known.part != uint32(part) && later.whole < maxWhole {
		run.whole = append(run.whole, Reading{Record: *rec, Part: part})
		later.whole++
		return true
	}
	line, err := json.Marshal(bareReading{rec.Ref, rec.Metrics, part})
	if err != nil {
		panic(err) // numbers and texts have no value that JSON lacks
	}
	run.bare.Write(append(line, '\n'))
	return true
}

// nextRun hands out the readings of the oldest run that is left.
func (r *fileReading) nextRun() func() ([]Reading, error) {
	key := slices.MinFunc(slices.Collect(maps.Keys(r.later.runs)), func(a, b runKey) int {
		return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.nth, b.nth))
	})
	run := r.later.runs[key]
	delete(r.later.runs, key)
	return run.next
}

// next hands out a batch of what is left, in the end [io.EOF].
func (l *laterRun) next() ([]Reading, error) {
	if n := min(len(l.whole), importBatch); n > 0 {
		batch := l.whole[:n]
		l.whole = l.whole[n:]
		return batch, nil
	}
	var batch []Reading
	for len(batch) < importBatch {
		line, err := l.bare.ReadBytes('\n')
		if err != nil {
			break // the end
		}
		var of bareReading
		if err := json.Unmarshal(line, &of); err != nil {
			return nil, fmt.Errorf("read a further reading: %w", err)
		}
		batch = append(batch, Reading{Record: stage.Record{Ref: of.Ref, Metrics: of.Metrics}, Part: of.Part})
	}
	if len(batch) == 0 {
		return nil, io.EOF
	}
	return batch, nil
}

// add counts another run of the same import.
func (i *Imported) add(other Imported) {
	if i.ScrollID == 0 {
		i.ScrollID = other.ScrollID
	}
	for part, t := range other.Parts {
		for len(i.Parts) <= part {
			i.Parts = append(i.Parts, Tally{})
		}
		sum := &i.Parts[part]
		sum.New += t.New
		sum.Again += t.Again
		sum.Same += t.Same
		sum.Repeated += t.Repeated
		sum.Refused += t.Refused
	}
}
