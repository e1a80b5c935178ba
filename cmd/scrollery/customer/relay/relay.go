// Package relay connects a client of the Model Context Protocol that speaks to programs,
// by their standard input and output, with a server that speaks it over HTTP. It passes
// messages on unchanged and keeps nothing of them.
package relay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// maxMessage is the longest message in bytes, in either direction.
	maxMessage = 1 << 20
	// atOnce is the most requests at the same time; further ones wait.
	atOnce = 8
	// timeout bounds one request. A preview of rules takes up to two minutes.
	timeout = 150 * time.Second
	// firstNamed is the first version of the protocol in which HTTP headers name the
	// method and the tool.
	firstNamed = "2026-07-28"
	// unanswered is the code of JSON-RPC for a request that the server did not take.
	unanswered = -32000
)

// Relay passes messages to one address.
type Relay struct {
	URL string
	// Client adds the key to each request, and follows no redirects.
	Client *http.Client

	writing sync.Mutex
	out     io.Writer

	mu      sync.Mutex
	version string // that the client and the server agreed on
	running map[string]context.CancelFunc
}

// message is what the relay reads of a message.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		URI       string          `json:"uri"`
		RequestID json.RawMessage `json:"requestId"`
		Meta      struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
	Result struct {
		Version string `json:"protocolVersion"`
	} `json:"result"`
	Version string `json:"jsonrpc"`
}

// Run reads messages, one a line, until the input ends or ctx does, and writes the
// answers. It returns once the last answer is written.
func (r *Relay) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	r.out, r.running = out, map[string]context.CancelFunc{}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	lines, places := bufio.NewScanner(in), make(chan struct{}, atOnce)
	lines.Buffer(nil, maxMessage)
	var all sync.WaitGroup
	defer all.Wait()
	for lines.Scan() && ctx.Err() == nil {
		line := bytes.Clone(bytes.TrimSpace(lines.Bytes()))
		if len(line) == 0 {
			continue
		}
		var m message
		_ = json.Unmarshal(line, &m) // the server says what is wrong with it
		if m.Method == "notifications/cancelled" {
			r.cancel(m.Params.RequestID)
			continue
		}
		one, end := context.WithTimeout(ctx, timeout)
		r.track(m.ID, end)
		if m.Method == "initialize" { // its answer has the version of what follows
			r.pass(one, m, line)
			continue
		}
		places <- struct{}{}
		all.Go(func() {
			r.pass(one, m, line)
			<-places
		})
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("a message has more than %d bytes", maxMessage)
	} else if err != nil {
		return fmt.Errorf("read messages: %w", err)
	}
	return nil
}

func (r *Relay) track(id json.RawMessage, end context.CancelFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running[string(id)] = end
}

func (r *Relay) cancel(id json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if end := r.running[string(id)]; end != nil && len(id) > 0 {
		end()
	}
}

// pass sends one message and writes its answer, if it has one.
func (r *Relay) pass(ctx context.Context, m message, line []byte) {
	answer, err := r.send(ctx, m, line)
	r.mu.Lock()
	if end := r.running[string(m.ID)]; end != nil {
		end()
		delete(r.running, string(m.ID))
	}
	r.mu.Unlock()
	switch {
	case err != nil && len(m.ID) > 0:
		answer = refusal(m.ID, "The server cannot be reached: "+err.Error(), nil)
	case err != nil || len(answer) == 0:
		return
	}
	r.writing.Lock()
	defer r.writing.Unlock()
	_, _ = r.out.Write(append(answer, '\n')) // a client that is gone ends the input
}

func (r *Relay) send(ctx context.Context, m message, line []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(line))
	if err != nil {
		return nil, err
	}
	r.name(request.Header, m)
	response, err := r.Client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxMessage))
	if err != nil {
		return nil, err
	}
	var short bytes.Buffer
	sound := json.Compact(&short, body) == nil // a message is one line
	var answered message
	_ = json.Unmarshal(body, &answered)
	switch {
	case m.Method == "initialize" && answered.Result.Version != "":
		r.mu.Lock()
		r.version = answered.Result.Version
		r.mu.Unlock()
	case sound && (answered.Version != "" || bytes.HasPrefix(short.Bytes(), []byte("["))):
	case len(m.ID) == 0:
		return nil, nil
	case sound:
		return refusal(m.ID, "", short.Bytes()), nil
	default:
		return refusal(m.ID, fmt.Sprintf("The server answers %d: %.200s", response.StatusCode, strings.TrimSpace(string(body))), nil), nil
	}
	return short.Bytes(), nil
}

// name sets the headers of the protocol.
func (r *Relay) name(header http.Header, m message) {
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "application/json, text/event-stream")
	version := m.Params.Meta.Version
	if version == "" {
		r.mu.Lock()
		version = r.version
		r.mu.Unlock()
	}
	if version == "" {
		return
	}
	header.Set("Mcp-Protocol-Version", version)
	if version < firstNamed || m.Method == "" {
		return
	}
	header.Set("Mcp-Method", m.Method)
	if name := m.Params.Name + m.Params.URI; name != "" {
		header.Set("Mcp-Name", encoded(name))
	}
}

// encoded is a text as a header can have it.
func encoded(text string) string {
	for _, c := range []byte(text) {
		if c < 0x20 || c > 0x7E {
			return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="
		}
	}
	return text
}

// refusal is an error of JSON-RPC. body is the server's own error, whose message it shows.
func refusal(id json.RawMessage, message string, body json.RawMessage) []byte {
	type failure struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data,omitempty"`
	}
	if body != nil {
		var known struct{ Message string }
		if json.Unmarshal(body, &known); known.Message != "" {
			message = known.Message
		} else {
			message = "The server refuses the request."
		}
	}
	answer, _ := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   failure         `json:"error"`
	}{"2.0", id, failure{unanswered, message, body}}) // of valid JSON
	return answer
}
