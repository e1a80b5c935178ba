package host_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
)

// TestOwnSecretsAreInNoOtherProcess: while a call with an account's secret goes on, no process of the
// machine has it in its environment or its arguments, and the box of another account sees nothing
// of the process that has it.
func TestOwnSecretsAreInNoOtherProcess(t *testing.T) {
	t.Parallel()
	const secret = "secret-of-one-that-waits"
	b := setup(t, func(c *host.Config) {
		c.Accounts = tenants{
			"one":   {"keyed": {Ledger: "keyed/one", Secrets: map[string]string{"token": secret}}},
			"other": {"keyed": {Ledger: "keyed/other", Secrets: map[string]string{"token": "secret-of-another"}}},
		}
	})
	ctx, cancel := context.WithCancel(of(t, "one"))
	defer cancel()
	before, _ := filepath.Glob("/proc/[0-9]*")
	began, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = b.Collect(ctx, "keyed", stage.Run{}, []stage.Seed{{Term: "wait"}}, func([]stage.Record) error {
			close(began)
			return nil
		})
	}()
	<-began
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(all) < 2 {
		t.Fatalf("got %d processes and error %v, want those of the machine", len(all), err)
	}
	tried := 0
	for _, folder := range all {
		for _, name := range []string{"environ", "cmdline"} {
			if text, err := os.ReadFile(filepath.Join(folder, name)); err == nil && strings.Contains(string(text), secret) {
				t.Errorf("%s/%s has the secret, want it in no process", folder, name)
			}
		}
		if words, _ := os.ReadFile(filepath.Join(folder, "cmdline")); slices.Contains(before, folder) || !strings.Contains(string(words), "keyed") || tried == 3 {
			continue
		}
		tried++
		for _, name := range []string{"environ", "mem", "root/etc/passwd"} {
			records, err := b.probe(of(t, "other"), "keyed", "read:"+folder+"/"+name)
			if err != nil || len(records) != 1 {
				t.Fatalf("got %d records and error %v, want 1", len(records), err)
			}
			if got := found(t, records[0]); strings.Contains(got, secret) || !strings.Contains(got, "no such file") {
				t.Errorf("%s/%s from another box: got %.80q, want no such file", folder, name, got)
			}
		}
	}
	if tried == 0 {
		t.Error("got no process of the call on the machine, want one to look for")
	}
	cancel()
	<-ended
}
