package api

import (
	"net/http"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/proto/gen/openapi"
)

// serveOpenAPI sends the OpenAPI document of the REST operations.
func (m *Mux) serveOpenAPI(w http.ResponseWriter, c *call) {
	if c.request.Method != http.MethodGet && c.request.Method != http.MethodHead {
		c.set("Allow", "GET, HEAD")
		m.refuseREST(w, c, apierr.New(apierr.MethodNotAllowed, "/openapi.json takes GET, HEAD."))
		return
	}
	c.send(w, http.StatusOK, []byte(openapi.Document))
}
