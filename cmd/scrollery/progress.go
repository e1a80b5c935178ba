package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows the progress of an import: a bar on a terminal, otherwise a line
// every plainEvery.
type progress struct {
	out io.Writer
	tty bool

	mu    sync.Mutex
	bar   *progressbar.ProgressBar
	total int64
	done  int64
	shown time.Time
}

// plainEvery is the time between two lines without a terminal.
const plainEvery = 10 * time.Second

func newProgress(out *os.File) *progress {
	return &progress{out: out, tty: term.IsTerminal(int(out.Fd())), shown: time.Now()}
}

func (p *progress) begin(total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.total = total; !p.tty {
		return
	}
	p.bar = progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(p.out), progressbar.OptionSetDescription("importing"), progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionFullWidth())
}

func (p *progress) read(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += int64(n)
	switch {
	case p.bar != nil:
		_ = p.bar.Add(n) // a closed terminal must not stop the import
	case time.Since(p.shown) >= plainEvery:
		p.shown = time.Now()
		if p.total > 0 {
			fmt.Fprintf(p.out, "importing: %d of %d bytes read\n", p.done, p.total)
			return
		}
		fmt.Fprintf(p.out, "importing: %d bytes read\n", p.done)
	}
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
