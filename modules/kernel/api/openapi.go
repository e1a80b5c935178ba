package api

import (
	"encoding/json"
	"net/http"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/page"
	"github.com/scrollery/scrollery/proto/gen/openapi"
)

// serveOpenAPI sends the OpenAPI document of the REST operations.
func (m *Mux) serveOpenAPI(w http.ResponseWriter, c *call) {
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
	var parts map[string]json.RawMessage
	if err := json.Unmarshal([]byte(openapi.Document), &parts); err != nil {
		panic(err) // it is part of the program
	}
	parts["servers"], _ = json.Marshal([]map[string]string{{"url": base}}) // of texts
	text, err := json.Marshal(parts)
	if err != nil {
		panic(err)
	}
	fixed, err := page.NewFixed(text)
	if err != nil {
		panic(err) // memory does not fail
	}
	return fixed
}
