package host

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/time/rate"

	"github.com/scrollery/scrollery/plugins/stage/redact"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// The bounds of what a call may write into the host's log.
const (
	maxLine  = 16 << 10
	maxLines = 2000
	maxTail  = 4 << 10
	maxAttrs = 24
	// freely is how many bytes of one of a call's outputs are read at once, and paced how
	// many a second beyond these: a plugin that writes without end waits, not the host.
	freely = 8 << 20
	paced  = 1 << 20
	// tick is the least time that reading waits.
	tick = 10 * time.Millisecond
)

// output takes what a plugin writes, which is not trusted: it is cut, counted, and
// cleaned of the secrets that the plugin got.
type output struct {
	log    *slog.Logger
	redact *strings.Replacer
	hidden atomic.Pointer[[]*strings.Replacer] // of secrets that the plugin renewed

	mu    sync.Mutex
	lines int
	noisy int // lines on stdout
	// What was no log line, the beginning and the end: a crash says its reason
	// first and a long stack after it.
	head, tail []byte
}

// hide leaves out one more secret, as redactor does. It is called from one goroutine.
func (o *output) hide(name, secret string) {
	all := []*strings.Replacer{redactor(map[string]string{name: secret})}
	if before := o.hidden.Load(); before != nil {
		all = append(all, *before...)
	}
	o.hidden.Store(&all)
}

// redactor leaves out secrets of a length that no chance text has, in lower case
// too, since a host's name is logged in it.
func redactor(secrets map[string]string) *strings.Replacer {
	words := map[string]string{}
	for name, secret := range secrets {
		if len(secret) < 6 {
			continue
		}
		for _, form := range append(redact.Forms(secret), redact.Forms(strings.ToLower(secret))...) {
			words[form] = "[" + name + "]"
		}
	}
	return redact.Replacer(words)
}

// read gives each line to take, the end of an overlong one left out.
func (o *output) read(reader *bufio.Reader, take func([]byte)) {
	pace := rate.NewLimiter(paced, freely)
	for cut := false; ; {
		line, err := reader.ReadSlice('\n')
		if wait := pace.ReserveN(time.Now(), len(line)).Delay(); wait > tick {
			time.Sleep(wait) // never for long, since one line is at most maxLine
		}
		if !cut && len(line) > 0 {
			take(line)
		}
		if cut = errors.Is(err, bufio.ErrBufferFull); err != nil && !cut {
			return
		}
	}
}

// noise is a line on the real stdout, after the handshake.
func (o *output) noise(line []byte) {
	o.mu.Lock()
	o.noisy++
	o.mu.Unlock()
	if o.full() {
		return
	}
	o.say(slog.LevelWarn, "plugin wrote to stdout", slog.String("text", o.clean(line)))
}

// full reports whether the log has as many lines as a call may write, so that one more
// need not be cleaned.
func (o *output) full() bool {
	o.mu.Lock()
	full := o.lines >= maxLines
	o.mu.Unlock()
	return full
}

// line is one of stderr: a log record, or words.
func (o *output) line(line []byte) {
	full := o.full()
	var fields map[string]any
	if !full && len(line) > 0 && line[0] == '{' && json.Unmarshal(line, &fields) == nil {
		if message, ok := fields["@message"].(string); ok {
			o.record(message, fields)
			return
		}
	}
	o.mu.Lock()
	if len(o.head)+len(line) <= maxTail/2 && len(o.tail) == 0 {
		o.head = append(o.head, line...)
	} else {
		o.tail = append(o.tail, line...)
	}
	if over := len(o.tail) - maxTail/2; over > 0 {
		o.tail = append(o.tail[:0], o.tail[over:]...)
	}
	o.mu.Unlock()
	if full {
		return
	}
	o.say(slog.LevelWarn, "plugin wrote to stderr", slog.String("text", o.clean(line)))
}

