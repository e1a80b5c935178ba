package recipe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/formats"
	"github.com/scrollery/scrollery/plugins/internal/lazy"
	"github.com/scrollery/scrollery/plugins/internal/sources"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

const (
	// fallback is how many videos a seed asks for that says nothing.
	fallback = stage.UsualVideos
	// pause is the first wait after a failure; shortly is the longest one that 429 may ask for.
	pause, shortly = 2 * time.Second, 30 * time.Second
	// renewal is when another try makes sense if a provider does not say it.
	renewal = time.Hour
)

var (
	handleForm = lazy.Pattern(`^[\pL\pN_][\pL\pM\pN._·-]{0,99}$`)
	videoForm  = lazy.Pattern(`^[A-Za-z0-9_-]{1,64}$`)
)

// asker asks one provider during one call.
type asker struct {
	*Recipe
	call    *stage.Call
	site    *site.Site
	base    string
	key     string
	retries sources.Retries
	// spent is what the call cost so far; paid says that it asked for money at all.
	spent int64
	paid  bool
	// over ends all that is left of the call.
	over *site.Stop
}

// open reads the settings; a *site.Stop says what is wrong with them.
func (c *Recipe) open(call *stage.Call, options site.Options) (*asker, error) {
	options.Gap = c.gap
	if options.Timeout == 0 { // tests do not wait
		options.Timeout = c.timeout
	}
	opened, err := sources.Open(call, options, "1m")
	if err != nil {
		return nil, err
	}
	key := call.Secrets[c.secret.name]
	if c.secret.header+c.secret.query != "" && key == "" {
		return nil, sources.Misconfigured("the secret " + c.secret.name + " is not set")
	}
	// Calls take turns, so that the rate holds from one to the next.
	opened.Slow(c.gap)
	return &asker{Recipe: c, call: call, site: opened, base: call.Settings["url"], key: key}, nil
}

// collect answers for every seed on every platform.
func (c *Recipe) collect(ctx context.Context, call *stage.Call, options site.Options, seeds []stage.Seed, emit func(stage.Record) error) (outcomes []stage.Outcome, err error) {
	a, wrong := c.open(call, options)
	given := map[stage.Ref]bool{}
	for _, platform := range c.names {
		costs := map[string]int64{}
		some, err := site.Each(ctx, platform, seeds, fallback, func(ctx context.Context, seed stage.Seed) (int, error) {
			switch {
			case wrong != nil:
				return 0, wrong
			case a.over != nil:
				return 0, a.over
			}
			before := a.spent
			defer func() { costs[seed.Text()] = a.spent - before }()
			returned, err := a.seed(ctx, platform, seed, func(record stage.Record) error {
				if given[record.Ref] {
					return nil // another seed brought it
				}
				given[record.Ref] = true
				return emit(record)
			})
			var stop *site.Stop
			if errors.As(err, &stop) && stop.Scope == site.All {
				a.over = stop
			}
			return returned, err
		})
		for i := range some {
			if cost, asked := costs[some[i].Seed]; asked && a.paid {
				some[i].Cost = &cost
			}
		}
		if outcomes = append(outcomes, some...); err != nil {
			return outcomes, err
		}
	}
	return outcomes, nil
}

// seed asks for what a seed names, page after page.
func (a *asker) seed(ctx context.Context, platform string, seed stage.Seed, emit func(stage.Record) error) (int, error) {
	kind, v, err := a.wanted(platform, seed)
	if err != nil {
		return 0, err
	}
	q := a.requests[platform][kind]
	if q == nil {
		return 0, &site.Stop{Status: stage.Unsupported, Detail: a.ID + " is not asked for a " + kind + " on " + platform}
	}
	limit := site.Asked(seed, fallback)
	h := &haul{limit: limit, seen: map[string]bool{}, emit: func(record stage.Record) error {
		record.Seed = seed.Text()
		if kind == byHandle {
			record.Source = &stage.Source{Handle: v[byHandle]}
		}
		return emit(record)
	}}
	err = a.pages(ctx, platform, q, v, h)
	if err == nil {
		err = h.short()
	}
	return len(h.seen), err
}

