package table

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var videos = List{Member: "videos", Next: "nextCursor", Columns: []string{"id", "caption", "metrics.views", "metadata", "postedAt"}}

func write(t *testing.T, f *Format, body string) (text, next string) {
	t.Helper()
	var out bytes.Buffer
	next, err := videos.Write(&out, f, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), next
}

func TestWrite(t *testing.T) {
	t.Parallel()
	const body = `{"videos":[
		{"id":"vid_1","caption":"=1+2, \"quoted\"","metrics":{"views":-5,"likes":1},"metadata":{"a":[1, 2]},"postedAt":null},
		{"id":"vid_2","extra":true,"caption":"two\nlines"}],"nextCursor":"page_2"}`
	cases := map[string]struct {
		format     *Format
		body, want string
		next       string
	}{
		"CSV has a cell for each column, and guards formulas": {
			&csvFormat, body,
			"id,caption,metrics.views,metadata,postedAt\n" +
				`vid_1,"'=1+2, ""quoted""",-5,"{""a"":[1,2]}",` + "\n" +
				"vid_2,\"two\nlines\",,,\n", "page_2",
		},
		"NDJSON has a line for each item": {
			&ndjsonFormat, body,
			`{"id":"vid_1","caption":"=1+2, \"quoted\"","metrics":{"views":-5,"likes":1},"metadata":{"a":[1,2]},"postedAt":null}` + "\n" +
				`{"id":"vid_2","extra":true,"caption":"two\nlines"}` + "\n", "page_2",
		},
		"an empty CSV still names its columns": {&csvFormat, `{"videos":[],"nextCursor":null}`, "id,caption,metrics.views,metadata,postedAt\n", ""},
		"an empty NDJSON is empty":             {&ndjsonFormat, `{"nextCursor":null,"videos":[]}`, "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, next := write(t, c.format, c.body)
			if diff := cmp.Diff(c.want, text); diff != "" || next != c.next {
				t.Errorf("next %q, want %q; text, want - and got +:\n%s", next, c.next, diff)
			}
		})
	}
	t.Run("a broken body is an error", func(t *testing.T) {
		t.Parallel()
		for _, broken := range []string{"", "[]", `{"videos":[{]}`, `{"videos":[1]}`} {
			t.Run(fmt.Sprintf("%q is refused", broken), func(t *testing.T) {
				if next, err := videos.Write(&bytes.Buffer{}, &csvFormat, []byte(broken)); err == nil {
					t.Errorf("%q: no error, next %q, want an error", broken, next)
				}
			})
		}
	})
}

func TestGuard(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "plain": "plain", "=cmd": "'=cmd", "+1": "'+1", "-1": "'-1", "@x": "'@x", "\tx": "'\tx", "\rx": "'\rx", "＝x": "'＝x", "a=b": "a=b",
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			if got := Guard(text); got != want {
				t.Errorf("%q: got %q, want %q", text, got, want)
			}
		})
	}
}

func TestChosen(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]string{
		"": "", "*/*": "", "application/json": "", "text/html": "", "broken;;": "",
		"text/csv": "csv", "TEXT/CSV; charset=utf-8": "csv", "application/x-ndjson": "ndjson",
		"text/csv, */*;q=0.1": "csv", "text/csv, */*": "csv", "text/csv;q=0.5, */*": "",
		"text/csv;q=0.2, application/x-ndjson;q=0.9, application/json;q=0.5": "ndjson",
		"application/json, text/csv":                                         "", "text/csv, application/json": "csv", "text/csv;q=0": "",
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": "",
	} {
		t.Run(fmt.Sprintf("Accept %q", accept), func(t *testing.T) {
			got := ""
			if f := Chosen([]string{accept}); f != nil {
				got = f.Name
			}
			if got != want {
				t.Errorf("Accept %q: got %q, want %q", accept, got, want)
			}
		})
	}
}
