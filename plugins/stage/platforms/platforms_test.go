package platforms_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/plugins/stage/platforms"
)

// TestEveryRow: the page of a video is on a host of its platform, whatever its id has.
func TestEveryRow(t *testing.T) {
	t.Parallel()
	for _, id := range platforms.IDs() {
		row, ok := platforms.Of(id)
		if !ok || row.ID != id || row.Name == "" {
			t.Errorf("%s: got %+v, %t", id, row, ok)
		}
		for _, short := range []bool{true, false} {
			address := platforms.Address(id, "a/../b?c#d", "e/f", short)
			parsed, err := url.Parse(address)
			if err != nil || parsed.Fragment != "" {
				t.Errorf("%s: got address %q, error %v", id, address, err)
				continue
			}
			if host, isShort := platforms.OfHost(parsed.Hostname()); host != id || isShort {
				t.Errorf("the host of %q: got %q, short %t, want %s", address, host, isShort, id)
			}
		}
		for _, host := range row.Short {
			if got, short := platforms.OfHost(host); got != id || !short {
				t.Errorf("%s: got %q, short %t, want %s, short", host, got, short, id)
			}
		}
	}
	for _, host := range []string{"", "eviltiktok.com", "tiktok.com.example", "example.com"} {
		if got, _ := platforms.OfHost(host); got != "" {
			t.Errorf("%q: got %s, want no platform", host, got)
		}
	}
	if got := platforms.Address("vimeo", "1", "", false); got != "" {
		t.Errorf("a platform that is not known: got %q, want no address", got)
	}
}

func TestPostedAt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		platform, id string
		want         int64
	}{
		{platforms.TikTok, "7290000000000003601", 7290000000000003601 >> 32 * 1000},
		{platforms.TikTok, "7620034020465855766", 7620034020465855766 >> 32 * 1000},
		{platforms.TikTok, "12", 0},
		{platforms.TikTok, "4294967296", 0}, // before the platform began
		{platforms.TikTok, "v7620034020465855766", 0},
		{platforms.TikTok, "-7290000000000003601", 0},
		{platforms.TikTok, "72900000000000036010", 0}, // above 64 bits
		{platforms.YouTube, "7290000000000003601", 0},
		{"vimeo", "7290000000000003601", 0},
	} {
		if got := platforms.PostedAt(c.platform, c.id); got != c.want {
			t.Errorf("%s %s: got %d, want %d", c.platform, c.id, got, c.want)
		}
	}
}

// TestAccount: only addresses of accounts name one, whatever else a platform serves.
func TestAccount(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"www.tiktok.com/@a.b": "tiktok a.b", "m.tiktok.com/@a/video/1": "tiktok a", "youtube.com/@A/shorts": "youtube A", "music.youtube.com/channel/UC1": "youtube UC1",
		"www.youtube.com/user/a": "youtube a", "instagram.com/a_b": "instagram a_b", "www.instagram.com/a/reels": "instagram a", "instagr.am/@a": "instagram a",
		"help.instagram.com/1234": "", "about.instagram.com/blog": "", "business.instagram.com/a": "", "help.tiktok.com/en": "", "business.tiktok.com/@a": "", "developers.tiktok.com/doc": "",
		"instagram.com/accounts/login": "", "instagram.com/explore/tags/a": "", "instagram.com/reel/a": "", "instagram.com/direct/inbox": "", "instagram.com/stories/a": "", "instagram.com": "",
		"tiktok.com/tag/a": "", "tiktok.com/music/a-1": "", "tiktok.com/@": "", "youtube.com/feed/trending": "", "youtube.com/channel": "", "youtube.com/premium": "", "support.google.com/youtube": "",
		"vm.tiktok.com/@a": "", "instagram.com.example/a": "",
	} {
		host, path, _ := strings.Cut(address, "/")
		platform, account := platforms.Account(host, strings.FieldsFunc(path, func(r rune) bool { return r == '/' }))
		if got := strings.TrimSpace(platform + " " + account); got != want {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}
}
