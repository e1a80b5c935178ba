package usage

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// chunkSize is how many events one transaction stores: it holds the writer for a few
	// milliseconds.
	chunkSize = 512
	// maxPending bounds the events in memory, and so the journal: about 20 MB.
	maxPending = 1 << 17
	// readTries is how often a read of counters is done again because events were stored
	// meanwhile.
	readTries = 3
)

// Pending are the events of this process that are in the journal and not yet in the
// tables. Reads of usage include them. On PostgreSQL there are none.
type Pending struct {
	mu    sync.Mutex
	count int
	sums  map[sumOf]int64
	// gathering are in the journal's active file, chunks in the other one.
	gathering []event
	chunks    [][]event
	// storing is the first chunk, from the first try to store it until that succeeded.
	storing []event
	starts  int           // how many chunks were begun
	room    chan struct{} // closed when events leave; nil where no caller waits

	follower atomic.Pointer[Follower]
}

// Follower is told on PostgreSQL what this process has committed, before those who had it
// written go on.
type Follower struct {
	// Counted has the units of a counter, which has them at least.
	Counted func(account int64, day int, units int64)
	// Changed says that counters of an account have changed.
	Changed func(account int64)
}

// Follow sets the one follower. It must return at once.
func (p *Pending) Follow(f Follower) { p.follower.Store(&f) }

func (p *Pending) counted(counters []counter) {
	if f := p.follower.Load(); f != nil {
		for _, c := range counters {
			f.Counted(c.accountID, c.day, c.units)
		}
	}
}

func (p *Pending) changed(account int64) {
	if f := p.follower.Load(); f != nil && account != 0 {
		f.Changed(account)
	}
}

type sumOf struct {
	accountID int64
	day       int
}

// NewPending returns none.
func NewPending() *Pending { return &Pending{sums: map[sumOf]int64{}} }

// add takes events that the journal has.
func (p *Pending) add(events []event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gathering = append(p.gathering, events...)
	p.count += len(events)
	p.sum(events, 1)
}

func (p *Pending) sum(events []event, sign int64) {
	for _, e := range events {
		if e.accountID == 0 || e.units <= 0 {
			continue
		}
		for _, day := range []int{Month(e.at), Day(e.at)} {
			key := sumOf{e.accountID, day}
			if p.sums[key] += sign * e.units; p.sums[key] == 0 {
				delete(p.sums, key)
			}
		}
	}
}

// full returns nil while there is room for more, else what is closed when there may be.
func (p *Pending) full() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count < maxPending {
		return nil
	}
	if p.room == nil {
		p.room = make(chan struct{})
	}
	return p.room
}

// size returns how many events there are, and whether chunks are among them.
func (p *Pending) size() (events int, chunks bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count, len(p.chunks) > 0
}

// seal makes chunks of what has gathered.
func (p *Pending) seal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chunks = slices.Collect(slices.Chunk(p.gathering, chunkSize))
	p.gathering = nil
}

// begin returns the next chunk to be stored, nil for none.
func (p *Pending) begin() []event {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.storing == nil && len(p.chunks) > 0 {
		p.storing = p.chunks[0]
		p.starts++
	}
	return p.storing
}

// stored forgets the chunk that was begun.
func (p *Pending) stored() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count -= len(p.storing)
	p.sum(p.storing, -1)
	p.storing, p.chunks = nil, p.chunks[1:]
	if p.room != nil {
		close(p.room)
		p.room = nil
	}
}

// of returns the newest events of a key below an id, at most limit, newest first.
func (p *Pending) of(accountID, keyID, before int64, limit int) (found []event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, events := range append(p.chunks[:len(p.chunks):len(p.chunks)], p.gathering) {
		for _, e := range events {
			if e.accountID == accountID && e.keyID == keyID && e.id < before {
				found = append(found, e)
			}
		}
	}
	slices.Reverse(found)
	return found[:min(len(found), limit)]
}

// Counters are what a read of the tables found at one moment.
type Counters struct {
	AccountID int64
	Spent     Spent
	// Marked says that the event with the id of the mark is in the tables.
	Marked bool
}

// Read has read look up counters of the tables, and adds what they do not have yet. read
// looks for an event with the id mark at the same moment as for the counters; 0 is none.
// It may be called again, where events came into the tables meanwhile.
func (p *Pending) Read(at time.Time, read func(mark int64) (Counters, error)) (Spent, error) {
	for try := 1; ; try++ {
		starts, storing := p.begun()
		mark := int64(0)
		if len(storing) > 0 {
			mark = storing[len(storing)-1].id
		}
		found, err := read(mark)
		if err != nil {
			return Spent{}, err
		}
		spent, exact := p.complete(at, found, starts, storing)
		if exact || try == readTries {
			return spent, nil
		}
	}
}

func (p *Pending) begun() (starts int, storing []event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.starts, p.storing
}

// complete adds the events that the tables did not have: those that are pending, but for
// the chunk whose mark was there; and that chunk, where it was not there and is stored by now.
func (p *Pending) complete(at time.Time, found Counters, starts int, storing []event) (spent Spent, exact bool) {
	day, month := sumOf{found.AccountID, Day(at)}, sumOf{found.AccountID, Month(at)}
	p.mu.Lock()
	defer p.mu.Unlock()
	spent = found.Spent
	spent.Daily += p.sums[day]
	spent.Monthly += p.sums[month]
	if len(storing) > 0 && found.Marked == (p.storing != nil) {
		sign := int64(1)
		if found.Marked {
			sign = -1
		}
		for _, c := range countersOf(storing) {
			switch (sumOf{c.accountID, c.day}) {
			case day:
				spent.Daily += sign * c.units
			case month:
				spent.Monthly += sign * c.units
			}
		}
	}
	return spent, p.starts == starts
}
