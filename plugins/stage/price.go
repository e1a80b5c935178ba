package stage

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Price is the most that a source pays a provider, in millionths of a US dollar; see [Dollar].
//
// Before a call the host takes the price of its seeds out of the budget of the day, seed by seed,
// and answers for those that the budget does not cover: their outcome is Quota. After the call it
// gives back what the outcomes did not cost, and asks for more seeds if that covers any. What a call
// that broke off, or was cancelled, did cost is not known: it counts as paid in full, or as nothing if
// the source was asked for nothing yet. An outcome that costs more than the price is an error of the
// stage, since the budget rests on the price.
type Price struct {
	// Call is the price of all requests for one seed on one platform, or for one video of Refresh,
	// beside what Record counts.
	Call int64
	// Record is the price of each record, of as many as the seed asks for.
	Record int64
	// Budget of a day (UTC) for all who share a key, until the operator sets the setting `budget`,
	// or an account for a key of its own. Zero is one dollar.
	Budget int64
}

const (
	// UsualVideos is how many videos a seed without a limit is thought to bring.
	UsualVideos = 50
	// MaxDocs is the most characters of Spec.Docs.
	MaxDocs = 500

	// CostQuota is the allowance of the money that a source may spend, and budget its setting.
	CostQuota, budget = "cost", "budget"
	// maxPrice is the most of a call or a record.
	maxPrice = 1000 * Dollar
)

// Most is what a seed with that limit may cost on one platform. A video of Refresh is one of limit 1.
func (p Price) Most(limit int) int64 { return p.of(cmp.Or(max(limit, 0), UsualVideos)) }

func (p Price) of(records int) int64 { return p.Call + p.Record*int64(min(max(records, 0), 1_000_000)) }

// Of is what an outcome cost.
func (p Price) Of(o Outcome) int64 {
	if o.Cost != nil {
		return *o.Cost
	}
	return p.of(o.Returned)
}

func (p Price) sound() error {
	switch {
	case p.Call < 0 || p.Record < 0 || p.Call > maxPrice || p.Record > maxPrice:
		return fmt.Errorf("want a call and a record from 0 to %s USD", FormatMoney(maxPrice))
	case p.Call+p.Record == 0:
		return errors.New("want a price of a call or of a record")
	case p.Budget != 0 && (p.Budget < Dollar/100 || p.Budget > maxMoney*Dollar):
		return fmt.Errorf("want a budget from 0.01 to %d USD", maxMoney)
	}
	return nil
}

// Priced is the spec with the setting and the allowance of its price, as the host has it.
func (s Spec) Priced() Spec {
	if s.Price == (Price{}) {
		return s
	}
	setting, cost := Budget(cmp.Or(s.Price.Budget, Dollar), len(s.Secrets) > 0, Cost{Handle: s.Price.Most(0), Term: s.Price.Most(0)})
	s.Settings, s.Quotas = append(slices.Clip(s.Settings), setting), append(slices.Clip(s.Quotas), cost)
	return s
}

// Budget is what bounds the money of a source: the setting of the operator, or with own of an account
// for its own key, and the allowance of a day that follows it. usual is what one seed usually costs.
func Budget(limit int64, own bool, usual Cost) (Setting, Allowance) {
	return Setting{Name: budget, Own: own, Default: FormatMoney(limit), Type: Money, Min: "0.01", Help: "US dollars that may be spent in a day (UTC) with one key, by all who use it."},
		Allowance{Name: CostQuota, Limit: limit, Setting: budget, Window: UTCDay, Cost: usual, Money: true}
}
