// Package stagetest runs a stage on saved inputs, without a process.
//
// What the stage emits takes the same way as in the host: through the wire's
// form and the host's checks. What is beyond its bounds fails the test, as it would end a call. With
// Spec.Lenient, a record that the host would refuse fails the test; one that it would repair is repaired,
// and the test's log says so.
package stagetest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Plan runs the spec's Plan on seeds that the host would have found.
func Plan(t testing.TB, spec stage.Spec, call stage.Call, known []stage.Seed) ([]stage.Seed, error) {
	t.Helper()
	prepare(t, spec, stage.PlanKind, &call)
	var found []stage.Seed
	err := spec.Plan(t.Context(), &call, known, func(seed stage.Seed) error {
		if err := fits(t, spec, seed); err != nil {
			return err
		}
		if _, fault := seed.Clean(); fault != nil {
			t.Errorf("seed %+v: the host would refuse it: %v", seed, fault)
		}
		found = append(found, seed)
		return nil
	})
	return found, err
}

// Brief runs the spec's Brief on facts, and fails for a sentence that the host would drop.
func Brief(t testing.TB, spec stage.Spec, call stage.Call, facts []stage.Fact) ([]stage.Sentence, error) {
	t.Helper()
	prepare(t, spec, stage.BriefKind, &call)
	var all []stage.Sentence
	err := spec.Brief(t.Context(), &call, facts, func(s stage.Sentence) error {
		if err := fits(t, spec, s); err != nil {
			return err
		}
		if _, fault := s.Clean(); fault != nil {
			t.Errorf("sentence %q: the host would drop it: %v", s.Text, fault)
		}
		for _, id := range s.Cites {
			if !slices.ContainsFunc(facts, func(f stage.Fact) bool { return f.ID == id || slices.Contains(f.Examples, id) }) {
				t.Errorf("sentence %q: the host would drop it: it cites %q, which is no fact", s.Text, id)
			}
		}
		all = append(all, s)
		return nil
	})
	return all, err
}

// Collect runs the spec's Collect. What call leaves empty is filled in: defaults
// of settings, a scratch folder, a log that ends up in the test's, the time.
func Collect(t testing.TB, spec stage.Spec, call stage.Call, seeds []stage.Seed) ([]stage.Record, []stage.Outcome, error) {
	t.Helper()
	prepare(t, spec, stage.SourceKind, &call)
	var sink records
	outcomes, err := spec.Collect(t.Context(), &call, seeds, sink.emit(t, spec))
	return sink.all, clean(t, outcomes), err
}

// Refresh runs the spec's Refresh.
func Refresh(t testing.TB, spec stage.Spec, call stage.Call, refs []stage.Ref) ([]stage.Record, []stage.Outcome, error) {
	t.Helper()
	prepare(t, spec, stage.SourceKind, &call)
	if spec.Refresh == nil {
		t.Fatalf("%s has no Refresh", spec.ID)
	}
	var sink records
	outcomes, err := spec.Refresh(t.Context(), &call, refs, sink.emit(t, spec))
	return sink.all, clean(t, outcomes), err
}

// Media runs the spec's Media. A file that the host would not take fails the test;
// the names of the others are still those within the call's scratch folder.
func Media(t testing.TB, spec stage.Spec, call stage.Call, refs []stage.Ref) ([]stage.File, []stage.Outcome, error) {
	t.Helper()
	prepare(t, spec, stage.SourceKind, &call)
	if spec.Media == nil {
		t.Fatalf("%s has no Media", spec.ID)
	}
	var mu sync.Mutex
	var files []stage.File
	outcomes, err := spec.Media(t.Context(), &call, refs, func(f stage.File) error {
		mu.Lock()
		defer mu.Unlock()
		if err := fits(t, spec, f); err != nil {
			return err
		}
		if !slices.Contains(refs, f.Ref) {
			t.Errorf("%s/%s: was not asked about", f.Platform, f.ExternalID)
		}
		if info, err := os.Lstat(filepath.Join(call.Scratch, f.Name)); filepath.Base(f.Name) != f.Name || err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s/%s: %q is no plain file in the scratch folder", f.Platform, f.ExternalID, f.Name)
		}
		files = append(files, f)
		return nil
	})
	return files, clean(t, outcomes), err
}

// Check runs the spec's Check, of any kind. A line that people would not see as it is fails
// the test.
func Check(t testing.TB, spec stage.Spec, call stage.Call) (string, error) {
	t.Helper()
	prepare(t, spec, spec.Kind, &call)
	if spec.Check == nil {
		t.Fatalf("%s has no Check", spec.ID)
	}
	ctx, cancel := context.WithTimeout(t.Context(), stage.CheckWithin)
	defer cancel()
	line, err := spec.Check(ctx, &call)
	if err != nil {
		return line, err
	}
	if n := utf8.RuneCountInString(line); n < 1 || n > stage.MaxChecked || strings.ContainsFunc(line, unicode.IsControl) {
		t.Errorf("the check says %q: want one line of 1 to %d characters", line, stage.MaxChecked)
	}
	for name, secret := range call.Secrets {
		if len(secret) >= 6 && strings.Contains(line, secret) {
			t.Errorf("the check says the secret %s", name)
		}
	}
	return line, nil
}

