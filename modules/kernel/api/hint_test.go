package api

import (
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

func TestNearestNames(t *testing.T) {
	t.Parallel()
	s := shapeOf((&scrolleryv1.SetWorkspaceRequest{}).ProtoReflect().Descriptor(), map[protoreflect.FullName]*shape{})
	for name, want := range map[string]string{
		"nme": "name", "Name": "name", "app_store_url": "appStoreUrl", "competitor": "competitors", "compettitors": "competitors",
		"zzz": "", "x": "", "": "",
	} {
		if got := nearest(name, s); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestTimesAsPeopleHaveThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"1752419109000": 1752419109000, "2025-07-13T15:05:09Z": 1752419109000, "2025-07-13T17:05:09+02:00": 1752419109000,
		"2025-07-13": 1752364800000, "0": 0,
	} {
		if got, why := timeOf(text); got != want || why != "" {
			t.Errorf("%s: got %v %q, want %v", text, got, why, want)
		}
	}
	for text, want := range map[string]string{
		"1752419109": "must be in milliseconds; these seconds are 1752419109000",
		"yesterday":  "must be a time: Unix milliseconds as 1752419109000, or RFC 3339 as 2025-07-13T15:05:09Z",
		"1e12":       "must be a time: Unix milliseconds as 1752419109000, or RFC 3339 as 2025-07-13T15:05:09Z",
	} {
		if _, why := timeOf(text); why != want {
			t.Errorf("%s: got %q, want %q", text, why, want)
		}
	}
	fields := (&scrolleryv1.ListOutliersRequest{}).ProtoReflect().Descriptor().Fields()
	for name, want := range map[protoreflect.Name]bool{"posted_after": true, "posted_before": true, "min_views": false} {
		if fd := fields.ByName(name); fd == nil || isTime(fd) != want {
			t.Errorf("%s: got another answer than %v", name, want)
		}
	}
}

func TestMalformedSecretsAreExplained(t *testing.T) {
	t.Parallel()
	for secret, explained := range map[string]bool{
		`"scr_live_abc"`: true, "scr_live_abc def": true, "Bearer scr_live_abc": true, "$KEY": true, "<key>": true, "scr_live_abc": false, "x": false,
	} {
		if why := malformedSecret(secret); (why != "") != explained {
			t.Errorf("%s: got %q, want an explanation: %v", secret, why, explained)
		}
	}
}

func TestNumbersNameTheirRange(t *testing.T) {
	t.Parallel()
	fd := (&scrolleryv1.GetOutliersRequest{}).ProtoReflect().Descriptor().Fields().ByName("limit")
	if got, want := wholeWanted(fd), "a whole number from 1 to 25"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
