package host_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
)

// install puts the test binary into dir under another name and answers its hash.
func install(t *testing.T, dir, name string) string {
	t.Helper()
	raw, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), raw, 0o755); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestExternal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hash := install(t, dir, "acme")
	write(t, dir+"/acme.yaml", "id: acme\nsha256: "+strings.ToUpper(hash)+"\nsettings: {region: eu}\nsecrets: [token]\n")
	for id, settings := range map[string]string{"zeta": "{dayz: 5}", "changed": "{days: 10}"} {
		write(t, dir+"/"+id+".yaml", "id: "+id+"\nsha256: "+install(t, dir, id)+"\nsettings: "+settings+"\n")
	}
	write(t, dir+"/off.json", `{"id": "off", "file": "acme", "sha256": "`+hash+`", "enabled": false}`)
	write(t, dir+"/unpinned.yaml", "id: unpinned\nfile: acme\n")
	write(t, dir+"/other/plugin.yaml", "id: other\nfile: gone\nsha256: "+hash+"\n")
	write(t, dir+"/alias.yaml", "id: alias\nfile: acme\nsha256: "+hash+"\n")
	write(t, dir+"/outside.yaml", "id: outside\nfile: ../acme\nsha256: "+hash+"\n")
	write(t, dir+"/wrong.yaml", "id: wrong\nfile: acme\nsha256: "+strings.Repeat("f", 64)+"\n")
	write(t, dir+"/typo.yaml", "id: typo\nsha265: 1\n")
	write(t, dir+"/twice.yaml", "id: judge\nfile: acme\nsha256: "+hash+"\n")
	b := setup(t, func(c *host.Config) {
		c.Dir = dir
		c.Secrets = map[string]map[string]string{"acme": {"token": "t0ken-value", "ungranted": "not-to-be-seen"}}
	})
	got := map[string]host.Plugin{}
	for _, p := range b.List() {
		if !p.Builtin {
			got[p.ID] = p
		}
	}
	for id, want := range map[string]struct {
		state  host.State
		reason string
	}{
		"acme":      {host.Ready, `secret "ungranted" is set, but the manifest does not grant it`},
		"zeta":      {host.Unset, `there is no setting "dayz"; did you mean days?`},
		"changed":   {host.Unset, `setting "days": 10 is out of bounds; want a whole number, from 1 to 9`},
		"off":       {host.Disabled, "disabled"},
		"unpinned":  {host.Refused, "no sha256"},
		"other":     {host.Refused, "cannot be read"},
		"alias":     {host.Refused, `calls itself "acme"`},
		"outside":   {host.Refused, "beside the manifest"},
		"wrong":     {host.Refused, "not the pinned one"},
		"typo.yaml": {host.Refused, "sha265"},
		"judge":     {host.Refused, "taken"},
	} {
		t.Run(id, func(t *testing.T) {
			if p := got[id]; p.State != want.state || !strings.Contains(p.Reason, want.reason) {
				t.Errorf("%s: %+v, want %s because of %q", id, p, want.state, want.reason)
			}
		})
	}
	if p := got["acme"]; p.Kind != stage.SourceKind || p.Version != "2.1.0" || fmt.Sprint(p.Platforms) != "[acmetok]" || !p.Refreshes {
		t.Errorf("got %+v, want the source acme 2.1.0, of acmetok, which refreshes", p)
	}
	text := b.found(t, "acme", "given")
	if !strings.Contains(text, `"region":"eu"`) || !strings.Contains(text, "t0ken-value") || strings.Contains(text, "not-to-be-seen") {
		t.Errorf(`given: %s, want text with %q, text with "t0ken-value" and text without "not-to-be-seen"`, text, `"region":"eu"`)
	}
	if _, err := b.probe(t.Context(), "off", "many:1"); err == nil {
		t.Error("a disabled plugin was called, want an error")
	}
}

func TestChangedBinaryIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hash := install(t, dir, "acme")
	write(t, dir+"/acme.yaml", "id: acme\nsha256: "+hash+"\n")
	b := setup(t, func(c *host.Config) { c.Dir = dir })
	if _, err := b.probe(t.Context(), "acme", "many:1"); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(dir+"/acme", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString("changed"); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = b.probe(t.Context(), "acme", "many:1")
	if failure := wantFailure(t, err, stage.StageProtocol); failure.Retry || !strings.Contains(err.Error(), "pinned") {
		t.Errorf("got %+v, want no other try, and the pinned sum in the error", failure)
	}
	if p, found := b.Find("acme"); !found || p.State != host.Refused || !strings.Contains(p.Reason, "pinned") {
		t.Errorf("got %+v (found: %t), want it refused because of the pinned sum", p, found)
	}
}

