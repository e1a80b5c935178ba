package weburl_test

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/weburl"
)

// accepted maps what callers send to the normal form and the canonical id.
func accepted() [][3]string {
	label63 := strings.Repeat("a", 63)
	return [][3]string{
		// Names.
		{"https://example.com", "https://example.com", "website:example.com"},
		{"https://example.com/", "https://example.com", "website:example.com"},
		{"https://example.com///", "https://example.com", "website:example.com"},
		{"HTTPS://Example.COM", "https://example.com", "website:example.com"},
		{"https://www.example.com", "https://www.example.com", "website:example.com"},
		{"https://WWW.example.com/", "https://www.example.com", "website:example.com"},
		{"https://www.www.example.com", "https://www.www.example.com", "website:www.example.com"},
		{"https://www.com", "https://www.com", "website:www.com"},
		{"https://a.b.c.example.co.uk", "https://a.b.c.example.co.uk", "website:a.b.c.example.co.uk"},
		{"https://r3---sn-abc.example.com", "https://r3---sn-abc.example.com", "website:r3---sn-abc.example.com"},
		{"https://1.2.3.example.com", "https://1.2.3.example.com", "website:1.2.3.example.com"},
		{"https://127.0.0.1.example.com", "https://127.0.0.1.example.com", "website:127.0.0.1.example.com"},
		{"https://0x7f.com", "https://0x7f.com", "website:0x7f.com"},
		{"https://123.com", "https://123.com", "website:123.com"},
		{"https://localhost.com", "https://localhost.com", "website:localhost.com"},
		{"https://local.example.com", "https://local.example.com", "website:local.example.com"},
		{"https://example.example.com", "https://example.example.com", "website:example.example.com"},
		{"https://tests.io", "https://tests.io", "website:tests.io"},
		{"https://example.org", "https://example.org", "website:example.org"},
		{"https://my.app", "https://my.app", "website:my.app"},
		{"https://" + label63 + ".com", "https://" + label63 + ".com", "website:" + label63 + ".com"},
		// International names.
		{"https://bücher.de", "https://xn--bcher-kva.de", "website:xn--bcher-kva.de"},
		{"https://BÜCHER.de", "https://xn--bcher-kva.de", "website:xn--bcher-kva.de"},
		{"https://xn--bcher-kva.de", "https://xn--bcher-kva.de", "website:xn--bcher-kva.de"},
		{"https://XN--BCHER-KVA.de", "https://xn--bcher-kva.de", "website:xn--bcher-kva.de"},
		{"https://例え.jp", "https://xn--r8jz45g.jp", "website:xn--r8jz45g.jp"},
		{"https://пример.рф", "https://xn--e1afmkfd.xn--p1ai", "website:xn--e1afmkfd.xn--p1ai"},
		{"https://example。com", "https://example.com", "website:example.com"},
		{"https://ｅｘａｍｐｌｅ.com", "https://example.com", "website:example.com"},
		{"https://faß.de", "https://xn--fa-hia.de", "website:xn--fa-hia.de"},
		// Ports.
		{"https://example.com:443", "https://example.com", "website:example.com"},
		{"https://example.com:443/a/", "https://example.com/a", "website:example.com"},
		{"https://example.com:0443", "https://example.com", "website:example.com"},
		{"https://example.com:1", "https://example.com:1", "website:example.com"},
		{"https://example.com:8443/", "https://example.com:8443", "website:example.com"},
		{"https://example.com:65535", "https://example.com:65535", "website:example.com"},
		{"https://example.com:80", "https://example.com:80", "website:example.com"},
		// Public IP addresses.
		{"https://8.8.8.8", "https://8.8.8.8", "website:8.8.8.8"},
		{"https://8.8.8.8:8443/x", "https://8.8.8.8:8443/x", "website:8.8.8.8"},
		{"https://１.１.１.１", "https://1.1.1.1", "website:1.1.1.1"},
		{"https://[2606:4700:4700::1111]", "https://[2606:4700:4700::1111]", "website:2606:4700:4700::1111"},
		{"https://[2606:4700:4700:0:0:0:0:1111]:443/", "https://[2606:4700:4700::1111]", "website:2606:4700:4700::1111"},
		{"https://[2606:4700:4700::1111]:8443", "https://[2606:4700:4700::1111]:8443", "website:2606:4700:4700::1111"},
		{"https://[2A00:1450::200E]", "https://[2a00:1450::200e]", "website:2a00:1450::200e"},
		// Paths, queries, fragments.
		{"https://example.com/a/b", "https://example.com/a/b", "website:example.com"},
		{"https://example.com/A/B/", "https://example.com/A/B", "website:example.com"},
		{"https://example.com/@name", "https://example.com/@name", "website:example.com"},
		{"https://example.com/a:b", "https://example.com/a:b", "website:example.com"},
		{"https://example.com//double", "https://example.com//double", "website:example.com"},
		{"https://example.com/caf%C3%A9", "https://example.com/caf%C3%A9", "website:example.com"},
		{"https://example.com/café", "https://example.com/caf%C3%A9", "website:example.com"},
		{"https://example.com/a%2Fb", "https://example.com/a%2Fb", "website:example.com"},
		{"https://example.com#top", "https://example.com", "website:example.com"},
		{"https://example.com/#/route", "https://example.com", "website:example.com"},
		{"https://example.com/a#b?c", "https://example.com/a", "website:example.com"},
		{"https://example.com?", "https://example.com", "website:example.com"},
		{"https://example.com/?", "https://example.com", "website:example.com"},
		{"https://example.com/?q=1", "https://example.com?q=1", "website:example.com"},
		{"https://example.com?q=http://10.0.0.1/", "https://example.com?q=http://10.0.0.1/", "website:example.com"},
		{"https://example.com/?q=ü", "https://example.com?q=%C3%BC", "website:example.com"},
		{"https://example.com/?b=2&a=1", "https://example.com?b=2&a=1", "website:example.com"},
		{"https://example.com/?utm_source=x", "https://example.com", "website:example.com"},
		{"https://example.com/?a=1&utm_source=x&b=2", "https://example.com?a=1&b=2", "website:example.com"},
		{"https://example.com/?UTM_Campaign=x&fbclid=1&gclid=2&a=1", "https://example.com?a=1", "website:example.com"},
		{"https://example.com/?%75tm_source=x", "https://example.com", "website:example.com"},
		{"https://example.com/?&&a=1&", "https://example.com?a=1", "website:example.com"},
		{"https://example.com/?at=x", "https://example.com?at=x", "website:example.com"},
		{"https://example.com/id123456", "https://example.com/id123456", "website:example.com"},
		// Apps.
		{"https://apps.apple.com/us/app/facebook/id284882215", "https://apps.apple.com/us/app/facebook/id284882215", "app_store:284882215"},
		{"https://apps.apple.com/app/id284882215", "https://apps.apple.com/app/id284882215", "app_store:284882215"},
		{"https://Apps.Apple.com/app/id284882215/", "https://apps.apple.com/app/id284882215", "app_store:284882215"},
		{"https://itunes.apple.com/us/app/id284882215?mt=8", "https://itunes.apple.com/us/app/id284882215", "app_store:284882215"},
		{"https://apps.apple.com/us/app/x/id1?at=1&ct=2&platform=ipad", "https://apps.apple.com/us/app/x/id1?platform=ipad", "app_store:1"},
		{"https://apps.apple.com/app?id=42", "https://apps.apple.com/app?id=42", "app_store:42"},
		{"https://apps.apple.com/?id=42", "https://apps.apple.com?id=42", "app_store:42"},
		{"https://apps.apple.com/app/id7?id=42", "https://apps.apple.com/app/id7?id=42", "app_store:7"},
		{"https://apps.apple.com/us/app/id-card/id42", "https://apps.apple.com/us/app/id-card/id42", "app_store:42"},
		{"https://apps.apple.com/us/app/x/id42#reviews", "https://apps.apple.com/us/app/x/id42", "app_store:42"},
		{"https://apps.apple.com:443/us/app/x/id42", "https://apps.apple.com/us/app/x/id42", "app_store:42"},
		// An app store without an app is a website.
		{"https://apps.apple.com/us/charts", "https://apps.apple.com/us/charts", "website:apps.apple.com"},
		{"https://apps.apple.com/us/app/x/id12a", "https://apps.apple.com/us/app/x/id12a", "website:apps.apple.com"},
	}
}

