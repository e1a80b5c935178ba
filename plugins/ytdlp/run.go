package ytdlp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	// maxOutput is the most bytes of one run's output that are read.
	maxOutput = 64 << 20
	// maxWords is what is kept of its stderr: the end.
	maxWords = 64 << 10
	// signOfLife is how often a run that says nothing is reported.
	signOfLife = 10 * time.Second
)

var (
	errSilent = errors.New("yt-dlp said nothing for too long")
	errFlood  = errors.New("yt-dlp said more than may be read")
)

// tool is yt-dlp as it is installed.
type tool struct {
	call    *stage.Call
	path    string
	version string
	flags   []string
	// silence is how long a run may say nothing.
	silence time.Duration
}

// wished are the options of every run; those in the second list are asked for where
// the installed version knows them.
var (
	always = []string{
		"--ignore-config", "--no-cache-dir", "--no-progress", "--socket-timeout", "20", "--retries", "2",
		"--extractor-retries", "2", "--sleep-requests", "0.75", "--ignore-no-formats-error",
	}
	whereKnown = []string{"--no-plugin-dirs", "--no-remote-components"}
)

// find looks for the program and asks what it can do.
func find(ctx context.Context, call *stage.Call) (*tool, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, stage.Misconfiguredf("yt-dlp is not installed")
	}
	t := &tool{call: call, path: path, silence: 90 * time.Second}
	ask := func(option string) (string, error) {
		var said bytes.Buffer
		r := t.run(ctx, []string{option}, func(out io.Reader) error {
			_, err := io.Copy(&said, io.LimitReader(out, 1<<20))
			return err
		})
		if r.err != nil || r.code != 0 {
			return "", fmt.Errorf("yt-dlp %s: exit code %d: %w: %s", option, r.code, errors.Join(r.err, ctx.Err()), r.reason())
		}
		return said.String(), nil
	}
	version, err := ask("--version")
	if err != nil {
		return nil, stage.Misconfiguredf("yt-dlp does not run: %v", err)
	}
	help, err := ask("--help")
	if err != nil {
		return nil, stage.Misconfiguredf("yt-dlp does not run: %v", err)
	}
	t.version = strings.TrimSpace(version)
	t.flags = always
	for _, flag := range whereKnown {
		if strings.Contains(help, flag) {
			t.flags = append(t.flags[:len(t.flags):len(t.flags)], flag)
		}
	}
	t.flags = slices.Concat(t.flags, runtime(help))
	if call.Settings["ca_file"] != "" {
		t.flags = append(t.flags[:len(t.flags):len(t.flags)], "--compat-options", "no-certifi")
	}
	return t, nil
}

// result is how a run ended.
type result struct {
	code  int
	words string // the end of its stderr
	err   error  // it was not the program that ended it
}

// reason is the last thing that the program complained about, in short. Where it
// goes on in spite of all, the first that it says of the site comes before its own.
func (r result) reason() string {
	lines := strings.Split(strings.TrimSpace(r.words), "\n")
	reason := lines[len(lines)-1]
	for _, line := range slices.Backward(lines) {
		if strings.HasPrefix(line, "WARNING: [") {
			reason = line
		}
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "ERROR:") {
			reason = line
		}
	}
	if len(reason) > 300 {
		reason = strings.ToValidUTF8(reason[:300], "") + "…"
	}
	return reason
}

// run starts the program and hands its output to read. It ends the program when
// ctx does, when it says nothing for too long, and when read returns early.
func (t *tool) run(ctx context.Context, args []string, read func(io.Reader) error) result {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	command := exec.CommandContext(ctx, t.path, args...)
	command.Dir = t.call.Scratch
	command.Env = t.environment()
	command.WaitDelay = 5 * time.Second
	words := &tail{most: maxWords}
	command.Stderr = words
	defer stage.Tie(command)()
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		return result{code: -1, err: err}
	}
	watch := t.watch(cancel)
	err = read(&counted{in: out, heard: watch.heard, left: maxOutput})
	if err != nil {
		cancel(err)
	}
	// The pipe is empty or is not read on; Wait closes it.
	ended := command.Wait()
	watch.stop()
	r := result{code: command.ProcessState.ExitCode(), words: words.String()}
	var exit *exec.ExitError
	switch {
	case err != nil:
		r.err = err
	case ctx.Err() != nil:
		r.err = context.Cause(ctx)
	case ended != nil && !errors.As(ended, &exit):
		r.err = ended
	}
	return r
}

// environment is all that the program gets to see.
func (t *tool) environment() []string {
	env := []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + t.call.Scratch, "TMPDIR=" + t.call.Scratch, "LANG=C.UTF-8",
		"PYTHONDONTWRITEBYTECODE=1",
	}
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy"} {
		if value := os.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	if file := t.call.Settings["ca_file"]; file != "" {
		env = append(env, "SSL_CERT_FILE="+file)
	}
	return env
}

// watch ends a run that says nothing for too long.
func (t *tool) watch(cancel context.CancelCauseFunc) *watch {
	w := &watch{last: time.Now(), done: make(chan struct{})}
	w.running.Go(func() {
		tick := time.NewTicker(min(signOfLife, t.silence))
		defer tick.Stop()
		for {
			select {
			case <-w.done:
				return
			case <-tick.C:
			}
			if w.silent() >= t.silence {
				cancel(errSilent)
				return
			}
			t.call.Progress("yt-dlp is at work")
		}
	})
	return w
}

type watch struct {
	mu      sync.Mutex
	last    time.Time
	done    chan struct{}
	running sync.WaitGroup
}

func (w *watch) heard() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = time.Now()
}

func (w *watch) silent() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.last)
}

// stop returns when nothing more is reported: a call takes no progress after its end.
func (w *watch) stop() {
	close(w.done)
	w.running.Wait()
}

// counted reads up to a bound, beyond which it fails.
type counted struct {
	in    io.Reader
	heard func()
	left  int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.heard()
	if c.left -= int64(n); c.left < 0 {
		return 0, errFlood
	}
	return n, err
}

// discard reads output that is not needed.
func discard(out io.Reader) error {
	_, err := io.Copy(io.Discard, out)
	return err
}

// tail keeps the end of what is written.
type tail struct {
	mu   sync.Mutex
	most int
	buf  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - t.most; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.buf), "�")
}
