// Package ytdlp is the source that asks yt-dlp, a program of the system.
//
// yt-dlp reads the platforms' pages as a browser would. That is no official
// interface: the platforms' terms apply, pages change, and what it finds may be
// rounded. So it is off until the operator says otherwise, and every failure names
// the program's version, since most of them are mended by a newer one.
//
//	seed ── our address or search ── yt-dlp ── a line of JSON a video ── records
//
// It is given addresses that were built here, behind a `--`, and no option that
// runs anything, reads cookies or is chosen by a user.
package ytdlp

import (
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// The platforms that it asks.
const (
	youtube   = "youtube"
	tiktok    = "tiktok"
	instagram = "instagram"
)

// program is its name.
const program = "yt-dlp"

// Spec is the source.
func Spec() stage.Spec {
	return stage.Spec{
		ID: "ytdlp", Version: "1.0.0", Kind: stage.SourceKind,
		Summary:   "Asks yt-dlp for Shorts of handles and terms, TikToks of handles, and media.",
		Platforms: []string{youtube, tiktok, instagram},
		Settings: []stage.Setting{
			{Name: "enabled", Required: true, Type: stage.Choice, Values: []string{"yes"}, Help: "`yes` turns on yt-dlp: it is not an official interface, and the platforms' terms apply."},
			{Name: "ca_file", Path: true, Help: "Certificates to trust instead of the system's, in PEM."},
		},
		Env: map[string]string{"enabled": "YTDLP"},
		Hosts: []string{
			"youtube.com:443", "*.youtube.com:443", "youtubei.googleapis.com:443", "*.googlevideo.com:443",
			"tiktok.com:443", "*.tiktok.com:443", "*.tiktokv.com:443", "*.tiktokcdn.com:443", "*.tiktokcdn-us.com:443", "*.tiktokcdn-eu.com:443",
			"instagram.com:443", "*.instagram.com:443", "*.cdninstagram.com:443", "*.fbcdn.net:443",
		},
		Programs: []string{program},
		// A site is asked one thing at a time, for all tenants.
		Limits:  stage.Limits{Call: 25 * time.Minute, Calls: 1},
		Collect: collect,
		Refresh: refresh,
		Media:   media,
	}
}

// allowed refuses to work before the operator has allowed it.
func allowed(call *stage.Call) error {
	if call.Settings["enabled"] != "yes" {
		return stage.Misconfiguredf("ytdlp is off: it is no official interface. Set its setting enabled to yes where the platforms' terms allow it")
	}
	return nil
}
