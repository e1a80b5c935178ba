package stage

import (
	"context"
	"strings"
	"testing"
)

func TestSettingsAreTyped(t *testing.T) {
	t.Parallel()
	days := Setting{Type: Number, Min: "0", Max: "365"}
	wait := Setting{Type: Duration, Min: "1s", Max: "1h"}
	order := Setting{Type: Choice, Values: []string{"new", "old"}}
	words := Setting{Type: List, Max: "3"}
	colours := Setting{Type: List, Values: []string{"red", "blue"}}
	for _, c := range []struct {
		name    string
		setting Setting
		value   string
		want    string
	}{
		{"text", Setting{}, "anything", ""},
		{"nothing", days, "", ""},
		{"a number", days, "365", ""},
		{"a number at the lower bound", days, "0", ""},
		{"above", days, "366", "366 is out of bounds; want a whole number, from 0 to 365"},
		{"below", days, "-1", "-1 is out of bounds; want a whole number, from 0 to 365"},
		{"a fraction", days, "1.5", `"1.5" is not a whole number, from 0 to 365`},
		{"one bound", Setting{Type: Number, Min: "1"}, "0", "0 is out of bounds; want a whole number, at least 1"},
		{"a time", wait, "1h0m0s", ""},
		{"too long", wait, "61m", "61m is out of bounds; want a time such as 90s or 1h30m, from 1s to 1h"},
		{"a time without unit", wait, "30", `"30" is not a time such as 90s or 1h30m, from 1s to 1h`},
		{"a choice", order, "old", ""},
		{"no choice", order, "Old", `"Old" is not new or old`},
		{"a list", words, "a, b,c", ""},
		{"a long list", words, "a,b,c,d", "has 4 items; want a number, at most 3"},
		{"an empty item", words, "a,,b", `"" is not an item`},
		{"a list of values", colours, "red, blue", ""},
		{"a list of another value", colours, "red,green", `"green" is not red or blue`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if err := c.setting.Check(c.value); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestSpecsRefuseUnsoundSettings(t *testing.T) {
	t.Parallel()
	for want, setting := range map[string]Setting{
		`type "date"`:                 {Type: "date"},
		"a choice of nothing":         {Type: Choice},
		"bounds of a text":            {Min: "1"},
		"a bound: \"x\" is not":       {Type: Number, Max: "x"},
		"the default: 9 is out of":    {Type: Number, Max: "5", Default: "9"},
		"the default: \"x\" is not a": {Type: Duration, Default: "x"},
	} {
		setting.Name = "days"
		spec := Spec{ID: "acme", Version: "1", Kind: SourceKind, Settings: []Setting{setting}, Collect: func(context.Context, *Call, []Seed, func(Record) error) ([]Outcome, error) { return nil, nil }}
		if err := spec.Validate(); err == nil || !strings.Contains(err.Error(), `setting "days": `+want) {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
}