// Screen runs the spec's Screen. A record without a verdict, or with two, fails the test.
func Screen(t testing.TB, spec stage.Spec, call stage.Call, input []stage.Record) ([]stage.Verdict, stage.Summary, error) {
	t.Helper()
	prepare(t, spec, stage.ScreenKind, &call)
	var verdicts []stage.Verdict
	var mu sync.Mutex
	judged := map[stage.Ref]int{}
	summary, err := spec.Screen(t.Context(), &call, Feed(input), func(v stage.Verdict) error {
		mu.Lock()
		defer mu.Unlock()
		if err := fits(t, spec, v); err != nil {
			return err
		}
		v = stage.DecodeVerdict(stage.EncodeVerdict(&v))
		repairs, fault := v.Clean()
		check(t, v.Ref, repairs, fault)
		judged[v.Ref]++
		verdicts = append(verdicts, v)
		return nil
	})
	if err == nil {
		for _, r := range input {
			if n := judged[r.Ref]; n != 1 {
				t.Errorf("%s %s: %d verdicts, want 1", r.Platform, r.ExternalID, n)
			}
		}
	}
	return verdicts, summary, err
}

// Evidence runs the spec's Evidence.
func Evidence(t testing.TB, spec stage.Spec, call stage.Call, input []stage.Record) ([]stage.Finding, error) {
	t.Helper()
	prepare(t, spec, stage.EvidenceKind, &call)
	var findings []stage.Finding
	var mu sync.Mutex
	err := spec.Evidence(t.Context(), &call, Feed(input), func(f stage.Finding) error {
		mu.Lock()
		defer mu.Unlock()
		if err := fits(t, spec, f); err != nil {
			return err
		}
		f = stage.DecodeFinding(stage.EncodeFinding(&f))
		repairs, fault := f.Clean()
		check(t, f.Ref, repairs, fault)
		findings = append(findings, f)
		return nil
	})
	return findings, err
}

// Feed gives one record after the other, then io.EOF.
func Feed(input []stage.Record) func() (stage.Record, error) {
	var mu sync.Mutex
	return func() (stage.Record, error) {
		mu.Lock()
		defer mu.Unlock()
		if len(input) == 0 {
			return stage.Record{}, io.EOF
		}
		var one stage.Record
		one, input = input[0], input[1:]
		return stage.DecodeRecord(stage.EncodeRecord(&one)), nil
	}
}

type records struct {
	mu  sync.Mutex
	all []stage.Record
}

func (s *records) emit(t testing.TB, spec stage.Spec) func(stage.Record) error {
	return func(r stage.Record) error {
		if err := fits(t, spec, r); err != nil {
			return err
		}
		message, err := proto.Marshal(stage.EncodeRecord(&r))
		if err != nil {
			return err
		}
		if len(message) > stage.MaxRecord {
			return fmt.Errorf("emit: %d bytes are more than the %d that a record may have", len(message), stage.MaxRecord)
		}
		repairs, fault := r.Clean()
		check(t, r.Ref, repairs, fault)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all = append(s.all, r)
		return nil
	}
}

func prepare(t testing.TB, spec stage.Spec, kind stage.Kind, call *stage.Call) {
	t.Helper()
	if err := spec.Validate(); err != nil {
		t.Fatalf("%s is not fit to run:\n%v", spec.ID, err)
	}
	if spec.Kind != kind {
		t.Fatalf("%s is a %s stage, not a %s", spec.ID, spec.Kind, kind)
	}
	settings := map[string]string{}
	for _, setting := range spec.Settings {
		value, ok := call.Settings[setting.Name]
		if !ok {
			value = setting.Default
		}
		if value != "" {
			settings[setting.Name] = value
		} else if setting.Required {
			t.Fatalf("%s: setting %q is required", spec.ID, setting.Name)
		}
	}
	call.Settings = settings
	if call.Secrets == nil {
		call.Secrets = map[string]string{}
	}
	if call.Scratch == "" {
		call.Scratch = t.TempDir()
	}
	if call.Log == nil {
		call.Log = slog.New(slog.NewTextHandler(lines{t}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	if call.Now == 0 {
		call.Now = time.Now().UnixMilli()
	}
	if call.Number == 0 {
		call.Number = 1
	}
}

// fits fails the test for what would end a call of the stage.
func fits(t testing.TB, spec stage.Spec, emitted any) error {
	t.Helper()
	if spec.Lenient {
		return nil
	}
	err := stage.Fits(emitted)
	if err != nil {
		t.Errorf("the call would end: %v", err)
	}
	return err
}

func check(t testing.TB, ref stage.Ref, repairs stage.Repairs, fault error) {
	t.Helper()
	if fault != nil {
		t.Errorf("%q %q: the host would refuse it: %v", ref.Platform, ref.ExternalID, fault)
	}
	if repairs.Any() {
		t.Logf("%s %s: the host would repair it: %+v", ref.Platform, ref.ExternalID, repairs)
	}
}

func clean(t testing.TB, outcomes []stage.Outcome) []stage.Outcome {
	t.Helper()
	for i := range outcomes {
		if repairs := outcomes[i].Clean(); repairs.Any() {
			t.Errorf("outcome of %q on %q: the host would repair it: %+v", outcomes[i].Seed, outcomes[i].Platform, repairs)
		}
	}
	return outcomes
}

type lines struct{ t testing.TB }

func (l lines) Write(line []byte) (int, error) {
	l.t.Log(strings.TrimSuffix(string(line), "\n"))
	return len(line), nil
}
