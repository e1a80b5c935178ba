package weburl_test

import (
	"net/netip"
	"strconv"
	"strings"
)

// aton reads an IPv4 address as the C library does: one to four parts, each in
// decimal, octal or hex, the last one filling the bytes that are left.
func aton(host string) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var whole uint64
	for i, part := range parts {
		base := 10
		lower := strings.ToLower(part)
		if strings.HasPrefix(lower, "0x") {
			base, lower = 16, lower[2:]
		} else if len(lower) > 1 && lower[0] == '0' {
			base = 8
		}
		number, err := strconv.ParseUint(lower, base, 32)
		if err != nil {
			return netip.Addr{}, false
		}
		if i < len(parts)-1 {
			if number > 255 {
				return netip.Addr{}, false
			}
			whole |= number << (24 - 8*i)
		} else {
			if number >= 1<<(32-8*i) {
				return netip.Addr{}, false
			}
			whole |= number
		}
	}
	return netip.AddrFrom4([4]byte{byte(whole >> 24), byte(whole >> 16), byte(whole >> 8), byte(whole)}), true
}