// wanted is the kind of request for a seed, and its placeholder.
func (a *asker) wanted(platform string, seed stage.Seed) (kind string, v values, err error) {
	if seed.Handle != "" {
		handle := strings.TrimLeft(seed.Handle, "@")
		switch {
		case !handleForm().MatchString(handle):
			return "", nil, &site.Stop{Status: stage.NotFound, Detail: "no platform has handles of that form"}
		case strings.HasSuffix(strings.ToLower(handle), ".example"):
			return "", nil, &site.Stop{Status: stage.Unsupported, Detail: "handles that end in .example are invented: no one is asked"}
		}
		return byHandle, values{byHandle: handle}, nil
	}
	if id, is := strings.CutPrefix(seed.Term, "sound:"); is {
		if of, rest, named := strings.Cut(id, ":"); named {
			if id = rest; of != platform {
				return "", nil, &site.Stop{Status: stage.Unsupported, Detail: "a sound of " + of}
			}
		}
		if !videoForm().MatchString(id) {
			return "", nil, &site.Stop{Status: stage.NotFound, Detail: "no sound has an id of that form"}
		}
		return bySound, values{bySound: id}, nil
	}
	return byTerm, values{byTerm: strings.TrimSpace(seed.Term)}, nil
}

// haul is what a seed brought.
type haul struct {
	limit int
	seen  map[string]bool
	emit  func(stage.Record) error
	// records were read; of so many that should have views, none had.
	records, unseen int
}

// short is a *site.Stop of a seed none of whose videos has views: a member was renamed, perhaps.
func (h *haul) short() error {
	if h.records >= 3 && h.unseen == h.records {
		return &site.Stop{Status: stage.Partial, Detail: "no video has views: the provider may have renamed the member"}
	}
	return nil
}

// pages asks until there are enough videos, no more pages, or too many of them.
func (a *asker) pages(ctx context.Context, platform string, q *request, v values, h *haul) error {
	size := h.limit
	if q.pages.size > 0 {
		size = min(size, q.pages.size)
	}
	v["limit"] = numeral(size)
	met := map[string]bool{}
	var next *url.URL
	for n := range q.pages.most {
		if q.pages.numbered {
			v["page"] = numeral(q.pages.number + n)
		}
		if q.pages.offset {
			v["offset"] = numeral(h.records)
		}
		before := h.records
		answer, err := a.ask(ctx, q, v, size, next)
		if err == nil {
			err = a.take(ctx, platform, q, answer, h)
		}
		if err != nil || len(h.seen) >= h.limit || h.records == before {
			return err
		}
		more := ""
		if more, next, err = a.next(q, v, answer, h.records-before < size); err != nil || more == "" {
			return err
		}
		if v["cursor"] = more; (q.pages.cursor != "" || q.pages.link != "") && met[more] {
			return &site.Stop{Status: stage.Partial, Detail: a.ID + " keeps sending the same page"}
		}
		met[more] = true
	}
	return &site.Stop{Status: stage.Partial, Detail: fmt.Sprintf("there are more pages than the %d that the recipe reads", q.pages.most)}
}

// linkForm finds the next page in a header as RFC 8288 has it.
var linkForm = lazy.Pattern(`<([^<>]+)>[^,]*;\s*rel="?next"?`)

// next is what the next page is asked by; empty if there is none. last says that the page had
// fewer records than were asked for.
func (a *asker) next(q *request, v values, answer site.Answer, last bool) (more string, link *url.URL, err error) {
	if q.pages.more != "" {
		if raw, there := at(answer.Body, q.pages.more); !there || word(raw) == "" || word(raw) == "0" {
			return "", nil, nil
		}
	}
	switch {
	case q.pages.cursor != "":
		raw, _ := at(answer.Body, q.pages.cursor)
		if more = word(raw); more == "0" {
			more = ""
		}
		v[numericCursor] = ""
		if len(raw) > 0 && raw[0] != '"' {
			v[numericCursor] = more
		}
		return more, nil, nil
	case q.pages.link == "header":
		if found := linkForm().FindStringSubmatch(strings.Join(answer.Header.Values("Link"), ", ")); found != nil {
			more = found[1]
		}
	case q.pages.link != "":
		raw, _ := at(answer.Body, q.pages.link)
		more = word(raw)
	case (q.pages.numbered || q.pages.offset) && (q.pages.more != "" || !last):
		return "yes", nil, nil
	}
	if more == "" || q.pages.link == "" {
		return "", nil, nil
	}
	link, err = a.follow(more)
	return more, link, err
}

