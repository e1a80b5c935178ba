package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
)

type bundle struct {
	*host.Host
	scratch string
	log     *journal
}

// journal is a log to be read while it is written.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

func setup(t testing.TB, change func(*host.Config)) *bundle {
	t.Helper()
	b := &bundle{scratch: t.TempDir(), log: &journal{}}
	config := host.Config{Builtins: specs(), ScratchDir: b.scratch}
	if change != nil {
		change(&config)
	}
	host, err := host.New(config, slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	b.Host = host
	t.Cleanup(func() {
		if err := host.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := filepath.Glob(b.scratch + "/*"); len(left) > 0 {
			t.Errorf("scratch folders are left: %v, want none", left)
		}
		if t.Failed() {
			t.Log(b.log.String())
		}
	})
	return b
}

func (b *bundle) probe(ctx context.Context, id, term string) ([]stage.Record, error) {
	var all []stage.Record
	_, err := b.Collect(ctx, id, stage.Run{ScrollID: "scr_1"}, []stage.Seed{{Kind: "niche", Term: term}}, func(batch []stage.Record) error {
		all = append(all, batch...)
		return nil
	})
	return all, err
}

// found is what the probe's one record says.
func (b *bundle) found(t *testing.T, id, term string) string {
	t.Helper()
	records, err := b.probe(t.Context(), id, term)
	if err != nil || len(records) != 1 {
		t.Fatalf("%s: got %d records, error %v; want 1", term, len(records), err)
	}
	return found(t, records[0])
}

func found(t *testing.T, r stage.Record) string {
	t.Helper()
	var metadata struct{ Found json.RawMessage }
	if err := json.Unmarshal(r.Metadata, &metadata); err != nil {
		t.Fatal(err)
	}
	var text string
	if json.Unmarshal(metadata.Found, &text) == nil {
		return text
	}
	return string(metadata.Found)
}

func wantFailure(t *testing.T, err error, want stage.Failure) *stage.CallError {
	t.Helper()
	var failure *stage.CallError
	if !errors.As(err, &failure) || failure.Failure != want {
		t.Fatalf("error is %v, want %s", err, want)
	}
	return failure
}

func TestCollect(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	var sizes []int
	outcomes, err := b.Collect(t.Context(), "probe", stage.Run{}, []stage.Seed{{Term: "many:120"}}, func(batch []stage.Record) error {
		sizes = append(sizes, len(batch))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(sizes) != 3 || sizes[0] != 50 || sizes[2] != 20 {
		t.Errorf("batches of %v, want 50, 50, 20", sizes)
	}
	want := stage.Outcome{Seed: "many:120", Platform: "tiktok", Status: stage.OK, Asked: 120, Returned: 120}
	if len(outcomes) != 1 || outcomes[0] != want {
		t.Errorf("outcomes %+v, want %+v", outcomes, want)
	}
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	var refs []stage.Ref
	for i := range 2500 {
		refs = append(refs, stage.Ref{Platform: "tiktok", ExternalID: strconv.Itoa(i)})
	}
	var got []stage.Ref
	_, err := b.Refresh(t.Context(), "probe", stage.Run{}, refs, func(batch []stage.Record) error {
		for _, r := range batch {
			got = append(got, r.Ref)
		}
		return nil
	})
	if diff := cmp.Diff(refs, got); err != nil || diff != "" {
		t.Errorf("got %d records, %v; refreshed (-want +got):\n%s", len(got), err, diff)
	}
	_, err = b.Refresh(t.Context(), "online", stage.Run{}, refs, nil)
	wantFailure(t, err, stage.StageProtocol)
}

func input(n, size int) func() ([]stage.Record, error) {
	sent := 0
	return func() ([]stage.Record, error) {
		var batch []stage.Record
		for ; sent < n && len(batch) < size; sent++ {
			batch = append(batch, stage.Record{Ref: stage.Ref{Platform: "tiktok", ExternalID: strconv.Itoa(sent)}})
		}
		if len(batch) == 0 {
			return nil, io.EOF
		}
		return batch, nil
	}
}

func TestScreen(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for _, prompt := range []string{"", "stranger"} {
		t.Run(fmt.Sprintf("prompt %q", prompt), func(t *testing.T) {
			kept, dropped := 0, 0
			summary, err := b.Screen(t.Context(), "judge", stage.Run{Prompt: prompt}, input(1010, 333), func(batch []stage.Verdict) error {
				for _, v := range batch {
					if v.DroppedBy == "" {
						kept++
					} else {
						dropped++
					}
				}
				return nil
			})
			if err != nil || kept != 505 || dropped != 505 || len(summary.Unclear) != 1 {
				t.Errorf("got %d kept, %d dropped, summary %v, error %v; want 505, 505 and 1 unclear rule", kept, dropped, summary, err)
			}
		})
	}
	if !strings.Contains(b.log.String(), "refused=1") {
		t.Errorf("got %s, want the verdict that was not asked for counted as refused=1", b.log.String())
	}
}

func TestEvidence(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	n := 0
	err := b.Evidence(t.Context(), "listener", stage.Run{}, input(130, 1000), func(batch []stage.Finding) error {
		n += len(batch)
		return nil
	})
	if err != nil || n != 130 {
		t.Errorf("got %d findings, %v, want 130 and no error", n, err)
	}
}

// TestFramesThatAreNoPictures: what came before stays, the rest is named, and never handed on.
func TestFramesThatAreNoPictures(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	got := map[string]int{}
	emit := func(batch []stage.Finding) error {
		for _, f := range batch {
			got[f.ExternalID] = len(f.Frames)
		}
		return nil
	}
	if err := b.Evidence(t.Context(), "framer", stage.Run{}, input(1, 1), emit); err != nil || got["0"] != 1 {
		t.Fatalf("one picture: got %v, %v; want one frame", got, err)
	}
	failure := wantFailure(t, b.Evidence(t.Context(), "framer", stage.Run{}, input(2, 2), emit), stage.StageProtocol)
	if _, taken := got["1"]; taken || !strings.Contains(failure.Error(), "framer") || !strings.Contains(failure.Error(), "no WebP file") {
		t.Errorf("got %v and %v, want no finding for the second one, and an error that names the stage and the reason", got, failure)
	}
}

func TestCallbackErrors(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	own := errors.New("the disk is full")
	_, err := b.Collect(t.Context(), "probe", stage.Run{}, []stage.Seed{{Term: "many:1000"}}, func([]stage.Record) error { return own })
	if !errors.Is(err, own) {
		t.Errorf("error is %v, want emit's own", err)
	}
	_, err = b.Screen(t.Context(), "judge", stage.Run{}, func() ([]stage.Record, error) { return nil, own }, nil)
	if !errors.Is(err, own) {
		t.Errorf("error is %v, want next's own", err)
	}
}

func TestOnlyWhatIsNamedIsGiven(t *testing.T) {
	t.Setenv("SCROLLERY_STRIPE_SECRET_KEY", "sk_live_planted")
	b := setup(t, func(c *host.Config) {
		c.Settings = map[string]map[string]string{"probe": {"tone": "brisk"}, "online": {"tone": "unwanted"}}
		c.Secrets = map[string]map[string]string{"probe": {"token": "t0ken-value", "foreign": "unwanted"}, "online": {"token": "not-mine"}}
	})
	text := b.found(t, "probe", "given")
	for _, want := range []string{`"tone":"brisk"`, `"token":"t0ken-value"`, `"scrollId":"scr_1"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
	for _, unwanted := range []string{"sk_live_planted", "unwanted", "not-mine"} {
		if strings.Contains(text, unwanted) {
			t.Errorf("%s was handed over: %s", unwanted, text)
		}
	}
}

func TestStrangeData(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	records, err := b.probe(t.Context(), "probe", "odd")
	if err != nil || len(records) != 2 {
		t.Fatalf("got %d records, error %v; want 2", len(records), err)
	}
	r := records[0]
	if got, want := string(r.Metadata), `{"caption":"half an emoji \ufffd","id":12345678901234567890}`; got != want {
		t.Errorf("metadata %s, want %s", got, want)
	}
	if r.SourceURL != "https://example.com/\uFFFD\uFFFD" || r.Metrics.Views != nil || r.PostedAt != nil {
		t.Errorf(`not repaired: %+v, want SourceURL "https://example.com/��", no Views and no PostedAt`, r)
	}
	if records[1].Metadata != nil {
		t.Errorf("a list passed for metadata: %s, want no Metadata", records[1].Metadata)
	}
	if !strings.Contains(b.log.String(), "refused=1") {
		t.Errorf("got %s, want the refused record counted as refused=1", b.log.String())
	}
	_, err = b.probe(t.Context(), "probe", "garbage")
	wantFailure(t, err, stage.StageProtocol)
	if text := b.found(t, "probe", "big"); !strings.Contains(text, "bytes are more") {
		t.Errorf(`a record of 2 MiB: %s, want with "bytes are more"`, text)
	}
}

func TestRecordLimit(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *host.Config) { c.Records = 100 })
	records, err := b.probe(t.Context(), "probe", "many:101")
	if failure := wantFailure(t, err, stage.StageCrashed); !strings.Contains(failure.Error(), "no more records") || len(records) != 100 {
		t.Errorf(`%d records, %v, want Error with "no more records" and 100 records`, len(records), err)
	}
}

func TestTypedErrors(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *host.Config) {
		c.Secrets = map[string]map[string]string{"probe": {"token": "t0ken-value"}}
	})
	for _, c := range []struct {
		term           string
		want           stage.Failure
		retry, retryAt bool
		setup          bool
	}{
		{"busy", stage.SourceUnavailable, true, true, false},
		{"quota", stage.SourceQuota, true, true, false},
		{"refused", stage.SourceUnauthorized, false, false, false},
		{"plain", stage.StageCrashed, true, false, false},
		{"panic", stage.StageCrashed, true, false, false},
		{"unheard-of", stage.SourceUnavailable, false, false, true},
	} {
		t.Run(c.term, func(t *testing.T) {
			_, err := b.probe(t.Context(), "probe", c.term)
			failure := wantFailure(t, err, c.want)
			if failure.Retry != c.retry || failure.Setup != c.setup || (failure.RetryAt != nil) != c.retryAt {
				t.Errorf("%s: got %+v, want a retry: %t, at a time: %t, an error of the setup: %t", c.term, failure, c.retry, c.retryAt, c.setup)
			}
			if strings.Contains(err.Error(), "t0ken-value") {
				t.Errorf(`the secret is in the error: %v, want without "t0ken-value"`, err)
			}
		})
	}
	if log := b.log.String(); !strings.Contains(log, "out of cheese") || !strings.Contains(log, "probe_test.go") {
		t.Errorf(`the panic's stack is not in the log: got %q, want log with "out of cheese" and log with "probe_test.go"`, log)
	}
	if p, found := b.Find("probe"); !found || p.State != host.Ready {
		t.Errorf("after errors that the stage reports itself: got %+v (found: %t), want it ready", p, found)
	}
}

func TestOutput(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *host.Config) {
		c.Secrets = map[string]map[string]string{"probe": {"token": "t0ken-value"}}
	})
	if text := b.found(t, "probe", "stdout"); text != "done" {
		t.Errorf("got %q, want %q", text, "done")
	}
	log := b.log.String()
	for _, want := range []string{"a word on stdout", "straight to the pipe", "a word in the log", "[token]"} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is not in the log", want)
		}
	}
	if strings.Contains(log, "t0ken-value") || len(log) > 64<<10 {
		t.Errorf("got a log of %d bytes, with the secret: %t; want at most %d, without it", len(log), strings.Contains(log, "t0ken-value"), 64<<10)
	}
}

