package api_test

import (
	"io"
	"net/http"
	"testing"
)

// TestDownload is a stream of bytes, which REST answers as one body.
func TestDownload(t *testing.T) {
	t.Parallel()
	b := setup(t)
	t.Run("the whole file", func(t *testing.T) {
		got := b.call(t, "GET", "/v1/account/export", "good", "")
		if got.status != 200 || got.body != "one,two" || got.header.Get("Content-Type") != "application/zip" {
			t.Errorf("got %d %q %q, want 200 with both parts", got.status, got.header.Get("Content-Type"), got.body)
		}
	})
	t.Run("refused before the first byte", func(t *testing.T) {
		b.fake.export = "nothing"
		got := b.call(t, "GET", "/v1/account/export", "good", "")
		if got.status != 429 || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("got %d %q, want 429 as JSON: %s", got.status, got.header.Get("Content-Type"), got.body)
		}
	})
	t.Run("cut off after the first byte", func(t *testing.T) {
		b.fake.export = "half"
		request, err := http.NewRequestWithContext(t.Context(), "GET", b.server.URL+"/v1/account/export", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer good")
		answer, err := b.server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if text, err := io.ReadAll(answer.Body); err == nil {
			t.Errorf("got %q and a clean end, want an error: a part looks like the whole", text)
		}
	})
	t.Run("without a key", func(t *testing.T) {
		if got := b.call(t, "GET", "/v1/account/export", "", ""); got.status != 401 {
			t.Errorf("got %d, want 401", got.status)
		}
	})
}