// follow checks the address of a next page: one of the recipe's hosts, or of the setting `url`.
func (a *asker) follow(text string) (*url.URL, error) {
	link, err := url.Parse(text)
	if err == nil && len(text) <= 4096 && link.User == nil {
		port := link.Port()
		if port == "" {
			port = "443"
		}
		base, failed := url.Parse(a.base)
		switch {
		case a.base != "" && failed == nil && link.Scheme == base.Scheme && link.Host == base.Host:
			return link, nil
		case link.Scheme == "https" && slices.Contains(a.hosts(), strings.ToLower(link.Hostname())+":"+port):
			return rebased(link, a.base), nil
		}
	}
	return nil, &site.Stop{Status: stage.Changed, Detail: a.ID + " names a next page of another host, which is refused"}
}

// ask asks for a page of at most so many records, until it comes or the provider has failed often
// enough. Each try is paid for.
func (a *asker) ask(ctx context.Context, q *request, v values, size int, link *url.URL) (answer site.Answer, err error) {
	err = a.retries.Do(ctx, a.site, a.ID, pause, func() error {
		answer, err = a.once(ctx, q, v, size, link)
		return err
	})
	return answer, err
}

func (a *asker) once(ctx context.Context, q *request, v values, size int, link *url.URL) (site.Answer, error) {
	worth := q.price.call + q.price.record*int64(size)
	v["charge"] = stage.FormatMoney(worth)
	address := link
	if address == nil {
		var err error
		if address, err = q.address(v, a.base); err != nil {
			return site.Answer{}, &site.Stop{Status: stage.NotFound, Detail: err.Error()}
		}
	}
	request, err := a.build(q, address, v, a.key)
	if err != nil {
		return site.Answer{}, err
	}
	if err := a.spend(ctx, worth); err != nil {
		return site.Answer{}, err
	}
	answer, err := a.site.Ask(ctx, request)
	var lost *site.Unreachable
	if errors.As(err, &lost) {
		return answer, &sources.Transient{Detail: a.ID + ": " + lost.Reason}
	}
	if err != nil {
		return answer, err
	}
	return answer, a.judge(ctx, q, answer, worth, size)
}

// spend asks for the money of one request.
func (a *asker) spend(ctx context.Context, worth int64) error {
	if worth == 0 {
		return nil
	}
	err := a.call.Spend(ctx, stage.CostQuota, worth)
	var stop *site.Stop
	if err = site.OverQuota(err, site.All); errors.As(err, &stop) {
		stop.Detail = "the budget of the day for " + a.ID + " is used up: the next request may cost " + stage.FormatMoney(worth) + " USD"
	}
	if a.paid = true; err == nil {
		a.spent += worth
	}
	return err
}

// owe counts money that the provider has taken already. If that is more than the budget has left, all
// that is left is counted, so that no further request is granted; the page is paid for, and read.
func (a *asker) owe(ctx context.Context, units int64) error {
	err := a.spend(ctx, units)
	for step := units / 2; err != nil && step > 0; step /= 2 { // each is refused or leaves less than itself
		var stop *site.Stop
		if !errors.As(err, &stop) {
			return err
		}
		if once := a.spend(ctx, step); once != nil {
			err = once
		}
	}
	return nil
}

// back returns money that a request did not cost.
func (a *asker) back(ctx context.Context, unspent int64) error {
	if unspent <= 0 {
		return nil
	}
	a.spent -= unspent
	return a.call.GiveBack(ctx, stage.CostQuota, unspent)
}

// judge says what an answer means: nil for a page of videos. What it did not cost is given back.
func (a *asker) judge(ctx context.Context, q *request, answer site.Answer, worth int64, size int) error {
	u, own := a.means(answer)
	what := u.means
	page := what == ""
	if page && !json.Valid(answer.Body) {
		what = blocked
		if len(bytes.TrimSpace(answer.Body)) == 0 {
			what = changed
		}
	}
	unspent := int64(0)
	switch {
	case u.free:
		unspent = worth
	case u.paid:
	case page:
		found, _ := items(answer.Body, q.records)
		unspent = q.price.record * int64(size-len(found))
		if over := -unspent; over > 0 { // the provider sent more than it was asked for
			if err := a.owe(ctx, over); err != nil {
				return err
			}
		}
	default: // a refusal has no records
		unspent = q.price.record * int64(size)
	}
	if err := a.back(ctx, unspent); err != nil {
		return err
	}
	if what == "" {
		return nil
	}
	return a.stop(what, answer, own)
}

