package billing

import (
	"log/slog"
	"net/http"

	htmlpage "github.com/scrollery/scrollery/modules/kernel/page"
)

// Returned is where Stripe sends payers afterwards. It says nothing that the
// address does not: whether money moved is asked of Stripe, with the claim.
type Returned struct{ page *htmlpage.Writer }

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
		p.page.Write(w, r, http.StatusMethodNotAllowed, page{Live: true, Title: "This page is read"})
		return
	}
	switch r.URL.Path {
	case CheckoutPath + "paid":
		p.page.Write(w, r, http.StatusOK, page{Live: true, Claim: true, Title: "Thank you", Detail: "Go back to where you started: the claim token opens your API key once the payment has arrived. " +
			"A top-up is confirmed with its session, the last part of this page's address."})
	case CheckoutPath + "left":
		p.page.Write(w, r, http.StatusOK, page{Live: true, Title: "Not paid", Detail: "You left the checkout. Its address works until it expires."})
	default:
		p.page.Write(w, r, http.StatusNotFound, page{Live: true, Title: "No such page"})
	}
}
