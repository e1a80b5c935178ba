package imports

import (
	"cmp"
	"errors"
	"hash/maphash"
	"slices"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// A scroll observes a video once. So the readings of a file become several runs: one for
// each day of observation, and one for each further reading of a video on the same day. That
// keeps every reading with its time, and the runs of a tracked series show growth as scrolls
// on those days would have.

// series sorts readings into runs, and hands them over in parts.
type series struct {
	// put stores the next part of a run; nil only counts.
	put func(run, number int, part []byte) error
	// most bounds the runs.
	most int

	runs  []*dayRun
	known map[dayKey]int // the run of a day
	seeds [2]maphash.Seed
	// first has, of each video and day, the time of its first reading. It is all that is
	// kept of a video, so it is small: a million take about 60 MB.
	first map[videoDay]firstReading
	// waiting are the bytes of all runs that are not handed over yet.
	waiting int
}

// dayRun is a run: the day, in days since 1970, and which of the day's readings of a video.
type dayRun struct {
	dayKey
	readings, parts int
	buffer          []byte
}

type dayKey struct {
	day int32
	nth uint32
}

// videoDay stands for a video on a day: 96 random bits of a hash, so that no two videos have
// the same ones. Words of 32 bits leave no gaps between the entries.
type videoDay struct {
	video [3]uint32
	day   int32
}

// firstReading is the time of day of a reading, in milliseconds, and how many others follow.
type firstReading struct{ time, more uint32 }

const (
	dayMillis = 24 * 3600 * 1000
	// partSize is how many bytes of readings a part has, a little more at most, and
	// mostWaiting how many bytes of all runs wait.
	partSize    = 1 << 20
	mostWaiting = 16 << 20
)

var errRuns = errors.New("the file has readings of too many days")

func newSeries(most int, put func(run, number int, part []byte) error) *series {
	return &series{
		put: put, most: most, known: map[dayKey]int{}, first: map[videoDay]firstReading{},
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
	}
}

// add takes a reading, which has its time, of a part of the input such as a file. The record
// may be changed afterwards.
func (s *series) add(rec *stage.Record, part int) error {
	run, err := s.place(rec)
	if err != nil || s.put == nil {
		return err
	}
	return s.keep(run, rec, part)
}

// place counts a reading in its run.
func (s *series) place(rec *stage.Record) (run int, err error) {
	key := s.keyOf(rec)
	at, known := s.known[key]
	if !known {
		if len(s.runs) == s.most {
			return 0, errRuns
		}
		at = len(s.runs)
		s.known[key] = at
		s.runs = append(s.runs, &dayRun{dayKey: key})
	}
	s.runs[at].readings++
	return at, nil
}

// keep stores a reading for its run.
func (s *series) keep(at int, rec *stage.Record, part int) error {
	run := s.runs[at]
	before := len(run.buffer)
	buffer, err := appendReading(run.buffer, rec, part)
	if err != nil {
		return err
	}
	run.buffer = buffer
	if s.waiting += len(run.buffer) - before; len(run.buffer) >= partSize {
		return s.hand(at)
	}
	if s.waiting >= mostWaiting {
		return s.handAll()
	}
	return nil
}

// keyOf is the run of a reading.
func (s *series) keyOf(rec *stage.Record) dayKey {
	at := *rec.Metrics.ObservedAt
	day := at / dayMillis
	if at%dayMillis < 0 {
		day--
	}
	key, now := dayKey{day: int32(day)}, uint32(at-day*dayMillis)
	of := videoDay{s.hash(rec.Ref), key.day}
	first, again := s.first[of]
	switch {
	case !again:
		s.first[of] = firstReading{time: now}
	case first.time != now: // else it is the same reading again
		first.more++
		s.first[of] = first
		key.nth = first.more
	}
	return key
}

func (s *series) hash(ref stage.Ref) [3]uint32 {
	a, b := maphash.Comparable(s.seeds[0], ref), maphash.Comparable(s.seeds[1], ref)
	return [3]uint32{uint32(a >> 32), uint32(a), uint32(b)}
}

// handAll hands over all that waits. Nothing is added after the last call but one.
func (s *series) handAll() error {
	for at := range s.runs {
		if err := s.hand(at); err != nil {
			return err
		}
	}
	return nil
}

func (s *series) hand(at int) error {
	run := s.runs[at]
	if len(run.buffer) == 0 {
		return nil
	}
	if err := s.put(at, run.parts, run.buffer); err != nil {
		return err
	}
	run.parts++
	s.waiting -= len(run.buffer)
	run.buffer = run.buffer[:0]
	return nil
}

// ordered are the numbers of the runs, the oldest first.
func (s *series) ordered() []int {
	order := make([]int, len(s.runs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(s.runs[a].day, s.runs[b].day), cmp.Compare(s.runs[a].nth, s.runs[b].nth))
	})
	return order
}

// date is the day as in 2026-01-31.
func (r *dayRun) date() string {
	return time.Unix(int64(r.day)*24*3600, 0).UTC().Format(time.DateOnly)
}
