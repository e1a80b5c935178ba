package page

import (
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maxForm is far more than the forms of the pages need, in bytes.
const maxForm = 16 << 10

// Form reads a posted form with no other fields than these. Otherwise it returns the
// status and the message of the refusal; status is 0 for a form that was read.
func Form(w http.ResponseWriter, r *http.Request, fields ...string) (form url.Values, status int, mistake string) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/x-www-form-urlencoded" {
		return nil, http.StatusUnsupportedMediaType, "Send the form as application/x-www-form-urlencoded."
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		if strings.Contains(err.Error(), "too large") {
			return nil, http.StatusRequestEntityTooLarge, "The form is too large."
		}
		return nil, http.StatusBadRequest, "The form cannot be read."
	}
	for name := range r.PostForm {
		if !slices.Contains(fields, name) {
			return nil, http.StatusBadRequest, "The form has a field that is not known."
		}
	}
	return r.PostForm, 0, ""
}
