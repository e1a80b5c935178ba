package weburl

import (
	"fmt"
	"net/netip"
	"syscall"
)

// PublicIP reports whether an IP address belongs to the public internet. An IPv4
// address in IPv6-mapped form does not: call Unmap first if the system returns that
// form. The zero Addr does not either.
func PublicIP(ip netip.Addr) bool {
	switch {
	case ip.Is4():
		return public4(ip.As4())
	case ip.Is6() && ip.Zone() == "":
		return public6(ip.As16())
	default:
		return false
	}
}

func public4(b [4]byte) bool {
	switch b[0] {
	case 0, 10, 127: // this network, private, loopback
		return false
	case 100: // carrier-grade NAT: 100.64.0.0/10
		return b[1]&0xc0 != 64
	case 169: // link-local, cloud metadata
		return b[1] != 254
	case 172: // private: 172.16.0.0/12
		return b[1]&0xf0 != 16
	case 192:
		switch {
		case b[1] == 0 && b[2] == 0, // protocol assignments
			b[1] == 0 && b[2] == 2,   // documentation
			b[1] == 88 && b[2] == 99, // 6to4 relays
			b[1] == 168:              // private
			return false
		}
		return true
	case 198: // benchmarks: 198.18.0.0/15; documentation
		return b[1]&0xfe != 18 && (b[1] != 51 || b[2] != 100)
	case 203: // documentation
		return b[1] != 0 || b[2] != 113
	default: // multicast, reserved and broadcast begin at 224
		return b[0] < 224
	}
}

// public6 accepts only global unicast, 2000::/3. That excludes loopback, the
// IPv4-mapped and -compatible forms, NAT64, unique local, link-local and multicast.
func public6(b [16]byte) bool {
	first, second := uint16(b[0])<<8|uint16(b[1]), uint16(b[2])<<8|uint16(b[3])
	switch {
	case first>>13 != 1:
		return false
	case first == 0x2001 && second < 0x200: // Teredo, benchmarks, ORCHID and other assignments
		return false
	case first == 0x2001 && second == 0xdb8, first == 0x3fff && second < 0x1000: // documentation
		return false
	case first == 0x2002: // 6to4: an IPv4 address in disguise
		return false
	default:
		return true
	}
}

// Control refuses to connect to an address that is not public. It is a net.Dialer's
// Control and sees the address after the name was resolved, so that no name leads
// into a private network.
func Control(network, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("connect to %s %s: not an IP address: %w", network, address, err)
	}
	if !PublicIP(target.Addr().Unmap()) {
		return fmt.Errorf("connect to %s %s: not a public address", network, address)
	}
	return nil
}
