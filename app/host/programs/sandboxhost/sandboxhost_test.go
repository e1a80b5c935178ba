package sandboxhost_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/app/host/programs/sandboxhost"
	"github.com/scrollery/scrollery/modules/sandbox"
	plugin "github.com/scrollery/scrollery/plugins/programs/sandbox"
)

func TestMain(m *testing.M) {
	host.Dispatch(os.Args, nil, host.Main{ID: plugin.ID, Serve: plugin.Main})
	os.Exit(m.Run())
}

// setup returns a runner and an account's folder in which `readme` is a file.
func setup(t *testing.T, change func(*sandbox.Config)) (*sandboxhost.Host, string) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	plugins, err := host.New(host.Config{Start: time.Minute}, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plugins.Close() })
	cfg := sandbox.Defaults()
	cfg.Runs.Time = 2 * time.Second
	cfg.Runs.AtOnce = 3
	if change != nil {
		change(&cfg)
	}
	dir := filepath.Join(t.TempDir(), "account")
	if err := os.MkdirAll(filepath.Join(dir, "files"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "files", "readme"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	return sandboxhost.New(plugins.Processes, cfg, log), dir
}

// at is where the files of an account are.
func at(dir string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return dir, nil }
}

func run(t *testing.T, h *sandboxhost.Host, dir, source string) sandbox.Result {
	t.Helper()
	result, err := h.Run(t.Context(), at(dir), sandbox.Program{Name: "test.js", Source: source, Data: map[string]string{"hooks": `[{"a":1}]`}}, func() {})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestHonestPrograms(t *testing.T) {
	t.Parallel()
	h, dir := setup(t, func(c *sandbox.Config) { c.Runs.Time = 20 * time.Second })
	for name, c := range map[string]struct{ source, want string }{
		"print":    {`print("a", 1, [2], {b: null}, undefined)`, "a 1 [2] {\"b\":null} undefined\n"},
		"files":    {`files.write("x/y", "z"); print(files.read("readme"), files.read("x/y"), files.list()); files.remove("x/y"); print(files.list().length)`, "hello z [{\"path\":\"readme\",\"size\":5},{\"path\":\"x/y\",\"size\":1}]\n1\n"},
		"data":     {`print(data.hooks[0].a, Object.keys(data))`, "1 [\"hooks\"]\n"},
		"own name": {`const data = 1, files = 2; let print2 = print; print2(data + files)`, "3\n"},
		"later":    {`(async () => { await null; console.log("later") })(); print("now")`, "now\nlater\n"},
		"caught":   {`try { files.read("../x") } catch (e) { print(e.message) }`, "a path has no parts . and ..\n"},
		"unicode":  {`print("naïve 🎬", "\ud800".length)`, "naïve 🎬 1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := run(t, h, dir, c.source); got.Failure != "" || got.Output != c.want {
				t.Errorf("%q (%s %s), want %q", got.Output, got.Failure, got.Message, c.want)
			}
		})
	}
}

