package stripetest

import (
	"fmt"
	"strings"
	"time"
)

// SessionOf returns the session of a checkout's address.
func SessionOf(address string) string { return address[strings.LastIndexByte(address, '/')+1:] }

// Pay completes an open session, as its payer would. paid is false for one that
// is not open.
func (d *Double) Pay(session, email string) (paid bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := d.complete(session, email)
	if found == nil {
		return false
	}
	d.settle(found)
	d.notify(found, "checkout.session.completed", found)
	return true
}

// PayLater completes an open session by a way that takes days, a bank debit;
// Succeed or Fail ends the wait.
func (d *Double) PayLater(session, email string) (done bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := d.complete(session, email)
	if found == nil {
		return false
	}
	d.notify(found, "checkout.session.completed", found)
	return true
}

// Succeed says that a late payment has arrived.
func (d *Double) Succeed(session string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := d.objects[session]
	d.settle(found)
	d.notify(found, "checkout.session.async_payment_succeeded", found)
}

// Fail says that a late payment will never arrive.
func (d *Double) Fail(session string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := d.objects[session]
	if found["mode"] == "subscription" {
		d.of(found, "subscription")["status"] = "incomplete_expired"
	} else {
		d.of(found, "payment_intent")["status"] = "requires_payment_method"
	}
	d.notify(found, "checkout.session.async_payment_failed", found)
}

// Expire ends an open session.
func (d *Double) Expire(session string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if found := d.objects[session]; found["status"] == "open" {
		found["status"] = "expired"
		d.notify(found, "checkout.session.expired", found)
	}
}

// complete is what happens at once, whenever the money arrives.
func (d *Double) complete(session, email string) Object {
	found := d.objects[session]
	if found == nil || found["status"] != "open" {
		return nil
	}
	found["status"] = "complete"
	customer := d.of(found, "customer")
	if customer != nil { // the page shows a known customer's address, and takes no other
		email = customer["email"].(string)
	}
	found["customer_details"] = Object{"email": email}
	if found["mode"] == "subscription" {
		if customer == nil {
			customer = d.keep(d.id("cus"), Object{"object": "customer", "email": email, "balance": int64(0)})
			found["customer"] = customer["id"]
		}
		sub := d.keep(d.id("sub"), Object{
			"object": "subscription", "status": "incomplete", "session": session, "customer": customer["id"],
			"current_period_end": time.Now().Add(30 * 24 * time.Hour).Unix(),
			"items":              Object{"object": "list", "data": []Object{{"price": d.objects[found["price"].(string)]}}},
		})
		found["subscription"] = sub["id"]
		return found
	}
	intent := d.keep(d.id("pi"), Object{"object": "payment_intent", "status": "processing", "session": session})
	charge := d.keep(d.id("ch"), Object{
		"object": "charge", "payment_intent": intent["id"], "amount": found["amount_total"],
		"amount_refunded": 0, "disputed": false, "session": session,
	})
	intent["charge"], found["payment_intent"] = charge["id"], intent["id"]
	return found
}

// settle is the arrival of the money.
func (d *Double) settle(found Object) {
	found["payment_status"] = "paid"
	if found["mode"] == "subscription" {
		sub := d.of(found, "subscription")
		sub["status"] = "active"
		d.notify(found, "invoice.paid", d.bill(sub, "paid"))
		return
	}
	d.of(found, "payment_intent")["status"] = "succeeded"
}

// bill makes the newest invoice of a subscription.
func (d *Double) bill(sub Object, status string) Object {
	made := d.keep(d.id("in"), Object{"object": "invoice", "subscription": sub["id"], "status": status})
	sub["latest_invoice"] = made["id"]
	return made
}

// of returns the object whose id a field holds.
func (d *Double) of(found Object, field string) Object {
	id, _ := found[field].(string)
	return d.objects[id]
}

// Set changes the status of a subscription: `past_due`, `active`, `canceled`, …
func (d *Double) Set(subscription, status string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := d.objects[subscription]
	found["status"] = status
	switch status {
	case "canceled":
		d.notify(found, "customer.subscription.deleted", found)
		return
	case "past_due":
		d.notify(found, "invoice.payment_failed", d.bill(found, "open"))
	case "active":
		d.of(found, "latest_invoice")["status"] = "paid"
	}
	d.notify(found, "customer.subscription.updated", found)
}

// Refund gives back so many cents more of what a session was paid with.
func (d *Double) Refund(session string, cents int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	charge := d.charge(session)
	charge["amount_refunded"] = charge["amount_refunded"].(int) + cents
	d.keep(d.id("re"), Object{
		"object": "refund", "charge": charge["id"], "payment_intent": charge["payment_intent"], "amount": cents, "status": "succeeded",
	})
	d.notify(charge, "charge.refunded", charge)
}

// Dispute is what the payer's bank takes of it.
func (d *Double) Dispute(session string, cents int) { d.dispute(session, cents, "needs_response") }

// Inquire is what the payer's bank asks about first: no money moves yet.
func (d *Double) Inquire(session string, cents int) (dispute string) {
	return d.dispute(session, cents, "warning_needs_response")
}

func (d *Double) dispute(session string, cents int, status string) (id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	charge := d.charge(session)
	charge["disputed"] = true
	made := d.keep(d.id("dp"), Object{
		"object": "dispute", "charge": charge["id"], "payment_intent": charge["payment_intent"],
		"amount": cents, "status": status, "session": session,
	})
	d.notify(charge, "charge.dispute.created", made)
	return made["id"].(string)
}

// Escalate has the bank take the money that it inquired about.
func (d *Double) Escalate(dispute string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := d.objects[dispute]
	found["status"] = "needs_response"
	d.notify(found, "charge.dispute.updated", found)
	d.notify(found, "charge.dispute.funds_withdrawn", found)
}

func (d *Double) charge(session string) Object {
	return d.of(d.of(d.objects[session], "payment_intent"), "charge")
}

// Credit is what a customer has as credit, in cents.
func (d *Double) Credit(customer string) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	balance, _ := d.objects[customer]["balance"].(int64)
	return -balance
}

// Forget deletes a customer, whose subscriptions go on naming it.
func (d *Double) Forget(customer string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.objects, customer)
}

// Webhook adds an enabled webhook endpoint.
func (d *Double) Webhook(address string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.serial++
	d.keep(fmt.Sprintf("we_%d", d.serial), Object{"object": "webhook_endpoint", "url": address, "status": "enabled"})
}