func (o *output) record(message string, fields map[string]any) {
	name, _ := fields["@level"].(string)
	level := slog.LevelInfo
	switch name {
	case "trace", "debug":
		level = slog.LevelDebug
	case "warn":
		level = slog.LevelWarn
	case "error":
		level = slog.LevelError
	}
	attrs := make([]any, 0, len(fields))
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		value := fields[key]
		if strings.HasPrefix(key, "@") || len(attrs) >= maxAttrs {
			continue
		}
		text, ok := value.(string)
		if !ok {
			raw, _ := json.Marshal(value)
			text = string(raw)
		}
		attrs = append(attrs, slog.String(o.clean([]byte(key)), o.clean([]byte(text))))
	}
	o.say(level, "plugin: "+o.clean([]byte(message)), slog.Group("fields", attrs...))
}

// say logs, up to the bound. What is too much is said once.
func (o *output) say(level slog.Level, message string, attr slog.Attr) {
	o.mu.Lock()
	o.lines++
	lines := o.lines
	o.mu.Unlock()
	switch {
	case lines < maxLines:
		o.log.LogAttrs(context.Background(), level, message, attr)
	case lines == maxLines:
		o.log.Warn("plugin logs too much; the rest of this call's lines is left out")
	}
}

func (o *output) clean(raw []byte) string {
	text := o.redact.Replace(strings.ToValidUTF8(strings.TrimRight(string(raw), "\r\n"), "\uFFFD"))
	if hidden := o.hidden.Load(); hidden != nil {
		for _, one := range *hidden {
			text = one.Replace(text)
		}
	}
	text = escape(text, "\n\t")
	if len(text) > maxTail {
		text = strings.ToValidUTF8(text[:maxTail], "") + "…"
	}
	return text
}

// redactDone cleans the texts at the end of a call, which people and the log get.
func (o *output) redactDone(done *stagev1.Done) {
	for _, outcome := range done.GetOutcomes() {
		outcome.Detail = o.clean([]byte(outcome.GetDetail()))
	}
	for i, note := range done.GetNotes() {
		done.Notes[i] = o.clean([]byte(note))
	}
	done.Checked = o.clean([]byte(done.GetChecked()))
}

// cleanedError is an error with text of the plugin, cleaned.
type cleanedError struct {
	text  string
	cause error
}

func (e *cleanedError) Error() string { return e.text }
func (e *cleanedError) Unwrap() error { return e.cause }

// cleaned cleans an error that may hold text of the plugin: a status of its server,
// its last line.
func (o *output) cleaned(err error) error {
	text := o.clean([]byte(err.Error()))
	if text == err.Error() {
		return err
	}
	return &cleanedError{text, err}
}

// last are the words that were no log lines.
func (o *output) last() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.clean(append(append([]byte{}, o.head...), o.tail...))
}

func (o *output) noisyLines() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.noisy
}

// copied takes what go-plugin carries over from os.Stdout and os.Stderr.
type copied struct {
	output *output
	name   string
}

var _ io.Writer = copied{}

func (c copied) Write(text []byte) (int, error) {
	for line := range strings.Lines(string(text)) {
		if c.output.full() {
			break
		}
		c.output.say(slog.LevelInfo, "plugin wrote to "+c.name, slog.String("text", c.output.clean([]byte(line))))
	}
	return len(text), nil
}

// Printable escapes what a terminal would not print as it is, such as control sequences,
// line ends and marks that change the direction of text: whatever a plugin says of
// itself may be meant for a person's terminal.
func Printable(text string) string { return escape(text, "") }

// escape leaves the characters of keep as they are.
func escape(text, keep string) string {
	var out strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch part := text[:size]; {
		case unicode.IsPrint(r) && (r != utf8.RuneError || size > 1), strings.ContainsRune(keep, r) && size > 0 && r != utf8.RuneError:
			out.WriteString(part)
		default:
			quoted := strconv.QuoteToASCII(part)
			out.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[size:]
	}
	return out.String()
}

// printables escapes all of a list, in place.
func printables(texts []string) []string {
	for i := range texts {
		texts[i] = Printable(texts[i])
	}
	return texts
}
