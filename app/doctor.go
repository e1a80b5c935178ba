package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// Migrate migrates the database to this version's schema.
func Migrate(ctx context.Context, cfg Config, log *slog.Logger) error {
	db, err := openMigrated(ctx, cfg, log)
	if err != nil {
		return err
	}
	return db.Close()
}

// openMigrated opens the database and migrates it.
func openMigrated(ctx context.Context, cfg Config, log *slog.Logger) (*store.DB, error) {
	db, err := store.Open(ctx, cfg.store(), log)
	if err != nil {
		return nil, err
	}
	if err := db.Migrate(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// The results of a check. Only failed makes Doctor fail; a gap is something that works
// in part, and unset something optional that is not configured.
const (
	passed = "ok"
	failed = "FAIL"
	unset  = "not set"
	gap    = "gap"
)

// checkTimeout bounds each check but that of a whole SQLite file.
const checkTimeout = 10 * time.Second

// A finding is the result of one check.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"`
	Detail string `json:"detail"`
}

// found is passed with the detail, or failed with the error.
func found(check, detail string, err error) finding {
	if err != nil {
		return finding{check, failed, err.Error()}
	}
	return finding{check, passed, detail}
}

// Doctor tries what a server with this configuration needs, and prints a line a check, or
// one JSON object. It fails if a check does. It sends no mail, changes nothing at Stripe
// and asks no model a question; a plugin makes the one request of its own check.
func Doctor(ctx context.Context, cfg Config, out io.Writer, asJSON bool) error {
	parts := []func(context.Context, Config) []finding{
		checkFolders, checkDatabase, checkServer, checkAddress, checkProxies, checkMail, checkPayments, checkEndpoints, checkPlugins,
	}
	results := make([][]finding, len(parts))
	var all sync.WaitGroup
	for i, part := range parts {
		all.Go(func() { results[i] = part(ctx, cfg) })
	}
	all.Wait()
	var findings []finding
	bad := 0
	for _, part := range results {
		for _, one := range part {
			findings = append(findings, one)
			if one.Status == failed {
				bad++
			}
		}
	}
	if err := printFindings(out, findings, bad == 0, asJSON); err != nil {
		return err
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d checks failed", bad, len(findings))
	}
	return nil
}

func printFindings(out io.Writer, findings []finding, ok, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(struct {
			OK     bool      `json:"ok"`
			Checks []finding `json:"checks"`
		}{ok, findings})
	}
	for _, one := range findings {
		if _, err := fmt.Fprintf(out, "%-8s%-12s %s\n", one.Status, one.Check, one.Detail); err != nil {
			return err
		}
	}
	return nil
}
