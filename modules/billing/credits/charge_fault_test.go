//go:build unix

package credits

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// The environment of a process that charges until it is killed.
const (
	chargingDir = "SCROLLERY_CREDITS_TEST_DIR"
	chargingURL = "SCROLLERY_CREDITS_TEST_URL"
	chargers    = 8
)

func TestMain(m *testing.M) {
	if os.Getenv(chargingDir) != "" {
		if err := chargeOn(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// chargeOn charges calls of the payer until the process is killed, and prints a line of
// what each would be answered: `kept`, `returned`, `owed` or `unknown`, and its id.
func chargeOn() error {
	ctx := viewer.As(context.Background(), payer)
	cfg := store.Config{DataDir: os.Getenv(chargingDir), DatabaseURL: os.Getenv(chargingURL), MaxConns: chargers + 4}
	db, err := store.Open(ctx, cfg, storetest.Log(nil))
	if err != nil {
		return err
	}
	s := New(db)
	s.patience = time.Minute // each answer cuts all connections: on a slow machine a try meets many cuts
	for range chargers {
		go func() {
			for {
				if line := s.chargeOnce(ctx); line != "" {
					fmt.Println(line)
				}
			}
		}()
	}
	if cfg.DatabaseURL == "" {
		return failWrites()
	}
	select {}
}

// failWrites has writes to files fail again and again, for a moment, as on a full or
// broken disk.
func failWrites() error {
	signal.Ignore(syscall.SIGXFSZ)
	var whole syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &whole); err != nil {
		return err
	}
	none := whole
	none.Cur = 0
	for {
		time.Sleep(rand.N(12 * time.Millisecond))
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &none); err != nil {
			return err
		}
		time.Sleep(rand.N(3 * time.Millisecond))
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &whole); err != nil {
			return err
		}
	}
}

// chargeOnce is one call: half of them run a program, a third fail.
func (s *Service) chargeOnce(ctx context.Context) (line string) {
	_, c, err := s.Open(ctx, payer, 50, Agent)
	if err != nil {
		return "" // nothing was said about a fee
	}
	if rand.N(2) == 0 {
		err = errors.Join(c.Hold(ctx, true), c.Started(ctx), c.Hold(ctx, false), settled(ctx, c))
	}
	answered := err == nil && rand.N(3) > 0
	owed, err := c.Close(ctx, answered)
	outcome := "returned"
	switch {
	case errors.Is(err, apierr.ErrUnknown):
		outcome = "unknown"
	case owed:
		outcome = "owed"
	case err == nil && answered:
		outcome = "kept"
	}
	return fmt.Sprintf("%s %d .", outcome, c.row.ID)
}

// TestNoCreditsAreLostByFaults has racing calls meet failing disks, cut connections and
// killed processes, at any statement. What was said of each fee is true, and the ledger
// adds up. SCROLLERY_TEST_LONG asks for 2,000 calls instead of 300.
func TestNoCreditsAreLostByFaults(t *testing.T) {
	t.Parallel()
	calls := 300
	if storetest.Long() {
		calls = 2000
	}
	for name, where := range map[string]func(testing.TB) store.Config{store.SQLite: storetest.SQLiteConfig, store.Postgres: storetest.PostgresConfig} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			faulty(t, where(t), calls)
		})
	}
}

func faulty(t *testing.T, cfg store.Config, calls int) {
	t.Helper()
	s, _ := charging(t, storetest.Open(t, cfg), 1_000_000)
	address, fail := cfg.DatabaseURL, func() {}
	if address != "" {
		proxy := storetest.NewCutter(t, address)
		address, fail = proxy.Address, func() { proxy.Arm(1+rand.N(60), rand.N(2) == 0) }
	}
	said := map[string]int{}
	kills, share := 0, calls/3
	for calls > 0 || kills < 3 {
		fates := chargedUntilKilled(t, cfg.DataDir, address, share, fail)
		for id, outcome := range fates {
			said[outcome]++
			calls--
			s.wantFee(t, id, outcome, false)
		}
		later := *s
		later.now = func() time.Time { return time.Now().Add(time.Minute) }
		if err := later.SettleLost(t.Context()); err != nil {
			t.Fatal(err)
		}
		for id, outcome := range fates {
			s.wantFee(t, id, outcome, true)
		}
		kills++
	}
	now, err := s.Balance(t.Context(), payer)
	if err != nil {
		t.Fatal(err)
	}
	ledger, open := New(s.db), s.charges(t)
	ledger.wantSound(t, payer, now.Credits)
	moved := s.movements(t)
	spent := strings.Count(moved, "fee-50") - strings.Count(moved, "return+50")
	if spent < said["kept"] || spent > said["kept"]+kills*chargers {
		t.Errorf("got %d fees that stay, want those of the %d answers, and at most one of each of %d killed calls", spent, said["kept"], kills*chargers)
	}
	t.Logf("said: %v; %d credits are left", said, now.Credits)
	if open != 0 || said["kept"] == 0 || said["returned"] == 0 || said["unknown"] != 0 {
		t.Errorf("got %d open charges, outcomes %v; want none open, some kept, some returned and none unknown", open, said)
	}
}

// chargedUntilKilled runs a process that charges, calls fail after each call of it, kills
// it after so many, and returns what it said of each.
func chargedUntilKilled(t *testing.T, dir, address string, calls int, fail func()) map[int64]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), chargingDir+"="+dir, chargingURL+"="+address)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fates := map[int64]string{}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var id int64
		var outcome, end string
		if n, _ := fmt.Sscan(lines.Text(), &outcome, &id, &end); n == 3 { // else cut off by the kill
			fates[id] = outcome
			fail()
		}
		if len(fates) >= calls {
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait() // it was killed
	return fates
}

// wantFee compares the entries of a charge with what was said of it, before and after the
// job has settled what is owed.
func (s *Service) wantFee(t *testing.T, id int64, outcome string, settled bool) {
	t.Helper()
	row := charged{ID: id, Account: payer, Kind: Agent}
	returned, err := s.entries.returned(t.Context(), row)
	if err != nil {
		t.Fatal(err)
	}
	want := outcome == "returned" || outcome == "owed" && settled
	if returned != want && (settled || outcome != "owed") {
		t.Errorf("charge %d: said to be %s, settled: %t; got returned %t, want %t", id, outcome, settled, returned, want)
	}
}
