package weburl

import (
	"errors"
	"net/netip"
	"strings"

	"golang.org/x/net/idna"
)

var (
	errPrivate  = errors.New("must lead to the public internet, not to a private, local or reserved address")
	errHost     = errors.New("has a host that is not a valid name")
	errNoHost   = errors.New("has no host")
	errLabels   = errors.New("must name a host with a public domain, such as example.com")
	errReserved = errors.New("must name a public domain, not a local or reserved one")
	errDisguise = errors.New("has a host that looks like an IP address in an unusual form")
	errDot      = errors.New("must not have an empty label or a dot at the end of its host")
)

const (
	digits  = "0123456789"
	letters = "abcdefghijklmnopqrstuvwxyz"
)

// parseName returns a host name, or an IPv4 address, in normal form.
func parseName(host string) (string, error) {
	if host == "" {
		return "", errNoHost
	}
	if strings.Contains(host, "%") {
		return "", errHost
	}
	// Lookup mapping first: full-width digits and ideographic dots become ASCII, and
	// the checks below see the result.
	name, err := nameProfile().ToASCII(host)
	if strings.HasSuffix(name, ".") || strings.Contains(name, "..") || strings.HasPrefix(name, ".") {
		return "", errDot
	}
	if err != nil || !isName(name) {
		if looksNumeric(name) {
			return "", errDisguise
		}
		return "", errHost
	}
	if ip, err := netip.ParseAddr(name); err == nil {
		if !PublicIP(ip) {
			return "", errPrivate
		}
		return ip.String(), nil
	}
	if looksNumeric(name) {
		return "", errDisguise
	}
	return name, checkName(name)
}

func nameProfile() *idna.Profile {
	return idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(true), idna.VerifyDNSLength(true), idna.CheckHyphens(false), idna.CheckJoiners(true))
}

// isName reports whether every label has 1 to 63 letters, digits and inner hyphens,
// and the name at most 253 characters.
func isName(name string) bool {
	if len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || strings.Trim(label, letters+digits+"-") != "" {
			return false
		}
	}
	return true
}

// looksNumeric reports whether a resolver may read the name as an IPv4 address: its
// last label is a decimal, octal or hexadecimal number.
func looksNumeric(name string) bool {
	last := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	if last == "" {
		return false
	}
	if number, hex := strings.CutPrefix(last, "0x"); hex {
		return strings.Trim(number, digits+"abcdef") == ""
	}
	return strings.Trim(last, digits) == ""
}

// checkName fails for names that no public resolver answers.
func checkName(name string) error {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		if isReserved(name) {
			return errReserved
		}
		return errLabels
	}
	top := name[dot+1:]
	if isReserved(top) {
		return errReserved
	}
	if len(top) < 2 {
		return errLabels
	}
	if !strings.HasPrefix(top, "xn--") && strings.Trim(top, letters) != "" {
		return errLabels
	}
	return nil
}

// isReserved reports whether a top-level domain is reserved (RFC 2606, 6761, 6762,
// 7686, 8375, 9476), or kept out of the root zone because private networks use it.
func isReserved(top string) bool {
	switch top {
	case "localhost", "local", "internal", "test", "example", "invalid", "onion",
		"alt", "arpa", "home", "corp", "lan", "intranet", "private", "localdomain":
		return true
	}
	return false
}
