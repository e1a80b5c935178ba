package nearest

import "testing"

func TestNearestNames(t *testing.T) {
	t.Parallel()
	names := []string{"name", "competitors", "appStoreUrl", "website", "per_day"}
	for name, want := range map[string]string{
		"nme": "name", "Name": "name", "app_store_url": "appStoreUrl", "competitor": "competitors", "compettitors": "competitors",
		"PERDAY": "per_day", "zzz": "", "x": "", "": "",
	} {
		if got := To(name, names); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if got, want := Hint("nme", names), "; did you mean name?"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
