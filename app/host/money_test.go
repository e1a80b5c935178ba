package host

import (
	"context"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// generous grants all that is left, and takes back.
type generous struct{ left, back int64 }

func (p *generous) Spend(_ context.Context, _ string, _ stage.Allowance, units int64, _ string) (bool, time.Time, error) {
	if units > p.left {
		return false, time.Time{}, nil
	}
	p.left -= units
	return true, time.Time{}, nil
}

func (p *generous) GiveBack(_ context.Context, _ string, _ stage.Allowance, units int64, _ time.Time) error {
	p.back += units
	return nil
}

// TestNoMoreIsGivenBackThanWasGranted: neither money that a call was not granted, nor units of a site.
func TestNoMoreIsGivenBackThanWasGranted(t *testing.T) {
	t.Parallel()
	p := &generous{left: 100}
	s := &spender{plugin: "shop", quotas: p, spec: stage.Spec{Quotas: []stage.Allowance{{Name: "cost", Limit: 100, Money: true}, {Name: "units", Limit: 100}}}}
	for n, c := range []struct {
		ask     *stagev1.Spend
		granted bool
		refused bool
	}{
		{&stagev1.Spend{Quota: "cost", Units: 1, Back: true}, false, true},
		{&stagev1.Spend{Quota: "cost", Units: 60}, true, false},
		{&stagev1.Spend{Quota: "cost", Units: 60}, false, false},
		{&stagev1.Spend{Quota: "cost", Units: 50, Back: true}, true, false},
		{&stagev1.Spend{Quota: "cost", Units: 11, Back: true}, false, true},
		{&stagev1.Spend{Quota: "cost", Units: 10, Back: true}, true, false},
		{&stagev1.Spend{Quota: "units", Units: 10}, true, false},
		{&stagev1.Spend{Quota: "units", Units: 10, Back: true}, false, true},
		{&stagev1.Spend{Quota: "cost", Units: -5, Back: true}, false, true},
	} {
		grant, err := s.spend(t.Context(), c.ask)
		if (err != nil) != c.refused || err == nil && grant.GetGranted() != c.granted {
			t.Errorf("step %d: %v, error %v; want granted %v, refused %v", n, grant, err, c.granted, c.refused)
		}
	}
	if p.back != 60 {
		t.Errorf("%d given back, want 60", p.back)
	}
}
