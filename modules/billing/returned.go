package billing

import (
	"log/slog"
	"net/http"
)

// Returned is where Stripe sends payers afterwards. It says nothing that the
// address does not: whether money moved is asked of Stripe, with the claim.
type Returned struct{ page *pageWriter }

// NewReturned returns the pages. Mount them at CheckoutPath.
func NewReturned(log *slog.Logger) (*Returned, error) {
	writer, err := newPageWriter(log)
	if err != nil {
		return nil, err
	}
	return &Returned{writer}, nil
}

// ServeHTTP shows the page.
func (p *Returned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		p.page.write(w, r, http.StatusMethodNotAllowed, page{Live: true, Title: "This page is read"})
		return
	}
	switch r.URL.Path {
	case CheckoutPath + "paid":
		detail := "Go back to where you started: the claim token opens your API key once the payment has arrived."
		if id := r.URL.Query().Get("session"); id != "" && len(id) < 256 {
			detail += " A top-up is confirmed with its session, " + id + "."
		}
		p.page.write(w, r, http.StatusOK, page{Live: true, Title: "Thank you", Detail: detail})
	case CheckoutPath + "left":
		p.page.write(w, r, http.StatusOK, page{Live: true, Title: "Not paid", Detail: "You left the checkout. Its address works until it expires."})
	default:
		p.page.write(w, r, http.StatusNotFound, page{Live: true, Title: "No such page"})
	}
}
