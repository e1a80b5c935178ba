package webhooks

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// verifier prints, for each delivery of the file, the id of the change or the fault.
const verifier = `
const { Webhook } = require("standardwebhooks");
for (const { secret, body, headers } of JSON.parse(require("fs").readFileSync("deliveries.json", "utf8"))) {
  try { console.log(new Webhook(secret).verify(body, headers).data.id); } catch (fault) { console.log(fault.message); }
}`

// TestTheLibraryOfNpmVerifies has the specification's library for JavaScript verify a
// delivery, one with another body and one with another secret.
func TestTheLibraryOfNpmVerifies(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("npm"); err != nil {
		if os.Getenv("CI") == "" {
			t.Skip("npm is not installed")
		}
		t.Fatal(err)
	}
	b := setup(t, storetest.SQLite(t), nil)
	_, secret := b.create(t)
	b.add(t, feed.VideoAdded, 1)
	got := b.receiver.wait(t, 1)[0]

	type delivery struct {
		Secret  string            `json:"secret"`
		Body    string            `json:"body"`
		Headers map[string]string `json:"headers"`
	}
	headers := map[string]string{}
	for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		headers[name] = got.header.Get(name)
	}
	deliveries, err := json.Marshal([]delivery{
		{secret, string(got.body), headers}, {secret, string(got.body) + " ", headers}, {showSecret(newSecret()), string(got.body), headers},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"deliveries.json": string(deliveries), "verify.cjs": verifier, "package.json": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(program string, args ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		command := exec.CommandContext(ctx, program, args...)
		command.Dir = dir
		out, err := command.Output()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", program, args, err, out)
		}
		return string(out)
	}
	run("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "standardwebhooks@1.1.1")
	want := []string{got.id, "No matching signature found", "No matching signature found"}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(run("node", "verify.cjs")), "\n")); diff != "" {
		t.Errorf("want - and got +:\n%s", diff)
	}
}
