package quota

import "time"

// midst is how long after its last request a tenant may be in the midst of its work.
const midst = time.Hour

// tenant is what one tenant used and asked for.
type tenant struct {
	// used in this window, asked in the one before.
	used, asked int64
	last        time.Time
}

// claims is what of its share the tenant has a right to and did not use yet.
func (t tenant) claims(share int64, now time.Time) int64 {
	claim := min(share, t.asked)
	if now.Sub(t.last) < midst {
		claim = share
	}
	return max(claim-t.used, 0)
}

func used(tenants map[int64]tenant) (sum int64) {
	for _, t := range tenants {
		sum += t.used
	}
	return sum
}

type decision int

const (
	granted decision = iota
	// claimed: the rest belongs to others for now.
	claimed
	// usedUp: there is not so much left.
	usedUp
	// never: the limit is smaller than what is asked for.
	never
)

// left is the most units that decide grants.
func (r request) left(tenants map[int64]tenant) int64 {
	low, high := int64(0), r.Limit // granted, and at most that
	for low < high {
		r.units = low + (high-low+1)/2
		if r.decide(tenants) == granted {
			low = r.units
		} else {
			high = r.units - 1
		}
	}
	return low
}

// decide applies the rule of the package comment.
func (r request) decide(tenants map[int64]tenant) decision {
	count := int64(len(tenants))
	self, known := tenants[r.account]
	if !known {
		count++
	}
	share := r.Limit / count
	left := r.Limit - used(tenants)
	switch {
	case r.units > r.Limit:
		return never
	case r.units > left:
		return usedUp
	case self.used+r.units <= share:
		return granted
	case !r.free.IsZero() && !r.now.Before(r.free):
		return granted
	}
	for account, other := range tenants {
		if account != r.account {
			left -= other.claims(share, r.now)
		}
	}
	if r.units > left {
		return claimed
	}
	return granted
}
