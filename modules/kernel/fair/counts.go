package fair

import "sync"

// Counts is what each of many has under way, up to a bound of its own: who has as many is
// refused and does not wait. The zero value is ready. It is safe for concurrent use.
type Counts[K comparable] struct {
	mu   sync.Mutex
	open map[K]int
}

// Enter counts one more, unless there are as many as may be.
func (c *Counts[K]) Enter(who K, most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[who] >= most {
		return false
	}
	if c.open == nil {
		c.open = map[K]int{}
	}
	c.open[who]++
	return true
}

// Leave takes back what Enter counted.
func (c *Counts[K]) Leave(who K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[who]--; c.open[who] == 0 {
		delete(c.open, who)
	}
}
