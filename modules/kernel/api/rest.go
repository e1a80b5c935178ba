package api

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/api/rest"
	"github.com/scrollery/scrollery/modules/kernel/api/table"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

// serveREST runs the steps of a call: admission, input, operation, answer.
func (m *Mux) serveREST(ctx context.Context, w http.ResponseWriter, c *call, b *binding) {
	result, err := m.answerREST(ctx, w, c, b)
	if err != nil {
		m.refuseREST(w, c, c.settle(ctx, err))
		return
	}
	if b.op.list != nil {
		if format := table.Chosen(c.request.Header["Accept"]); format != nil {
			m.serveTable(ctx, w, c, b, result, format)
			return
		}
	}
	if result.page != nil {
		defer result.page.release()
		if err := c.settle(ctx, nil); err != nil {
			m.refuseREST(w, c, err)
			return
		}
		m.sendPage(w, c, result.page)
		return
	}
	m.withBuffer(func(buffer *bytes.Buffer) {
		body, err := rest.AppendMessage(buffer.AvailableBuffer(), result.message.ProtoReflect(), b.op.output)
		if err = c.settle(ctx, err); err != nil {
			m.refuseREST(w, c, err)
			return
		}
		c.send(w, c.status, body)
		buffer.Write(body) // keeps the grown buffer in the pool
	})
}

// serveTable sends a list in a format beside JSON. The cursor of the next page is in a Link.
func (m *Mux) serveTable(ctx context.Context, w http.ResponseWriter, c *call, b *binding, result answer, format *table.Format) {
	var body []byte
	var err error
	tag := ""
	if result.page != nil {
		defer result.page.release()
		if body = result.page.Body; result.page.ETag != "" {
			tag = result.page.ETag + "-" + format.Name
		}
	} else {
		body, err = rest.AppendMessage(nil, result.message.ProtoReflect(), b.op.output)
	}
	m.withBuffer(func(out *bytes.Buffer) {
		next := ""
		if err == nil {
			next, err = b.op.list.Write(out, format, body)
		}
		if err = c.settle(ctx, err); err != nil {
			m.refuseREST(w, c, err)
			return
		}
		if next != "" {
			c.header["Link"] = append(slices.Clone(c.header["Link"]), linkTo(c.request.URL, next))
		}
		if m.unchanged(w, c, tag) {
			return
		}
		c.sendAs(w, c.status, format.ContentType, out.Bytes())
	})
}

// linkTo is the same address with another cursor, for the header Link.
func linkTo(address *url.URL, cursor string) string {
	query := address.Query()
	query.Set("cursor", cursor)
	return "<" + address.EscapedPath() + "?" + query.Encode() + `>; rel="next"`
}

// serveDownload sends the bytes of a stream as one body. Until the first byte, an error is
// answered as on every path of REST; after it, the connection ends.
func (m *Mux) serveDownload(ctx context.Context, w http.ResponseWriter, c *call, b *binding) {
	control, part, begun := http.NewResponseController(w), bytesOf(b.op.desc.Output()), false
	send := func(ctx context.Context, message proto.Message) error {
		if !begun {
			if err := c.settle(ctx, nil); err != nil {
				return err
			}
			begun = true
			c.set("Content-Type", b.op.MediaType)
			c.set("Content-Disposition", "attachment")
			c.sent = http.StatusOK
			w.WriteHeader(http.StatusOK)
		}
		c.mustBeRead()
		defer c.mayRest()
		if _, err := w.Write(message.ProtoReflect().Get(part).Bytes()); err != nil {
			return err
		}
		return control.Flush()
	}
	err := c.admit(ctx)
	if err == nil {
		ctx = c.withViewer(ctx)
		request := b.op.newInput()
		if err = m.readREST(ctx, w, c, b, request); err == nil {
			// The server's read timeout is for requests; it would end the download.
			_ = control.SetReadDeadline(time.Time{})
			err = c.runStream(ctx, b, request, send, nil)
		}
	}
	switch {
	case err != nil && begun:
		c.refuse(err) // too late to answer; the log line has the cause
		panic(http.ErrAbortHandler)
	case err != nil || !begun:
		m.refuseREST(w, c, c.settle(ctx, err))
	}
}