// stop is the end that an answer means.
func (a *asker) stop(what meaning, answer site.Answer, own bool) error {
	detail := fmt.Sprintf("%s answers %d", a.ID, answer.Status)
	if raw, there := at(answer.Body, a.message); there && a.message != "" {
		detail += ": " + a.site.Clean(word(raw))
	}
	wait := site.RetryAfter(answer.Header, a.site.Now())
	later := a.site.Now().Add(max(wait, renewal))
	switch what {
	case busy:
		return &sources.Transient{Detail: detail, Wait: wait}
	case quota:
		if answer.Status == http.StatusTooManyRequests && !own && wait > 0 && wait <= shortly {
			return &sources.Transient{Detail: detail, Wait: wait}
		}
		if wait > 0 {
			later = a.site.Now().Add(wait)
		}
		return &site.Stop{Status: stage.Quota, Detail: detail, RetryAt: later, Scope: site.All}
	case blocked:
		return &site.Stop{Status: stage.Blocked, Detail: detail, RetryAt: later}
	case misconfigured:
		return &site.Stop{Status: stage.Misconfigured, Detail: detail + ": it refuses the secret, perhaps", Scope: site.All}
	case gone, notFound:
		return &missing{site.Stop{Status: stage.NotFound, Detail: detail}, what == gone}
	case empty:
		return &site.Stop{Status: stage.Empty, Detail: detail}
	}
	if answer.Status >= 300 && answer.Status < 400 {
		detail += ", a redirect, which is refused"
	}
	return &site.Stop{Status: stage.Changed, Detail: detail}
}

// missing is a Stop of what is not there; final says that the provider knows that it never will be.
type missing struct {
	stop  site.Stop
	final bool
}

func (m *missing) Error() string { return m.stop.Detail }

// Unwrap is the Stop.
func (m *missing) Unwrap() error { return &m.stop }

// take reads the records of a page.
func (a *asker) take(ctx context.Context, platform string, q *request, answer site.Answer, h *haul) error {
	found, there := items(answer.Body, q.records)
	if !there {
		if lists(answer.Body) {
			return &site.Stop{Status: stage.Changed, Detail: a.ID + "'s answer has no " + q.records}
		}
		return nil // nothing at all, as providers answer if there is nothing
	}
	h.records += len(found)
	var lines bytes.Buffer
	for _, one := range found {
		_ = json.Compact(&lines, one) // valid, as the answer is
		lines.WriteByte('\n')
	}
	now := a.site.Now().UnixMilli()
	options := formats.Options{Map: q.columns, Format: q.format, Now: now, ObservedAt: &now}
	if q.columns != nil {
		options.Format = formats.Mapped
	}
	read := 0
	report, err := formats.ReadStream(ctx, &lines, "answer.jsonl", options, func(record stage.Record) error {
		if record.Platform != platform {
			return nil
		}
		read++
		if record.Metrics.Views == nil && (q.columns == nil || q.columns.Columns["views"] != "") {
			h.unseen++
		}
		if h.seen[record.ExternalID] || len(h.seen) >= h.limit {
			return nil
		}
		h.seen[record.ExternalID] = true
		return h.emit(record)
	})
	if err != nil {
		return err
	}
	if read == 0 && len(found) > 0 && broken(report) {
		return &site.Stop{Status: stage.Changed, Detail: fmt.Sprintf("%s's %d records are in another form: %s", a.ID, len(found), a.site.Clean(words(report)))}
	}
	return nil
}

// broken reports records that were not left out on purpose.
func broken(report formats.Report) bool {
	for reason, skip := range report.Skips {
		if skip.Count > 0 && reason.Unread() {
			return true
		}
	}
	return false
}

// words are the names of the members that were missed, without what the answer said.
func words(report formats.Report) string {
	for _, form := range report.Form {
		if strings.HasPrefix(form, "the map names") {
			return form
		}
	}
	var reasons []string
	for reason := range report.Skips {
		reasons = append(reasons, string(reason))
	}
	slices.Sort(reasons)
	return strings.Join(reasons, ", ")
}