// hostile are programs and how each must end; after each an honest one must run.
func hostile() map[string]struct{ source, failure string } {
	type end = struct{ source, failure string }
	all := map[string]end{
		"endless loop":              {`for (;;) {}`, plugin.Time},
		"endless loop that catches": {`for (;;) { try { (function f() { f() })() } catch (e) {} }`, plugin.Time},
		"endless promises":          {`function f() { return Promise.resolve().then(f) } f()`, ""},
		"endless async loop":        {`(async () => { for (;;) await 0 })()`, plugin.Time},
		"endless sort":              {`[3, 2, 1].sort(() => { for (;;) {} })`, plugin.Time},
		"endless getter":            {`print({ get a() { for (;;) {} } })`, plugin.Time},
		"endless generator":         {`for (const x of (function* () { for (;;) yield 1 })()) {}`, plugin.Time},
		"endless files":             {`for (;;) files.list()`, plugin.Time},
		"long step of the engine":   {`Array(3e8).join("x")`, plugin.Time},
		"catastrophic regex":        {`/(a+)+$/.test("a".repeat(40) + "b")`, plugin.Time},
		"catastrophic regex, 2":     {`/^(([a-z])+.)+[A-Z]([a-z])+$/.test("a".repeat(60))`, plugin.Time},
		"regex too deep":            {`new RegExp("(".repeat(1e5) + ")".repeat(1e5))`, plugin.Syntax},
		"memory bomb":               {`let a = []; for (;;) a.push(new Uint8Array(1 << 20))`, plugin.Memory},
		"memory bomb of objects":    {`let a = []; for (;;) a.push({ a: [1, 2, 3] })`, ""},
		"memory in one piece":       {`"x".repeat(2 ** 29)`, plugin.Memory},
		"doubling text":             {`let s = "x"; for (;;) s += s`, ""},
		"array too long":            {`new Array(2 ** 32 - 1).fill(0)`, ""},
		"buffer too long":           {`new ArrayBuffer(2 ** 40)`, plugin.Exception},
		"big number":                {`let x = 2n; for (;;) x = x * x`, ""},
		"big copy to the host":      {`const s = "x".repeat(3e7); for (let i = 0; i < 2; i++) try { files.write("a", s) } catch (e) {}; files.write("a", s)`, ""},
		"deep recursion":            {`function f() { return f() + 1 } f()`, plugin.Stack},
		"recursion through text":    {`const o = { toString() { return "" + this } }; "" + o`, plugin.Stack},
		"deep proxies":              {`let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x`, ""},
		"deep source":               {`eval("(".repeat(1e6))`, plugin.Stack},
		"deep JSON":                 {`JSON.parse("[".repeat(1e6))`, plugin.Stack},
		"deep value":                {`let a = []; for (let i = 0; i < 1e4; i++) a = [a]; print(a)`, ""},
		"ring":                      {`const a = []; a[0] = a; print(a)`, plugin.Exception},
		"huge output":               {`for (;;) print("x".repeat(1000))`, plugin.Output},
		"huge line":                 {`print("x".repeat(1e7))`, plugin.Output},
		"huge output that catches":  {`for (;;) try { print("x".repeat(1e5)) } catch (e) {}`, plugin.Output},
		"huge error":                {`throw new Error("x".repeat(1e7))`, plugin.Exception},
		"broken promise":            {`(async () => { await null; throw new Error("x") })()`, plugin.Exception},
		"odd error":                 {`throw { toString() { throw 1 } }`, plugin.Exception},
		"not a program":             {"\x7fELF\x01", plugin.Syntax},
		"broken syntax":             {`let let = `, plugin.Syntax},
		"waits for ever":            {`Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0)`, plugin.Exception},
		"quota":                     {`for (let i = 0; ; i++) files.write("f" + i, "x".repeat(1 << 20))`, plugin.Exception},
		"too many files":            {`for (let i = 0; ; i++) files.write("f" + i, "")`, plugin.Exception},
		"file too long":             {`files.write("a", "x".repeat((1 << 20) + 1))`, plugin.Exception},
		"system modules":            {`import("os").then((m) => print("reached"), () => { throw 1 }); std.exit(0)`, plugin.Exception},
		"static import":             {`import * as os from "os"`, plugin.Syntax},
		"raw functions":             {`__read("readme")`, plugin.Exception},
		"host by constructor":       {`print.constructor.constructor("return process")()`, plugin.Exception},
		"changed host":              {`files.read = () => "forged"; "use strict"; if (files.read("readme") !== "hello") throw 2; throw 3`, plugin.Exception},
		"poisoned prototypes":       {`String.prototype.toString = Array.prototype.map = Array.prototype.join = JSON.parse = () => { for (;;) {} }; print(1)`, ""},
		"network":                   {`fetch("http://127.0.0.1/")`, plugin.Exception},
		"argument that changes":     {`let n = 0; files.read({ toString() { return n++ ? "../lock" : "/etc/passwd" } })`, plugin.Exception},
		"wrong arguments":           {`files.write({ toString: null, valueOf: null }, {})`, plugin.Exception},
	}
	for name, path := range map[string]string{
		"absolute": "/etc/passwd", "parent": "../lock", "climbing": "a/../../../etc/passwd", "process": "/proc/self/environ",
		"link": "link", "link up": "up/lock", "link to the root": "root/etc/passwd", "fifo": "fifo", "folder": "folder", "device": "NUL",
		"device with extension": "com1.txt", "long part": strings.Repeat("n", 256), "long path": strings.Repeat("d/", 600) + "f",
		"NUL byte": "a\\u0000b", "backslash": "..\\\\..\\\\x", "drive": "C:/x", "empty": "", "control": "a\\nb", "half a surrogate": "a\\ud800/..",
	} {
		all["read "+name] = end{`files.read("` + path + `")`, plugin.Exception}
		all["write "+name] = end{`files.write("` + path + `", "x")`, plugin.Exception}
	}
	return all
}

