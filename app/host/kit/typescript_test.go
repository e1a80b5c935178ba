package kit_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// thrown serves a stage that throws, without a host, and prints what it says.
const thrown = `
import { connect } from "node:http2";
import { decode, encode } from "./scrollery-stage/codec.js";

const { serve } = await import("./scrollery-stage/server.js");
const written = process.stdout.write.bind(process.stdout);
process.stdout.write = (text) => {
  const path = String(text).split("|")[3];
  if (!path) return written(text);
  const stream = connect("http://localhost", { createConnection: () => net.connect(path) }).request({ ":method": "POST", ":path": "/scrollery.stage.v1.StageService/Plan", "content-type": "application/grpc" });
  const open = encode("CallRequest", { open: { scratch: "/tmp", maxRecords: 1 } }), last = encode("CallRequest", { input: { last: true } });
  for (const one of [open, last]) { const head = Buffer.alloc(5); head.writeUInt32BE(one.length, 1); stream.write(Buffer.concat([head, one])); }
  stream.on("data", (part) => { console.error("SAID " + JSON.stringify(decode("CallResponse", part.subarray(5)).done?.error)); process.exit(0); });
  return true;
};
import net from "node:net";
serve({ id: "x", kind: "plan" }, { plan: async (call, seeds, emit) => { %s } });
`

// TestAnExceptionHasItsType in what a plugin in TypeScript says of itself, and a value beyond its bound
// its name.
func TestAnExceptionHasItsType(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ does, says string }{
		"an exception":             {`JSON.parse(" ".repeat(3));`, `SyntaxError: Unexpected end of JSON input (thrown.mjs, line 17)`},
		"a value beyond its bound": {`await emit({ kind: "own", handle: "a".repeat(201) });`, `(thrown.mjs, line 17)`},
		"a word that is none":      {`await emit({ kind: "odd", term: "coffee" });`, `RangeError: Seed.kind: want one of own, competitor, niche, got \"odd\" (thrown.mjs, line 17)`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			says(t, c.does, c.says)
		})
	}
}

// says has a plan stage do something that ends its call, and compares what it says of it.
func says(t *testing.T, does, want string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("node is not installed")
	}
	dir := filepath.Join(t.TempDir(), "acme")
	if _, err := kit.New(kit.Plan{Name: "acme", Kind: stage.PlanKind, Lang: "ts", Version: "v1.2.3", Dir: dir}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "thrown.mjs"), fmt.Appendf(nil, thrown, does), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), node, "thrown.mjs")
	command.Dir, command.Env = dir, append(os.Environ(), "SCROLLERY_STAGE=research-stage-1", "PLUGIN_CLIENT_CERT=", "PLUGIN_UNIX_SOCKET_DIR="+t.TempDir())
	out, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"message":"`) || !strings.Contains(string(out), want+`"`) {
		t.Errorf("got %v, want the type, the message and the place of the exception:\n%s", err, out)
	}
}
