package kit_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/scrollery/scrollery/app/host/kit"
	"github.com/scrollery/scrollery/plugins/stage"
)

// cancelled hands the package streams that have ended before they are served, which node
// refuses to answer.
const cancelled = `
import http2 from "node:http2";
import { EventEmitter } from "node:events";
import { syncBuiltinESMExports } from "node:module";

const server = new EventEmitter();
server.listen = () => {};
http2.createServer = () => server;
syncBuiltinESMExports();
const { serve } = await import("./scrollery-stage/server.js");
serve({ id: "x", kind: "screen" }, { screen: async () => ({}) });
for (const gone of [{ destroyed: true }, { closed: true }]) {
  for (const path of ["/scrollery.stage.v1.StageService/Screen", "/scrollery.stage.v1.StageService/Describe", "/grpc.health.v1.Health/Check", "/none"]) {
    const refuse = () => { throw new Error("The stream has been destroyed"); };
    const stream = Object.assign(new EventEmitter(), { resume() {}, respond: refuse, write: refuse, end: refuse, sendTrailers: refuse }, gone);
    server.emit("stream", stream, { ":path": path });
    stream.emit("wantTrailers");
    stream.emit("close");
  }
}
`

// TestACallThatIsCancelledBeforeItBegins ends no process of a plugin in TypeScript.
func TestACallThatIsCancelledBeforeItBegins(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("node is not installed")
	}
	dir := filepath.Join(t.TempDir(), "acme")
	if _, err := kit.New(kit.Plan{Name: "acme", Kind: stage.ScreenKind, Lang: "ts", Version: "v1.2.3", Dir: dir}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cancelled.mjs"), []byte(cancelled), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), node, "cancelled.mjs")
	command.Dir, command.Env = dir, append(os.Environ(), "SCROLLERY_STAGE=research-stage-1", "PLUGIN_CLIENT_CERT=")
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("got %v, want that the plugin goes on:\n%s", err, out)
	}
}
