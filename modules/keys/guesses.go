package keys

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// guesses counts the wrong codes that this process took for codes of accounts, of all
// addresses, in windows of an hour. It bounds what a large network of clients can guess.
type guesses struct {
	limit int
	log   *slog.Logger
	alarm func()

	mu    sync.Mutex
	since time.Time
	count int
}

// add counts a wrong code. It logs an error, for an operator to act on, when the limit
// of the hour is reached.
func (g *guesses) add(ctx context.Context, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turn(now)
	if g.count++; g.count == g.limit {
		g.log.ErrorContext(ctx, "too many wrong one-time codes: until the hour is over, keys are recovered by mailed links alone",
			"wrong_codes", g.count, "until", g.since.Add(time.Hour))
		g.alarm()
	}
}

// spent reports whether the limit of the hour is reached.
func (g *guesses) spent(now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turn(now)
	return g.count >= g.limit
}

func (g *guesses) turn(now time.Time) {
	if now.Sub(g.since) >= time.Hour {
		g.since, g.count = now, 0
	}
}
