package stripetest

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Stripe takes no checkout that ends sooner or later.
const (
	shortest = 30 * time.Minute
	longest  = 24 * time.Hour
)

// noCustomer begins the refusal of a request for a customer that is gone. Stripe
// answers 400 to it, not 404.
const noCustomer = "No such customer: "

// answer does what a request asks; anything but 200 comes with a message.
func (d *Double) answer(r *http.Request, form url.Values) (any, int, string) {
	kind, id := resource(r.URL.Path)
	switch {
	case r.Method == http.MethodPost && kind == "sessions" && id == "":
		return d.openSession(form)
	case r.Method == http.MethodPost && kind == "products":
		if id == "" {
			id = form.Get("id")
		}
		return d.keep(id, Object{"object": "product", "name": form.Get("name"), "active": true}), http.StatusOK, ""
	case r.Method == http.MethodPost && kind == "prices":
		return d.makePrice(form), http.StatusOK, ""
	case r.Method == http.MethodDelete && kind == "subscriptions":
		found, ok := d.objects[id]
		if !ok || found["status"] == "canceled" {
			return nil, http.StatusNotFound, "No such subscription: " + id
		}
		found["status"] = "canceled"
		d.credit(found, form)
		d.notify(found, "customer.subscription.deleted", found)
		return found, http.StatusOK, ""
	case r.Method != http.MethodGet:
		return nil, http.StatusMethodNotAllowed, "the double does not know " + r.Method + " " + r.URL.Path
	case id != "":
		found, ok := d.objects[id]
		if !ok {
			return nil, http.StatusNotFound, "No such " + kind + ": " + id
		}
		return d.expand(found), http.StatusOK, ""
	default:
		return d.list(kind, r.URL.Query()), http.StatusOK, ""
	}
}

// credit gives the customer back what was billed for the rest of the time. The
// double takes the rest for the whole, and like Stripe does not look for a payment.
func (d *Double) credit(sub Object, form url.Values) {
	customer := d.of(sub, "customer")
	if customer == nil || form.Get("prorate") != "true" || form.Get("invoice_now") != "true" {
		return
	}
	items := sub["items"].(Object)["data"].([]Object)
	customer["balance"] = customer["balance"].(int64) - items[0]["price"].(Object)["unit_amount"].(int64)
}

// resource reads /v1/prices/price_1 and /v1/checkout/sessions/cs_1.
func resource(path string) (kind, id string) {
	path = strings.TrimPrefix(path, "/v1/")
	path = strings.TrimPrefix(path, "checkout/")
	kind, id, _ = strings.Cut(path, "/")
	return kind, id
}

// objectOf names what a list holds.
func objectOf(kind string) string {
	switch kind {
	case "sessions":
		return "checkout.session"
	default:
		return strings.TrimSuffix(kind, "s")
	}
}

// list answers the newest first, as Stripe does, and as many as are asked for.
func (d *Double) list(kind string, query url.Values) Object {
	data := []Object{}
	for _, one := range d.objects {
		if one["object"] == objectOf(kind) && matches(one, query) {
			data = append(data, one)
		}
	}
	slices.SortFunc(data, func(a, b Object) int { return cmp.Compare(number(b), number(a)) })
	if after := query.Get("starting_after"); after != "" {
		at := slices.IndexFunc(data, func(one Object) bool { return one["id"] == after })
		data = data[at+1:]
	}
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil {
		limit = 10
	}
	more := len(data) > limit
	return Object{"object": "list", "data": data[:min(limit, len(data))], "has_more": more}
}

// number is the serial number at the end of an id.
func number(one Object) int {
	id := one["id"].(string)
	n, _ := strconv.Atoi(id[strings.LastIndexByte(id, '_')+1:])
	return n
}

func matches(one Object, query url.Values) bool {
	for name := range query {
		want := query.Get(name)
		switch name {
		case "lookup_keys[0]":
			if one["lookup_key"] != want {
				return false
			}
		case "active":
			if fmt.Sprint(one["active"]) != want {
				return false
			}
		case "payment_intent", "charge":
			if one[name] != want {
				return false
			}
		case "created[gte]":
			from, _ := strconv.ParseInt(want, 10, 64)
			if one["created"].(int64) < from {
				return false
			}
		}
	}
	return true
}

func (d *Double) openSession(form url.Values) (any, int, string) {
	ends, _ := strconv.ParseInt(form.Get("expires_at"), 10, 64)
	if left := time.Until(time.Unix(ends, 0)); left < shortest || left > longest {
		return nil, http.StatusBadRequest, fmt.Sprintf("expires_at in %v", left)
	}
	price := form.Get("line_items[0][price]")
	cents, _ := strconv.ParseInt(form.Get("line_items[0][price_data][unit_amount]"), 10, 64)
	switch form.Get("mode") {
	case "subscription":
		if d.objects[price] == nil || d.objects[price]["active"] != true {
			return nil, http.StatusBadRequest, "no such price: " + price
		}
		cents = d.objects[price]["unit_amount"].(int64)
	case "payment":
		if cents < 50 {
			return nil, http.StatusBadRequest, "the amount is too small"
		}
	default:
		return nil, http.StatusBadRequest, "no such mode: " + form.Get("mode")
	}
	customer := form.Get("customer")
	if customer != "" && d.objects[customer] == nil {
		return nil, http.StatusBadRequest, noCustomer + customer
	}
	if customer != "" && form.Get("customer_email") != "" {
		return nil, http.StatusBadRequest, "a customer and an address exclude each other"
	}
	id := d.id("cs_test")
	return d.keep(id, Object{
		"object": "checkout.session", "mode": form.Get("mode"), "status": "open", "payment_status": "unpaid",
		"price": price, "amount_total": cents, "currency": "usd", "expires_at": ends,
		"client_reference_id": form.Get("client_reference_id"), "customer": customer,
		"url": "https://checkout.stripe.test/" + id, "session": id,
	}), http.StatusOK, ""
}

func (d *Double) makePrice(form url.Values) Object {
	for _, one := range d.objects {
		if one["object"] == "price" && one["lookup_key"] == form.Get("lookup_key") {
			one["lookup_key"] = ""
		}
	}
	cents, _ := strconv.ParseInt(form.Get("unit_amount"), 10, 64)
	marks := Object{}
	for name := range form {
		if mark, ok := strings.CutPrefix(name, "metadata["); ok {
			marks[strings.TrimSuffix(mark, "]")] = form.Get(name)
		}
	}
	return d.keep(d.id("price"), Object{
		"object": "price", "lookup_key": form.Get("lookup_key"), "unit_amount": cents, "currency": "usd", "active": true,
		"product":   form.Get("product"),
		"recurring": Object{"interval": form.Get("recurring[interval]"), "interval_count": 1},
		"metadata":  marks,
	})
}
