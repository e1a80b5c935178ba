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
	// Hosts serve its pages, and so do hosts below them. Short ones serve addresses that lead to
	// others, and say nothing by themselves.
	Hosts, Short []string
	// address is the public page of a video. handle may be empty; short is for a short one.
	address func(id, handle string, short bool) string
	// posted is the Unix second of the upload that an id has; 0 for none. nil: ids have none.
	posted func(id string) int64
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
		posted: tiktokSecond,
	},
	{
		ID: YouTube, Name: "YouTube", Hosts: []string{"youtube.com", "youtube-nocookie.com"}, Short: []string{"youtu.be"},
		address: func(id, _ string, short bool) string {
			if short {
				return "https://www.youtube.com/shorts/" + url.PathEscape(id)
			}
			return "https://www.youtube.com/watch?v=" + url.QueryEscape(id)
		},
	},
	{
		ID: Instagram, Name: "Instagram", Hosts: []string{"instagram.com", "instagr.am"},
		address: func(id, _ string, _ bool) string { return "https://www.instagram.com/reel/" + url.PathEscape(id) + "/" },
	},
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