func TestHostilePrograms(t *testing.T) {
	t.Parallel()
	within := func(time time.Duration) *sandboxhost.Host {
		h, _ := setup(t, func(c *sandbox.Config) { c.Files.Entries, c.Files.Total, c.Runs.Time = 200, 4<<20, time })
		return h
	}
	// Programs that end by another bound get time to meet it, however busy the machine is.
	short, long := within(2*time.Second), within(time.Minute)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	programs := hostile()
	if len(programs) < 40 {
		t.Fatalf("only %v, want at least 40", len(programs))
	}
	for name, c := range programs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, dir := setup(t, nil)
			plant(t, dir, outside)
			began := time.Now()
			h := long
			if c.failure == "" || c.failure == plugin.Time {
				h = short
			}
			got := run(t, h, dir, c.source)
			if c.failure != "" && got.Failure != c.failure {
				t.Errorf("ended with %q (%.200s), want %q", got.Failure, got.Message, c.failure)
			}
			if got.Failure == "" && strings.HasPrefix(name, "endless") {
				t.Error("got no failure of an endless program, want one")
			}
			if got.Failure != "" && (got.Message == "" || len(got.Message) > 2100) {
				t.Errorf("got a message of %d bytes with the failure %q, want 1 to 2100", len(got.Message), got.Failure)
			}
			if len(got.Output) > 64<<10 {
				t.Errorf("got %d bytes of output, want at most %d", len(got.Output), 64<<10)
			}
			if strings.Contains(got.Output, "reached") {
				t.Errorf(`reached what it must not: got %q, want without "reached"`, got.Output)
			}
			t.Logf("%s: %v %.100s", got.Failure, time.Since(began).Round(time.Millisecond), got.Message)
			secret, err := os.ReadFile(filepath.Join(outside, "secret"))
			if err != nil || string(secret) != "secret" {
				t.Errorf(`the file outside: got %q, error %v; want its text, secret`, secret, err)
			}
		})
	}
}

// plant puts in a folder what no program could make there.
func plant(t *testing.T, dir, outside string) {
	t.Helper()
	secret := filepath.Join(outside, "secret")
	for name, target := range map[string]string{"link": secret, "up": "..", "root": "/"} {
		if err := os.Symlink(target, filepath.Join(dir, "files", name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "files", "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "files", "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestTheNextRunIsFine(t *testing.T) {
	t.Parallel()
	h, dir := setup(t, func(c *sandbox.Config) { c.Runs.AtOnce = 1 })
	for _, source := range []string{`for (;;) {}`, `let a = []; for (;;) a.push(new Uint8Array(1 << 20))`, `for (;;) print("x".repeat(1000))`, `Array(3e8).join("x")`} {
		t.Run("after "+source, func(t *testing.T) {
			if got := run(t, h, dir, source); got.Failure == "" {
				t.Errorf("%s: no failure, want Failure not empty", source)
			}
			if got := run(t, h, dir, `print(files.read("readme"))`); got.Output != "hello\n" || got.Failure != "" {
				t.Errorf("after %s: want output %q without a failure, got %+v", source, "hello\n", got)
			}
		})
	}
}

func TestGivingUpEndsTheProcess(t *testing.T) {
	t.Parallel()
	h, dir := setup(t, func(c *sandbox.Config) { c.Runs.Time = time.Minute })
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("no credits left")
	_, err := h.Run(ctx, at(dir), sandbox.Program{Source: `for (;;) {}`}, func() { cancel(reason) })
	if !errors.Is(err, reason) {
		t.Errorf("ended with %v, want %v", err, reason)
	}
}

// A program gets as much as the module hands over, and reads why it lacks the rest.
func TestBigData(t *testing.T) {
	t.Parallel()
	h, dir := setup(t, func(c *sandbox.Config) { c.Runs.Time = 20 * time.Second })
	const most = 8 << 20
	view := func(letter string) string {
		entry := `{"video":{"metadata":{"caption":"` + strings.Repeat(letter, 200_000/len(letter)) + `"}}}`
		text := `[` + strings.Repeat(entry+",", most/(len(entry)+1)-1) + entry + `]`
		if len(text) > most || len(text) < most-len(entry) {
			t.Fatalf("got a view of %d bytes, want nearly %d", len(text), most)
		}
		return text
	}
	full := map[string]string{"hooks": view("a"), "outliers": view("я"), "trends": view("🎬")}
	lengths := `print(data.hooks.length, data.outliers.length, data.trends.length)`
	for name, c := range map[string]struct {
		program sandbox.Program
		want    sandbox.Result
	}{
		"all that fits":           {sandbox.Program{Data: full, Source: lengths + strings.Repeat(" ", 2<<20)}, sandbox.Result{Output: "41 41 41\n"}},
		"one that does not":       {sandbox.Program{Data: full, Missing: map[string]string{"hooks": "hooks are too big"}, Source: `print(Object.keys(data)); data.hooks`}, sandbox.Result{Output: `["hooks","outliers","trends"]` + "\n", Failure: plugin.Exception, Message: "TypeError: hooks are too big"}},
		"one that does not, seen": {sandbox.Program{Missing: map[string]string{"hooks": "hooks are too big"}, Source: `try { data.hooks } catch (e) { print(e.message) }`}, sandbox.Result{Output: "hooks are too big\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			got, err := h.Run(t.Context(), at(dir), c.program, func() {})
			if err != nil || got.Output != c.want.Output || got.Failure != c.want.Failure || !strings.HasPrefix(got.Message, c.want.Message) {
				t.Errorf("%+v, %v, want %+v", got, err, c.want)
			}
			t.Log(time.Since(began), got)
		})
	}
}
