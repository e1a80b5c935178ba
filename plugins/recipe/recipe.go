package recipe

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/scrollery/scrollery/modules/kernel/nearest"
	"github.com/scrollery/scrollery/plugins/formats"
	"github.com/scrollery/scrollery/plugins/internal/lazy"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/platforms"
)

// Recipe is one provider.
type Recipe struct {
	// ID is the name of the source, and Docs the pages that it was written from.
	ID, Summary string
	Docs        []string
	// Text is the recipe as it was read.
	Text string

	secret   secret
	headers  map[string]string
	gap      time.Duration // between two requests
	timeout  time.Duration
	price    price
	budget   int64
	message  string
	rules    []rule
	names    []string // of the platforms, in their order
	requests map[string]map[string]*request
	check    *check // nil for none
}

// secret is where a provider wants it: in a header or a parameter of the address.
type secret struct{ name, header, query, format string }

// price is what a request costs, and a record of its answer, in millionths of a US dollar.
type price struct{ call, record int64 }

// rule says what an answer means: one with one of the statuses, and with a member that has one of
// the values or contains a text, as far as the rule names them. The answer costs nothing if it is
// free, and all that the request might cost if it is paid for: the work goes on without us.
type rule struct {
	statuses []string
	member   string
	is       []string
	has      string
	means    meaning
	free     bool
	paid     bool
}

// meaning is what an answer that is no page of videos means.
type meaning string

const (
	gone          meaning = "gone"
	notFound      meaning = "not_found"
	empty         meaning = "empty"
	quota         meaning = "quota"
	blocked       meaning = "blocked"
	changed       meaning = "changed"
	misconfigured meaning = "misconfigured"
	busy          meaning = "busy"
)

var meanings = []string{string(gone), string(notFound), string(empty), string(quota), string(blocked), string(changed), string(misconfigured), string(busy)}

// The kinds of requests.
const (
	byHandle = "handle"
	byTerm   = "term"
	bySound  = "sound"
	byID     = "id"
)

var kinds = []string{byHandle, byTerm, bySound, byID}

// request is how a provider is asked for one kind of seed on one platform.
type request struct {
	method, url string
	headers     map[string]string
	body        any // nil for none
	records     string
	pages       pages
	price       *price
	format      formats.Format
	columns     *formats.Map
}

// pages is how the next page is asked for: at most one of cursor, link, number and offset.
type pages struct {
	cursor, link, more string
	number             int
	numbered, offset   bool
	size, most         int
}

// placeholders are what addresses, headers and bodies may hold in braces.
var placeholders = map[string]bool{
	byHandle: true, byTerm: true, bySound: true, byID: true, "cursor": true, "page": true, "offset": true, "limit": true, "charge": true,
}

// values of a placeholder; each is escaped for its place.
type values map[string]string

var (
	idForm    = lazy.Pattern(`^[a-z][a-z0-9-]{0,39}$`)
	inBraces  = lazy.Pattern(`\{([^{}]*)\}`)
	tokenForm = lazy.Pattern("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$")
)

// Parse reads and checks a recipe. The error has all faults, each with its line.
func Parse(text []byte) (*Recipe, error) {
	r := &reader{}
	recipe := &Recipe{Text: string(text), gap: time.Second, timeout: 45 * time.Second, budget: stage.Dollar, requests: map[string]map[string]*request{}, secret: secret{format: "{secret}", name: "api_key"}}
	root := r.document(text)
	if root != nil {
		recipe.read(r, root)
	}
	if len(r.faults) > 0 {
		return nil, errors.New(strings.Join(r.faults, "; "))
	}
	return recipe, nil
}

