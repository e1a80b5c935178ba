package page_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/page"
)

func TestFixedIsCompressedWhereTheClientReadsIt(t *testing.T) {
	t.Parallel()
	packed := httptest.NewRecorder().Body
	writer := gzip.NewWriter(packed)
	_, _ = writer.Write([]byte("the same for everyone"))
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	fromPacked, err := page.Packed(packed.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := page.Packed([]byte("the same for everyone")); err == nil {
		t.Error("a body that is not compressed: got no error")
	}
	t.Run("kept as it is", func(t *testing.T) { isForEveryone(t, page.NewFixed([]byte("the same for everyone"))) })
	t.Run("kept compressed", func(t *testing.T) { isForEveryone(t, fromPacked) })
}

// isForEveryone asks for a body as clients do.
func isForEveryone(t *testing.T, fixed page.Fixed) {
	tags := map[string]string{}
	for _, c := range []struct {
		name   string
		accept []string
		want   string
	}{
		{"no header", nil, ""},
		{"another encoding", []string{"br"}, ""},
		{"gzip among others", []string{"br, gzip"}, "gzip"},
		{"gzip in a second header", []string{"br", "gzip"}, "gzip"},
		{"gzip in capitals", []string{"GZIP"}, "gzip"},
		{"gzip with a weight", []string{"gzip; q=0.5"}, "gzip"},
		{"gzip refused", []string{"gzip;q=0"}, ""},
		{"gzip refused at length", []string{"gzip; q=0.000"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/", nil)
			for _, value := range c.accept {
				r.Header.Add("Accept-Encoding", value)
			}
			body, tag, encoding := fixed.For(r)
			tags[encoding] = tag
			if diff := cmp.Diff(c.want, encoding); diff != "" {
				t.Fatalf("encoding (-want +got):\n%s", diff)
			}
			var in io.Reader = bytes.NewReader(body)
			if encoding != "" {
				unpacked, err := gzip.NewReader(in)
				if err != nil {
					t.Fatal(err)
				}
				in = unpacked
			}
			text, err := io.ReadAll(in)
			if diff := cmp.Diff("the same for everyone", string(text)); diff != "" || err != nil {
				t.Errorf("body (-want +got): %v\n%s", err, diff)
			}
		})
	}
	if tags[""] == "" || tags[""] == tags["gzip"] {
		t.Errorf("got tags %q, want two", tags)
	}
}
