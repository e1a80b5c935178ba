package api

import "testing"

func TestMalformedSecretsAreExplained(t *testing.T) {
	t.Parallel()
	for secret, explained := range map[string]bool{
		`"scr_live_abc"`: true, "scr_live_abc def": true, "Bearer scr_live_abc": true, "$KEY": true, "<key>": true, "scr_live_abc": false, "x": false,
	} {
		if why := malformedSecret(secret); (why != "") != explained {
			t.Errorf("%s: got %q, want an explanation: %v", secret, why, explained)
		}
	}
}
