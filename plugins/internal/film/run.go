package film

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	// timeout of one process in processor time: far more than some seconds of video take.
	timeout = 30 * time.Second
	// patience is how many times its processor time a process may take by the clock:
	// on a busy machine it gets the least share.
	patience = 20
	// signOfLife is how often a call says that its process still works.
	signOfLife = 5 * time.Second
	// maxOutput in bytes of what a process may write to us.
	maxOutput = 32 << 20
	// maxWords in bytes are kept of what it says on stderr.
	maxWords = 2 << 10
)

// Error is a program that could not do its work on one file; the next file may be
// better. Errors of other kinds are a stage's.
type Error struct {
	Program string
	// Words are its own, shortened: they may quote the file.
	Words string
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %q", e.Program, e.Words) }

// Unreadable reports whether the trouble is the file's.
func Unreadable(err error) bool {
	var own *Error
	return errors.As(err, &own)
}

// Run has a program of the system do something in the call's scratch folder, and
// returns what it writes. It is killed at the end of its time.
func Run(ctx context.Context, call *stage.Call, program string, args ...string) ([]byte, error) {
	return RunWithin(ctx, call, timeout, program, args...)
}

// RunWithin is Run for a program that may take so much processor time, rounded up to
// seconds, and 20 times as long by the clock.
func RunWithin(ctx context.Context, call *stage.Call, most time.Duration, program string, args ...string) ([]byte, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, stage.Misconfiguredf("%s is not installed", program)
	}
	limited, cancel := context.WithTimeout(ctx, patience*most)
	defer cancel()
	command := exec.CommandContext(limited, path, args...)
	command.Dir = call.Scratch
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + call.Scratch, "TMPDIR=" + call.Scratch, "LANG=C.UTF-8", "OMP_THREAD_LIMIT=1"}
	command.WaitDelay = time.Second
	out, words := &bounded{most: maxOutput, fails: true}, &bounded{most: maxWords}
	command.Stdout, command.Stderr = out, words
	defer stage.Tie(command)()
	if err := command.Start(); err != nil {
		return nil, &Error{program, firstWords(nil, err)}
	}
	if err := limit(command.Process.Pid, most); err != nil {
		call.Log.Warn("a program's processor time cannot be limited", "program", program, "error", err)
	}
	stop := alive(call, program)
	err = command.Wait()
	stop()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case limited.Err() != nil:
		return nil, &Error{program, fmt.Sprintf("took longer than %v", patience*most)}
	case err != nil && spent(command.ProcessState):
		return nil, &Error{program, fmt.Sprintf("took longer than %v of processor time", most)}
	case out.over:
		return nil, &Error{program, fmt.Sprintf("wrote more than %d bytes", maxOutput)}
	case err != nil:
		return nil, &Error{program, firstWords(words.kept.Bytes(), err)}
	}
	return out.kept.Bytes(), nil
}

// alive gives signs of life for a program until it is stopped.
func alive(call *stage.Call, program string) (stop func()) {
	ended, silent := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(silent)
		ticker := time.NewTicker(signOfLife)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
				call.Progress(program + " works")
			}
		}
	}()
	return func() {
		close(ended)
		<-silent
	}
}

func firstWords(said []byte, err error) string {
	first, _, _ := strings.Cut(strings.ToValidUTF8(strings.TrimSpace(string(said)), "?"), "\n")
	if len(first) > 200 {
		first = strings.ToValidUTF8(first[:200], "")
	}
	return err.Error() + ": " + first
}

var errOver = errors.New("too much output")

// bounded keeps so many bytes; what is over is dropped, or fails the writer.
type bounded struct {
	kept        bytes.Buffer // not embedded: its ReadFrom knows no bounds
	most        int
	fails, over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	free := max(0, b.most-b.kept.Len())
	if len(p) <= free {
		return b.kept.Write(p)
	}
	b.over = true
	b.kept.Write(p[:free])
	if b.fails {
		return free, errOver
	}
	return len(p), nil
}
