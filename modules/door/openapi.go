package door

import "net/http"

func serveOpenAPI(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }
