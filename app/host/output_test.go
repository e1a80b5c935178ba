package host

import (
	"bufio"
	"bytes"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// endless writes one line over and over, up to a number of bytes.
type endless struct {
	line string
	left int
}

func (e *endless) Read(into []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := 0
	for n+len(e.line) <= len(into) && e.left > 0 {
		n += copy(into[n:], e.line)
		e.left -= len(e.line)
	}
	return n, nil
}

// A plugin that writes without end waits for the host, which cleans no line that it
// leaves out. The words that it ends with are kept.
func TestOutputWithoutEndIsPaced(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"words":   "nothing to say\n",
		"records": `{"@level":"info","@message":"again","n":1}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			o := &output{log: slog.New(slog.NewTextHandler(&log, nil)), redact: redactor(nil)}
			began := time.Now()
			o.read(bufio.NewReaderSize(io.MultiReader(&endless{line, freely + paced/2}, strings.NewReader("the end\n")), maxLine), o.line)
			if took, want := time.Since(began), 400*time.Millisecond; took < want {
				t.Errorf("%d bytes were read in %s, want at least %s", freely+paced/2, took, want)
			}
			if got := strings.Count(log.String(), "\n"); got != maxLines {
				t.Errorf("the log got %d lines, want %d", got, maxLines)
			}
			if got, want := strings.Count(log.String(), "logs too much"), 1; got != want {
				t.Errorf("%d lines say that more were left out, want %d", got, want)
			}
			if got := string(o.tail); !strings.HasSuffix(got, "the end\n") {
				t.Errorf("the tail ends with %q, want the last line", got[max(0, len(got)-20):])
			}
		})
	}
}
