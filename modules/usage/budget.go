package usage

import (
	"math/bits"
	"time"
)

// Budget is what an account may spend on a day and in a month, in units.
type Budget struct {
	Daily, Monthly int64
}

// Spent is what an account has spent on the running UTC day and month.
type Spent struct {
	Daily, Monthly int64
}

// Day returns the number under which a moment's UTC day is counted: YYYYMMDD.
func Day(at time.Time) int {
	year, month, day := at.UTC().Date()
	return year*10000 + int(month)*100 + day
}

// Month returns the number under which a moment's UTC month is counted:
// YYYYMM00, so that months are among the days and sort before them.
func Month(at time.Time) int {
	day := Day(at)
	return day - day%100
}

// Wait returns how long an account has to wait until it can spend again: 0
// while both budgets have units left, else the time to the next UTC day, or to
// the next month once that is spent too.
func (b Budget) Wait(spent Spent, at time.Time) time.Duration {
	day, month := renewals(at)
	switch {
	case spent.Monthly >= b.Monthly:
		return month.Sub(at)
	case spent.Daily >= b.Daily:
		return day.Sub(at)
	}
	return 0
}

// renewals are the ends of a moment's UTC day and month, when their budgets are whole again.
func renewals(at time.Time) (daily, monthly time.Time) {
	year, month, day := at.UTC().Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC), time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC)
}

// percent is whole per cent, rounded down; 100 exactly when nothing is left.
func percent(spent, budget int64) int {
	switch {
	case spent >= budget:
		return 100
	case spent <= 0:
		return 0
	}
	// 128 bits wide, so that a budget of any size fits.
	high, low := bits.Mul64(uint64(spent), 100)
	whole, _ := bits.Div64(high, low, uint64(budget))
	return int(whole)
}
