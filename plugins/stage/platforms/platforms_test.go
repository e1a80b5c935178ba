package platforms_test

import (
	"net/url"
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
