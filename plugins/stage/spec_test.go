package stage_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

func fit() stage.Spec {
	return stage.Spec{
		ID: "acme", Version: "1.0.0", Kind: stage.SourceKind, Platforms: []string{"tiktok"},
		Settings: []stage.Setting{{Name: "region"}}, Secrets: []string{"token"}, Hosts: []string{"api.acme.example:443"},
		Collect: func(context.Context, *stage.Call, []stage.Seed, func(stage.Record) error) ([]stage.Outcome, error) {
			return nil, nil
		},
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	if err := fit().Validate(); err != nil {
		t.Fatal(err)
	}
	well := fit()
	well.Hosts = []string{"*.acme.example:443", "[2001:db8::1]:80", "192.0.2.1:80", "localhost:9", "xn--bcher-kva.example:443"}
	if err := well.Validate(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*stage.Spec){
		`id "Acme"`:         func(s *stage.Spec) { s.ID = "Acme" },
		`version ""`:        func(s *stage.Spec) { s.Version = "" },
		`platform "TikTok"`: func(s *stage.Spec) { s.Platforms = []string{"TikTok"} },
		`setting "a b"`:     func(s *stage.Spec) { s.Settings = []stage.Setting{{Name: "a b"}} },
		`setting "a": twice`: func(s *stage.Spec) {
			s.Settings = []stage.Setting{{Name: "a"}, {Name: "a"}}
		},
		`secret "region"`:        func(s *stage.Spec) { s.Secrets = []string{"region"} },
		`host "acme"`:            func(s *stage.Spec) { s.Hosts = []string{"acme"} },
		`host "acme:0"`:          func(s *stage.Spec) { s.Hosts = []string{"acme:0"} },
		`host "acme:65536"`:      func(s *stage.Spec) { s.Hosts = []string{"acme:65536"} },
		`host "*.com:443"`:       func(s *stage.Spec) { s.Hosts = []string{"*.com:443"} },
		`host "a.*.com:1"`:       func(s *stage.Spec) { s.Hosts = []string{"a.*.com:1"} },
		`host "*:443"`:           func(s *stage.Spec) { s.Hosts = []string{"*:443"} },
		`after evidence`:         func(s *stage.Spec) { s.AfterEvidence = true },
		`limits`:                 func(s *stage.Spec) { s.Limits.Stall = -1 },
		`kind "source"`:          func(s *stage.Spec) { s.Collect = nil },
		`kind "screen"`:          func(s *stage.Spec) { s.Kind = stage.ScreenKind },
		`kind ""`:                func(s *stage.Spec) { s.Kind = "" },
		`summary`:                func(s *stage.Spec) { s.Summary = strings.Repeat("x", 201) },
		`docs: want`:             func(s *stage.Spec) { s.Docs = "http://acme.example.com" },
		`want an https`:          func(s *stage.Spec) { s.Docs = "https://acme.example.com/" + strings.Repeat("x", 500) },
		`https address of`:       func(s *stage.Spec) { s.Docs = "https://user@acme.example.com" },
		`docs: want an`:          func(s *stage.Spec) { s.Docs = "https://acme.example.com/a b" },
		`price: want a call and`: func(s *stage.Spec) { s.Price = stage.Price{Call: -1} },
		`price: want a price`:    func(s *stage.Spec) { s.Price = stage.Price{Budget: stage.Dollar} },
		`price: want a budget`:   func(s *stage.Spec) { s.Price = stage.Price{Call: 1, Budget: 9_999} },
		`price: only sources`:    func(s *stage.Spec) { s.Kind, s.Price = stage.ScreenKind, stage.Price{Call: 1} },
		`setting "budget"`: func(s *stage.Spec) {
			s.Price, s.Settings = stage.Price{Call: 1}, []stage.Setting{{Name: "budget"}}
		},
		`quota "cost"`: func(s *stage.Spec) {
			s.Price, s.Quotas = stage.Price{Call: 1}, []stage.Allowance{{Name: "cost", Limit: 1, Window: stage.Week}}
		},
	} {
		t.Run(want, func(t *testing.T) {
			spec := fit()
			change(&spec)
			if err := spec.Validate(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error is %v, want it to name %s", err, want)
			}
		})
	}
}

func TestErrorsKeepTheirFault(t *testing.T) {
	t.Parallel()
	until := time.Now().Add(time.Hour)
	for fault, err := range map[stage.Fault]error{
		stage.FaultBusy:          stage.Busyf(time.Minute, "wait %d", 1),
		stage.FaultQuota:         stage.Quotaf(until, "spent"),
		stage.FaultRefused:       stage.Refusedf("no"),
		stage.FaultNotFound:      stage.NotFoundf("gone"),
		stage.FaultMisconfigured: stage.Misconfiguredf("unset"),
	} {
		t.Run(string(fault), func(t *testing.T) {
			var typed *stage.Error
			if !errors.As(fmt.Errorf("page 2: %w", err), &typed) || typed.Fault != fault {
				t.Fatalf("got %+v, want the fault %v", typed, fault)
			}
			if timed := fault == stage.FaultBusy || fault == stage.FaultQuota; timed == typed.RetryAt.IsZero() {
				t.Errorf("%s: got another try at %v, want a time: %t", fault, typed.RetryAt, timed)
			}
		})
	}
}
