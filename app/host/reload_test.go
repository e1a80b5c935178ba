package host_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app/host"
)

// TestReload changes a manifest, a secret, and the plugins of the folder while a call runs.
func TestReload(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hash := install(t, dir, "acme")
	manifest := func(region string) { // in place of the one that is there, as `make install` does
		write(t, dir+"/next", "id: acme\nsha256: "+hash+"\nsettings: {region: "+region+"}\nsecrets: [token]\n")
		if err := os.Rename(dir+"/next", dir+"/acme.yaml"); err != nil {
			t.Fatal(err)
		}
	}
	manifest("eu")
	write(t, dir+"/zeta.yaml", "id: zeta\nfile: acme\nsha256: "+hash+"\nenabled: false\n")
	token := func(text string) host.Config {
		return host.Config{Secrets: map[string]map[string]string{"acme": {"token": text}}}
	}
	b := setup(t, func(c *host.Config) { c.Dir, c.Secrets = dir, token("first-token").Secrets })
	given := func(want ...string) {
		t.Helper()
		text := b.found(t, "acme", "given")
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("given: %s, want text with %q", text, part)
			}
		}
	}
	reload := func(config host.Config, want ...string) {
		t.Helper()
		changed, err := b.Reload(config, nil)
		if err != nil || !slices.Equal(changed, want) {
			t.Errorf("got %q, %v; want %q to have changed", changed, err, want)
		}
	}
	given(`"region":"eu"`, "first-token")

	running := make(chan error, 1)
	go func() {
		records, err := b.probe(t.Context(), "acme", "busyhang:100ms")
		if err == nil && len(records) != 1 {
			err = fmt.Errorf("got %d records, want 1", len(records))
		}
		running <- err
	}()
	reload(token("second-token")) // no plugin is another one
	given(`"region":"eu"`, "second-token")
	manifest("us")
	reload(token("second-token"), "acme")
	given(`"region":"us"`, "second-token")
	if err := <-running; err != nil {
		t.Errorf("the call that ran: %v, want it to end as it began", err)
	}

	for name, config := range map[string]host.Config{
		"no such plugin": {Settings: map[string]map[string]string{"acmee": {"region": "x"}}},
		"no such secret": {Secrets: map[string]map[string]string{"acmee": {"token": "x"}}},
	} {
		if _, err := b.Reload(config, nil); err == nil || !strings.Contains(err.Error(), "did you mean acme?") {
			t.Errorf("%s: got %v, want an error with the nearest name", name, err)
		}
	}
	given(`"region":"us"`, "second-token")

	if err := os.Remove(dir + "/zeta.yaml"); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/more.yaml", "id: more\nfile: acme\nsha256: "+strings.Repeat("0", 64)+"\n")
	reload(token("second-token"), "more", "zeta")
	if _, found := b.Find("zeta"); found {
		t.Error("a plugin without a manifest is there, want it gone")
	}
	if p, _ := b.Find("more"); p.State != host.Refused {
		t.Errorf("a plugin with another sum: %+v, want it refused", p)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Reload(token("third-token"), nil); err == nil {
		t.Error("without the folder: got no error, want one")
	}
	if p, found := b.Find("acme"); !found || p.State == host.Disabled {
		t.Errorf("then: %+v (found: %t), want acme as it was", p, found)
	}
}
