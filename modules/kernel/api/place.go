package api

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

// place is what a call takes of the room for calls: a place among those that are served, one
// among those of its client address, and one among those of its account. It belongs to the
// goroutine of its call.
type place struct {
	mux          *Mux
	counted      bool // among those in flight
	overCapacity bool // the body came when as many were served as may be
	beyond       bool // the address has as many requests under way as it may
	account      int64
	// ofAccount is whether the call is counted among those of the account, and borrowed whether it
	// has the account's place of the agent's request that carries it.
	ofAccount, borrowed bool
	carriedBy           *carried // nil for a call that no agent's request carries
	// turn gives the call's turn to run back; nil: it has none.
	turn func()
	// address is the client's, invalid until it is asked for; proxied is whether it is that of a
	// trusted proxy.
	address netip.Addr
	proxied bool
}

var errInFlight = errors.New("as many calls are served as may be at once")

// enter counts the call among those that are served. It refuses it if there are as
// many as may be: a queue would only move the wait from the caller to the server.
func (p *place) enter() error {
	p.counted = true
	if p.mux.inFlight.Add(1) > int64(p.mux.config.MaxInFlight) {
		return apierr.Busy(errInFlight)
	}
	return nil
}

// leave gives the place among those that are served back.
func (p *place) leave() {
	if p.counted {
		p.counted = false
		p.mux.inFlight.Add(-1)
	}
}

// aside gives the call's place to others while it waits for a place of another kind, or for a
// provider: those that wait would be all that may be served. Its turn is given back for good.
func (p *place) aside() (back func()) {
	p.endTurn()
	if !p.counted {
		return func() {}
	}
	p.mux.inFlight.Add(-1)
	return func() { p.mux.inFlight.Add(1) }
}

// served refuses a call whose body has come when as many were served as may be.
func (p *place) served() error {
	if p.overCapacity {
		return apierr.Busy(errInFlight)
	}
	return nil
}

// end is leave, and gives back the place among the account's and the turn to run.
func (p *place) end() {
	p.leave()
	p.endTurn()
	if p.borrowed {
		p.borrowed = false
		p.carriedBy.giveBack()
	}
	if p.ofAccount {
		p.ofAccount = false
		p.mux.accounts.Leave(p.account)
	}
}

// enterClient counts a request of a client address, unless it has as many under way as it may:
// then enterNetwork refuses it. A request that waits for its client costs memory for as long.
func (p *place) enterClient(client netip.Addr) (leave func(), ok bool) {
	m := p.mux
	if !m.config.RateLimit || p.proxied { // by a proxy that does not say for whom
		return func() {}, true
	}
	if !m.clients.Enter(client, m.config.MaxClientCalls) {
		p.beyond = true
		return func() {}, false
	}
	return func() { m.clients.Leave(client) }, true
}

// enterNetwork refuses a call since its client address has as many under way as it may.
func (p *place) enterNetwork() error {
	if p.beyond {
		return tooManyUnderWay("Too many requests from your network are under way. Wait for their answers.")
	}
	return nil
}

// enterAccount counts a call of an account, or refuses it if as many are under way as may
// be. Streams have a bound of their own.
func (p *place) enterAccount(account int64) error {
	m := p.mux
	if !m.config.RateLimit {
		return nil
	}
	if p.borrowed = p.carriedBy.lend(); p.borrowed {
		return nil
	}
	if !m.accounts.Enter(account, m.config.MaxAccountCalls) {
		return tooManyUnderWay("The account has as many calls under way as it may. Wait for their answers.")
	}
	p.account, p.ofAccount = account, true
	return nil
}

// turns is how many calls of one account run at once in one process. The others wait: an
// account that sends all it may at once would else take the processors from everyone.
const turns = 2

// enterTurn waits until the call may run, in the order in which the account's calls came, as long
// as a call waits for the database.
func (p *place) enterTurn(ctx context.Context) error {
	c := callFrom(ctx)
	if !p.mux.config.RateLimit {
		return nil
	}
	waiting, stop := context.WithTimeoutCause(ctx, p.mux.config.MaxWait, errTurns)
	defer stop()
	leave, err := p.mux.running.Enter(waiting, c.viewer.AccountID)
	if errors.Is(err, errTurns) {
		return apierr.Busy(err)
	}
	p.turn = leave
	return err
}

var errTurns = errors.New("the account's calls before this one have not ended")

// endTurn lets the next call of the account run.
func (p *place) endTurn() {
	if p.turn != nil {
		p.turn()
		p.turn = nil
	}
}

// inTurn gives the handler of an operation its turn.
func inTurn(invoke handler) handler {
	return func(ctx context.Context, request proto.Message) (answer, error) {
		p := &callFrom(ctx).place
		if err := p.enterTurn(ctx); err != nil {
			return answer{}, err
		}
		defer p.endTurn()
		return invoke(ctx, request)
	}
}

// underWay is after how long a caller with too many calls under way should ask again.
const underWay = time.Second

// tooManyUnderWay refuses a call since its caller has as many as it may.
func tooManyUnderWay(message string) error {
	return &apierr.Error{Kind: apierr.RateLimited, RetryAfter: underWay, Message: message, OverRate: true}
}
