package quota

import (
	"fmt"
	"time"
	_ "time/tzdata" // the machine may have no time zones
)

// Window is how long a quota lasts, and when it is renewed.
type Window string

// The windows, named as stages name them.
const (
	// UTCDay begins at midnight UTC.
	UTCDay Window = "utc_day"
	// PacificDay begins at midnight in Los Angeles.
	PacificDay Window = "pacific_day"
	// Week is the last 7 days, whenever it is.
	Week Window = "week"
)

const week = 7 * 24 * time.Hour

// period is a window as it is at one moment.
type period struct {
	now time.Time
	// since is when the window before began to end: entries that ended later
	// belong to it, or to the present window where they have not ended.
	since time.Time
	// end is when what is spent now stops counting.
	end time.Time
	// free is when claims end; zero if they do not.
	free time.Time
}

// at is the window around now. The zone is that of Los Angeles.
func (w Window) at(now time.Time, pacific *time.Location) (period, error) {
	switch w {
	case UTCDay:
		return day(now, time.UTC), nil
	case PacificDay:
		return day(now, pacific), nil
	case Week:
		// Spending is gathered by the hour, and counts until the hour's end.
		end := now.Truncate(time.Hour).Add(time.Hour + week)
		return period{now: now, since: now.Add(-week), end: end}, nil
	}
	return period{}, fmt.Errorf("there is no window %q", string(w))
}

// day is a calendar day of 23, 24 or 25 hours.
func day(now time.Time, zone *time.Location) period {
	year, month, date := now.In(zone).Date()
	begin := time.Date(year, month, date, 0, 0, 0, 0, zone)
	end := time.Date(year, month, date+1, 0, 0, 0, 0, zone)
	return period{now: now, since: begin.Add(-time.Millisecond), end: end, free: begin.Add(end.Sub(begin) / 4 * 3)}
}

// ends is when what is bought now stops counting: of a thing that is counted
// once, to the millisecond.
func (p period) ends(w Window, item string) time.Time {
	if w == Week && item != "" {
		return p.now.Add(week)
	}
	return p.end
}