func (c *Recipe) read(r *reader, root ast.Node) {
	var per string
	var nodes ast.Node
	r.mapping(root, "a recipe", keys{
		"id": r.text(&c.ID, "id"), "summary": r.text(&c.Summary, "summary"), "docs": r.texts(&c.Docs, "docs"),
		"secret":  func(n ast.Node) { c.readSecret(r, n) },
		"headers": c.readHeaders(r, &c.headers),
		"rate":    r.text(&per, "rate"),
		"timeout": r.within(&c.timeout, "timeout", time.Second, 5*time.Minute),
		"price":   func(n ast.Node) { c.price = r.price(n) },
		"budget":  r.money(&c.budget, "budget"),
		"message": r.text(&c.message, "message"),
		"errors":  func(n ast.Node) { c.readRules(r, n) },
		"check":   func(n ast.Node) { c.readCheck(r, n) },
		"platforms": func(n ast.Node) {
			nodes = n
			for _, pair := range r.pairs(n, "platforms") {
				name := textOf(pair.Key)
				if _, ok := platforms.Of(name); !ok {
					r.fault(pair.Key, "there is no platform %q%s", name, nearest.Hint(name, platforms.IDs()))
					continue
				}
				c.names = append(c.names, name)
				c.requests[name] = c.readPlatform(r, name, pair.Value)
			}
		},
	})
	if c.ID == ID {
		r.fault(root, "id: %s stands for all recipes", ID)
	}
	if !idForm().MatchString(c.ID) {
		r.fault(root, "id: want %s", idForm())
	}
	if c.Summary == "" {
		c.Summary = "Asks the provider " + c.ID + "."
	}
	if nodes == nil || len(c.names) == 0 {
		r.fault(root, "platforms: want at least one of %s", strings.Join(platforms.IDs(), ", "))
	}
	if per != "" {
		gap, err := everyOf(per)
		if c.gap = gap; err != nil {
			r.fault(root, "rate: %v", err)
		}
	}
}

// everyOf is the pause between two requests at a rate such as 5/s or 60/m.
func everyOf(rate string) (time.Duration, error) {
	var n int
	var unit string
	if _, err := fmt.Sscanf(rate, "%d/%s", &n, &unit); err != nil || n < 1 || n > 1000 {
		return 0, fmt.Errorf("%q is no rate such as 5/s, 60/m or 100/h", rate)
	}
	of, ok := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[unit]
	if !ok {
		return 0, fmt.Errorf("%q is no rate such as 5/s, 60/m or 100/h", rate)
	}
	return of / time.Duration(n), nil
}

