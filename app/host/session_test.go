package host_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
)

// TestSession tells processes apart by the calls that each has counted.
func TestSession(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *host.Config) { c.Together = []string{"guide", "judge", "listener"} })
	screen := func(s *host.Session, prompt string) (string, error) {
		summary, err := s.Screen(t.Context(), "judge", stage.Run{ScrollID: "scr_1", Prompt: prompt}, input(3, 3), func([]stage.Verdict) error { return nil })
		return fmt.Sprint(summary.Notes), err
	}
	want := func(t *testing.T, s *host.Session, notes string) {
		t.Helper()
		if got, err := screen(s, ""); err != nil || got != notes {
			t.Errorf("got notes %s and error %v, want notes %s", got, err, notes)
		}
	}
	t.Run("stages share a process", func(t *testing.T) {
		s := b.Session()
		defer s.Close()
		want(t, s, "[call 1]")
		heard := 0
		err := s.Evidence(t.Context(), "listener", stage.Run{ScrollID: "scr_1"}, input(3, 3), func(findings []stage.Finding) error {
			heard += len(findings)
			return nil
		})
		if err != nil || heard != 3 {
			t.Fatalf("got %d findings and error %v, want 3", heard, err)
		}
		want(t, s, "[call 3]")
	})
	t.Run("sessions share none", func(t *testing.T) {
		first, second := b.Session(), b.Session()
		defer first.Close()
		defer second.Close()
		want(t, first, "[call 1]")
		want(t, second, "[call 1]")
		want(t, first, "[call 2]")
	})
	t.Run("other stages have a process of their own", func(t *testing.T) {
		s := b.Session()
		defer s.Close()
		want(t, s, "[call 1]")
		if _, err := b.Screen(t.Context(), "judge", stage.Run{}, input(1, 1), func([]stage.Verdict) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if records, err := b.probe(t.Context(), "probe", "many:2"); err != nil || len(records) != 2 {
			t.Errorf("the probe: got %d records and error %v, want 2", len(records), err)
		}
		want(t, s, "[call 2]")
	})
	t.Run("after a crash comes a new process", func(t *testing.T) {
		s := b.Session()
		defer s.Close()
		want(t, s, "[call 1]")
		var failed *stage.CallError
		if got, err := screen(s, "die"); !errors.As(err, &failed) || failed.Failure != stage.StageCrashed {
			t.Fatalf("got notes %s and error %v, want the failure %s", got, err, stage.StageCrashed)
		}
		want(t, s, "[call 1]")
	})
	t.Run("after an end between two calls comes a new process", func(t *testing.T) {
		s := b.Session()
		defer s.Close()
		want(t, s, "[call 1]")
		pid := s.PID()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		await(t, func() bool { return !alive(pid) })
		want(t, s, "[call 1]")
	})
	t.Run("at once each has its own", func(t *testing.T) {
		s := b.Session()
		defer s.Close()
		next := input(2, 2)
		summary, err := s.Screen(t.Context(), "judge", stage.Run{}, func() ([]stage.Record, error) {
			want(t, s, "[call 1]") // while the first call has not ended
			return next()
		}, func([]stage.Verdict) error { return nil })
		if diff := cmp.Diff([]string{"call 1"}, summary.Notes); err != nil || diff != "" {
			t.Errorf("error %v, notes (-want +got):\n%s", err, diff)
		}
	})
	t.Run("a call that was given up leaves no process", func(t *testing.T) {
		s := b.Session()
		defer s.Close()
		want(t, s, "[call 1]")
		ctx, cancel := context.WithCancel(t.Context())
		_, err := s.Screen(ctx, "judge", stage.Run{}, func() ([]stage.Record, error) {
			cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		}, func([]stage.Verdict) error { return nil })
		if err == nil {
			t.Fatal("got no error, want an error")
		}
		want(t, s, "[call 1]")
	})
}
