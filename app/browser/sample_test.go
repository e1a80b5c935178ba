package browser_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"regexp"
	"sync"
	"testing"

	"github.com/scrollery/scrollery/app"
)

// output is what a command has printed so far.
type output struct {
	mutex sync.Mutex
	text  bytes.Buffer
	wrote chan struct{}
}

func (o *output) Write(part []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	defer func() {
		select {
		case o.wrote <- struct{}{}:
		default:
		}
	}()
	return o.text.Write(part)
}

// address is the printed one that opens the console.
var address = regexp.MustCompile(`http://[0-9.:]+(/console/#code=[A-Za-z0-9]+)`)

// serveSample runs `scrollery serve --sample` and returns its server and the address that
// it prints.
func serveSample(t *testing.T) (base, opens string) {
	t.Helper()
	cfg := app.Defaults()
	cfg.Addr, cfg.OpsAddr, cfg.DataDir, cfg.ReadPages = "127.0.0.1:0", "127.0.0.1:0", t.TempDir(), false
	cfg.Console = os.DirFS(bundle)
	if err := cfg.Complete(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	out, ended := &output{wrote: make(chan struct{}, 1)}, make(chan error, 1)
	go func() { ended <- app.ServeSample(ctx, cfg, out, io.Discard) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve the sample: %v", err)
		}
	})
	for {
		select {
		case <-out.wrote:
		case err := <-ended:
			ended <- err
			t.Fatalf("the server ended with %v, want it to serve", err)
		}
		out.mutex.Lock()
		found := address.FindStringSubmatch(out.text.String())
		out.mutex.Unlock()
		if found != nil {
			return found[0][:len(found[0])-len(found[1])], found[1]
		}
	}
}

func TestThePrintedAddressOpensTheSample(t *testing.T) {
	needBrowser(t)
	base, opens := serveSample(t)
	browser := launch(t)
	b := browser.tab(t, base)
	b.open(opens)
	b.sees("New outliers")
	if at := eval[string](b, "location.href"); at != base+"/console/" {
		t.Errorf("the code is still in the address %q, want %v", at, base+"/console/")
	}
	b.check("start")
	b.results()
	again := browser.tab(t, base)
	again.open(opens)
	again.sees("The code in the address was already used")
	again.check("code-used")
}