func refused() []string {
	return []string{
		// Not an absolute https address.
		"", " ", "example.com", "www.example.com", "//example.com", "https:", "https:/", "https://", "https:///", "https:///path",
		"https:example.com", "https:/example.com", "http://example.com", "HTTP://example.com", "ftp://example.com",
		"file:///etc/passwd", "javascript:alert(1)", "data:text/plain,x", "gopher://example.com", "ws://example.com",
		"httpss://example.com", "https//example.com", "https://?q", "https://#f", "https:// ",
		// White space, control characters, backslashes.
		" https://example.com", "https://example.com ", "https://exa mple.com", "https://example.com/a b",
		"https://example.com\n", "https://example.com\r\nHost: x", "https://exam\tple.com", "https://example.com/\x00",
		"https://example.com\x7f", "https://example.com\u00a0", "https://example.com\u2028", "https://exam\u200bple.com",
		"https://example.com\u202e", "https://\ufeffexample.com", "https://example.com\\@evil.com", "https:\\\\example.com",
		"https://example.com/\\", "https://example.com\x85", "https://\xffexample.com", "https://example.com/\xc3\x28",
		"https://exam\u00adple.com",
		// Credentials.
		"https://user@example.com", "https://user:pass@example.com", "https://:@example.com", "https://@example.com",
		"https://example.com@evil.com", "https://example.com:443@127.0.0.1", "https://user@[2606:4700::1]",
		// Ports.
		"https://example.com:", "https://example.com:0", "https://example.com:65536", "https://example.com:99999",
		"https://example.com:100000", "https://example.com:-1", "https://example.com:+443", "https://example.com:44a",
		"https://example.com:443:443", "https://example.com: 443", "https://8.8.8.8:", "https://[2606:4700::1]:",
		"https://[2606:4700::1]443", "https://example.com:４４３",
		// Single labels, reserved domains.
		"https://localhost", "https://LOCALHOST", "https://localhost:8443", "https://localhost/", "https://foo.localhost",
		"https://intranet", "https://router", "https://com", "https://printer.local", "https://x.LOCAL", "https://metadata.google.internal",
		"https://a.internal", "https://site.test", "https://site.example", "https://example", "https://site.invalid",
		"https://abcdefghijklmnop.onion", "https://a.home.arpa", "https://1.0.0.127.in-addr.arpa", "https://a.alt",
		"https://nas.lan", "https://wiki.corp", "https://hub.home", "https://x.localdomain", "https://ｌｏｃａｌｈｏｓｔ", "https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
		"https://foo.ⓛocal",
		// Dots and labels.
		"https://.", "https://..", "https://.com", "https://.example.com", "https://example.com.", "https://example.com../", "https://example..com",
		"https://localhost.", "https://127.0.0.1.", "https://example.com。", "https://example.com．", "https://-example.com", "https://example-.com",
		"https://exa_mple.com", "https://exa!mple.com", "https://exa$mple.com", "https://exa*mple.com", "https://exa,mple.com",
		"https://" + strings.Repeat("a", 64) + ".com", "https://" + strings.Repeat("abcdefg.", 32) + "com",
		"https://example.c", "https://example.c0m", "https://example.1com", "https://example.co-m", "https://xn--.com", "https://xn--a.com",
		"https://xn--zzzzzz99999.com", "https://example.xn--",
		"https://ex%61mple.com", "https://example.com%2f@evil.com", "https://%6c%6f%63alhost", "https://127%2e0.0.1", "https://example.com%00",
		"https://exa<mple.com", "https://exa|mple.com", "https://exa^mple.com", "https://{example}.com",
		// IPv4 that is not public.
		"https://0.0.0.0", "https://0.1.2.3", "https://10.0.0.1", "https://10.255.255.255", "https://100.64.0.1", "https://100.127.255.255",
		"https://127.0.0.1", "https://127.1.2.3", "https://169.254.169.254", "https://172.16.0.1", "https://172.31.255.255",
		"https://192.0.0.1", "https://192.0.0.192", "https://192.0.2.1", "https://192.88.99.1", "https://192.168.0.1", "https://198.18.0.1",
		"https://198.19.255.255", "https://198.51.100.7", "https://203.0.113.9", "https://224.0.0.1", "https://239.255.255.250",
		"https://240.0.0.1", "https://255.255.255.255", "https://10.0.0.1:8443/path", "https://１２７.０.０.１", "https://127。0。0。1", "https://①②⑦.0.0.1",
		// IPv4 in disguise, public or not, and what looks like it.
		"https://2130706433", "https://134744072", "https://0x7f000001", "https://0X7F000001", "https://017700000001", "https://0x08080808",
		"https://127.1", "https://127.0.1", "https://8.8.8", "https://8.8", "https://0177.0.0.1", "https://0x7f.0.0.1", "https://0x7f.1",
		"https://8.8.8.08", "https://08.8.8.8", "https://8.8.8.8.8", "https://8.8.8.256", "https://256.256.256.256", "https://1.2.3.4.5",
		"https://example.1", "https://example.0x1", "https://example.0x", "https://foo.123", "https://999999999999", "https://0x", "https://0",
		"https://1.2.3.0xff", "https://0o177.0.0.1", "https://127.0.0.1a", "https://8.8.8.8%20", "https://8.8.8.8.", "https://-1.2.3.4",
		// IPv6.
		"https://[::]", "https://[::1]", "https://[0:0:0:0:0:0:0:1]", "https://[::ffff:127.0.0.1]", "https://[::ffff:7f00:1]", "https://[::ffff:8.8.8.8]",
		"https://[::ffff:808:808]", "https://[0:0:0:0:0:ffff:8.8.8.8]", "https://[::127.0.0.1]", "https://[::8.8.8.8]", "https://[::808:808]",
		"https://[64:ff9b::127.0.0.1]", "https://[64:ff9b::8.8.8.8]", "https://[64:ff9b:1::1]", "https://[100::1]", "https://[2001::1]",
		"https://[2001:0:4136:e378::1]", "https://[2001:2::1]", "https://[2001:10::1]", "https://[2001:20::1]", "https://[2001:1ff::1]", "https://[2001:db8::1]",
		"https://[2002:7f00:1::]", "https://[2002:808:808::1]", "https://[3fff::1]", "https://[3fff:fff::1]", "https://[5f00::1]",
		"https://[fc00::1]", "https://[fd12:3456::1]", "https://[fe80::1]", "https://[fe80::1%25eth0]", "https://[fec0::1]", "https://[ff02::1]",
		"https://[2606:4700::1%25eth0]", "https://[2606:4700::1%eth0]", "https://[8.8.8.8]", "https://[example.com]", "https://[", "https://[]", "https://[::1",
		"https://2606:4700::1", "https://[2606:4700::1]]", "https://[[2606:4700::1]]", "https://x[2606:4700::1]", "https://[v1.fe80::a]", "https://[4000::1]",
		// The rest of the address.
		"https://example.com/%", "https://example.com/%zz", "https://example.com/%2",
		"https://example.com#%", "https://example.com/#%zz",
	}
}