func within(t *testing.T, limit time.Duration, what string, do func()) {
	t.Helper()
	start := time.Now()
	do()
	if took := time.Since(start); took > limit {
		t.Errorf("%s took %v, want at most %v", what, took, limit)
	}
}

// withMore tries what a stall of the machine itself can spoil, with more time for each try.
func withMore(t *testing.T, first time.Duration, try func(limit time.Duration) error) {
	t.Helper()
	var err error
	for limit := first; limit <= 16*first; limit *= 4 {
		if err = try(limit); err == nil {
			return
		}
		t.Logf("with %v: %v", limit, err)
	}
	t.Errorf("however much time there was: %v", err)
}

// TestTemplatesSettingsWin over the operator's general ones, for the named stage alone.
func TestTemplatesSettingsWin(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *host.Config) { c.Settings = map[string]map[string]string{"probe": {"tone": "loud"}} })
	tone := func(settings map[string]map[string]string) any {
		var said struct {
			Found struct{ Settings map[string]string }
		}
		_, err := b.Collect(t.Context(), "probe", stage.Run{Settings: settings}, []stage.Seed{{Kind: "niche", Term: "given"}}, func(batch []stage.Record) error {
			return json.Unmarshal(batch[0].Metadata, &said)
		})
		if err != nil {
			t.Fatal(err)
		}
		return said.Found.Settings["tone"]
	}
	if got := tone(nil); got != "loud" {
		t.Errorf(`without a template: %q, want "loud"`, got)
	}
	if got := tone(map[string]map[string]string{"probe": {"tone": "low"}, "other": {"tone": "no"}}); got != "low" {
		t.Errorf(`with one: %q, want "low"`, got)
	}
	_, err := b.Collect(t.Context(), "probe", stage.Run{Settings: map[string]map[string]string{"probe": {"tones": "x"}}}, nil, func([]stage.Record) error { return nil })
	if want := `there is no setting "tones"; did you mean tone?`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("of a name that is not known: got error %v, want %s", err, want)
	}
}

// TestRequiredSecrets: a stage that lacks one is not ready, and says which.
func TestRequiredSecrets(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"", "s3cret"} {
		t.Run(fmt.Sprintf("with %q", secret), func(t *testing.T) {
			b := setup(t, func(c *host.Config) {
				c.Secrets = map[string]map[string]string{"keyed": {"token": secret}}
			})
			p, _ := b.Find("keyed")
			if ready := p.State == host.Ready; ready != (secret != "") || !ready && (p.State != host.Unset || !strings.Contains(p.Reason, `"token"`)) {
				t.Errorf("with %q: got %+v, want it ready with a secret, and else unset with the name of the token", secret, p)
			}
		})
	}
}