// TestSlowPluginsDelayNoOther: stages that never say what they are stand before a
// healthy one, and together take longer than any of them may.
func TestSlowPluginsDelayNoOther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hash := install(t, dir, "mute")
	for _, id := range []string{"a1", "a2", "a3"} {
		write(t, dir+"/"+id+".yaml", "id: "+id+"\nfile: mute\nsha256: "+hash+"\n")
	}
	install(t, dir, "zeta") // the same bytes
	write(t, dir+"/zeta.yaml", "id: zeta\nsha256: "+hash+"\n")
	states := func(all []host.Plugin) map[string]host.State {
		got := map[string]host.State{}
		for _, p := range all {
			if !p.Builtin {
				got[p.ID] = p.State
			}
		}
		return got
	}
	unknown := map[string]host.State{"a1": "unknown", "a2": "unknown", "a3": "unknown", "zeta": "unknown"}
	settled := map[string]host.State{"a1": "refused", "a2": "refused", "a3": "refused", "zeta": "ready"}
	withMore(t, 2*time.Second, func(limit time.Duration) error {
		b := setup(t, func(c *host.Config) { c.Dir, c.Start = dir, limit })
		began := time.Now()
		if got := states(b.Known()); !maps.Equal(got, unknown) {
			t.Errorf("before anybody asks: %v, want %v", got, unknown)
		}
		if took := time.Since(began); took > limit/2 {
			return fmt.Errorf("asking for what is known took %v, want at most %v", took, limit/2)
		}
		b.Learn()
		await(t, func() bool { // the first of them is being asked
			left, _ := filepath.Glob(b.scratch + "/*")
			return len(left) > 0
		})
		began = time.Now()
		b.Known()
		if took := time.Since(began); took > limit/2 {
			return fmt.Errorf("asking while they start took %v, want at most %v", took, limit/2)
		}
		if got := states(b.List()); !maps.Equal(got, settled) {
			return fmt.Errorf("listed: %v, want %v", got, settled)
		}
		if got := states(b.Known()); !maps.Equal(got, settled) {
			t.Errorf("known then: %v, want %v", got, settled)
		}
		return nil
	})
}

// TestHostEndsWhileItLearns, however slow its plugins are.
func TestHostEndsWhileItLearns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/slow.yaml", "id: slow\nfile: mute\nsha256: "+install(t, dir, "mute")+"\n")
	b := setup(t, func(c *host.Config) { c.Dir, c.Start = dir, time.Minute })
	b.Learn()
	await(t, func() bool {
		left, _ := filepath.Glob(b.scratch + "/*")
		return len(left) > 0
	})
	within(t, 40*time.Second, "closing the host", func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestNoBox is the operator's override: an external plugin runs as far as the kernel
// confines it without a box, and the log says so at every start.
func TestNoBox(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/acme.yaml", "id: acme\nsha256: "+install(t, dir, "acme")+"\n")
	b := setup(t, func(c *host.Config) { c.Dir, c.Box = dir, host.NoBox })
	if b.Processes.Missing() == nil {
		t.Error("the box is complete, want it turned off")
	}
	for _, term := range []string{"many:1", "scratch"} {
		t.Run(term, func(t *testing.T) {
			if records, err := b.probe(t.Context(), "acme", term); err != nil || len(records) != 1 {
				t.Errorf("%s: got %d records and %v, want one", term, len(records), err)
			}
		})
	}
	if log := b.log.String(); !strings.Contains(log, "SCROLLERY_PLUGIN_BOX=none") {
		t.Errorf(`the log does not say that plugins run without a box: %s, want with "SCROLLERY_PLUGIN_BOX=none"`, log)
	}
}

// TestTooManyBytes: of an external plugin.
func TestTooManyBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/acme.yaml", "id: acme\nsha256: "+install(t, dir, "acme")+"\n")
	b := setup(t, func(c *host.Config) { c.Dir, c.Bytes = dir, 50_000 })
	records, err := b.probe(t.Context(), "acme", "many:10000")
	if wantFailure(t, err, stage.StageProtocol); !strings.Contains(err.Error(), "bytes") || len(records) > 5000 {
		t.Errorf(`got %d records and %v, want text with "bytes" and at most 5000 records`, len(records), err)
	}
}