func TestParseNormalises(t *testing.T) {
	t.Parallel()
	for _, c := range accepted() {
		t.Run(c[0], func(t *testing.T) {
			a, err := weburl.Parse(c[0])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{c[1], c[2]}, []string{a.URL, a.CanonicalID()}); diff != "" {
				t.Errorf("URL and canonical id (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	if n := len(accepted()) + len(refused()); n < 300 {
		t.Errorf("only %d cases, want at least 300", n)
	}
	for _, text := range refused() {
		if a, err := weburl.Parse(text); err == nil {
			t.Errorf("Parse(%q) = %+v; want an error", text, a)
		}
	}
}

func TestParseAppStoreWantsAnAppID(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"https://example.com/id123", "https://apps.apple.com", "https://apps.apple.com/", "https://apps.apple.com/us/developer/x",
		"https://apps.apple.com/us/app/x/id", "https://apps.apple.com/us/app/x/idabc", "https://apps.apple.com/us/app/x/id12a",
		"https://apps.apple.com/us/app/x/xid12", "https://apps.apple.com/us/app/x/id%31", "https://apps.apple.com/us/app/x?id=", "https://apps.apple.com/us/app/x?id=a",
		"https://apps.apple.com/us/app/x?id=1&id=2", "https://apps.apple.com/id1/id2", "https://apps.apple.com/us/app/x/id012", "https://apps.apple.com/us/app/x/id0",
		"https://apps.apple.com/us/app/x#id12", "https://apps.apple.com/us/app/x/id" + strings.Repeat("1", 21), "https://apps.apple.com/us/app/x/id１２",
		"https://apple.com/us/app/x/id12", "https://apps.apple.com.evil.com/us/app/x/id12", "https://evil-apps.apple.com/app/id12", "https://xapps.apple.com/app/id12",
		"https://play.google.com/store/apps/details?id=com.example", "https://play.google.com/store/apps/details?id=12", "http://apps.apple.com/us/app/x/id12",
		"https://user@apps.apple.com/us/app/x/id12", "https://apps.apple.com./us/app/x/id12",
	} {
		t.Run(fmt.Sprintf("%q is refused", text), func(t *testing.T) {
			if a, err := weburl.ParseAppStore(text); err == nil {
				t.Errorf("ParseAppStore(%q) = %+v; want an error", text, a)
			}
		})
	}
	a, err := weburl.ParseAppStore("https://itunes.apple.com/app/id12345678901234567890")
	if err != nil {
		t.Fatalf("twenty digits: %v", err)
	}
	if want := "12345678901234567890"; a.AppID != want {
		t.Errorf("app id %q, want %q", a.AppID, want)
	}
}

func TestPublicIPAtTheEdges(t *testing.T) {
	t.Parallel()
	// The first and last address of a block are not public; the addresses next to it are.
	for _, c := range []struct {
		before, first, last, after string
	}{
		{"", "0.0.0.0", "0.255.255.255", "1.0.0.0"},
		{"9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"},
		{"100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"},
		{"126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"},
		{"169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"},
		{"172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"},
		{"191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"},
		{"192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"},
		{"192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"},
		{"192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"},
		{"198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"},
		{"198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"},
		{"203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"},
		{"223.255.255.255", "224.0.0.0", "255.255.255.255", ""},
		{"", "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::"},
		{"2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"},
		{"2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"},
		{"2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"},
		{"3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"},
		{"3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
	} {
		t.Run(c.first+" to "+c.last, func(t *testing.T) {
			for _, outside := range []string{c.before, c.after} {
				if outside != "" && !weburl.PublicIP(netip.MustParseAddr(outside)) {
					t.Errorf("PublicIP(%s) = false", outside)
				}
			}
			for _, inside := range []string{c.first, c.last} {
				if weburl.PublicIP(netip.MustParseAddr(inside)) {
					t.Errorf("PublicIP(%s) = true", inside)
				}
			}
		})
	}
	for name, ip := range map[string]netip.Addr{
		"the zero address": {}, "a mapped address": netip.MustParseAddr("::ffff:8.8.8.8"), "an address with a zone": netip.MustParseAddr("2606:4700::1%eth0"),
	} {
		t.Run(name, func(t *testing.T) {
			if weburl.PublicIP(ip) {
				t.Errorf("PublicIP(%s) = true, want false", ip)
			}
		})
	}
}

func TestControlChecksTheResolvedAddress(t *testing.T) {
	t.Parallel()
	for target, public := range map[string]bool{
		"8.8.8.8:443": true, "[2606:4700::1]:443": true, "[::ffff:8.8.8.8]:443": true,
		"127.0.0.1:443": false, "[::ffff:127.0.0.1]:443": false, "[::1]:443": false, "localhost:443": false, "": false,
	} {
		t.Run(fmt.Sprintf("%q", target), func(t *testing.T) {
			if err := weburl.Control("tcp", target, nil); (err == nil) != public {
				t.Errorf("Control(%q) = %v, want public: %v", target, err, public)
			}
		})
	}
	dialer := net.Dialer{Control: weburl.Control}
	if _, err := dialer.DialContext(t.Context(), "tcp", "127.0.0.1:9"); err == nil || !strings.Contains(err.Error(), "not a public address") {
		t.Errorf(`dial: %v, want an error and text with "not a public address"`, err)
	}
}

// FuzzParse checks that whatever is accepted is what other parsers see, too:
// an https address without credentials whose host is public, and stable.
func FuzzParse(f *testing.F) {
	for _, c := range accepted() {
		f.Add(c[0])
	}
	for _, text := range refused() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := weburl.Parse(text)
		if err != nil {
			return
		}
		again, err := weburl.Parse(a.URL)
		if err != nil || again != a {
			t.Fatalf("%q became %+v, and that %+v, %v", text, a, again, err)
		}
		for _, form := range []string{text, a.URL} {
			u, err := url.Parse(form)
			if err != nil {
				t.Fatalf("%q: %v", form, err)
			}
			if u.Scheme != "https" || u.User != nil || u.Opaque != "" {
				t.Fatalf(`%q is %+v, want Scheme "https", no User and Opaque empty`, form, u)
			}
		}
		u, _ := url.Parse(a.URL)
		if u.Hostname() != a.Host || u.Fragment != "" || strings.HasSuffix(a.Host, ".") {
			t.Fatalf(`%q: got host %q in %+v; want %q, no fragment and no dot at the end`, a.URL, u.Hostname(), u, a.Host)
		}
		// What inet_aton and its kin take for an IPv4 address.
		if ip, ok := aton(a.Host); ok && (!weburl.PublicIP(ip) || ip.String() != a.Host) {
			t.Fatalf("%q resolves to %s", a.Host, ip)
		}
		if ip, err := netip.ParseAddr(a.Host); err == nil && !weburl.PublicIP(ip) {
			t.Fatalf("%q is not public", a.Host)
		}
		for i := range len(a.URL) {
			if a.URL[i] <= ' ' || a.URL[i] >= 0x7f || a.URL[i] == '\\' {
				t.Fatalf("%q has byte %#x, want URL[i] more than ' ', URL[i] less than 0x7f and URL[i] other than '\\\\'", a.URL, a.URL[i])
			}
		}
	})
}
