package fair

import "sync"

// Counts is what each of many has under way, up to a bound of its own: who has as many is
// refused and does not wait. The zero value is ready. It is safe for concurrent use.
type Counts[K comparable] struct {
	mu   sync.Mutex
	open map[K]int
}

// Enter counts one more, unless there are as many as may be.
func (c *Counts[K]) Enter(who K, most int) bool { return c.Add(who, 1, most) }

// Leave takes back what Enter counted.
func (c *Counts[K]) Leave(who K) { c.Remove(who, 1) }

// Add counts n more, unless that were more than may be.
func (c *Counts[K]) Add(who K, n, most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[who]+n > most {
		return false
	}
	if c.open == nil {
		c.open = map[K]int{}
	}
	c.open[who] += n
	return true
}

// Remove takes back what Add counted.
func (c *Counts[K]) Remove(who K, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[who] -= n; c.open[who] == 0 {
		delete(c.open, who)
	}
}