// answerREST runs all steps before the answer.
func (m *Mux) answerREST(ctx context.Context, w http.ResponseWriter, c *call, b *binding) (answer, error) {
	if err := c.admit(ctx); err != nil {
		return answer{}, err
	}
	ctx = c.withViewer(ctx)
	if !b.op.Upload { // its first writes are parts of the file
		ctx = c.join(ctx)
	}
	request := b.op.newInput()
	if err := m.readREST(ctx, w, c, b, request); err != nil {
		return answer{}, err
	}
	if err := c.place.served(); err != nil {
		return answer{}, err
	}
	if b.op.Upload {
		return b.upload(ctx, request, c.body.uploaded(w))
	}
	return b.invoke(ctx, request)
}

// readREST fills a request from the query and the body. Its error lists every fault.
func (m *Mux) readREST(ctx context.Context, w http.ResponseWriter, c *call, b *binding, request proto.Message) error {
	if c.request.URL.RawQuery == "" && c.request.ContentLength == 0 && !c.op.bounded && b.check == nil && c.op.Method == http.MethodGet {
		return nil // no input was sent and none is required
	}
	d := m.decoders.Get().(*rest.Decoder)
	defer m.decoders.Put(d)
	d.Reset()
	r, message := c.request, request.ProtoReflect()
	takesBody := c.op.Method != http.MethodGet && !c.op.Upload
	d.Query(r.URL.RawQuery, message, c.op.input, !takesBody)
	if takesBody {
		d.ReadBody(w, r, c.op.maxBody(), message, c.op.input)
		if c.body.unread != nil {
			return c.body.unread
		}
	} else if !c.op.Upload && rest.HasBody(r) {
		d.Report("", "a %s request takes no body", r.Method)
	}
	for _, f := range d.Raw {
		c.keepRaw(f.Name, f.Text)
	}
	if d.Broken { // a missing or malformed body is reported without the faults inside
		return d.Issues.Err()
	}
	return m.judge(ctx, c, b, &d.Issues, request)
}

// sendPage sends rendered text, or 304 when the caller already has it.
func (m *Mux) sendPage(w http.ResponseWriter, c *call, page *Rendered) {
	if !m.unchanged(w, c, page.ETag) {
		c.send(w, c.status, page.Body)
	}
}

// unchanged sets the entity tag, if there is one, and answers a caller who already has
// what it names.
func (m *Mux) unchanged(w http.ResponseWriter, c *call, tag string) bool {
	if tag == "" {
		return false
	}
	tag = `"` + tag + `"`
	c.set("Etag", tag)
	if !matches(c.request.Header["If-None-Match"], tag) {
		return false
	}
	c.sent = http.StatusNotModified
	w.WriteHeader(http.StatusNotModified)
	return true
}

// matches compares entity tags weakly, as If-None-Match requires.
func matches(headers []string, tag string) bool {
	for _, header := range headers {
		for _, candidate := range strings.Split(header, ",") {
			candidate = strings.TrimSpace(candidate)
			if candidate == "*" || strings.TrimPrefix(candidate, "W/") == tag {
				return true
			}
		}
	}
	return false
}

// refuseREST sends an error.
func (m *Mux) refuseREST(w http.ResponseWriter, c *call, err error) {
	r := c.refuse(err)
	delete(c.header, "Retry-After") // of a success that could not be recorded
	if r.retryAfter != "" {
		c.set("Retry-After", r.retryAfter)
	}
	if r.status == http.StatusUnauthorized {
		c.set("Www-Authenticate", c.challenge())
	}
	if c.header["Ratelimit"] == nil && c.underV1() {
		c.showRate()
	}
	m.withBuffer(func(buffer *bytes.Buffer) {
		body, err := rest.AppendMessage(buffer.AvailableBuffer(), r.body.ProtoReflect(), m.errorShape)
		if err != nil {
			body = []byte(`{"error":"` + string(apierr.OperationError) + `","message":"The operation failed."}`)
		}
		c.send(w, r.status, body)
	})
}

// send writes a JSON answer.
func (c *call) send(w http.ResponseWriter, status int, body []byte) {
	c.sendAs(w, status, "application/json", body)
}

func (c *call) sendAs(w http.ResponseWriter, status int, contentType string, body []byte) {
	c.set("Content-Type", contentType)
	c.set("Content-Length", strconv.Itoa(len(body)))
	c.sent = status
	c.mustBeRead()
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil && !errors.Is(err, http.ErrBodyNotAllowed) && c.cause == nil {
		c.cause = err
	}
}

// withBuffer calls do with a pooled buffer.
func (m *Mux) withBuffer(do func(*bytes.Buffer)) {
	buffer := m.buffers.Get().(*bytes.Buffer)
	buffer.Reset()
	do(buffer)
	if buffer.Cap() <= rest.LargestKept {
		m.buffers.Put(buffer)
	}
}
