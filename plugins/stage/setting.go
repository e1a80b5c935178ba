package stage

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Check says what is wrong with a value of the setting; the empty value is fine.
func (s Setting) Check(value string) error {
	if value == "" {
		return nil
	}
	switch s.Type {
	case Number:
		return within(s, value, "a whole number", func(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) })
	case Duration:
		return within(s, value, "a time such as 90s or 1h30m", time.ParseDuration)
	case Money:
		return within(s, value, "an amount of US dollars such as 2.50", ParseMoney)
	case List:
		items := strings.Split(value, ",")
		for _, item := range items {
			if item = strings.TrimSpace(item); item == "" || len(s.Values) > 0 && !slices.Contains(s.Values, item) {
				return fmt.Errorf("%.40q is not %s", item, cmp.Or(strings.Join(s.Values, " or "), "an item"))
			}
		}
		return within(s, strconv.Itoa(len(items)), "", func(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) })
	}
	if len(s.Values) > 0 && !slices.Contains(s.Values, value) {
		return fmt.Errorf("%.40q is not %s", value, strings.Join(s.Values, " or "))
	}
	return nil
}

// within reads a value by parse and compares it with the bounds.
func within[T cmp.Ordered](s Setting, value, form string, parse func(string) (T, error)) error {
	n, err := parse(value)
	if err != nil {
		return fmt.Errorf("%.40q is not %s%s", value, form, s.bounds())
	}
	least, most := n, n
	if s.Min != "" {
		if least, err = parse(s.Min); err != nil {
			return fmt.Errorf("the bound %q is not %s", s.Min, form)
		}
	}
	if s.Max != "" {
		if most, err = parse(s.Max); err != nil {
			return fmt.Errorf("the bound %q is not %s", s.Max, form)
		}
	}
	switch {
	case n >= least && n <= most:
		return nil
	case s.Type == List:
		return fmt.Errorf("has %s items; want a number%s", value, s.bounds())
	}
	return fmt.Errorf("%s is out of bounds; want %s%s", value, form, s.bounds())
}

// bounds are Min and Max for people.
func (s Setting) bounds() string {
	switch {
	case s.Min != "" && s.Max != "":
		return ", from " + s.Min + " to " + s.Max
	case s.Min != "":
		return ", at least " + s.Min
	case s.Max != "":
		return ", at most " + s.Max
	}
	return ""
}

// sound says what is wrong with the setting itself.
func (s Setting) sound() error {
	switch s.Type {
	case "", Number, Duration, Money, List:
	case Choice:
		if len(s.Values) == 0 {
			return errors.New("a choice of nothing")
		}
	default:
		return fmt.Errorf("type %q: want number, duration, money, choice or list", s.Type)
	}
	for _, bound := range []string{s.Min, s.Max} {
		if bound == "" {
			continue
		}
		if s.Type == "" || s.Type == Choice {
			return errors.New("bounds of a text")
		}
		as := Setting{Type: s.Type}
		if s.Type == List {
			as.Type = Number
		}
		if err := as.Check(bound); err != nil {
			return fmt.Errorf("a bound: %w", err)
		}
	}
	if err := s.Check(s.Default); err != nil {
		return fmt.Errorf("the default: %w", err)
	}
	return nil
}
