package kit_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/scrollery/scrollery/app/host/kit"
	"github.com/scrollery/scrollery/plugins/stage"
)

// asking are the cases of stage/site's Try, each by its path: what the site answers, how often it is
// asked, and what the author gets.
var asking = map[string]struct {
	statuses []int // the last one goes on
	after    string
	asked    int
	want     string
}{
	"answers":   {[]int{200}, "", 1, "200"},
	"recovers":  {[]int{503, 429, 201}, "", 3, "201"},
	"down":      {[]int{500}, "", 3, "busy"},
	"waits":     {[]int{429, 200}, "1", 2, "200"},
	"too-long":  {[]int{429}, "3000", 1, "quota"},
	"exhausted": {[]int{402}, "", 1, "quota"},
	"refuses":   {[]int{401}, "", 1, "refused"},
	"absent":    {[]int{404}, "", 1, "not_found"},
	"moved":     {[]int{302}, "", 1, "internal"},
	"unread":    {[]int{422}, "", 1, "internal"},
}

const askPython = `
import json, sys
from concurrent.futures import ThreadPoolExecutor
from scrollery_stage import Fault, pb
from scrollery_stage.call import Call

def one(path):
    call = Call(pb.Open(), {}, iter(()))
    try:
        answer = call.ask(sys.argv[1] + "/" + path, headers={"X-Mine": "yes"}, json={"of": path})
        return path, str(answer.status), answer.json()["of"]
    except Fault as fault:
        return path, fault.fault, fault.retry_at > 0
    except Exception as error:
        return path, "internal", str(error)

with ThreadPoolExecutor(10) as pool:
    print(json.dumps(list(pool.map(one, sys.argv[2:]))))
try:
    Fault("bussy", "a typing error")
except ValueError:
    print("no such fault")
`

const askTypeScript = `
import { Call, Fault } from "./scrollery-stage/call.js";

const [address, ...paths] = process.argv.slice(2);
const one = async (path) => {
  const call = new Call({ settings: {}, secrets: {}, proxy: "" }, {}, async () => {});
  try {
    const answer = await call.ask(address + "/" + path, { headers: { "X-Mine": "yes" }, json: { of: path } });
    return [path, String(answer.status), answer.json().of];
  } catch (error) {
    return error instanceof Fault ? [path, error.fault, error.retryAt > 0] : [path, "internal", String(error)];
  }
};
console.log(JSON.stringify(await Promise.all(paths.map(one))));
try {
  new Fault("bussy", "a typing error");
} catch (error) {
  if (error instanceof TypeError) console.log("no such fault");
}
`

// TestKitsAskASite as stage/site does in Go: by POST, again while it fails, with the time that it asks
// to wait, and with an error that says whose fault it is.
func TestKitsAskASite(t *testing.T) {
	t.Parallel()
	for lang, c := range map[string]struct{ program, file, script string }{
		"python": {"/usr/bin/python3", "ask.py", askPython}, "ts": {"/usr/bin/node", "ask.mjs", askTypeScript},
	} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(c.program); err != nil && os.Getenv("CI") == "" {
				t.Skip(c.program + " is not installed")
			}
			var mu sync.Mutex
			asked := map[string]int{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				path := r.URL.Path[1:]
				body, _ := io.ReadAll(r.Body)
				mu.Lock()
				n := asked[path]
				asked[path]++
				mu.Unlock()
				one := asking[path]
				if one.after != "" {
					w.Header().Set("Retry-After", one.after)
				}
				if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("X-Mine") != "yes" {
					t.Errorf("%s %s with %v, want a POST of JSON", r.Method, path, r.Header)
				}
				w.Header().Set("Location", "/answers")
				w.WriteHeader(one.statuses[min(n, len(one.statuses)-1)])
				_, _ = w.Write(body)
			}))
			defer server.Close()
			dir := filepath.Join(t.TempDir(), "acme")
			if _, err := kit.New(kit.Plan{Name: "acme", Kind: stage.SourceKind, Lang: lang, Version: "v1.2.3", Dir: dir}); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.script), 0o600); err != nil {
				t.Fatal(err)
			}
			arguments := []string{c.file, server.URL}
			for path := range asking {
				arguments = append(arguments, path)
			}
			command := exec.CommandContext(t.Context(), c.program, arguments...)
			command.Dir = dir
			out, err := command.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "no such fault") {
				t.Fatalf("%v, want a refusal of an unknown fault:\n%s", err, out)
			}
			var got [][3]any
			if err := json.Unmarshal([]byte(strings.SplitN(string(out), "\n", 2)[0]), &got); err != nil || len(got) != len(asking) {
				t.Fatalf("%v, want %d answers:\n%s", err, len(asking), out)
			}
			for _, one := range got {
				path := one[0].(string)
				want := asking[path]
				last := map[string]string{"busy": "false", "quota": "true", "refused": "false", "not_found": "false", "internal": fmt.Sprint(one[2]), "200": path, "201": path}[want.want]
				if one[1] != want.want || asked[path] != want.asked || fmt.Sprint(one[2]) != last {
					t.Errorf("%s: %v after %d requests; want %s, %s after %d", path, one[1:], asked[path], want.want, last, want.asked)
				}
			}
		})
	}
}
