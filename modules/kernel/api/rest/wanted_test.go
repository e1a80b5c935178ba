package rest

import (
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

func TestTimesAsPeopleHaveThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"1752419109000": 1752419109000, "2025-07-13T15:05:09Z": 1752419109000, "2025-07-13T17:05:09+02:00": 1752419109000,
		"2025-07-13": 1752364800000, "0": 0,
	} {
		if got, ok := timeOf(text); got != want || !ok {
			t.Errorf("%s: got %v %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"yesterday", "1e12", "", "2025-07-13 15:05"} {
		if got, ok := timeOf(text); ok {
			t.Errorf("%q: got %v, want no time", text, got)
		}
	}
	fields := (&scrolleryv1.ListOutliersRequest{}).ProtoReflect().Descriptor().Fields()
	for name, want := range map[protoreflect.Name]bool{"posted_after": true, "posted_before": true, "min_views": false} {
		if fd := fields.ByName(name); fd == nil || isTime(fd) != want {
			t.Errorf("%s: got another answer than %v", name, want)
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
