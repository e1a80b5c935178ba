package stage

import (
	"fmt"
	"strconv"
	"strings"
)

// Dollar is a US dollar in the unit of amounts: millionths, so that a price of a record, which
// may be less than a cent, is a whole number.
const Dollar = 1_000_000

// maxMoney is the most dollars of an amount.
const maxMoney = 1_000_000

// ParseMoney reads an amount of US dollars, such as `2.50`, of at most 6 decimals and a million.
func ParseMoney(text string) (int64, error) {
	whole, decimals, _ := strings.Cut(text, ".")
	digits := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	dollars, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || !digits(whole) || !digits(decimals) || len(decimals) > 6 || dollars > maxMoney {
		return 0, fmt.Errorf("%.40q is not an amount of US dollars such as 2.50", text)
	}
	parts, err := strconv.ParseInt((decimals + "000000")[:6], 10, 64)
	return dollars*Dollar + parts, err
}

// FormatMoney is an amount as people write it: with two decimals, or as many as it has.
func FormatMoney(amount int64) string {
	text := fmt.Sprintf("%d.%06d", amount/Dollar, amount%Dollar)
	for strings.HasSuffix(text, "0") && len(text)-strings.IndexByte(text, '.') > 3 {
		text = text[:len(text)-1]
	}
	return text
}
