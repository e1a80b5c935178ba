package keys

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// No one learns from the time of an answer whether an address is known. Each
// test measures both in random order and asks how often a known address took
// longer than an unknown one: half of the time, where they cannot be told apart.
// With these samples chance stays within 0.5 ± 0.1 but once in 50,000 runs, and a
// noisy machine has three.
func TestFloorOfTelling(t *testing.T) {
	if os.Getenv("SCROLLERY_BENCH") == "" {
		t.Skip("a measurement: set SCROLLERY_BENCH=1, with nothing else running")
	}
	const known, unknown = "known@example.com", "unknown@example.com"
	setup := func(t *testing.T) *bundle {
		b := setup(t, storetest.SQLite(t))
		b.Codes.cfg.CodeTries, b.Codes.cfg.CodeGuesses, b.Codes.wrong.limit = math.MaxInt32, math.MaxInt32, math.MaxInt32
		b.open(t, known)
		return b
	}
	try := func(t *testing.T, b *bundle, email string) {
		if status, _, err := b.Codes.Reissue(context.Background(), email, "no-code", "192.0.2.1"); err != nil || status != ReissueInvalidCode {
			t.Fatalf("got %s, error %v; want %s", status, err, ReissueInvalidCode)
		}
	}
	t.Run("recover", func(t *testing.T) {
		b := setup(t)
		indistinguishable(t, known, unknown, func(email string) {
			if err := b.Codes.Recover(context.Background(), email); err != nil {
				t.Fatal(err)
			}
		})
	})
	t.Run("reissue after a code was asked for", func(t *testing.T) {
		b := setup(t)
		for _, email := range []string{known, unknown} {
			if err := b.Codes.send(context.Background(), forRecovery, email); err != nil {
				t.Fatal(err)
			}
		}
		indistinguishable(t, known, unknown, func(email string) { try(t, b, email) })
	})
	t.Run("reissue without a code", func(t *testing.T) {
		b := setup(t)
		indistinguishable(t, known, unknown, func(email string) { try(t, b, email) })
	})
}

func indistinguishable(t *testing.T, known, unknown string, call func(email string)) {
	t.Helper()
	var share float64
	for range 3 {
		if share = slower(known, unknown, call); math.Abs(share-0.5) <= 0.1 {
			return
		}
	}
	t.Errorf("a known address took longer than an unknown one: got %.0f of 100 pairs, want 40 to 60", share*100)
}

// slower returns the share of pairs in which the first address took longer.
func slower(first, second string, call func(email string)) float64 {
	const samples = 300
	var times [2][]time.Duration
	for range samples {
		begin := rand.IntN(2)
		for i := range 2 {
			which := (begin + i) % 2
			start := time.Now()
			call([]string{first, second}[which])
			times[which] = append(times[which], time.Since(start))
		}
	}
	var wins float64
	for _, a := range times[0] {
		for _, b := range times[1] {
			switch {
			case a > b:
				wins++
			case a == b:
				wins += 0.5
			}
		}
	}
	return wins / (samples * samples)
}
