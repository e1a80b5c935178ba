package usage

import (
	"context"
	"fmt"
	"time"
)

// The list has one row more than the longest page, to tell whether another page
// follows; a shorter one stops reading earlier. The number stands in the text,
// see store.Statement.
const (
	selectEvents = "SELECT id, op, status, cost_cents, ts FROM usage_events " +
		"WHERE account_id = $1 AND key_id = $2 AND id < $3 ORDER BY id DESC LIMIT 101"
	selectSpent = "SELECT day, units FROM usage_counters WHERE account_id = $1 AND day IN ($2, $3)"
)

func (s *Service) eventsOf(ctx context.Context, keyID, before int64, limit int) (events []Event, next string, err error) {
	found, err := s.events.Query(ctx, keyID, before)
	if err != nil {
		return nil, "", fmt.Errorf("list events: %w", err)
	}
	defer found.Close()
	var last int64
	events = make([]Event, 0, limit)
	for found.Next() {
		if len(events) == limit {
			next = token(last)
			break
		}
		var e Event
		if err := found.Scan(&last, &e.Op, &e.Status, &e.CostCents, &e.At); err != nil {
			return nil, "", fmt.Errorf("list events: %w", err)
		}
		events = append(events, e)
	}
	if err := found.Err(); err != nil {
		return nil, "", fmt.Errorf("list events: %w", err)
	}
	return events, next, nil
}

// spentAt returns what the caller's account has spent on a moment's day and month.
func (s *Service) spentAt(ctx context.Context, at time.Time) (Spent, error) {
	found, err := s.spent.Query(ctx, Month(at), Day(at))
	if err != nil {
		return Spent{}, fmt.Errorf("load counters: %w", err)
	}
	defer found.Close()
	var spent Spent
	for found.Next() {
		var day int
		var units int64
		if err := found.Scan(&day, &units); err != nil {
			return Spent{}, fmt.Errorf("load counters: %w", err)
		}
		if day == Month(at) {
			spent.Monthly = units
		} else {
			spent.Daily = units
		}
	}
	if err := found.Err(); err != nil {
		return Spent{}, fmt.Errorf("load counters: %w", err)
	}
	return spent, nil
}
