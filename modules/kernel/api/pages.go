package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/api/limit"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/page"
	"github.com/scrollery/scrollery/proto/gen/openapi"
)

// serveOpenAPI sends the OpenAPI document of the REST operations.
func (m *Mux) serveOpenAPI(w http.ResponseWriter, c *call) {
	if err := c.spendDescription("/openapi.json"); err != nil {
		m.refuseREST(w, c, err)
		return
	}
	if c.request.Method != http.MethodGet && c.request.Method != http.MethodHead {
		c.set("Allow", "GET, HEAD")
		m.refuseREST(w, c, apierr.New(apierr.MethodNotAllowed, "/openapi.json takes GET, HEAD."))
		return
	}
	document := m.document()
	body, tag, encoding := document.For(c.request)
	c.header["Vary"] = append(c.header["Vary"][:len(c.header["Vary"]):len(c.header["Vary"])], "Accept-Encoding")
	if m.unchanged(w, c, tag) {
		return
	}
	if encoding != "" {
		c.set("Content-Encoding", encoding)
	}
	c.send(w, http.StatusOK, body)
}

// describe returns the document in its short form, with the base address.
func describe(base string) page.Fixed {
	whole, err := openapi.Document()
	var parts map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(whole, &parts)
	}
	if err != nil {
		panic(err) // it is part of the program
	}
	parts["servers"], _ = json.Marshal([]map[string]string{{"url": base}}) // of texts
	text, err := json.Marshal(parts)
	if err != nil {
		panic(err)
	}
	return page.NewFixed(text)
}

// serveReflection serves a stream of questions, which ends with the time for one answer.
func (m *Mux) serveReflection(ctx context.Context, w http.ResponseWriter, c *call, h http.Handler) {
	if err := c.spendDescription("reflection"); err != nil {
		m.refuseREST(w, c, err)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, m.config.UnreadFor)
	defer cancel()
	c.mustBeRead()
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(m.config.UnreadFor))
	h.ServeHTTP(w, c.request.WithContext(ctx))
}

// mustRead is a writer whose client must read what is written.
type mustRead struct {
	http.ResponseWriter
	call *call
}

// Unwrap is for [http.ResponseController].
func (w *mustRead) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *mustRead) WriteHeader(status int) {
	w.call.mustBeRead()
	w.ResponseWriter.WriteHeader(status)
}

func (w *mustRead) Write(p []byte) (int, error) {
	w.call.mustBeRead()
	return w.ResponseWriter.Write(p)
}

// Held serves what is in memory, beside the operations: it bounds what one client address
// has under way and how often it asks, and how long an answer waits to be read.
func (m *Mux) Held(name string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := m.begin(w, r)
		w = &mustRead{w, c}
		r = c.body.await()
		defer c.body.release()
		client := c.client()
		leave, ok := c.place.enterClient(client)
		if !ok {
			refusePage(w, underWay)
			return
		}
		defer leave()
		if _, wait := m.rates.pages.Take(r.Context(), limit.Whose{Client: client, Name: name}, time.Now()); wait > 0 {
			refusePage(w, wait)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// SpendMinute takes one request to a page from a quota a minute of its client address. A
// page may share the quota of an operation, by its id. wait is above 0 if it is spent.
func (m *Mux) SpendMinute(r *http.Request, name string, quota int) (wait time.Duration) {
	client, _ := m.config.client(r)
	_, wait = m.rates.minutes.Take(r.Context(), limit.Whose{Client: client, Name: name}, quota, time.Now())
	return wait
}

// Page is Held for what reads rows: it waits for the database no longer than a call does, and
// a quota above 0 is one of all processes together.
func (m *Mux) Page(name string, quota int, next http.Handler) http.Handler {
	return m.Held(name, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if quota > 0 {
			if wait := m.SpendMinute(r, name, quota); wait > 0 {
				refusePage(w, wait)
				return
			}
		}
		next.ServeHTTP(w, r.WithContext(apierr.WithPatience(r.Context(), m.config.MaxWait)))
	}))
}

func refusePage(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.FormatInt(wholeSeconds(wait), 10))
	http.Error(w, "Too many requests came from your network. Try again later.", http.StatusTooManyRequests)
}
