// Package platforms is the table of the platforms that are known by more than their name: their
// hosts, the addresses of their videos, and what an id says. Every other platform is a text: it
// has no addresses of its own, and its ids say nothing.
package platforms

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// The platforms of the table, as records name them.
const (
	TikTok    = "tiktok"
	YouTube   = "youtube"
	Instagram = "instagram"
)

// Platform is a row of the table.
type Platform struct {
	// ID is how records name it, Name how people do.
	ID, Name string
	// Hosts serve its pages. Hosts below them belong to it too, but may serve anything, such as
	// help. Short ones redirect to the page of a video, whose id their addresses do not have.
	Hosts, Short []string
	// address is the public page of a video. handle may be empty; short is for a short one.
	address func(id, handle string, short bool) string
	// posted is the Unix second of the upload that an id has; 0 for none. nil: ids have none.
	posted func(id string) int64
	// account is the account that the first two parts of a path name; empty for none.
	account func(first, second string) string
}

var table = []Platform{
	{
		ID: TikTok, Name: "TikTok", Hosts: []string{"tiktok.com", "tiktokv.com"}, Short: []string{"vm.tiktok.com", "vt.tiktok.com"},
		address: func(id, handle string, _ bool) string {
			if handle == "" {
				handle = "_" // the platform leads on to the usual address
			}
			return "https://www.tiktok.com/@" + url.PathEscape(handle) + "/video/" + url.PathEscape(id)
		},
		posted:  tiktokSecond,
		account: func(first, _ string) string { return signed(first) },
	},
	{
		ID: YouTube, Name: "YouTube", Hosts: []string{"youtube.com", "youtube-nocookie.com"}, Short: []string{"youtu.be"},
		address: func(id, _ string, short bool) string {
			if short {
				return "https://www.youtube.com/shorts/" + url.PathEscape(id)
			}
			return "https://www.youtube.com/watch?v=" + url.QueryEscape(id)
		},
		account: func(first, second string) string {
			if slices.Contains([]string{"c", "user", "channel"}, first) {
				return second
			}
			return signed(first)
		},
	},
	{
		ID: Instagram, Name: "Instagram", Hosts: []string{"instagram.com", "instagr.am"},
		address: func(id, _ string, _ bool) string { return "https://www.instagram.com/reel/" + url.PathEscape(id) + "/" },
		account: func(first, _ string) string {
			if slices.Contains(instagramPages, first) {
				return ""
			}
			return strings.TrimPrefix(first, "@")
		},
	},
}

// instagramPages are the first parts of Instagram's paths that name no account.
var instagramPages = strings.Fields("p reel reels tv stories s share explore accounts direct about developer legal web api audio emails challenge oauth session press download nametag popular graphql privacy terms topics")

// signed is a name behind @; empty for any other text.
func signed(text string) string {
	if name, ok := strings.CutPrefix(text, "@"); ok {
		return name
	}
	return ""
}

// tiktokSecond is the upper half of a decimal id, from 2014-05-13 until 2099.
func tiktokSecond(id string) int64 {
	const first, end = 1_400_000_000, 4_102_444_800
	number, err := strconv.ParseUint(id, 10, 64)
	if at := int64(number >> 32); err == nil && at >= first && at < end {
		return at
	}
	return 0
}

// IDs returns the names of the table's platforms in records.
func IDs() []string {
	ids := make([]string, len(table))
	for i, p := range table {
		ids[i] = p.ID
	}
	return ids
}

// Of returns the row of a platform; ok is false for one that is not in the table.
func Of(id string) (p Platform, ok bool) {
	i := slices.IndexFunc(table, func(p Platform) bool { return p.ID == id })
	if i < 0 {
		return p, false
	}
	return table[i], true
}

// OfHost is the platform that a host in lower case belongs to; empty for none. short says that
// the host serves short addresses.
func OfHost(host string) (id string, short bool) {
	for _, p := range table {
		if slices.Contains(p.Short, host) {
			return p.ID, true
		}
		for _, known := range p.Hosts {
			if host == known || strings.HasSuffix(host, "."+known) {
				return p.ID, false
			}
		}
	}
	return "", false
}

// Serving is the platform whose accounts and videos have their pages on a host in lower case.
// Empty for any other host, such as help.instagram.com.
func Serving(host string) (id string) {
	for _, lead := range []string{"www.", "m.", "music."} {
		host = strings.TrimPrefix(host, lead)
	}
	for _, p := range table {
		if slices.Contains(p.Hosts, host) {
			return p.ID
		}
	}
	return ""
}

// Account is the account whose page, or a page below it, an address has: its handle without the
// sign, or the id behind YouTube's /channel/. host is in lower case, and parts are those of the
// path. Empty for other pages and for hosts that are not [Serving].
func Account(host string, parts []string) (platform, account string) {
	p, ok := Of(Serving(host))
	if parts = append(slices.Clone(parts), "", ""); ok {
		account = p.account(parts[0], parts[1])
	}
	if account == "" {
		return "", ""
	}
	return p.ID, account
}

// Address is the public page of a video; empty for a platform that is not in the table. handle,
// without its sign, may be empty. short is for a short video.
func Address(platform, id, handle string, short bool) string {
	if p, ok := Of(platform); ok {
		return p.address(id, handle, short)
	}
	return ""
}

// PostedAt is when a video was uploaded, in Unix milliseconds, as far as its id says it; 0 if
// it does not.
func PostedAt(platform, id string) int64 {
	if p, ok := Of(platform); ok && p.posted != nil {
		return p.posted(id) * 1000
	}
	return 0
}
