package billing

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/nearest"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// mostOwn is the largest limit that one account may have.
const mostOwn = 1_000_000_000

// ownLimits are the limits of a plan that the operator may set for one account, by their names
// in the configuration, in the order in which they are shown.
var ownLimits = []struct {
	name  string
	least int64
	field func(*Plan) any
}{
	{"daily_units", 1, func(p *Plan) any { return &p.DailyUnits }},
	{"monthly_units", 1, func(p *Plan) any { return &p.MonthlyUnits }},
	{"active_scrolls", 1, func(p *Plan) any { return &p.ActiveScrolls }},
	{"max_feed_size", 1, func(p *Plan) any { return &p.MaxFeedSize }},
	{"max_videos", 1, func(p *Plan) any { return &p.MaxVideos }},
	{"max_import_bytes", 1, func(p *Plan) any { return &p.MaxImportBytes }},
	{"framed_videos", 0, func(p *Plan) any { return &p.FramedVideos }},
}

// with returns the plan with an account's own limits: `name=value`, separated by spaces.
func (p Plan) with(own string) Plan {
	values := ownValues(own)
	for _, limit := range ownLimits {
		value, ok := values[limit.name]
		if !ok {
			continue
		}
		switch field := limit.field(&p).(type) {
		case *int:
			*field = int(value)
		case *int64:
			*field = value
		}
	}
	return p
}

// ownValues reads what is stored.
func ownValues(own string) map[string]int64 {
	values := map[string]int64{}
	for _, pair := range strings.Fields(own) {
		name, text, _ := strings.Cut(pair, "=")
		if value, err := strconv.ParseInt(text, 10, 64); err == nil {
			values[name] = value
		}
	}
	return values
}

// mergeOwn returns an account's own limits after changes, each `name=value`, or `name=plan` for
// what the plan gives.
func mergeOwn(own string, changes []string) (string, error) {
	values := ownValues(own)
	for _, change := range changes {
		name, text, _ := strings.Cut(change, "=")
		names := make([]string, len(ownLimits))
		least := int64(-1)
		for i, limit := range ownLimits {
			if names[i] = limit.name; limit.name == name {
				least = limit.least
			}
		}
		value, err := strconv.ParseInt(text, 10, 64)
		switch {
		case least < 0:
			return "", fmt.Errorf("%q is no limit of a plan%s; those are %s", name, nearest.Hint(name, names), strings.Join(names, ", "))
		case text == "plan":
			delete(values, name)
		case err != nil || value < least || value > mostOwn:
			return "", fmt.Errorf("%s: %q is no number from %d to %d, nor `plan` for what the plan gives", name, text, least, mostOwn)
		default:
			values[name] = value
		}
	}
	var pairs []string
	for _, limit := range ownLimits {
		if value, ok := values[limit.name]; ok {
			pairs = append(pairs, fmt.Sprintf("%s=%d", limit.name, value))
		}
	}
	return strings.Join(pairs, " "), nil
}

// Limit sets limits of one account, each as [mergeOwn] reads it. They stay while its plan changes.
func (s *Subscriptions) Limit(ctx context.Context, accountID int64, changes []string) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		old, err := s.find(ctx, tx.Ent(), accountID)
		switch {
		case err != nil:
			return fmt.Errorf("set limits of %d: %w", accountID, err)
		case old.Status == StatusNone:
			return apierr.New(apierr.OperationError, "The account has no plan whose limits could be others. Give it a plan first.")
		}
		own, err := mergeOwn(old.Limits, changes)
		if err != nil || own == old.Limits {
			return err
		}
		return s.setOwn(ctx, tx, accountID, own)
	})
}
