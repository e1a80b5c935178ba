package host

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// bill is what a source with a price is asked for, what was taken out of the budget for it and
// what it cost. A source without a price is asked for everything.
type bill struct {
	items []payable // that were not asked for yet
	input func(some int) []*stagev1.Input
	drop  func(some int)

	purse *spender
	until time.Time // the budget is worth asking again; zero for never
	// held is taken out of the budget for this call, by the text of the items.
	held map[string]int64
	back int64 // was given back after it
}

// payable is a seed, or a video of a refresh.
type payable struct {
	text, platform string
	limit          int
}

// newBill is the bill of seeds or videos, which input encodes.
func newBill[T any](items []T, input func([]T) []*stagev1.Input, of func(T) payable) *bill {
	b := &bill{input: func(some int) []*stagev1.Input { return input(items[:some]) }}
	b.drop = func(some int) { items, b.items = items[some:], b.items[some:] }
	for _, one := range items {
		b.items = append(b.items, of(one))
	}
	return b
}

// hold takes the most that the next items may cost out of the budget, and makes those that it covers
// the input of the call. covered is false if it covers none. The end of ctx interrupts no question to
// the ledger: it would leave open whether the money was taken.
func (b *bill) hold(ctx context.Context, purse *spender, v *verb) (covered bool, err error) {
	if b == nil {
		return true, nil
	}
	b.purse, b.held, b.back = purse, map[string]int64{}, 0
	some := 0
	for ; some < len(b.items) && purse.spec.Price != (stage.Price{}); some++ {
		item := b.items[some]
		most := b.most(item)
		if err := ctx.Err(); err != nil {
			return false, err
		}
		grant, err := purse.spend(context.WithoutCancel(ctx), &stagev1.Spend{Quota: stage.CostQuota, Units: most})
		if err != nil {
			return false, err
		}
		if !grant.GetGranted() {
			if b.until = (time.Time{}); grant.GetRetryAt() > 0 {
				b.until = time.UnixMilli(grant.GetRetryAt())
			}
			if some == 0 {
				return false, nil
			}
			break
		}
		b.held[item.text] += most
	}
	if purse.spec.Price == (stage.Price{}) {
		some = len(b.items)
	}
	v.unasked = b.input(some)
	b.drop(some)
	return true, nil
}

// most is what an item may cost, on each platform that it may be for.
func (b *bill) most(item payable) int64 {
	return b.purse.spec.Price.Most(item.limit) * int64(len(b.platforms(item)))
}

func (b *bill) platforms(item payable) []string {
	if item.platform != "" || len(b.purse.spec.Platforms) == 0 {
		return []string{item.platform}
	}
	return b.purse.spec.Platforms
}

// settle gives back what was held and not spent. Nil is the end of a call that never began. What an
// item without an outcome cost is not known: it keeps what is held for it.
func (b *bill) settle(ctx context.Context, done *stagev1.Done) error {
	if b == nil || len(b.held) == 0 {
		return nil
	}
	var held, spent int64
	for _, one := range b.held {
		held += one
	}
	if done != nil {
		for _, o := range stage.DecodeOutcomes(done.GetOutcomes()) {
			o.Clean()
			cost := b.purse.spec.Price.Of(o)
			if o.Cost == nil {
				cost = min(cost, held-spent)
			}
			if cost > held-spent {
				return protocol("an outcome of %.40q costs more than the price of what was asked for, %s USD", o.Seed, stage.FormatMoney(held))
			}
			spent += cost
			delete(b.held, o.Seed)
		}
		for _, one := range b.held {
			spent = min(spent+one, held)
		}
	}
	b.held = nil
	if b.back = held - spent; b.back == 0 {
		return nil
	}
	_, err := b.purse.spend(context.WithoutCancel(ctx), &stagev1.Spend{Quota: stage.CostQuota, Units: b.back, Back: true})
	return err
}

// more reports whether what was given back may cover more items.
func (b *bill) more() bool { return b != nil && len(b.items) > 0 && b.back > 0 }

// refusals are the outcomes of the items that the budget did not cover.
func (b *bill) refusals(source string) (outcomes []stage.Outcome) {
	if b == nil || b.purse == nil {
		return nil
	}
	for _, item := range b.items {
		for _, platform := range b.platforms(item) {
			o := stage.Outcome{
				Seed: item.text, Platform: platform, Status: stage.Quota, Asked: item.limit,
				Detail: fmt.Sprintf("the budget of the day for %s is used up: this may cost %s USD", source, stage.FormatMoney(b.most(item))),
			}
			if !b.until.IsZero() {
				at := b.until.UnixMilli()
				o.RetryAt = &at
			}
			outcomes = append(outcomes, o)
		}
	}
	return outcomes
}