func (c *Recipe) readSecret(r *reader, node ast.Node) {
	r.mapping(node, "a secret", keys{
		"name": r.text(&c.secret.name, "name"), "header": r.text(&c.secret.header, "header"), "query": r.text(&c.secret.query, "query"),
		"format": r.text(&c.secret.format, "format"),
	})
	if (c.secret.header == "") == (c.secret.query == "") {
		r.fault(node, "a secret is in a header or in a query: want one of both")
	}
	if c.secret.header != "" && !tokenForm().MatchString(c.secret.header) {
		r.fault(node, "%q is no name of a header", c.secret.header)
	}
	if strings.Count(c.secret.format, "{secret}") != 1 || !regexp.MustCompile(`^[ -~]+$`).MatchString(c.secret.format) {
		r.fault(node, "format: want a text with {secret} in it, such as Bearer {secret}")
	}
	if !regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`).MatchString(c.secret.name) {
		r.fault(node, "name: want lower-case letters, such as api_key")
	}
}

func (c *Recipe) readHeaders(r *reader, to *map[string]string) func(ast.Node) {
	return func(node ast.Node) {
		r.table(to, "headers")(node)
		for name, value := range *to {
			if !tokenForm().MatchString(name) || strings.ContainsAny(value, "\r\n\x00") || slices.Contains([]string{"host", "content-length", "connection", "transfer-encoding"}, strings.ToLower(name)) {
				r.fault(node, "the header %q cannot be set", name)
			}
			r.filled(node, value)
		}
	}
}

// filled checks the placeholders of a text.
func (r *reader) filled(at ast.Node, text string) {
	for _, found := range inBraces().FindAllStringSubmatch(text, -1) {
		if !placeholders[found[1]] {
			r.fault(at, "there is no placeholder %q%s", found[0], nearest.Hint(found[1], slices.Sorted(maps.Keys(placeholders))))
		}
	}
}

func (r *reader) price(node ast.Node) (p price) {
	r.mapping(node, "a price", keys{"call": r.money(&p.call, "call"), "record": r.money(&p.record, "record")})
	return p
}

func (c *Recipe) readRules(r *reader, node ast.Node) {
	list, is := node.(*ast.SequenceNode)
	if !is {
		r.fault(node, "errors: want a list")
		return
	}
	for _, one := range list.Values {
		var u rule
		var means string
		r.mapping(one, "an error", keys{
			"status": r.texts(&u.statuses, "status"), "member": r.text(&u.member, "member"), "is": r.texts(&u.is, "is"), "has": r.text(&u.has, "has"),
			"means": r.text(&means, "means"), "free": func(n ast.Node) { u.free = textOf(n) == "true" }, "paid": func(n ast.Node) { u.paid = textOf(n) == "true" },
		})
		if u.means = meaning(means); !slices.Contains(meanings, means) {
			r.fault(one, "means: %q is none of %s%s", means, strings.Join(meanings, ", "), nearest.Hint(means, meanings))
		}
		if u.free && u.paid {
			r.fault(one, "an error is free or paid: want one of both")
		}
		if len(u.statuses) == 0 && u.member == "" {
			r.fault(one, "an error wants a status or a member")
		}
		if u.member == "" && (len(u.is) > 0 || u.has != "") {
			r.fault(one, "`is` and `has` are about a member: name it")
		}
		c.rules = append(c.rules, u)
	}
}

// readPlatform reads the requests of a platform. What the platform says of records and pages is for
// those of its requests that do not say it themselves.
func (c *Recipe) readPlatform(r *reader, name string, node ast.Node) map[string]*request {
	shared := &request{}
	reading := map[string]any{}
	own := map[string]ast.Node{}
	known := c.sharedKeys(r, shared, reading)
	for _, kind := range kinds {
		known[kind] = func(n ast.Node) { own[kind] = n }
	}
	r.mapping(node, "the platform "+name, known)
	all := map[string]*request{}
	for _, kind := range kinds {
		if own[kind] != nil {
			all[kind] = c.readRequest(r, name, kind, own[kind], *shared, reading)
		}
	}
	if len(all) == 0 {
		r.fault(node, "the platform %s wants a request: %s", name, strings.Join(kinds, ", "))
	}
	return all
}

// mapKeys are the members of a column map that a recipe may have.
var mapKeys = []string{"columns", "constants", "metadata", "sourceUrl", "timeLayouts", "timeZone", "durationUnit", "hashtagsFrom", "filter"}

// sharedKeys are what a platform and each of its requests may say.
func (c *Recipe) sharedKeys(r *reader, to *request, reading map[string]any) keys {
	known := keys{
		"records": r.text(&to.records, "records"),
		"pages":   func(n ast.Node) { to.pages = r.pages(n) },
		"price": func(n ast.Node) {
			p := r.price(n)
			to.price = &p
		},
		"format": func(n ast.Node) {
			names, _ := formats.Formats()
			if to.format = formats.Format(textOf(n)); !slices.Contains(names, to.format) {
				r.fault(n, "there is no format %q%s", to.format, nearest.Hint(string(to.format), texts(names)))
			}
		},
	}
	for _, key := range mapKeys {
		known[key] = func(n ast.Node) {
			reading[key] = r.value(n, 0)
			if key != "columns" && key != "constants" {
				return
			}
			for _, pair := range r.pairs(n, key) {
				if name := textOf(pair.Key); !slices.Contains(formats.Fields(), name) {
					r.fault(pair.Key, "there is no field %q%s", name, nearest.Hint(name, formats.Fields()))
				}
			}
		}
	}
	return known
}

func texts(names []formats.Format) (all []string) {
	for _, name := range names {
		all = append(all, string(name))
	}
	return all
}

func (c *Recipe) readRequest(r *reader, platform, kind string, node ast.Node, shared request, reading map[string]any) *request {
	q := shared
	reading = maps.Clone(reading)
	what := "the request for a " + kind
	if text := textOf(node); text != "" {
		q.url = text
	} else {
		known := c.sharedKeys(r, &q, reading)
		known["url"], known["method"] = r.text(&q.url, "url"), r.text(&q.method, "method")
		known["headers"] = c.readHeaders(r, &q.headers)
		known["body"] = func(n ast.Node) { q.body = r.value(n, 0) }
		r.mapping(node, what, known)
	}
	q.verb(r, node)
	c.checkAddress(r, node, kind, &q)
	if q.price == nil {
		q.price = &c.price
	}
	if q.pages.most == 0 {
		q.pages.most = 10
	}
	if q.price.record > 0 && q.pages.size == 0 && kind != byID {
		r.fault(node, "a price of a record wants a pages.size: the most records of an answer")
	}
	q.columns = r.columns(node, platform, q.format, reading)
	return &q
}

// verb is the method of the request: before its address, or by whether there is a body.
func (q *request) verb(r *reader, node ast.Node) {
	if method, rest, ok := strings.Cut(q.url, " "); ok && q.method == "" {
		q.method, q.url = method, strings.TrimSpace(rest)
	}
	switch {
	case q.method == "" && q.body != nil:
		q.method = "POST"
	case q.method == "":
		q.method = "GET"
	}
	if q.method != "GET" && q.method != "POST" {
		r.fault(node, "the method %q is neither GET nor POST", q.method)
	}
}

// isHTTPS checks that an address is https, and that its host has no placeholder.
func (r *reader) isHTTPS(node ast.Node, text string) bool {
	host, _, _ := strings.Cut(strings.TrimPrefix(text, "https://"), "/")
	host, _, _ = strings.Cut(host, "?")
	address, err := url.Parse(inBraces().ReplaceAllString(text, "x"))
	switch {
	case err != nil || address.Scheme != "https" || address.Hostname() == "" || address.User != nil || address.Fragment != "":
		r.fault(node, "%.80q is not an https address", text)
		return false
	case strings.ContainsAny(host, "{}"):
		r.fault(node, "the host of %.80q has a placeholder", text)
	}
	return true
}

// filledTexts are the texts of a request in which placeholders are filled.
func (q *request) filledTexts() string {
	used := q.url
	for _, value := range q.headers {
		used += value
	}
	eachText(q.body, func(text string) { used += text })
	return used
}

// checkAddress: https, a host without placeholders, and the seed somewhere.
func (c *Recipe) checkAddress(r *reader, node ast.Node, kind string, q *request) {
	r.filled(node, q.url)
	if !r.isHTTPS(node, q.url) {
		return
	}
	eachText(q.body, func(text string) { r.filled(node, text) })
	used := q.filledTexts()
	if !strings.Contains(used, "{"+kind+"}") {
		r.fault(node, "the request for a %s has no {%s} in it", kind, kind)
	}
	for _, other := range kinds {
		if other != kind && strings.Contains(used, "{"+other+"}") {
			r.fault(node, "the request for a %s has {%s} in it, which it does not know", kind, other)
		}
	}
	if kind == byID {
		return // one video has no pages
	}
	if q.pages.cursor != "" && !strings.Contains(used, "{cursor}") || q.pages.numbered && !strings.Contains(used, "{page}") || q.pages.offset && !strings.Contains(used, "{offset}") {
		r.fault(node, "pages: the request has no {cursor}, {page} or {offset} for the next one")
	}
}

func (r *reader) pages(node ast.Node) (p pages) {
	r.mapping(node, "pages", keys{
		"cursor": r.text(&p.cursor, "cursor"), "link": r.text(&p.link, "link"), "more": r.text(&p.more, "more"),
		"number": func(n ast.Node) { p.numbered = true; r.whole(&p.number, "number", 0, 1)(n) },
		"offset": func(n ast.Node) { p.offset = textOf(n) == "true" },
		"size":   r.whole(&p.size, "size", 1, 1000), "most": r.whole(&p.most, "most", 1, 100),
	})
	ways := 0
	for _, way := range []bool{p.cursor != "", p.link != "", p.numbered, p.offset} {
		if way {
			ways++
		}
	}
	if ways > 1 {
		r.fault(node, "pages: want one of cursor, link, number and offset")
	}
	return p
}

// columns is the column map of a request; nil if the records have a known format.
func (r *reader) columns(node ast.Node, platform string, format formats.Format, reading map[string]any) *formats.Map {
	if format != "" && format != formats.Mapped {
		if len(reading) > 0 {
			r.fault(node, "a format reads the records by itself: it goes without columns")
		}
		return nil
	}
	constants, _ := reading["constants"].(map[string]any)
	constants = maps.Clone(constants)
	if constants == nil {
		constants = map[string]any{}
	}
	if constants["platform"] == nil {
		constants["platform"] = platform
	}
	reading["constants"] = constants
	if len(r.faults) > 0 {
		return nil
	}
	text, err := json.Marshal(reading)
	if err == nil {
		var m *formats.Map
		if m, err = formats.ParseMap(text); err == nil {
			return m
		}
	}
	r.fault(node, "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	return nil
}

// hosts are those of all requests, as `host:port`.
func (c *Recipe) hosts() (all []string) {
	add := func(q *request) {
		address, _ := url.Parse(inBraces().ReplaceAllString(q.url, "x")) // was read before
		host := address.Host
		if address.Port() == "" {
			host += ":443"
		}
		if !slices.Contains(all, host) {
			all = append(all, host)
		}
	}
	for _, requests := range c.requests {
		for _, q := range requests {
			add(q)
		}
	}
	if c.check != nil {
		add(&c.check.request)
	}
	slices.Sort(all)
	return all
}
