package recipe

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage/site"
)

// eachText calls take with every text of a body.
func eachText(value any, take func(string)) {
	switch v := value.(type) {
	case string:
		take(v)
	case []any:
		for _, one := range v {
			eachText(one, take)
		}
	case map[string]any:
		for _, one := range v {
			eachText(one, take)
		}
	}
}

// fill puts values into a text, each as escape makes it.
func (v values) fill(text string, escape func(string) string) string {
	return inBraces().ReplaceAllStringFunc(text, func(name string) string {
		return escape(v[strings.Trim(name, "{}")])
	})
}

func plain(text string) string { return text }

// numericCursor is the value of the cursor if the provider wrote it as a number. No placeholder is
// named so.
const numericCursor = "cursor as a number"

// number reports a placeholder whose value is a number in a body.
func (v values) number(name string) bool {
	return slices.Contains([]string{"{limit}", "{page}", "{offset}", "{charge}"}, name) || name == "{cursor}" && v[numericCursor] != ""
}

// body fills the texts of a body. A member that is only a placeholder without a value is left out,
// and one that is only a number's is a number.
func (v values) body(value any) any {
	switch t := value.(type) {
	case string:
		filled := v.fill(t, plain)
		if v.number(t) && filled != "" {
			return json.Number(filled)
		}
		return filled
	case []any:
		all := []any{}
		for _, one := range t {
			all = append(all, v.body(one))
		}
		return all
	case map[string]any:
		all := map[string]any{}
		for name, one := range t {
			if text, is := one.(string); is && v.absent(text) {
				continue
			}
			all[name] = v.body(one)
		}
		return all
	}
	return value
}

// absent reports a text that is only a placeholder without a value.
func (v values) absent(text string) bool {
	match := inBraces().FindStringSubmatch(text)
	return match != nil && match[0] == text && v[match[1]] == ""
}

// errNoAddress is a value that makes another address of it than the recipe's.
var errNoAddress = errors.New("that cannot be part of an address")

// address fills the path and the parameters, each escaped. A parameter that is only a placeholder
// without a value is left out. base, if set, stands for the recipe's host.
func (q *request) address(v values, base string) (*url.URL, error) {
	path, query, _ := strings.Cut(q.url, "?")
	filled := v.fill(path, url.PathEscape)
	for segment := range strings.SplitSeq(filled, "/") {
		if segment == "." || segment == ".." {
			return nil, errNoAddress
		}
	}
	address, err := url.Parse(filled)
	if err != nil {
		return nil, errNoAddress
	}
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		if part != "" && !v.absent(value) {
			kept = append(kept, name+"="+v.fill(value, url.QueryEscape))
		}
	}
	address.RawQuery = strings.Join(kept, "&")
	return rebased(address, base), nil
}

// rebased is an address at another server: that of the setting `url`.
func rebased(address *url.URL, base string) *url.URL {
	if base == "" {
		return address
	}
	to, err := url.Parse(strings.TrimRight(base, "/"))
	if err != nil {
		return address
	}
	moved := *address
	moved.Scheme, moved.Host, moved.Path = to.Scheme, to.Host, to.Path+address.Path
	if address.RawPath != "" {
		moved.RawPath = to.EscapedPath() + address.RawPath
	}
	return &moved
}

// build is the request for an address, with the secret in its place.
func (c *Recipe) build(q *request, address *url.URL, v values, key string) (site.Request, error) {
	request := site.Request{Method: q.method, Header: http.Header{"Accept": {"application/json"}, "User-Agent": {"Scrollery (+https://github.com/scrollery/scrollery)"}}}
	for _, headers := range []map[string]string{c.headers, q.headers} {
		for name, value := range headers {
			if !v.absent(value) {
				request.Header.Set(name, strings.Map(printable, v.fill(value, plain)))
			}
		}
	}
	if q.body != nil {
		body, err := json.Marshal(v.body(q.body))
		if err != nil {
			return request, err
		}
		request.Body = body
		request.Header.Set("Content-Type", "application/json")
	}
	whole := strings.ReplaceAll(c.secret.format, "{secret}", key)
	if c.secret.header != "" {
		request.Header.Set(c.secret.header, whole)
	}
	if c.secret.query != "" {
		query := address.Query()
		query.Set(c.secret.query, whole)
		moved := *address
		moved.RawQuery = query.Encode()
		address = &moved
	}
	request.URL = address.String()
	return request, nil
}

// printable leaves out what ends a header.
func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return -1
	}
	return r
}

func numeral(n int) string { return strconv.Itoa(n) }
